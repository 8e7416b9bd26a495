/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a measurement tells of its host, beside the result: ARCHITECTURE.md, "Trust". */
#pragma once

#include "jobs/stage.h"

/*
 * After the last boot and before the result. A calibration job: the event
 * "calibration". Told twice if the stage is ended in between, which changes nothing.
 * skip: samples of hosts that the job has left. primary: as in StatsOptions. FALSE: the stage has failed.
 */
gboolean measure_trust(StageContext *stage, gint64 skip, const char *const *primary);
