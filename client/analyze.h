/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* `regrlab analyze FILE|- [FILE2]`: every number of a result from raw samples, without a daemon.
 *
 * argv[0] is the subcommand's name. Returns the exit status: 0 analysed, whatever the verdicts; 1 the samples cannot be
 * read or analysed; 2 wrong usage. */
int cmd_analyze(int argc, char **argv);
