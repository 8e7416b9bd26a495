/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job as the API shows it. Members are described in openapi.c, "Job". */
#pragma once

#include <json-glib/json-glib.h>

#include "daemon/lab.h"
#include "db/store-replicas.h"

/* Everything about one; boots may be NULL. The caller's. */
JsonObject *job_json(const StoreJob *job, const GPtrArray *boots, const char *const *artifacts, int queue_position);
/* On which hosts the same is measured, and whether they agree. The caller's. */
JsonObject *job_json_replicas(const StoreReplicas *replicas);
/* What a list has of each: id, state, subject, progress, times, links. */
JsonObject *job_json_brief(const StoreJob *job);
JsonObject *job_json_links(gint64 id, const char *const *artifacts);

/* "2026-11-30T22:05:01Z"; NULL for 0. The caller's. */
char *job_json_time(gint64 time_ns);
