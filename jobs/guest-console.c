/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/guest-console.h"

#include <string.h>

struct Console {
	GString *head;			/* this and the tail: safe text */
	char *tail;			/* a ring of CONSOLE_TAIL_BYTES, made when the head is full */
	guint64 tail_bytes;		/* ever written to it */
	char line[CONSOLE_LINE_BYTES + 1];
	gsize line_length;
	ConsoleTrouble trouble;
	char *trouble_line;
};

/* A line with one of these words is trouble; the first row that fits names it. */
typedef struct {
	const char *words;
	ConsoleTrouble trouble;
} Pattern;

static const Pattern patterns[] = {
	{ "soft lockup", CONSOLE_HANG },
	{ "hard LOCKUP", CONSOLE_HANG },
	{ "blocked for more than", CONSOLE_HANG },
	{ "detected stalls on CPUs", CONSOLE_HANG },
	{ "self-detected stall on CPU", CONSOLE_HANG },
	{ "Kernel panic - not syncing", CONSOLE_PANIC },
	{ "Oops: ", CONSOLE_OOPS },
	{ "BUG: ", CONSOLE_OOPS },
	{ "kernel BUG at ", CONSOLE_OOPS },
	{ "general protection fault", CONSOLE_OOPS },
	{ "PANIC: double fault", CONSOLE_OOPS },
	{ "invalid opcode: ", CONSOLE_OOPS },
};

Console *console_new(void)
{
	Console *console = g_new0(Console, 1);

	console->head = g_string_new(NULL);
	return console;
}

void console_free(Console *console)
{
	if (!console)
		return;
	g_string_free(console->head, TRUE);
	g_free(console->tail);
	g_free(console->trouble_line);
	g_free(console);
}

static void append_safe(GString *text, const char *data, gsize size)
{
	for (gsize i = 0; i < size; i++) {
		guchar byte = (guchar)data[i];
		if (byte == '\r' && (i + 1 == size || data[i + 1] == '\n' || data[i + 1] == '\r'))
			continue;
		if ((byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t')
			g_string_append_c(text, (char)byte);
		else
			g_string_append_printf(text, "\\x%02x", byte);
	}
}

static void look_at_line(Console *console)
{
	console->line[console->line_length] = '\0';
	for (gsize i = 0; i < G_N_ELEMENTS(patterns) && console->trouble == CONSOLE_FINE; i++) {
		if (!strstr(console->line, patterns[i].words))
			continue;
		GString *safe = g_string_new(NULL);
		append_safe(safe, console->line, console->line_length);
		console->trouble = patterns[i].trouble;
		console->trouble_line = g_string_free(safe, FALSE);
	}
	console->line_length = 0;
}

static void look(Console *console, const char *data, gsize size)
{
	for (gsize i = 0; i < size && console->trouble == CONSOLE_FINE; i++) {
		if (data[i] == '\n')
			look_at_line(console);
		else if (data[i] != '\0' && console->line_length < CONSOLE_LINE_BYTES)
			console->line[console->line_length++] = data[i];
	}
}

static void keep(Console *console, const char *data, gsize size)
{
	gsize room = CONSOLE_HEAD_BYTES - console->head->len;
	gsize part = MIN(room, size);

	g_string_append_len(console->head, data, (gssize)part);
	data += part;
	size -= part;
	if (size > 0 && !console->tail)
		console->tail = g_malloc(CONSOLE_TAIL_BYTES);
	while (size > 0) {
		gsize at = console->tail_bytes % CONSOLE_TAIL_BYTES;
		part = MIN(size, CONSOLE_TAIL_BYTES - at);
		memcpy(console->tail + at, data, part);
		console->tail_bytes += part;
		data += part;
		size -= part;
	}
}

void console_feed(Console *console, const char *data, gsize size)
{
	g_autoptr(GString) safe = g_string_sized_new(size);

	look(console, data, size);
	append_safe(safe, data, size);
	keep(console, safe->str, safe->len);
}

ConsoleTrouble console_trouble(const Console *console)
{
	return console->trouble;
}

const char *console_trouble_name(ConsoleTrouble trouble)
{
	static const char *const names[] = {
		[CONSOLE_FINE] = "",
		[CONSOLE_HANG] = "hang",
		[CONSOLE_OOPS] = "oops",
		[CONSOLE_PANIC] = "panic",
	};

	return names[trouble];
}

const char *console_trouble_line(const Console *console)
{
	return console->trouble_line ? console->trouble_line : "";
}

/* The bytes kept of the end, in order. */
static GString *tail_bytes(const Console *console)
{
	gsize at = console->tail_bytes % CONSOLE_TAIL_BYTES;
	GString *bytes = g_string_new(NULL);

	if (console->tail_bytes > CONSOLE_TAIL_BYTES)
		g_string_append_len(bytes, console->tail + at, (gssize)(CONSOLE_TAIL_BYTES - at));
	g_string_append_len(bytes, console->tail, (gssize)at);
	if (console->tail_bytes > 0 && at == 0 && console->tail_bytes == CONSOLE_TAIL_BYTES)
		g_string_append_len(bytes, console->tail, CONSOLE_TAIL_BYTES);
	return bytes;
}

static guint64 bytes_left_out(const Console *console)
{
	return console->tail_bytes > CONSOLE_TAIL_BYTES ? console->tail_bytes - CONSOLE_TAIL_BYTES : 0;
}

char *console_text(const Console *console)
{
	GString *text = g_string_new_len(console->head->str, (gssize)console->head->len);

	if (!console->tail)
		return g_string_free(text, FALSE);
	if (bytes_left_out(console))
		g_string_append_printf(text, "\n[%" G_GUINT64_FORMAT " bytes left out]\n", bytes_left_out(console));
	g_autoptr(GString) tail = tail_bytes(console);
	g_string_append_len(text, tail->str, (gssize)tail->len);
	return g_string_free(text, FALSE);
}

char *console_tail(const Console *console, gsize max_bytes)
{
	g_autofree char *text = console_text(console);
	gsize length = strlen(text);

	if (length <= max_bytes)
		return g_steal_pointer(&text);
	const char *from = text + length - max_bytes;
	const char *newline = strchr(from, '\n');
	return g_strdup(newline && newline[1] ? newline + 1 : from);
}
