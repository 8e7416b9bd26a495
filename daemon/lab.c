/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/lab.h"

#define MAX_FIELDS 6

static void add(GLogField fields[MAX_FIELDS], gsize *n, const char *key, const char *value)
{
	if (value)
		fields[(*n)++] = (GLogField){ key, value, -1 };
}

/* To the journal if stderr leads there, else to stderr, where the fields are not seen. */
static void log_fields(GLogLevelFlags level, const char *job, const char *stage, const char *host, const char *message)
{
	const char *priority = level & G_LOG_LEVEL_WARNING ? "4" : level & G_LOG_LEVEL_MESSAGE ? "5" : "6";
	GLogField fields[MAX_FIELDS];
	gsize n = 0;

	add(fields, &n, "PRIORITY", priority);
	add(fields, &n, "GLIB_DOMAIN", "regrlabd");
	add(fields, &n, "MESSAGE", message);
	add(fields, &n, "JOB_ID", job);
	add(fields, &n, "STAGE", stage);
	add(fields, &n, "HOST", host);
	g_log_structured_array(level, fields, n);
}

void lab_log(GLogLevelFlags level, gint64 job, const char *format, ...)
{
	g_autofree char *words = NULL, *message = NULL;
	g_autofree char *id = job ? g_strdup_printf("%" G_GINT64_FORMAT, job) : NULL;
	va_list args;

	va_start(args, format);
	words = g_strdup_vprintf(format, args);
	va_end(args);
	message = job ? g_strdup_printf("job %s: %s", id, words) : g_steal_pointer(&words);
	log_fields(level, id, NULL, NULL, message);
}

void lab_log_stage(GLogLevelFlags level, gint64 job, const char *stage, const char *host, const char *format, ...)
{
	g_autofree char *words = NULL, *message = NULL, *id = g_strdup_printf("%" G_GINT64_FORMAT, job);
	va_list args;

	va_start(args, format);
	words = g_strdup_vprintf(format, args);
	va_end(args);
	message = g_strdup_printf("job %s: %s", id, words);
	log_fields(level, id, stage, host, message);
}

char *lab_job_dir(const Lab *lab, gint64 job)
{
	return g_strdup_printf("%s/jobs/%" G_GINT64_FORMAT, lab->config->state_dir, job);
}

char **lab_tree_names(const Lab *lab)
{
	g_autoptr(GStrvBuilder) names = g_strv_builder_new();

	for (guint i = 0; i < lab->config->trees->len; i++)
		g_strv_builder_add(names, ((const ConfigTree *)g_ptr_array_index(lab->config->trees, i))->name);
	return g_strv_builder_end(names);
}
