/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/words.h"

#include <math.h>

#include "jobs/stats/figure.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

static const char *const states[JOB_N_STATES] = {
	[JOB_QUEUED] = "waits in the queue",
	[JOB_BUILDING] = "builds the kernels",
	[JOB_WAITING_FOR_HOST] = "waits for a host",
	[JOB_MEASURING] = "measures",
	[JOB_DONE] = "done",
	[JOB_APPLY_FAILED] = "the series does not apply",
	[JOB_BUILD_FAILED] = "a kernel does not build",
	[JOB_BOOT_FAILED] = "a kernel does not run",
	[JOB_INFRA_FAILED] = "the lab failed",
	[JOB_CANCELLED] = "cancelled",
};

static const WordsVerdict verdicts[STATS_VERDICT_COUNT] = {
	[STATS_VERDICT_INVALID] = { "INVALID", "!", "invalid", "these data cannot answer" },
	[STATS_VERDICT_INSUFFICIENT] = { "INSUFFICIENT", "…", "open", "too few boots count for any verdict" },
	[STATS_VERDICT_EQUIVALENT] = { "EQUIVALENT", "=", "same", "no change that matters" },
	[STATS_VERDICT_REGRESSION] = { "REGRESSION", "▲", "worse", "the patched kernel is worse" },
	[STATS_VERDICT_IMPROVEMENT] = { "IMPROVEMENT", "▼", "better", "the patched kernel is better" },
	[STATS_VERDICT_INCONCLUSIVE] = { "INCONCLUSIVE", "?", "open", "these boots do not decide it" },
};

const char *words_state(JobState state)
{
	return states[state];
}

const WordsVerdict *words_verdict(StatsVerdict verdict)
{
	return &verdicts[verdict];
}

const char *words_direction(const StatsComparison *comparison)
{
	gboolean worse;

	if (isnan(comparison->change_pct) || comparison->change_pct == 0)
		return "";
	worse = (comparison->change_pct > 0) == (comparison->better == SAMPLE_BETTER_LOWER);
	if (comparison->primary)
		return worse ? "slower" : "faster";
	return worse ? "worse" : "better";
}

/* A failure of the patched kernel alone is a finding about the patch. */
const char *words_end(JobState state, const char *failed_arm, const char *reason)
{
	gboolean patched = g_str_equal(failed_arm, "patched"), base = g_str_equal(failed_arm, "base");

	switch (state) {
	case JOB_BUILD_FAILED:
		return patched ? "The patched kernel does not build; the base does" :
		       base    ? "The base kernel does not build, so nothing is known of the patches" :
				 "A kernel does not build";
	case JOB_BOOT_FAILED:
		return patched ? "The patched kernel does not run; the base does" :
		       base    ? "The base kernel does not run, so nothing is known of the patches" :
				 "A kernel does not run";
	case JOB_APPLY_FAILED:
		return g_str_has_suffix(reason, "-not-found") ? "A commit that was asked for is not in the tree" :
								     "The series does not apply";
	case JOB_INFRA_FAILED:
		return "The lab could not do this job, which says nothing about the patches";
	case JOB_CANCELLED:
		return "Cancelled before there was an answer";
	default:
		return "No answer yet";
	}
}

char *words_headline(const StoreJob *job, const StatsResult *result)
{
	GString *text;

	if (job->state == JOB_DONE && result && stats_result_latest(result)->summary && *stats_result_latest(result)->summary)
		text = g_string_new(stats_result_latest(result)->summary);
	else if (job->state == JOB_DONE)
		text = g_string_new("Measured, but there is no result");
	else if (job_state_is_final(job->state))
		text = g_string_new(words_end(job->state, job->failed_arm, job->reason));
	else if (job->cancel_asked)
		text = g_string_new("No answer: being cancelled");
	else {
		text = g_string_new(NULL);
		g_string_printf(text, "No answer yet: the job %s", states[job->state]);
	}
	if (text->len > 0 && !g_str_has_suffix(text->str, "."))
		g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

char *words_time(gint64 time_ns)
{
	g_autoptr(GDateTime) time = time_ns ? g_date_time_new_from_unix_utc(time_ns / NS_PER_S) : NULL;

	return time ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S UTC") : g_strdup("");
}

char *words_p(double p)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];

	if (isnan(p))
		return g_strdup("-");
	if (p < .001)
		return g_strdup("<0.001");
	return g_strdup(g_ascii_formatd(number, sizeof(number), "%.3f", p));
}

char *words_interval(double low_pct, double high_pct)
{
	GString *text;

	if (isnan(low_pct) || isnan(high_pct))
		return g_strdup("-");
	text = g_string_new("[");
	stats_append_percent(text, low_pct);
	g_string_append(text, ", ");
	stats_append_percent(text, high_pct);
	g_string_append_c(text, ']');
	return g_string_free(text, FALSE);
}
