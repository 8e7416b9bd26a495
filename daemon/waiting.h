/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a job waits, for people. */
#pragma once

#include "daemon/lab.h"

/* A sentence without its full stop; empty: it does not wait. The caller's. */
char *waiting_reason(Lab *lab, const StoreJob *job);
