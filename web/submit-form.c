/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/submit-form.h"

#include "jobs/spec/clock.h"
#include "jobs/spec/spec.h"
#include "web/page.h"

static void option(Html *html, const char *value, const char *text)
{
	html_raw(html, "<option value=\"");
	html_attr(html, value);
	html_raw(html, "\">");
	html_text(html, text);
	html_raw(html, "</option>\n");
}

static void trees(Html *html, const SubmitForm *form)
{
	html_raw(html, "<p><label for=\"tree\">Tree</label>\n<select id=\"tree\" name=\"tree\">\n");
	for (const char *const *name = form->trees; *name; name++)
		option(html, *name, *name);
	html_raw(html, "</select></p>\n");
}

static void benchmarks(Html *html, const SubmitForm *form)
{
	html_raw(html, "<fieldset>\n<legend>Benchmarks</legend>\n");
	for (const char *const *name = form->benchmarks; *name; name++) {
		html_raw(html, "<label class=\"check\"><input type=\"checkbox\" name=\"benchmarks\" value=\"");
		html_attr(html, *name);
		html_raw(html, "\"");
		if (name == form->benchmarks)
			html_raw(html, " checked=\"checked\"");
		html_raw(html, "/> ");
		html_text(html, *name);
		html_raw(html, "</label>\n");
	}
	html_raw(html, "</fieldset>\n");
}

static void options(Html *html)
{
	static const struct {
		JobClock clock;
		const char *text;
	} clocks[] = {
		{ CLOCK_AUTO, "auto: kvm where it works, else icount" },
		{ CLOCK_KVM, "kvm: time on hardware" },
		{ CLOCK_ICOUNT, "icount: instructions" },
		{ CLOCK_TCG, "tcg: time under emulation" },
	};

	html_raw(html, "<details>\n<summary>More choices</summary>\n<p><label for=\"clock\">Clock</label>\n"
		       "<select id=\"clock\" name=\"clock\">\n");
	for (gsize i = 0; i < G_N_ELEMENTS(clocks); i++)
		option(html, job_clock_name(clocks[i].clock), clocks[i].text);
	html_raw(html, "</select></p>\n<p><label for=\"profile\">Profile</label>\n<select id=\"profile\" name=\"profile\">\n");
	option(html, "auto", "auto: full on kvm, else quick");
	option(html, "quick", "quick: few and small parameter sets");
	option(html, "full", "full");
	html_raw(html, "</select></p>\n<p><label for=\"max_boots\">Boots of each kernel, at most</label>\n"
		       "<input id=\"max_boots\" name=\"max_boots\" type=\"number\" min=\"");
	html_attrf(html, "%d", SPEC_MIN_BOOTS);
	html_raw(html, "\" max=\"");
	html_attrf(html, "%d", SPEC_MAX_BOOTS);
	html_raw(html, "\" value=\"");
	html_attrf(html, "%d", SPEC_DEFAULT_BOOTS);
	html_raw(html, "\"/></p>\n<p><label for=\"min_effect\">Smallest change that matters, in %</label>\n"
		       "<input id=\"min_effect\" name=\"min_effect\" type=\"number\" min=\"0.01\" max=\"99\" step=\"any\" value=\"1\"/></p>\n"
		       "</details>\n");
}

static void form_element(Html *html, const SubmitForm *form)
{
	html_raw(html, "<form action=\"/jobs\" method=\"post\" enctype=\"multipart/form-data\">\n"
		       "<fieldset>\n<legend>What to compare with its base</legend>\n"
		       "<p><label for=\"series\">A patch series, as a file</label>\n"
		       "<input id=\"series\" name=\"series\" type=\"file\" aria-describedby=\"series-help\"/></p>\n"
		       "<p><label for=\"series_text\">or pasted</label>\n"
		       "<textarea id=\"series_text\" name=\"series_text\" rows=\"4\" cols=\"60\" spellcheck=\"false\"></textarea></p>\n"
		       "<p><label for=\"head\">or a second commit of the tree</label>\n"
		       "<input id=\"head\" name=\"head\" size=\"40\" autocapitalize=\"none\"/></p>\n"
		       "<p class=\"quiet\" id=\"series-help\">A series is what <code>git format-patch --stdout</code> or "
		       "<code>b4 am</code> write. One on lore is not fetched from here, the lab reads nothing from elsewhere: "
		       "<code>b4 am -o - MESSAGE-ID &gt;my.mbox</code> makes the file.</p>\n</fieldset>\n"
		       "<p><label for=\"base\">Base</label>\n"
		       "<input id=\"base\" name=\"base\" size=\"40\" autocapitalize=\"none\" aria-describedby=\"base-help\"/> "
		       "<span class=\"quiet\" id=\"base-help\">if none is named, the series&#39; <code>base-commit:</code>, "
		       "else the tree&#39;s own</span></p>\n");
	trees(html, form);
	benchmarks(html, form);
	options(html);
	html_raw(html, "<p><button type=\"submit\">Submit</button></p>\n</form>\n");
}

/* One command line; what comes before the address. */
static void curl_line(Html *html, const SubmitForm *form, const char *fields, const char *names)
{
	html_raw(html, "<pre tabindex=\"0\"><code>curl ");
	if (form->needs_token)
		html_raw(html, "-H \"Authorization: Bearer $REGRLAB_TOKEN\" ");
	html_text(html, fields);
	html_raw(html, " -F benchmarks=");
	html_text(html, names);
	html_raw(html, " ");
	html_text(html, form->url);
	html_raw(html, "/api/v1/jobs</code></pre>\n");
}

void submit_form_section(Html *html, const SubmitForm *form)
{
	g_autofree char *names = g_strjoinv(",", (char **)form->benchmarks);
	g_autofree char *tree_names = g_strjoinv(", ", (char **)form->trees);

	html_raw(html, "<section aria-labelledby=\"submit\">\n<h2 id=\"submit\">Submit</h2>\n");
	if (form->needs_token)
		html_raw(html, "<p>To submit here you need a token, and this page takes none: a browser never holds what can change "
			       "something. Use <code>regrlab submit</code>, or curl with the token that the lab&#39;s "
			       "administrator gave you:</p>\n");
	else
		form_element(html, form);
	html_raw(html, "<h3>With curl</h3>\n<p>A series, on the base that its <code>base-commit:</code> trailer names:</p>\n");
	curl_line(html, form, "-F series=@my.mbox", names);
	html_raw(html, "<p>One from lore:</p>\n<pre tabindex=\"0\"><code>b4 am -o - MESSAGE-ID &gt;my.mbox</code></pre>\n"
		       "<p>Two commits of a tree:</p>\n");
	curl_line(html, form, "-F base=v6.12 -F head=my-topic", names);
	html_raw(html, "<p>The answer has the number of the job and its links.</p>\n<dl>\n");
	page_fact(html, "trees", tree_names);
	html_raw(html, "</dl>\n</section>\n");
}
