/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <unistd.h>

#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/artifacts.h"

#define PIECE_BYTES (32 * 1024)

/* ---- samples ---- */

typedef struct {
	StoreSamples *samples;
	gint64 job;
	gboolean is_json;
	gboolean begun, ended;
	guint64 given;
} SampleStream;

static void free_stream(gpointer data)
{
	SampleStream *stream = data;

	store_samples_free(stream->samples);
	g_free(stream);
}

static void append_sample(SampleStream *stream, GString *out, const Sample *sample)
{
	if (!stream->is_json) {
		sample_append_csv(out, sample);
		return;
	}
	g_string_append(out, stream->given ? ",\n" : "\n");
	sample_append_json(out, sample);
}

static gboolean fill(GString *out, gpointer data)
{
	SampleStream *stream = data;
	const Sample *sample;
	g_autoptr(GError) error = NULL;

	if (stream->ended)
		return TRUE;
	if (!stream->begun)
		g_string_append(out, stream->is_json ? "[" : SAMPLE_CSV_HEADER "\r\n");
	stream->begun = TRUE;
	while (out->len < PIECE_BYTES && (sample = store_samples_next(stream->samples, &error))) {
		append_sample(stream, out, sample);
		stream->given++;
	}
	if (error) {
		lab_log(G_LOG_LEVEL_WARNING, stream->job, "samples: %s", error->message);
		return FALSE;
	}
	if (out->len < PIECE_BYTES) {
		stream->ended = TRUE;
		if (stream->is_json)
			g_string_append(out, "\n]\n");
	}
	return TRUE;
}

static void answer_samples(HttpRequest *request, Lab *lab, const RouteMatch *match, gboolean is_json)
{
	g_autoptr(StoreJob) job = api_find_job(request, lab, match);
	g_autofree char *etag = NULL, *name = NULL;
	SampleStream *stream;
	GError *error = NULL;

	if (!job)
		return;
	/* samples come with events, and nothing that was stored changes */
	etag = g_strdup_printf("\"%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT "-%s\"", job->id, job->last_seq,
			       is_json ? "json" : "csv");
	if (answer_is_known(request, etag)) {
		answer_not_modified(request, etag);
		return;
	}
	stream = g_new0(SampleStream, 1);
	stream->job = job->id;
	stream->is_json = is_json;
	if (!store_samples_open(lab->db, job->id, &stream->samples, &error)) {
		free_stream(stream);
		answer_trouble(request, job->id, error);
		return;
	}
	http_answer_stream(request, match->route->produces, fill, stream, free_stream);
	name = g_strdup_printf("inline; filename=\"job-%" G_GINT64_FORMAT "-samples.%s\"", job->id,
			       is_json ? "json" : "csv");
	http_answer_header(request, "Content-Disposition", name);
	http_answer_header(request, "ETag", etag);
	http_answer_header(request, "Cache-Control", "no-cache");
}

void api_samples_csv(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	answer_samples(request, lab, match, FALSE);
}

void api_samples_json(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	answer_samples(request, lab, match, TRUE);
}

/* ---- files of the run directory ---- */

/* From an offset to the present end; the next request starts where this one ended. */
void api_log(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreJob) job = api_find_job(request, lab, match);
	const char *from = http_request_query(request, "from");
	guint64 offset = 0, size = 0;
	char next[32];
	int fd;

	if (!job)
		return;
	if (from && !g_ascii_string_to_unsigned(from, 10, 0, G_MAXINT64, &offset, NULL)) {
		answer_error(request, 400, "malformed", "from", "'%.40s' is not an offset in bytes", from);
		return;
	}
	fd = artifact_open(lab, job->id, NULL, "log", &size);
	if (fd >= 0 && offset < size) {
		http_answer_file(request, TEXT_TYPE, fd, offset, size - offset);
	} else {
		if (fd >= 0)
			close(fd);
		http_answer(request, 200, TEXT_TYPE, NULL, 0);
	}
	g_snprintf(next, sizeof(next), "%" G_GUINT64_FORMAT, MAX(offset, size));
	http_answer_header(request, "X-Next-Offset", next);
	http_answer_header(request, "X-Job-State", job_state_name(job->state));
	http_answer_header(request, "Cache-Control", "no-store");
}

void api_artifact(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreJob) job = api_find_job(request, lab, match);
	const char *type;
	guint64 size;
	int fd;

	if (!job)
		return;
	fd = artifact_name_is_good(match->name) ? artifact_open(lab, job->id, "artifacts", match->name, &size) : -1;
	if (fd < 0) {
		answer_error(request, 404, "not-found", NULL, "job %" G_GINT64_FORMAT " has no such artifact", job->id);
		return;
	}
	type = artifact_type(match->name);
	http_answer_file(request, type, fd, 0, size);
	if (g_str_equal(type, "application/octet-stream"))
		http_answer_header(request, "Content-Disposition", "attachment");
	http_answer_header(request, "Cache-Control", "no-cache");
}
