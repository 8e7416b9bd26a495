/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regrlab-job: one stage of one job, in its run directory. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "jobs/look.h"
#include "jobs/stage.h"
#include "jobs/sweep.h"

typedef struct {
	const char *name;
	int (*run)(StageContext *stage);
	const char *help;
} StageRow;

static const StageRow stages[] = {
	{ "build", stage_build, "fetch the base, apply the series, build both kernels; ends \"built\"" },
	{ "measure", stage_measure, "boot both kernels in turn, run the benchmarks, compare; ends \"done\"" },
};

static void print_help(void)
{
	g_print("Usage: regrlab-job STAGE DIR\n\n"
		"Runs one stage of a job in its run directory DIR, which holds spec.json and\n"
		"place.json. regrlabd starts it; by hand it works just the same, and goes on\n"
		"where an earlier one stopped.\n\n");
	for (gsize i = 0; i < G_N_ELEMENTS(stages); i++)
		g_print("  %-10s %s\n", stages[i].name, stages[i].help);
	g_print("\nregrlab-job sweep FILE removes what no job owns and what is kept no longer, as the\n"
		"order in FILE says; regrlabd writes it, at its start and once a day.\n");
	g_print("\n`regrlab-job look DIR` looks after the host of DIR/place.json: ends what dead stages\n"
		"left there, and writes DIR/host.json.\n"
		"\nExit status: %d ended (the last event says how), %d usage, %d the host cannot be used\n"
		"now, %d the run directory cannot be used, %d another stage works in it, %d stopped by\n"
		"a signal.\n",
		STAGE_EXIT_ENDED, STAGE_EXIT_USAGE, STAGE_EXIT_HOST, STAGE_EXIT_BROKEN, STAGE_EXIT_LOCKED,
		STAGE_EXIT_STOPPED);
}

static const StageRow *find_stage(const char *name)
{
	for (gsize i = 0; i < G_N_ELEMENTS(stages); i++)
		if (g_str_equal(stages[i].name, name))
			return &stages[i];
	return NULL;
}

static int run(int argc, char **argv)
{
	g_autoptr(StageContext) stage = NULL;
	g_autoptr(GError) error = NULL;
	int status;

	setlocale(LC_CTYPE, "C.UTF-8");
	if (argc == 2 && (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h"))) {
		print_help();
		return EXIT_SUCCESS;
	}
	if (argc == 3 && g_str_equal(argv[1], "sweep"))
		return sweep_main(argv[2]);
	if (argc == 3 && g_str_equal(argv[1], "look"))
		return look_at_host(argv[2]);
	const StageRow *row = argc == 3 ? find_stage(argv[1]) : NULL;
	if (!row) {
		g_printerr("regrlab-job: wanted a stage and a run directory; see regrlab-job --help\n");
		return STAGE_EXIT_USAGE;
	}
	if (!stage_open(row->name, argv[2], &stage, &status, &error)) {
		g_printerr("regrlab-job %s: %s\n", row->name, error->message);
		return status;
	}
	return stage->ended ? STAGE_EXIT_ENDED : row->run(stage);
}

/* Of a program with sanitizers, which else do this in an exit handler; ends the process if there are leaks. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

/*
 * Without exit handlers: libvirt's embedded driver takes up guests that it finds in threads that nobody can wait for, and these
 * handlers would take the libraries away from below them.
 */
int main(int argc, char **argv)
{
	int status = run(argc, argv);

	fflush(NULL);
	if (__lsan_do_leak_check)
		__lsan_do_leak_check();
	_exit(status);
}
