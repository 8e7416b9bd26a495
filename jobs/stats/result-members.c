/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/result-members.h"

#define MEMBER(type_, name_, field_, kind_, ...) \
	{ .name = name_, .kind = STATS_MEMBER_##kind_, .offset = G_STRUCT_OFFSET(type_, field_), ##__VA_ARGS__ }
#define REQUIRED .required = TRUE
#define C(name_, field_, kind_, ...) MEMBER(StatsComparison, name_, field_, kind_, ##__VA_ARGS__)
#define R(name_, field_, kind_, ...) MEMBER(StatsResult, name_, field_, kind_, ##__VA_ARGS__)
#define F(name_, field_, kind_, ...) MEMBER(StatsFailures, name_, field_, kind_, ##__VA_ARGS__)

static const StatsMember comparison_members[] = {
	C("benchmark", benchmark, TEXT, REQUIRED),
	C("params", params, TEXT, REQUIRED),
	C("metric", metric, TEXT, REQUIRED),
	C("unit", unit, TEXT, REQUIRED),
	C("better", better, BETTER, REQUIRED),
	C("primary", primary, BOOL, REQUIRED),
	C("clock", clock, TEXT),
	C("boots", boots, ARMS, REQUIRED),
	C("boots_rejected", boots_rejected, ARMS),
	C("runs", runs, COUNT),
	C("runs_rejected", runs_rejected, COUNT),
	C("passes", passes, COUNT),
	C("base", mean[SAMPLE_ARM_BASE], DOUBLE),
	C("patched", mean[SAMPLE_ARM_PATCHED], DOUBLE),
	C("change_pct", change_pct, DOUBLE),
	C("ci_low_pct", ci_low_pct, DOUBLE),
	C("ci_high_pct", ci_high_pct, DOUBLE),
	C("ci_level", ci_level, DOUBLE),
	C("p", p, DOUBLE),
	C("p_holm", p_holm, DOUBLE),
	C("p_bh", p_bh, DOUBLE),
	C("p_permutation", p_permutation, DOUBLE),
	C("permutation_exact", permutation_exact, BOOL),
	C("drift_adjusted", drift_adjusted, BOOL),
	C("drift_p", drift_p, DOUBLE),
	C("hl_shift_pct", hl_shift_pct, DOUBLE),
	C("hl_low_pct", hl_low_pct, DOUBLE),
	C("hl_high_pct", hl_high_pct, DOUBLE),
	C("residual_sd_pct", residual_sd_pct, DOUBLE),
	C("boot_sd_pct", boot_sd_pct, DOUBLE),
	C("run_sd_pct", run_sd_pct, DOUBLE),
	C("pass_sd_pct", pass_sd_pct, DOUBLE),
	C("components_truncated", components_truncated, BOOL),
	C("method", method, TEXT),
	C("look", look, MAYBE),
	C("stop", stop, STOP),
	C("early", early, BOOL),
	C("verdict", verdict, VERDICT, REQUIRED),
	C("reason", reason, TEXT, REQUIRED),
	C("boots_needed", boots_needed, MAYBE),
	C("outliers", outliers, OUTLIERS),
	C("without_outliers_change_pct", without_change_pct, DOUBLE),
	C("without_outliers_ci_low_pct", without_ci_low_pct, DOUBLE),
	C("without_outliers_ci_high_pct", without_ci_high_pct, DOUBLE),
	C("seed", seed, INT64),
	C("boot_values", boot_values, VALUES),
};

static const StatsMember failures_members[] = {
	F("boots", boots, ARMS),
	F("failed", failed, ARMS),
	F("p", p, DOUBLE),
	F("verdict", verdict, VERDICT, REQUIRED),
	F("reason", reason, TEXT, REQUIRED),
};

static const StatsMember result_members[] = {
	R("method", method, TEXT, REQUIRED),
	R("clock", clock, TEXT),
	R("alpha", alpha, DOUBLE, REQUIRED),
	R("min_effect_pct", min_effect_pct, DOUBLE, REQUIRED),
	R("max_boots", max_boots, MAYBE),
	R("seed", seed, INT64, REQUIRED),
	R("rule", rule, RULE),
	R("looks", looks, COUNTS),
	R("look", look, MAYBE),
	R("pairs", pairs, MAYBE),
	R("stop", stop, STOP),
	R("arguments", arguments, TEXT),
	R("summary", summary, TEXT, REQUIRED),
};

const StatsMembers stats_result_members = { result_members, G_N_ELEMENTS(result_members) };
const StatsMembers stats_comparison_members = { comparison_members, G_N_ELEMENTS(comparison_members) };
const StatsMembers stats_failures_members = { failures_members, G_N_ELEMENTS(failures_members) };
