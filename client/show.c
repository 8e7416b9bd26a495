/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/options.h"

static void fact(const char *name, const char *value)
{
	if (!*value)
		return;
	printf("%-14s ", name);
	options_print(value);
	putchar('\n');
}

static void print_progress(JsonObject *progress)
{
	gint64 eta_s = peek_int(progress, "eta_s", -1);

	fact("step", peek_string(progress, "step"));
	if (peek_int(progress, "boots_total", 0))
		printf("%-14s %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT "\n", "boots", peek_int(progress, "boots_done", 0),
		       peek_int(progress, "boots_total", 0));
	if (eta_s >= 0) {
		g_autofree char *left = text_duration(eta_s * G_GINT64_CONSTANT(1000000000));

		fact("left, about", left);
	}
}

static void print_job(const Remote *remote, JsonObject *job)
{
	JsonObject *spec = peek_object(job, "spec"), *source = peek_object(job, "source");
	JsonObject *detail = peek_object(job, "detail"), *accelerator = peek_object(job, "accelerator");
	JsonArray *benchmarks = peek_array(spec, "benchmarks");

	printf("%-14s %" G_GINT64_FORMAT "\n", "job", peek_int(job, "id", 0));
	fact("subject", peek_string(spec, "subject"));
	fact("author", peek_string(spec, "author"));
	fact("state", peek_string(job, "state"));
	if (!peek_bool(job, "final"))
		print_progress(peek_object(job, "progress"));
	fact("reason", peek_string(job, "reason"));
	fact("message", peek_string(job, "message"));
	fact("kernel", peek_string(job, "failed_arm"));
	fact("file", peek_string(detail, "file"));
	fact("hunk", peek_string(detail, "hunk"));
	fact("error", peek_string(detail, "error"));
	fact("tree", peek_string(spec, "tree"));
	fact("base", peek_string(source, "base_commit"));
	fact("chosen by", peek_string(source, "base_chosen_by"));
	for (guint i = 0; i < peek_length(benchmarks); i++)
		fact(i ? "" : "benchmarks", json_array_get_string_element(benchmarks, i));
	fact("host", peek_string(job, "host"));
	fact("accelerator", peek_string(accelerator, "accelerator"));
	fact("clock", *peek_string(accelerator, "clock") ? peek_string(accelerator, "clock") : peek_string(spec, "clock"));
	fact("submitted", peek_string(job, "created"));
	fact("ended", peek_string(job, "finished"));
	printf("%-14s %s/jobs/%" G_GINT64_FORMAT "\n", "page", remote_server(remote), peek_int(job, "id", 0));
}

int cmd_show(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) job = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	gint64 number;

	if (!options_parse(argc, argv, NULL, TRUE, "JOB", "Prints what is known of a job.", 1, 1, &common) ||
	    !options_job(argv[0], common.words[0], &number))
		return EXIT_USAGE;
	remote = options_remote(argv[0], &common);
	if (!remote)
		return EXIT_TROUBLE;
	path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT, number);
	job = remote_get(remote, path, &error);
	if (!job)
		return options_trouble(argv[0], error);
	if (common.json)
		options_print_json(job);
	else
		print_job(remote, job);
	return EXIT_OK;
}
