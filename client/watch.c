/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/watch.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client/options.h"

#define POLL_US G_USEC_PER_SEC
#define LINE_US (5 * G_USEC_PER_SEC / 2)	/* elsewhere than on a terminal */
#define PATIENCE_US (60 * G_USEC_PER_SEC)	/* while a lab is restarted */
#define BAR_CELLS 20
#define NARROW 20

static void append_bar(GString *line, gint64 done, gint64 total)
{
	gint64 cells = total > 0 ? CLAMP(done, 0, total) * BAR_CELLS / total : 0;

	g_string_append(line, " [");
	for (int i = 0; i < BAR_CELLS; i++)
		g_string_append_c(line, i < cells ? '#' : '.');
	g_string_append_c(line, ']');
}

static void append_progress(GString *line, const char *state, JsonObject *progress)
{
	gboolean measures = g_str_equal(state, "measuring");

	/* the last word of the stage before is no news */
	if (measures != g_str_equal(peek_string(progress, "stage"), "measure"))
		progress = NULL;

	gboolean at_most = peek_bool(progress, "at_most");
	gint64 done = peek_int(progress, "done", 0), total = peek_int(progress, "total", 0);
	gint64 boots = peek_int(progress, "boots_total", 0), eta_s = peek_int(progress, "eta_s", -1);

	if (measures && boots > 0)
		append_bar(line, peek_int(progress, "boots_done", 0), boots);
	else
		append_bar(line, done, total);
	if (*peek_string(progress, "step"))
		g_string_append_printf(line, " %s", peek_string(progress, "step"));
	if (total > 0)
		g_string_append_printf(line, ", %" G_GINT64_FORMAT " %%", CLAMP(done, 0, total) * 100 / total);
	if (measures && boots > 0)
		g_string_append_printf(line, ", %" G_GINT64_FORMAT " of %s%" G_GINT64_FORMAT " boots",
				       peek_int(progress, "boots_done", 0), at_most ? "at most " : "", boots);
	if (eta_s >= 0) {
		g_autofree char *left = text_duration(eta_s * G_GINT64_CONSTANT(1000000000));

		g_string_append_printf(line, ", %s %s left", at_most ? "at most" : "about", left);
	}
}

char *progress_line(JsonObject *job, guint width)
{
	g_autoptr(GString) line = g_string_new(NULL);
	const char *state = peek_string(job, "state");
	g_autofree char *plain = NULL;

	g_string_printf(line, "job %" G_GINT64_FORMAT ": %s", peek_int(job, "id", 0), state);
	if (peek_bool(job, "cancel_asked") && !peek_bool(job, "final"))
		g_string_append(line, ", being cancelled");
	if (g_str_equal(state, "building") || g_str_equal(state, "measuring"))
		append_progress(line, state, peek_object(job, "progress"));
	else if (peek_int(job, "queue_position", 0) > 0)
		g_string_append_printf(line, ", place %" G_GINT64_FORMAT, peek_int(job, "queue_position", 0));
	plain = text_plain(line->str);
	g_strdelimit(plain, "\n\t", ' ');
	if (width && (guint)g_utf8_strlen(plain, -1) > width)
		*g_utf8_offset_to_pointer(plain, width) = '\0';
	return g_steal_pointer(&plain);
}

/* Columns of the terminal less one, 0 if it is none. */
static guint terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < NARROW)
		return 79;
	return size.ws_col - 1;
}

typedef struct {
	gint64 told_us;
	char *last;
} Screen;

static void screen_clear(Screen *screen)
{
	g_free(screen->last);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Screen, screen_clear)

static void tell(Screen *screen, JsonObject *job)
{
	guint width = terminal_width();
	g_autofree char *line = progress_line(job, width);
	gint64 now_us = g_get_monotonic_time();

	if (width) {
		/* back to the start, the line, and the rest of it empty */
		printf("\r%s\033[K", line);
	} else if (g_strcmp0(line, screen->last) != 0 || now_us - screen->told_us >= LINE_US) {
		puts(line);
		screen->told_us = now_us;
	}
	g_free(screen->last);
	screen->last = g_steal_pointer(&line);
	fflush(stdout);
}

static int finish(const Remote *remote, JsonObject *job)
{
	gboolean done = g_str_equal(peek_string(job, "state"), "done");

	if (terminal_width())
		putchar('\n');
	if (!done && *peek_string(job, "message")) {
		options_print(peek_string(job, "message"));
		putchar('\n');
	}
	printf("%s/jobs/%" G_GINT64_FORMAT "\n", remote_server(remote), peek_int(job, "id", 0));
	return done ? EXIT_OK : EXIT_JOB_FAILED;
}

int watch_job(const char *name, Remote *remote, gint64 job)
{
	g_autofree char *path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT, job);
	gint64 answered_us = g_get_monotonic_time();
	g_auto(Screen) screen = { 0 };

	for (;;) {
		g_autoptr(GError) error = NULL;
		g_autoptr(JsonObject) answer = remote_get(remote, path, &error);

		if (answer) {
			answered_us = g_get_monotonic_time();
			tell(&screen, answer);
			if (peek_bool(answer, "final"))
				return finish(remote, answer);
		} else if (!g_error_matches(error, REMOTE_ERROR, REMOTE_ERROR_UNREACHABLE) ||
			   g_get_monotonic_time() - answered_us > PATIENCE_US) {
			return options_trouble(name, error);
		}
		g_usleep(POLL_US);
	}
}

int cmd_watch(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autoptr(Remote) remote = NULL;
	gint64 job;

	if (!options_parse(argc, argv, NULL, FALSE, "JOB",
			   "Shows how a job gets on until it ends. The exit status is 0 if there is a result then, 3 if not.", 1,
			   1, &common) ||
	    !options_job(argv[0], common.words[0], &job))
		return EXIT_USAGE;
	remote = options_remote(argv[0], &common);
	return remote ? watch_job(argv[0], remote, job) : EXIT_TROUBLE;
}
