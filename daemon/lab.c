/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/lab.h"

void lab_log(GLogLevelFlags level, gint64 job, const char *format, ...)
{
	g_autofree char *message = NULL;
	g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, job);
	va_list args;

	va_start(args, format);
	message = g_strdup_vprintf(format, args);
	va_end(args);
	if (job)
		g_log_structured("regrlabd", level, "JOB_ID", id, "MESSAGE", "job %s: %s", id, message);
	else
		g_log_structured("regrlabd", level, "MESSAGE", "%s", message);
}

char *lab_job_dir(const Lab *lab, gint64 job)
{
	return g_strdup_printf("%s/jobs/%" G_GINT64_FORMAT, lab->config->state_dir, job);
}
