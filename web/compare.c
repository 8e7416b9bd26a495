/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/compare.h"

#include <math.h>

#include "jobs/spec/peek.h"
#include "jobs/stats/indirect.h"

static const char *const relations[] = {
	[COMPARE_ITSELF] = "itself",
	[COMPARE_DIRECT] = "direct",
	[COMPARE_SHARED] = "shared",
	[COMPARE_APART] = "apart",
};

const char *compare_relation_name(CompareRelation relation)
{
	return relations[relation];
}

const char *compare_kernel_image(const CompareJob *job, SampleArm arm)
{
	return peek_string(job->job->arms[arm], "kernel_sha256");
}

static gboolean same_image(const CompareJob *a, SampleArm a_arm, const CompareJob *b, SampleArm b_arm)
{
	const char *image = compare_kernel_image(a, a_arm);

	return (a->job->id == b->job->id && a_arm == b_arm) || (*image && g_str_equal(image, compare_kernel_image(b, b_arm)));
}

static SampleArm other(SampleArm arm)
{
	return arm == SAMPLE_ARM_BASE ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE;
}

/* ---- how a kernel is related to the reference ---- */

static gboolean differ(const char *a, const char *b)
{
	return g_strcmp0(a, b) != 0;
}

static gboolean same_place(const CompareJob *a, const CompareJob *b)
{
	return a->result->clock && !differ(a->result->clock, b->result->clock) && !differ(a->job->host, b->job->host);
}

/* Why figures of the two jobs have nothing to do with each other; NULL: they may. The caller's. */
static char *obstacle(const CompareJob *a, const CompareJob *b)
{
	if (!a->result->clock || !b->result->clock || differ(a->result->clock, b->result->clock))
		return g_strdup_printf("Its clock is %s and the reference's %s: what they count is not the same, so their figures "
				       "are never compared.", b->result->clock ? b->result->clock : "mixed",
				       a->result->clock ? a->result->clock : "mixed");
	if (differ(a->job->host, b->job->host))
		return g_strdup_printf("It was measured on %s and the reference on %s: what the machines differ by would be taken for "
				       "a difference of the kernels.", b->job->host, a->job->host);
	if (differ(peek_string(a->job->accelerator, "qemu_version"), peek_string(b->job->accelerator, "qemu_version")))
		return g_strdup("Another version of QEMU ran it than the reference.");
	return NULL;
}

static void relate_apart(CompareKernel *kernel, char *why)
{
	kernel->relation = COMPARE_APART;
	kernel->why = why;
}

static void relate_direct(CompareKernel *kernel, const CompareJob *job, SampleArm arm)
{
	kernel->relation = COMPARE_DIRECT;
	kernel->job = job;
	kernel->reversed = arm == SAMPLE_ARM_BASE;
	kernel->why = g_strdup_printf("Job %" G_GINT64_FORMAT " booted both by turns: this is its result%s.", job->job->id,
				      kernel->reversed ? ", seen from its patched kernel" : "");
}

static gboolean relate_shared(const CompareKernel *reference, CompareKernel *kernel)
{
	SampleArm thirds[2] = { other(reference->arm), other(kernel->arm) };

	if (!same_image(&reference->of, thirds[0], &kernel->of, thirds[1]))
		return FALSE;
	kernel->relation = COMPARE_SHARED;
	kernel->third[0] = thirds[0];
	kernel->third[1] = thirds[1];
	kernel->why = g_strdup_printf("Job %" G_GINT64_FORMAT " and job %" G_GINT64_FORMAT " each measured one of the two beside the same "
				      "third kernel: this is the difference of the two changes.", reference->of.job->id,
				      kernel->of.job->id);
	return TRUE;
}

static void relate(const CompareKernel *reference, CompareKernel *kernel)
{
	char *why;

	if (same_image(&reference->of, reference->arm, &kernel->of, kernel->arm)) {
		kernel->relation = COMPARE_ITSELF;
		kernel->why = g_strdup(reference == kernel ? "The reference." : "The same kernel image as the reference: where figures differ, "
							     "the host or chance did it.");
		return;
	}
	why = obstacle(&reference->of, &kernel->of);
	if (why)
		relate_apart(kernel, why);
	else if (same_image(&reference->of, reference->arm, &kernel->of, other(kernel->arm)))
		relate_direct(kernel, &kernel->of, kernel->arm);
	else if (same_image(&kernel->of, kernel->arm, &reference->of, other(reference->arm)))
		relate_direct(kernel, &reference->of, other(reference->arm));
	else if (!relate_shared(reference, kernel))
		relate_apart(kernel, g_strdup("No job booted it by turns with the reference, nor both of them with one third kernel. Boots of "
					      "different times differ by what the host did meanwhile, so no change is given."));
}

/* ---- one parameter set ---- */

static gboolean same_set(const StatsComparison *a, const StatsComparison *b)
{
	return b->primary && !differ(a->benchmark, b->benchmark) && !differ(a->params, b->params) && !differ(a->metric, b->metric) &&
	       !differ(a->unit, b->unit) && a->better == b->better;
}

