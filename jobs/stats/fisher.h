/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Fisher's exact test of two failure rates, two-sided: the probability of all tables that are at most as likely as this
 * one. In (0, 1]; NaN if a group is empty. */
double stats_fisher_p(guint a_failed, guint a_count, guint b_failed, guint b_count);
