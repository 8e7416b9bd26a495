/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-counters.h"

#include <string.h>

#include "jobs/spec/event.h"
#include "jobs/spec/file.h"
#include "jobs/spec/peek.h"
#include "jobs/stats/counters.h"

#define NAME_BYTES	64
#define HEADER		"benchmark,params,run,counter,before,after\n"
#define FILE_BYTES	(MEASURE_COUNTERS_BYTES + 1024)

enum { BENCHMARK, PARAMS, RUN, COUNTER, BEFORE, AFTER, COLUMNS };

static gboolean is_name(const char *name)
{
	return *name && strlen(name) <= NAME_BYTES &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") == strlen(name);
}

void measure_counters_take(GString *lines, const GuestRecord *record)
{
	const char *name = peek_string(record->object, "name");

	if (!is_name(name) || lines->len > MEASURE_COUNTERS_BYTES)
		return;
	g_string_append_printf(lines, "%s,%s,%d,%s,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "\n", record->run->benchmark->name,
			       record->run->set->params, record->run->run, name, peek_int(record->object, "before", 0),
			       peek_int(record->object, "after", 0));
}

static char *file_name(const StageContext *stage, int boot)
{
	return g_strdup_printf("%s/boot-%d-counters.csv", stage->artifacts, boot);
}

gboolean measure_counters_keep(const StageContext *stage, int boot, const char *lines, GError **error)
{
	g_autofree char *path = file_name(stage, boot);
	g_autofree char *text = g_strconcat(HEADER, strlen(lines) > MEASURE_COUNTERS_BYTES ? "" : lines, NULL);

	return file_write(path, text, strlen(text), error);
}

/* ---- comparing them ---- */

typedef struct {
	int boot;
	SampleArm arm;
	gint64 start_ns;
} CountedBoot;

/* The boots that count: not the control's, and none of a host that the job has left. */
static gboolean take_event(gint64 seq G_GNUC_UNUSED, const char *type, JsonObject *object, gpointer data,
			   GError **error G_GNUC_UNUSED)
{
	GArray *boots = data;
	CountedBoot boot = { .boot = (int)peek_int(object, "boot", 0), .start_ns = peek_int(object, "start_ns", 0) };

	if (g_str_equal(type, "moved"))
		g_array_set_size(boots, 0);
	if (g_str_equal(type, "boot") && peek_bool(object, "valid") &&
	    sample_arm_from_string(peek_string(object, "arm"), &boot.arm) && boot.arm < SAMPLE_ARM_COUNT)
		g_array_append_val(boots, boot);
	return TRUE;
}

static void add_line(StatsCounters *counters, const char *line)
{
	g_auto(GStrv) columns = g_strsplit(line, ",", COLUMNS + 1);
	gint64 before, after, growth;

	if (g_strv_length(columns) != COLUMNS || !g_ascii_string_to_signed(columns[BEFORE], 10, G_MININT64, G_MAXINT64, &before, NULL) ||
	    !g_ascii_string_to_signed(columns[AFTER], 10, G_MININT64, G_MAXINT64, &after, NULL) ||
	    __builtin_sub_overflow(after, before, &growth))
		return;
	stats_counters_add(counters, columns[BENCHMARK], columns[PARAMS], columns[COUNTER], growth);
}

/* A file that is gone (artifacts are removed by age) leaves its boot out. */
static void add_boot(StatsCounters *counters, const StageContext *stage, const CountedBoot *boot)
{
	g_autofree char *path = file_name(stage, boot->boot), *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!file_read(path, FILE_BYTES, &text, NULL, NULL) || g_str_equal(text, HEADER))
		return;
	stats_counters_add_boot(counters, boot->arm, boot->start_ns);
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines + 1; *lines && *line; line++)
		add_line(counters, *line);
}

gboolean measure_counters_tell(StageContext *stage, double alpha)
{
	g_autoptr(StatsCounters) counters = stats_counters_new();
	g_autoptr(GArray) boots = g_array_new(FALSE, FALSE, sizeof(CountedBoot));
	gint64 offset = 0;
	GError *error = NULL;

	if (!event_read(stage->dir, &offset, 0, take_event, boots, &error))
		return stage_fail_error(stage, "run-directory", error);
	for (guint i = 0; i < boots->len; i++)
		add_boot(counters, stage, &g_array_index(boots, CountedBoot, i));
	if (!stats_counters_boots(counters))
		return TRUE;
	return stage_event(stage, "counters", stats_counters_analyse(counters, alpha), TRUE);
}
