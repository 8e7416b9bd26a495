/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/prepare.h"

#include <string.h>

#include "host/files.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

void host_report_init(HostReport *report)
{
	*report = (HostReport){ .text = g_string_new(NULL) };
}

void host_report_clear(HostReport *report)
{
	if (report->text)
		g_string_free(report->text, TRUE);
	report->text = NULL;
}

static void say(HostReport *report, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void say(HostReport *report, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_string_append_vprintf(report->text, format, args);
	va_end(args);
	g_string_append_c(report->text, '\n');
}

static HostRecord *open_record(const HostMachine *machine, const char *path, GError **error)
{
	g_autofree char *boot_id = NULL;

	if (!host_file_read(machine->root, BOOT_ID, &boot_id, NULL) || !*boot_id) {
		g_free(boot_id);
		boot_id = g_strdup("unknown");
	}
	return host_record_open(path, boot_id, error);
}

/* What the file holds now is what was written into it. */
static gboolean holds(const HostMachine *machine, const char *path, const char *value)
{
	g_autofree char *text = NULL, *choice = NULL;

	if (!host_file_read(machine->root, path, &text, NULL))
		return FALSE;
	choice = host_file_choice(text);
	return g_str_equal(choice, value);
}

static gboolean still_holds(const HostChange *change, gpointer user)
{
	return holds(user, change->path, change->set);
}

/* ---- prepare ---- */

/* Reads a file as restore has to write it: a choice by its word, all else byte for byte. */
static gboolean read_before(const HostMachine *machine, const char *path, char **ret_before, char **ret_reason)
{
	g_autofree char *text = NULL;

	if (!host_file_read_raw(machine->root, path, &text, ret_reason))
		return FALSE;
	*ret_before = strchr(text, '[') ? host_file_choice(text) : g_steal_pointer(&text);
	return TRUE;
}

static gboolean set_file(const HostMachine *machine, HostRecord *record, const HostWrite *write, HostReport *report, GError **error)
{
	g_autofree char *before = NULL, *reason = NULL, *line = g_strconcat(write->value, "\n", NULL);

	if (!read_before(machine, write->path, &before, &reason)) {
		/* a CPU that went, an interrupt that is no more */
		say(report, "gone      %s", reason);
		return TRUE;
	}
	if (!host_record_intend(record, write->path, before, write->value, error))
		return FALSE;
	if (!host_file_write(machine->root, write->path, line, &reason)) {
		say(report, "FAILED    %s (wanted %s)", reason, write->value);
		report->failed++;
	} else if (!holds(machine, write->path, write->value)) {
		say(report, "FAILED    %s does not take %s", write->path, write->value);
		report->failed++;
	} else {
		g_autofree char *was = host_file_choice(before);
		say(report, "set       %s: %s (was %s)", write->path, write->value, was);
		report->written++;
	}
	return TRUE;
}

static gboolean set_fact(const HostMachine *machine, HostRecord *record, const HostFact *fact, HostReport *report, GError **error)
{
	g_autoptr(GPtrArray) writes = g_ptr_array_new_with_free_func(host_write_free);
	g_autofree char *wanted = g_strndup(fact->wanted, strcspn(fact->wanted, "|"));

	if (fact->row->plan && fact->value)
		fact->row->plan(machine, wanted, writes);
	if (!writes->len) {
		say(report, "by hand   %s should be %s: %s", fact->row->title, fact->wanted, fact->advice);
		report->failed += fact->row->plan != NULL;
	}
	for (guint i = 0; i < writes->len; i++)
		if (!set_file(machine, record, g_ptr_array_index(writes, i), report, error))
			return FALSE;
	return TRUE;
}

/* A write that was cut off may leave a file empty; the kernel's own are never so, those of a tree are. */
static void mend(const HostMachine *machine, const GPtrArray *changes)
{
	for (guint i = 0; i < changes->len; i++) {
		const HostChange *change = g_ptr_array_index(changes, i);
		g_autofree char *now = NULL;
		if (host_file_read(machine->root, change->path, &now, NULL) && !*now)
			host_file_write(machine->root, change->path, change->before, NULL);
	}
}

gboolean host_prepare(const HostMachine *machine, const char *policy, const char *record_path, HostReport *report, GError **error)
{
	g_autoptr(HostRecord) record = open_record(machine, record_path, error);
	g_autoptr(GArray) facts = NULL;

	if (!record)
		return FALSE;
	mend(machine, host_record_changes(record));
	if (host_record_is_stale(record) && !host_record_rewrite(record, still_holds, (gpointer)machine, error))
		return FALSE;
	facts = host_facts_read(machine, policy);
	for (guint i = 0; i < facts->len; i++) {
		const HostFact *fact = &g_array_index(facts, HostFact, i);
		if (fact->holds == HOST_FAILS && !set_fact(machine, record, fact, report, error))
			return FALSE;
	}
	if (!report->text->len)
		say(report, "everything is as wanted already");
	return TRUE;
}

/* ---- restore ---- */

/* FALSE: it could not be put back, and has to stay in the record. */
static gboolean put_back(const HostMachine *machine, const HostChange *change, gboolean stale, HostReport *report)
{
	g_autofree char *now = NULL, *reason = NULL, *was = host_file_choice(change->before);

	if (!read_before(machine, change->path, &now, &reason)) {
		say(report, "gone      %s (was %s)", reason, was);
		return TRUE;
	}
	if (g_str_equal(now, change->before))
		return TRUE;
	/* an empty file is one whose writing was cut off */
	if (stale && *g_strstrip(now) && !holds(machine, change->path, change->set)) {
		say(report, "left      %s: %s, set since the machine was rebooted", change->path, now);
		return TRUE;
	}
	if (!host_file_write(machine->root, change->path, change->before, &reason)) {
		say(report, "FAILED    %s (was %s)", reason, was);
		report->failed++;
		return FALSE;
	}
	say(report, "restored  %s: %s", change->path, was);
	report->written++;
	return TRUE;
}

static gboolean is_failed(const HostChange *change, gpointer user)
{
	return g_ptr_array_find(user, change, NULL);
}

gboolean host_restore(const HostMachine *machine, const char *record_path, HostReport *report, GError **error)
{
	g_autoptr(HostRecord) record = open_record(machine, record_path, error);
	g_autoptr(GPtrArray) failed = g_ptr_array_new();

	if (!record)
		return FALSE;
	const GPtrArray *changes = host_record_changes(record);
	gboolean stale = host_record_is_stale(record);
	for (guint i = changes->len; i-- > 0;) {
		HostChange *change = g_ptr_array_index(changes, i);
		if (!put_back(machine, change, stale, report))
			g_ptr_array_add(failed, change);
	}
	if (!report->text->len)
		say(report, "nothing to put back");
	return failed->len ? host_record_rewrite(record, is_failed, failed, error) : host_record_forget(record, error);
}
