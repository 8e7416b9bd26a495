/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-job-parts.h"

void job_href(Html *html, const JobView *view, const char *name, gboolean artifact)
{
	html_raw(html, "href=\"/api/v1/jobs/");
	html_attrf(html, "%" G_GINT64_FORMAT, view->job->id);
	if (artifact)
		html_raw(html, "/artifacts");
	if (*name) {
		html_raw(html, "/");
		html_url(html, name);
	}
	html_raw(html, "\"");
}

gboolean job_has_artifact(const JobView *view, const char *name)
{
	return view->artifacts && g_strv_contains(view->artifacts, name);
}
