/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a machine as its policy wants it, and puts everything back.
 *
 * What a file held is on disk before the file is written (record.h), so both
 * can be killed between any two writes and be run again: prepare goes on,
 * restore puts back. A reboot undoes what was set in /proc and /sys; what a
 * record of an earlier boot says is therefore put back only into files that
 * still hold what prepare wrote. Facts that no write can change (the kernel's
 * command line, swap, firmware) are left alone: check tells what to do.
 */
#pragma once

#include "host/policy.h"
#include "host/record.h"

/* What was done, a line each; and how often something could not be. */
typedef struct {
	GString *text;
	int written;
	int failed;
} HostReport;

void host_report_init(HostReport *report);
void host_report_clear(HostReport *report);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HostReport, host_report_clear)

/* FALSE: the record cannot be kept, and nothing further was written. A file that cannot be set counts in the report. */
gboolean host_prepare(const HostMachine *machine, const char *policy, const char *record_path, HostReport *report, GError **error);

/* Puts back, last change first. What cannot be stays in the record. No record: nothing to do, and good. */
gboolean host_restore(const HostMachine *machine, const char *record_path, HostReport *report, GError **error);
