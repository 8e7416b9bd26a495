/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands, one file each. argv[0] is the subcommand's name. They
 * return the program's exit status.
 */
#pragma once

typedef enum {
	EXIT_OK = 0,
	EXIT_TROUBLE = 1,	/* the lab said no, or does not answer; a file cannot be read */
	EXIT_USAGE = 2,		/* wrong arguments */
	EXIT_JOB_FAILED = 3,	/* the job that was watched ended without a verdict */
} ClientExit;

int cmd_submit(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_cancel(int argc, char **argv);
int cmd_more(int argc, char **argv);
int cmd_hosts(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_bisect_run(int argc, char **argv);	/* returns a BisectExit */
int cmd_host(int argc, char **argv);
int cmd_backup(int argc, char **argv);
int cmd_token(int argc, char **argv);
int cmd_mail(int argc, char **argv);
