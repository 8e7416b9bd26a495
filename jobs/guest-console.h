/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest says on its serial console: recognises a kernel in trouble,
 * keeps the beginning and the end, and makes text of it that is safe to show.
 * Pure; takes whatever bytes come, bounded in memory.
 */
#pragma once

#include <glib.h>

#define CONSOLE_HEAD_BYTES	(512 * 1024)	/* of safe text kept of the beginning ... */
#define CONSOLE_TAIL_BYTES	(512 * 1024)	/* ... and of the end; what lies between is counted */
#define CONSOLE_LINE_BYTES	1024		/* of a line looked at */

typedef enum {
	CONSOLE_FINE,
	CONSOLE_HANG,	/* soft or hard lockup, hung task, RCU stall */
	CONSOLE_OOPS,	/* Oops, BUG, general protection fault */
	CONSOLE_PANIC,
} ConsoleTrouble;

typedef struct Console Console;

Console *console_new(void);
void console_free(Console *console);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Console, console_free)

void console_feed(Console *console, const char *data, gsize size);

/*
 * The first trouble seen: it is the cause. A panic that follows an oops (by
 * panic_on_oops) is the oops.
 */
ConsoleTrouble console_trouble(const Console *console);
const char *console_trouble_name(ConsoleTrouble trouble);	/* "panic", "oops", "hang"; "" if fine */
const char *console_trouble_line(const Console *console);	/* the line that showed it, safe; "" if fine */

/*
 * Everything kept as safe text: printable ASCII, tab and newline; any other
 * byte as \xNN, carriage returns at a line's end left out. The caller's.
 */
char *console_text(const Console *console);

/* The same of the last max_bytes at most, from the beginning of a line. */
char *console_tail(const Console *console, gsize max_bytes);
