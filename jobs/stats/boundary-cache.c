/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/boundary.h"
#include "jobs/stats/value-file.h"

/* All that goes in, as text. */
static char *boundary_inputs(const SampleArm *arm, const gint64 *start_ns, const StatsLooks *looks, const double *alphas,
			     gsize alpha_count, guint paths, gint64 seed)
{
	GString *text = g_string_new("regrlab-boundary 1\n");

	g_string_append_printf(text, "paths %u seed %" G_GINT64_FORMAT "\n", paths, seed);
	for (gsize k = 0; k < looks->count; k++)
		g_string_append_printf(text, "look %zu %a\n", looks->boots[k], looks->fraction[k]);
	for (gsize j = 0; j < alpha_count; j++)
		g_string_append_printf(text, "alpha %a\n", alphas[j]);
	for (gsize i = 0; i < looks->boots[looks->count - 1]; i++)
		g_string_append_printf(text, "boot %c %" G_GINT64_FORMAT "\n", arm[i] == SAMPLE_ARM_BASE ? 'A' : 'B',
				       start_ns[i] - start_ns[0]);
	return g_string_free(text, FALSE);
}

void stats_boundary_cached(const char *dir, const SampleArm *arm, const gint64 *start_ns, const StatsLooks *looks,
			   const double *alphas, gsize alpha_count, guint paths, gint64 seed, double *ret_p)
{
	g_autofree char *inputs = boundary_inputs(arm, start_ns, looks, alphas, alpha_count, paths, seed);
	gsize count = alpha_count * looks->count;

	if (stats_values_read(dir, inputs, count, ret_p))
		return;
	stats_boundary(arm, start_ns, looks, alphas, alpha_count, paths, seed, ret_p);
	stats_values_write(dir, inputs, ret_p, count);
}
