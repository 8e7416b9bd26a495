/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a measurement tells of its host, beside the result: ARCHITECTURE.md, "Trust". */
#pragma once

#include "jobs/measure-history.h"
#include "jobs/stage.h"

/*
 * After the last boot and before the result. A calibration job: the event
 * "calibration"; one with a control arm: the event "control". Told twice if
 * the stage is ended in between, which changes nothing. primary: as in
 * StatsOptions. FALSE: the stage has failed.
 */
gboolean measure_trust(StageContext *stage, const MeasureHistory *history, const char *const *primary);
