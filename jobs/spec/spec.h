/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job asks for: spec.json of a run directory, the body of POST /jobs,
 * and the form fields of the same names. Pure: opens no file of the lab.
 *
 * A JobSpec that came from here is within every limit below; nothing that
 * uses one checks again.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/clock.h"
#include "jobs/spec/error.h"

#define SPEC_MAX_BYTES		(64 * 1024)	/* of spec.json or of a JSON body without the series */
#define SPEC_MAX_NAME		128		/* bytes of a tree, profile, benchmark or parameter name */
#define SPEC_MAX_TEXT		512		/* bytes of a commit, subject, author or address */
#define SPEC_MAX_BENCHMARKS	16
#define SPEC_MAX_PARAMS		64
#define SPEC_MAX_LABELS		16
#define SPEC_MAX_REPLICAS	16
#define SPEC_MIN_BOOTS		1		/* boots an arm */
#define SPEC_MAX_BOOTS		100
#define SPEC_MAX_MORE		400		/* boots an arm that may be added to a job that is done, in all */
#define SPEC_DEFAULT_BOOTS	10
#define SPEC_MAX_CONFIG_BYTES	(1024 * 1024)	/* of an uploaded kernel configuration */

typedef struct {
	gint64 job;		/* 0 until the store gives it a number */
	char *kind;		/* compare or calibrate: the base kernel with itself */
	char *tree;		/* name in the configuration; empty: the first one */
	char *base;		/* commit-ish as asked; empty: trailer, else the tree's branch */
	char *head;		/* commit-ish to compare with base; empty if a series came */
	gboolean has_series;	/* series.mbox lies beside spec.json */
	char *config;		/* kernel configuration profile, e.g. lab-min */
	gboolean has_config;	/* file 'config' lies beside spec.json and is used instead */
	char **benchmarks;	/* names, NULL-terminated, at least one */
	char **params;		/* "aging.nproc=1,8": overrides, NULL-terminated */
	char *profile;		/* of the benchmarks: quick, full or auto (full on kvm, else quick) */
	JobClock clock;
	int max_boots;		/* boots an arm, at most */
	char *rule;		/* auto, fixed or sequential */
	int more_boots;		/* an arm, added after the job was done, all together */
	double min_effect_pct;	/* the smallest change that matters, per cent; > 0, <= 99 */
	double alpha;		/* >= 1e-6, <= .5 */
	int priority;		/* -10 .. 10, higher first */
	char *host;		/* to measure on, by its name in the configuration; empty: any that fits */
	char **labels;		/* that the host must have, NULL-terminated */
	int replicate;		/* on how many hosts, each a job of its own with all arms; 1: on one */
	gint64 replicate_of;	/* the first of them, whose numbers follow each other; 0: not replicated */
	guint64 seed;		/* of every random choice; 0: the store picks one, JSON keeps it as a string */
	char *notify;		/* an address, or empty */
	char *subject;		/* of the series or commit, for people */
	char *author;		/* "Name <address>", or empty */
	char *change_id;	/* of the series, the same for all its versions; or empty */
	int version;		/* of the series: 3 of [PATCH v3]; 1 if it has none */
} JobSpec;

JobSpec *job_spec_new(void);		/* every member at its default, benchmarks empty */
void job_spec_free(JobSpec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobSpec, job_spec_free)

/*
 * One form field or query parameter. Unknown names are errors (VALUE).
 * The fields series= and config= (as a file) are not for here.
 */
gboolean job_spec_set(JobSpec *spec, const char *name, const char *value, GError **error);

gboolean job_spec_is_calibration(const JobSpec *spec);

/* What follows from the kind and the tree, whose branch is given: a calibration compares base, or the branch, with itself,
 * by the fixed rule. Nothing for other kinds. */
void job_spec_complete(JobSpec *spec, const char *branch);

/* What no single field can tell: series and head exclude each other, one of them is needed, a benchmark is named. */
gboolean job_spec_check(const JobSpec *spec, GError **error);

/* ret_spec is the caller's. From JSON: unknown members are errors. */
gboolean job_spec_from_json(JsonObject *object, JobSpec **ret_spec, GError **error);
JsonObject *job_spec_to_json(const JobSpec *spec);	/* the caller's */

gboolean job_spec_load(const char *dir, JobSpec **ret_spec, GError **error);
gboolean job_spec_save(const JobSpec *spec, const char *dir, GError **error);	/* atomic: rename */
