/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "web/html.h"
#include "web/page-error.h"
#include "web/static.h"

#define REPLACED "\357\277\275"

static void check_text(const char *text, const char *wanted)
{
	g_autoptr(Html) html = html_new();
	g_autofree char *got = NULL;
	gsize size;

	html_text(html, text);
	got = html_take(html, &size);
	g_assert_cmpstr(got, ==, wanted);
	g_assert_cmpuint(size, ==, strlen(wanted));
}

static void test_text(void)
{
	check_text("mm: a & b", "mm: a &amp; b");
	check_text("<script>\"'</script>", "&lt;script&gt;&quot;&#39;&lt;/script&gt;");
	check_text("grüße, 漢字, 🐧", "grüße, 漢字, 🐧");
	check_text("", "");
	check_text(NULL, "");
	check_text("a\tb\nc\r", "a\tb\nc\r");
}

static void test_bytes_that_are_no_text(void)
{
	check_text("a\xff" "b", "a" REPLACED "b");
	check_text("\xc3", REPLACED);
	check_text("\xc3<", REPLACED "&lt;");
	check_text("\xed\xa0\x80", REPLACED REPLACED REPLACED);	/* a surrogate */
	check_text("\xc0\xbc", REPLACED REPLACED);		/* '<' in two bytes */
	check_text("a\x1b[31m\x07\x7f", "a" REPLACED "[31m" REPLACED REPLACED);
	check_text("\xc2\x85", REPLACED);			/* C1 */
	check_text("\xef\xbf\xbe", REPLACED);			/* U+FFFE */
	check_text("\xe2\x80\xae" "cba", REPLACED "cba");	/* what follows would read backwards */
}

static void test_attributes(void)
{
	g_autoptr(Html) html = html_new();
	g_autofree char *got = NULL;

	html_raw(html, "<a title=\"");
	html_attr(html, "\" onclick=\"alert(1)");
	html_raw(html, "\" href=\"/x/");
	html_url(html, "../a b\"<ü%");
	html_raw(html, "?n=");
	html_attrf(html, "%d&%s", 7, "\"");
	html_raw(html, "\">");
	got = html_take(html, NULL);
	g_assert_cmpstr(got, ==,
			"<a title=\"&quot; onclick=&quot;alert(1)\" href=\"/x/..%2Fa%20b%22%3C%C3%BC%25?n=7&amp;&quot;\">");
}

static void test_taking_leaves_nothing(void)
{
	g_autoptr(Html) html = html_new();

	html_textf(html, "%s", "one");
	g_free(html_take(html, NULL));

	gsize size;
	g_autofree char *rest = html_take(html, &size);
	g_assert_cmpstr(rest, ==, "");
	g_assert_cmpuint(size, ==, 0);
}

static void test_error_page(void)
{
	gsize size;
	g_autofree char *page = page_error(404, "there is no job <7>", &size);

	g_assert_cmpuint(size, ==, strlen(page));
	g_assert_nonnull(strstr(page, "there is no job &lt;7&gt;"));
	g_assert_nonnull(strstr(page, "404"));
	g_free(page);
	page = page_error(418, "no", &size);
	g_assert_nonnull(strstr(page, "That did not work"));
}

static void test_static_files(void)
{
	const StaticFile *style = static_file("style.css");

	g_assert_nonnull(style);
	g_assert_true(g_str_has_prefix(style->content_type, "text/css"));
	g_assert_cmpint(style->etag[0], ==, '"');
	g_assert_true(g_strstr_len((const char *)style->data, (gssize)style->size, "prefers-color-scheme: dark") != NULL);
	g_assert_null(static_file("../style.css"));
	g_assert_null(static_file(""));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/html/text", test_text);
	g_test_add_func("/html/bytes-that-are-no-text", test_bytes_that_are_no_text);
	g_test_add_func("/html/attributes", test_attributes);
	g_test_add_func("/html/taking-leaves-nothing", test_taking_leaves_nothing);
	g_test_add_func("/html/error-page", test_error_page);
	g_test_add_func("/html/static-files", test_static_files);
	return g_test_run();
}
