/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/control.h"

gboolean stats_has_control(const SampleTable *table)
{
	for (gsize i = 0; i < sample_table_length(table); i++)
		if (sample_table_get(table, i)->arm == SAMPLE_ARM_CONTROL)
			return TRUE;
	return FALSE;
}

/* Base and control, as base and patched. */
static SampleTable *relabelled(const SampleTable *table, guint *ret_pairs, GError **error)
{
	g_autoptr(SampleTable) own = sample_table_new();

	*ret_pairs = 1;
	for (gsize i = 0; i < sample_table_length(table); i++) {
		Sample sample = *sample_table_get(table, i);

		if (sample.arm == SAMPLE_ARM_PATCHED)
			continue;
		if (sample.arm == SAMPLE_ARM_CONTROL) {
			sample.arm = SAMPLE_ARM_PATCHED;
			*ret_pairs = MAX(*ret_pairs, (guint)sample.pair + 1);
		}
		if (!sample_table_append(own, &sample, error))
			return NULL;
	}
	return g_steal_pointer(&own);
}

StatsResult *stats_analyse_control(const SampleTable *table, const StatsOptions *options, GError **error)
{
	StatsOptions own = *options;
	g_autoptr(SampleTable) pair = relabelled(table, &own.max_boots, error);
	StatsResult *result;

	own.rule = STATS_RULE_FIXED;
	own.failed_boots[SAMPLE_ARM_BASE] = own.failed_boots[SAMPLE_ARM_PATCHED] = 0;
	result = pair ? stats_analyse(pair, &own, error) : NULL;
	if (!result)
		return NULL;
	g_free(result->summary);
	result->summary = g_strdup("The base kernel against itself: 'patched' stands for the control arm, and any change is a "
				   "false alarm.");
	g_autofree char *arguments = g_steal_pointer(&result->arguments);
	result->arguments = g_strconcat("--control ", arguments, NULL);
	return result;
}
