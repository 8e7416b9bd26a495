/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that pages need. */
#include "daemon/answer.h"
#include "daemon/api.h"
#include "web/static.h"

void pages_static(HttpRequest *request, Lab *lab G_GNUC_UNUSED, const RouteMatch *match)
{
	const StaticFile *file = static_file(match->name);

	if (!file) {
		answer_error(request, 404, "not-found", NULL, "there is no such file");
		return;
	}
	if (answer_is_known(request, file->etag)) {
		answer_not_modified(request, file->etag);
		return;
	}
	http_answer_static(request, file->content_type, file->data, file->size);
	http_answer_header(request, "ETag", file->etag);
	http_answer_header(request, "Cache-Control", "max-age=3600");
}
