/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"

#define MANY 100000

typedef struct {
	char *config;
	int keep;	/* 0: the folder named is the backup itself */
	char **words;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
	g_free(arguments->config);
	g_strfreev(arguments->words);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static int complain(ClientExit status, const char *message)
{
	fprintf(stderr, "regrlab backup: %s%s\n", message, status == EXIT_USAGE ? "; see regrlab help backup" : "");
	return (int)status;
}

static int parse(int argc, char **argv, Arguments *arguments)
{
	const GOptionEntry entries[] = {
		{ "config", 'c', 0, G_OPTION_ARG_FILENAME, &arguments->config, "The lab's configuration (/etc/regrlab/regrlab.conf)", "FILE" },
		{ "keep", 0, 0, G_OPTION_ARG_INT, &arguments->keep,
		  "DIR holds backups, each in a folder named by its time: make one more and keep the newest N", "N" },
		{ G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments->words, NULL, NULL },
		G_OPTION_ENTRY_NULL,
	};
	g_autoptr(GOptionContext) context = g_option_context_new("DIR");
	g_autoptr(GError) error = NULL;

	g_option_context_set_summary(context,
		"Copies all that the lab of this machine cannot make again to DIR, while it works: regrlabd --backup with the\n"
		"lab's own configuration. To restore, stop the daemon, put the copy in the place of its state directory, start it.");
	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, &argc, &argv, &error))
		return complain(EXIT_USAGE, error->message);
	if (!arguments->words || g_strv_length(arguments->words) != 1)
		return complain(EXIT_USAGE, "name one folder");
	if (arguments->keep < 0 || arguments->keep > MANY)
		return complain(EXIT_USAGE, "--keep wants a number of backups");
	return EXIT_OK;
}

/* regrlabd beside this program, else wherever it is found. */
static char *daemon_program(void)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *folder = self ? g_path_get_dirname(self) : NULL;
	g_autofree char *beside = folder ? g_build_filename(folder, "regrlabd", NULL) : NULL;

	return beside && g_file_test(beside, G_FILE_TEST_IS_EXECUTABLE) ? g_steal_pointer(&beside) : g_strdup("regrlabd");
}

/* Its exit status; -1 with an error. */
static int run(const char *const *argv, GError **error)
{
	g_autoptr(GSubprocess) process = g_subprocess_newv(argv, G_SUBPROCESS_FLAGS_NONE, error);

	if (!process || !g_subprocess_wait(process, NULL, error))
		return -1;
	if (g_subprocess_get_if_exited(process))
		return g_subprocess_get_exit_status(process);
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s was ended by signal %d", argv[0], g_subprocess_get_term_sig(process));
	return -1;
}

static int make_backup(const char *config, const char *dir)
{
	g_autofree char *program = daemon_program();
	const char *argv[] = { program, "--backup", dir, config ? "--config" : NULL, config, NULL };
	g_autoptr(GError) error = NULL;
	int status = run(argv, &error);

	if (status < 0)
		return complain(EXIT_TROUBLE, error->message);
	return status == EXIT_OK ? EXIT_OK : EXIT_TROUBLE;	/* it said why */
}

/* 20261201T120000Z: what this program names a backup */
static gboolean is_backup(const char *folder, const char *name)
{
	g_autofree char *database = g_build_filename(folder, name, "regrlab.db", NULL);

	return g_regex_match_simple("^[0-9]{8}T[0-9]{6}Z$", name, G_REGEX_DEFAULT, G_REGEX_MATCH_DEFAULT) &&
	       g_file_test(database, G_FILE_TEST_IS_REGULAR);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The oldest go, and nothing that was not made so. */
static int remove_old(const char *folder, int keep)
{
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (is_backup(folder, name))
			g_ptr_array_add(names, g_strdup(name));
	g_ptr_array_sort(names, by_name);
	for (guint i = 0; i + (guint)keep < names->len; i++) {
		g_autofree char *path = g_build_filename(folder, g_ptr_array_index(names, i), NULL);
		const char *argv[] = { "rm", "-rf", "--one-file-system", "--", path, NULL };
		g_autoptr(GError) error = NULL;
		int status = run(argv, &error);

		if (status != 0)
			return complain(EXIT_TROUBLE, status < 0 ? error->message : "an old backup cannot be removed");
	}
	return EXIT_OK;
}

int cmd_backup(int argc, char **argv)
{
	g_auto(Arguments) arguments = { 0 };
	g_autoptr(GDateTime) now = g_date_time_new_now_utc();
	g_autofree char *name = g_date_time_format(now, "%Y%m%dT%H%M%SZ"), *dated = NULL;
	const char *dir;
	int status = parse(argc, argv, &arguments);

	if (status != EXIT_OK)
		return status;
	dated = g_build_filename(arguments.words[0], name, NULL);
	dir = arguments.keep ? dated : arguments.words[0];
	status = make_backup(arguments.config, dir);
	if (status == EXIT_OK) {
		puts(dir);
		fflush(stdout);
	}
	return status == EXIT_OK && arguments.keep ? remove_old(arguments.words[0], arguments.keep) : status;
}
