/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-error.h"

#include "web/page.h"

static const struct {
	unsigned status;
	const char *title;
} titles[] = {
	{ 400, "That request is not right" },
	{ 404, "There is nothing here" },
	{ 405, "That cannot be done here" },
	{ 500, "The lab has a problem" },
	{ 503, "The lab cannot answer now" },
};

char *page_error(unsigned status, const char *message, gsize *ret_size)
{
	g_autoptr(Html) html = html_new();
	const char *title = status < 500 ? "That did not work" : "The lab has a problem";

	for (gsize i = 0; i < G_N_ELEMENTS(titles); i++)
		if (titles[i].status == status)
			title = titles[i].title;
	page_begin(html, &(PageFrame){ .title = title });
	html_raw(html, "<h1>");
	html_text(html, title);
	html_raw(html, "</h1>\n<p>");
	html_text(html, message);
	html_raw(html, "</p>\n<p class=\"quiet\">HTTP status ");
	html_textf(html, "%u", status);
	html_raw(html, ". <a href=\"/\">What the lab does now</a>.</p>\n");
	page_end(html);
	return html_take(html, ret_size);
}
