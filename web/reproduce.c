/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/reproduce.h"

#include <string.h>

#include "jobs/spec/peek.h"
#include "jobs/spec/text.h"
#include "web/static.h"

#define COLUMNS		76
#define BOOTS_LEAST	2
#define BOOTS_MOST	10	/* that are made if nobody says how many */

static void text(GString *out, const char *name, const char *value)
{
	g_autofree char *plain = text_plain(value ? value : ""), *quoted = g_shell_quote(plain);

	g_string_append_printf(out, "%s=%s\n", name, quoted);
}

static void number(GString *out, const char *name, gint64 value)
{
	g_string_append_printf(out, "%s=%" G_GINT64_FORMAT "\n", name, value);
}

/* A function that prints the file. */
static void file(GString *out, const char *name, const void *data, gsize size)
{
	g_autofree char *encoded = g_base64_encode(data, size);
	gsize length = strlen(encoded);

	g_string_append_printf(out, "\n%s() {\n\tbase64 -d <<'END'\n", name);
	for (gsize at = 0; at < length; at += COLUMNS)
		g_string_append_printf(out, "%.*s\n", COLUMNS, encoded + at);
	g_string_append(out, "END\n}\n");
}

static void bytes_file(GString *out, const char *name, GBytes *bytes)
{
	gsize size = 0;
	const void *data = bytes ? g_bytes_get_data(bytes, &size) : "";

	file(out, name, data, size);
}

static void facts(GString *out, const ReproduceView *view)
{
	const StoreJob *job = view->job;
	JsonObject *record = view->record;
	g_autofree char *image = g_strconcat(view->url, "/api/v1/guest.cpio", NULL);

	number(out, "JOB", job->id);
	text(out, "LAB_URL", view->url);
	text(out, "SUBJECT", job->spec->subject);
	text(out, "TREE_REMOTE", view->tree_remote);
	text(out, "BASE_COMMIT", peek_string(job->source, "base_commit"));
	text(out, "HEAD_COMMIT", view->series ? "" : job->spec->head);
	text(out, "PATCHED_TREE", peek_string(job->source, "patched_tree"));
	text(out, "COMPILER", peek_string(job->arms[0], "compiler"));
	text(out, "ORDER", peek_string(job->plan, "order"));
	number(out, "BOOTS", CLAMP(job->boots_valid[0], BOOTS_LEAST, BOOTS_MOST));
	text(out, "ACCELERATOR", peek_string(record, "accelerator"));
	text(out, "CLOCK", peek_string(record, "clock"));
	text(out, "MACHINE", peek_string(record, "machine"));
	text(out, "CMDLINE", peek_string(record, "cmdline"));
	number(out, "CPUS", peek_int(record, "cpus", 2));
	number(out, "MEMORY_MIB", peek_int(record, "memory_mib", 1024));
	number(out, "DISK_MIB", peek_int(record, "disk_mib", 0));
	text(out, "IMAGE_URL", image);
	text(out, "IMAGE_SHA256", peek_string(record, "image_sha256"));
}

char *reproduce_script(const ReproduceView *view, gsize *ret_size)
{
	static const char first[] = "#!/bin/sh\n";
	const StaticFile *body = static_file("reproduce.sh");
	const char *plan = peek_string(view->record, "plan");
	GString *out = g_string_new(first);	/* then, for shellcheck: what others wrote is meant to stay as it is */

	g_string_append_printf(out, "# shellcheck disable=SC2016\n# Runs job %" G_GINT64_FORMAT " of a regrlab again. `sh reproduce.sh --help` says how.\n\n",
			       view->job->id);
	facts(out, view);
	bytes_file(out, "give_series", view->series);
	bytes_file(out, "give_config_base", view->configs[0]);
	bytes_file(out, "give_config_patched", view->configs[1]);
	file(out, "give_plan", plan, strlen(plan));
	g_string_append_c(out, '\n');
	g_string_append_len(out, (const char *)body->data + strlen(first), (gssize)(body->size - strlen(first)));
	*ret_size = out->len;
	return g_string_free(out, FALSE);
}
