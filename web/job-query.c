/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/job-query.h"

const char *job_query_state(const StoreFilter *filter)
{
	if (filter->live)
		return "live";
	if (filter->ended)
		return "ended";
	return filter->by_state ? job_state_name(filter->state) : NULL;
}

char *job_query(const StoreFilter *filter, gint64 cursor)
{
	const struct {
		const char *name, *value;
	} parts[] = {
		{ "subject", filter->subject }, { "author", filter->author }, { "commit", filter->commit },
		{ "tree", filter->tree }, { "benchmark", filter->benchmark }, { "verdict", filter->verdict },
		{ "state", job_query_state(filter) },
	};
	GString *query = g_string_new(NULL);

	for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
		if (!parts[i].value)
			continue;
		g_string_append_printf(query, "%c%s=", query->len ? '&' : '?', parts[i].name);
		g_string_append_uri_escaped(query, parts[i].value, NULL, FALSE);
	}
	if (cursor)
		g_string_append_printf(query, "%ccursor=%" G_GINT64_FORMAT, query->len ? '&' : '?', cursor);
	return g_string_free(query, FALSE);
}
