/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What somebody needs to run a job again elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/artifacts.h"
#include "jobs/spec/file.h"
#include "web/reproduce.h"

#define ARTIFACT_BYTES (16 * 1024 * 1024)

GBytes *api_read_artifact(const Lab *lab, gint64 job, const char *name)
{
	guint64 size;
	int fd = artifact_open(lab, job, "artifacts", name, &size);
	char *data = NULL;
	gsize got = 0;
	gboolean read;

	if (fd < 0)
		return NULL;
	read = file_read_fd(fd, name, ARTIFACT_BYTES, &data, &got, NULL);
	close(fd);
	return read ? g_bytes_new_take(data, got) : NULL;
}

const char *api_tree_url(const Lab *lab, const char *tree)
{
	for (guint i = 0; i < lab->config->trees->len; i++) {
		const ConfigTree *row = g_ptr_array_index(lab->config->trees, i);

		if (g_str_equal(row->name, tree))
			return row->url;
	}
	return "";
}

static void answer_script(HttpRequest *request, Lab *lab, const RouteMatch *match, const StoreJob *job)
{
	g_autoptr(GBytes) record = api_read_artifact(lab, job->id, "guest.json"), base = api_read_artifact(lab, job->id, "config-base");
	g_autoptr(GBytes) patched = api_read_artifact(lab, job->id, "config-patched"), series = api_read_artifact(lab, job->id, "series.mbox");
	g_autoptr(JsonObject) guest = NULL;
	g_autofree char *name = NULL;
	const char *text;
	char *script;
	gsize size;

	text = record ? g_bytes_get_data(record, &size) : NULL;
	if (!text || !base || !patched || (job->spec->has_series && !series) || !job->source || !job->plan || !json_object_from_data(text, size, &guest, NULL)) {
		answer_error(request, 409, "not-measured", NULL, "job %" G_GINT64_FORMAT " cannot be run again from here: %s", job->id,
			     job_state_is_final(job->state) ? "not all is kept that a script needs" : "it is not being measured yet");
		return;
	}
	script = reproduce_script(&(ReproduceView){ .job = job, .record = guest, .url = lab->config->url,
						    .tree_remote = api_tree_url(lab, job->spec->tree), .series = series,
						    .configs = { base, patched } }, &size);
	answer_text(request, match->route->produces, script, size);
	name = g_strdup_printf("inline; filename=\"reproduce-%" G_GINT64_FORMAT ".sh\"", job->id);
	http_answer_header(request, "Content-Disposition", name);
}

void api_reproduce(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreJob) job = api_find_job(request, lab, match);

	if (job)
		answer_script(request, lab, match, job);
}

void api_guest_image(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	int fd = open(lab->config->guest_image, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0) {
		answer_trouble(request, 0, g_error_new(SPEC_ERROR, SPEC_ERROR_IO, "cannot open %s: %s", lab->config->guest_image,
						       g_strerror(errno)));
		if (fd >= 0)
			close(fd);
		return;
	}
	http_answer_file(request, match->route->produces, fd, 0, (guint64)status.st_size);
	http_answer_header(request, "Content-Disposition", "attachment; filename=\"guest.cpio\"");
	http_answer_header(request, "Cache-Control", "no-cache");
}
