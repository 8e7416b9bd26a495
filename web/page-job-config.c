/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "web/page-job-parts.h"

#define LINES_MAX 100	/* of each kernel that are shown */

/* Lines that say something: "CONFIG_X=…", "# CONFIG_X is not set". */
static GHashTable *options(GBytes *config, GPtrArray *order)
{
	GHashTable *lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	gsize size;
	const char *data = g_bytes_get_data(config, &size);

	for (const char *at = data, *end = data + size; at < end;) {
		const char *newline = memchr(at, '\n', (gsize)(end - at));
		gsize length = (gsize)((newline ? newline : end) - at);
		g_autofree char *line = g_strndup(at, length);

		at += length + 1;
		if (!(g_str_has_prefix(line, "CONFIG_") || g_str_has_prefix(line, "# CONFIG_")) || g_hash_table_contains(lines, line))
			continue;
		g_ptr_array_add(order, line);
		g_hash_table_add(lines, g_steal_pointer(&line));
	}
	return lines;
}

static void only_here(Html *html, const char *mark, const GPtrArray *order, GHashTable *there)
{
	guint shown = 0, more = 0;

	for (guint i = 0; i < order->len; i++) {
		const char *line = g_ptr_array_index(order, i);

		if (g_hash_table_contains(there, line))
			continue;
		if (shown == LINES_MAX) {
			more++;
			continue;
		}
		html_text(html, mark);
		html_text(html, line);
		html_raw(html, "\n");
		shown++;
	}
	if (more)
		html_textf(html, "%s… and %u more\n", mark, more);
}

void job_config_difference(Html *html, const JobView *view)
{
	g_autoptr(GPtrArray) base_order = g_ptr_array_new(), patched_order = g_ptr_array_new();
	g_autoptr(GHashTable) base = NULL, patched = NULL;

	if (!view->configs[0] || !view->configs[1])
		return;
	base = options(view->configs[0], base_order);
	patched = options(view->configs[1], patched_order);
	html_raw(html, "<details><summary>What the configurations differ in</summary>\n<pre tabindex=\"0\">");
	only_here(html, "-", base_order, patched);
	only_here(html, "+", patched_order, base);
	html_raw(html, "</pre></details>\n");
}
