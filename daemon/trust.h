/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lab knows of its own reliability: taken in with the events of a job, and as JSON for the API. */
#pragma once

#include "db/store-trust.h"

/*
 * A result has come in: where the job compared a kernel with itself, its
 * false alarms go into the ledger. Then the document "trust" is kept, which
 * says how fit the host was at that time.
 */
gboolean trust_take_result(StoreIngest *ingest, JsonObject *result, gint64 now_ns, GError **error);

/*
 * The comparison of a control arm with the base: into the ledger, unless the
 * whole job compares a kernel with itself and counts as that. Then the
 * document "control" is kept, which says what came of it.
 */
gboolean trust_take_control(StoreIngest *ingest, JsonObject *result, gint64 now_ns, GError **error);

/* A "calibration" event, on the job's host. */
gboolean trust_take_calibration(StoreIngest *ingest, JsonObject *event, gint64 now_ns, GError **error);

/* What a host's entry in the API says: members false_alarms and calibrations. */
gboolean trust_add_host(Db *db, const char *host, JsonObject *object, GError **error);