static const StatsComparison *find_set(const StatsResult *result, const StatsComparison *like)
{
	for (guint i = 0; i < result->comparisons->len; i++) {
		const StatsComparison *one = g_ptr_array_index(result->comparisons, i);

		if (same_set(like, one))
			return one;
	}
	return NULL;
}

/* A change and its interval seen from the other kernel. */
static double seen_from_there(double pct)
{
	return 100 * (1 / (1 + pct / 100) - 1);
}

static void fill_direct(CompareCell *cell, const CompareKernel *kernel, const StatsComparison *like)
{
	const StatsComparison *one = find_set(kernel->job->result, like);

	if (!one)
		return;
	cell->direct = one;
	cell->p = one->p_holm;
	cell->change_pct = kernel->reversed ? seen_from_there(one->change_pct) : one->change_pct;
	cell->low_pct = kernel->reversed ? seen_from_there(one->ci_high_pct) : one->ci_low_pct;
	cell->high_pct = kernel->reversed ? seen_from_there(one->ci_low_pct) : one->ci_high_pct;
}

/* From the third kernel to this one. */
static gboolean effect_from(const StatsComparison *one, SampleArm third, StatsEffect *ret_effect)
{
	return stats_effect(one->boot_values[third], one->boot_values[other(third)], ret_effect);
}

static gboolean fill_shared(CompareCell *cell, const CompareKernel *reference, const CompareKernel *kernel, const StatsComparison *like,
			    guint shared)
{
	const StatsComparison *there = find_set(reference->of.result, like);
	StatsEffect effects[2];
	StatsDifference difference;

	if (!there || !cell->comparison || !effect_from(there, kernel->third[0], &effects[0]) ||
	    !effect_from(cell->comparison, kernel->third[1], &effects[1]))
		return FALSE;
	difference = stats_effect_difference(&effects[0], &effects[1], 1 - COMPARE_ALPHA / MAX(shared, 1));
	cell->change_pct = difference.change_pct;
	cell->low_pct = difference.low_pct;
	cell->high_pct = difference.high_pct;
	cell->p = isnan(difference.p) ? NAN : MIN(difference.p * MAX(shared, 1), 1);
	return TRUE;
}

/* Gives how many of its changes are by way of a shared kernel; `shared` of them are looked at together. */
static guint fill_row(CompareRow *row, const GArray *kernels, guint shared)
{
	const CompareKernel *reference = &g_array_index(kernels, CompareKernel, 0);
	guint count = 0;

	for (guint i = 0; i < kernels->len; i++) {
		const CompareKernel *kernel = &g_array_index(kernels, CompareKernel, i);
		CompareCell *cell = &row->cells[i];

		*cell = (CompareCell){ .value = NAN, .change_pct = NAN, .low_pct = NAN, .high_pct = NAN, .p = NAN };
		/* a figure of another host or clock has no place beside the reference's */
		if (same_place(&reference->of, &kernel->of))
			cell->comparison = find_set(kernel->of.result, row->measured);
		if (cell->comparison)
			cell->value = cell->comparison->mean[kernel->arm];
		if (kernel->relation == COMPARE_DIRECT)
			fill_direct(cell, kernel, row->measured);
		else if (kernel->relation == COMPARE_SHARED)
			count += fill_shared(cell, reference, kernel, row->measured, shared);
	}
	return count;
}

static gboolean has_row(const GArray *rows, const StatsComparison *like)
{
	for (guint i = 0; i < rows->len; i++)
		if (same_set(g_array_index(rows, CompareRow, i).measured, like))
			return TRUE;
	return FALSE;
}

static void collect_rows(GArray *rows, const StatsResult *result)
{
	for (guint i = 0; i < result->comparisons->len; i++) {
		CompareRow row = { .measured = g_ptr_array_index(result->comparisons, i) };

		if (row.measured->primary && !has_row(rows, row.measured))
			g_array_append_val(rows, row);
	}
}

static void kernel_clear(gpointer data)
{
	g_free(((CompareKernel *)data)->why);
}

Comparison *comparison_new(GArray *kernels)
{
	Comparison *comparison = g_new0(Comparison, 1);

	comparison->kernels = kernels;
	comparison->rows = g_array_new(FALSE, TRUE, sizeof(CompareRow));
	g_array_set_clear_func(kernels, kernel_clear);
	for (guint i = 0; i < kernels->len; i++) {
		CompareKernel *kernel = &g_array_index(kernels, CompareKernel, i);

		relate(&g_array_index(kernels, CompareKernel, 0), kernel);
		if (same_place(&g_array_index(kernels, CompareKernel, 0).of, &kernel->of))
			collect_rows(comparison->rows, kernel->of.result);
	}
	for (guint i = 0; i < comparison->rows->len; i++)
		comparison->shared += fill_row(&g_array_index(comparison->rows, CompareRow, i), kernels, 1);
	for (guint i = 0; i < comparison->rows->len; i++)
		fill_row(&g_array_index(comparison->rows, CompareRow, i), kernels, comparison->shared);
	return comparison;
}

void comparison_free(Comparison *comparison)
{
	if (!comparison)
		return;
	g_array_unref(comparison->kernels);
	g_array_unref(comparison->rows);
	g_free(comparison);
}
