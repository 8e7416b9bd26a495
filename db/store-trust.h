/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lab knows of its own reliability: the false-alarm ledger and the calibrations. The rules of store.h hold. */
#pragma once

#include "db/store.h"
#include "jobs/stats/ledger.h"

/* ---- the ledger ---- */

typedef struct {
	const char *benchmark;
	gboolean control;	/* of a control arm; else the job itself compared a kernel with itself */
	guint sets;		/* parameter sets tested together */
	double p;		/* the smallest, adjusted; NaN: none */
	gboolean alarm;
} StoreAlarm;

/* TRUE in *ret_same if the job's two arms are one source: by its source event. */
gboolean store_ingest_same_source(StoreIngest *ingest, gboolean *ret_same, GError **error);

/* A comparison of the job that is being taken in, on its host. A job and benchmark count once: the first stays. */
gboolean store_ingest_alarm(StoreIngest *ingest, const StoreAlarm *alarm, const char *clock, gint64 now_ns, GError **error);

/* The last STORE_LEDGER_MAX comparisons of one host, benchmark and clock. */
typedef struct {
	char *benchmark, *clock;
	guint comparisons, alarms;
	guint of_controls;	/* of the comparisons: those of control arms */
	guint limit;		/* of the alarms */
	StatsFitness fitness;
	gint64 last_job;
} StoreLedger;

/* An array of StoreLedger that owns them, by benchmark and clock. */
gboolean store_ledger(Db *db, const char *host, GPtrArray **ret_ledger, GError **error);
/* Of the host of the job that is being taken in, with what was taken in before. */
gboolean store_ingest_ledger(StoreIngest *ingest, GPtrArray **ret_ledger, GError **error);

/* ---- calibrations ---- */

/* Of the host of the job that is being taken in. row: as stats_calibration_to_json() gives it. */
gboolean store_ingest_calibration(StoreIngest *ingest, const char *config_sha256, JsonObject *row, gint64 now_ns,
				  GError **error);

typedef struct {
	char *config_sha256, *clock, *benchmark, *params;
	gint64 job, time_ns;
	JsonObject *row;
} StoreCalibration;

/* The newest of each configuration, clock, benchmark and parameter set, in this order; an array that owns them. */
gboolean store_calibrations(Db *db, const char *host, GPtrArray **ret_calibrations, GError **error);
