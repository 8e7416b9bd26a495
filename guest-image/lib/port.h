/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's way out: one JSON object a line on the virtio-serial port, or, where there is none, on the console with
 * the prefix "@regrlab ". The lines' members are in ARCHITECTURE.md ("The guest").
 *
 * A line is built in a buffer: port_begin, members, port_end. A line that would pass PORT_LINE_MAX is cut in its last
 * text (port_text cuts what it adds; it never leaves half an escape), so that it is always valid JSON.
 */
#ifndef GUEST_PORT_H
#define GUEST_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PORT_LINE_MAX = 4096 };

struct port {
	int fd;
	bool console;
	const char *nonce;              /* borrowed */
	uint64_t seq;                   /* of the next line; also how many lines there were */
	char line[PORT_LINE_MAX];
	size_t length;
};

void port_begin(struct port *port, const char *type);
void port_text(struct port *port, const char *name, const char *text);
void port_bytes(struct port *port, const char *name, const char *bytes, size_t length);
void port_number(struct port *port, const char *name, int64_t number);
/* Adds members (JSON text without braces) that someone else wrote; false if they do not fit. */
bool port_members(struct port *port, const char *members, size_t length);
/* Writes the line, waiting until it is taken. False if the way out is closed: nothing more can be said. */
bool port_end(struct port *port);

/* A line {"type":"log","text":…}; printf format. */
__attribute__((format(printf, 2, 3))) void port_log(struct port *port, const char *format, ...);

/* Returns when the host has taken all lines: writes empty lines, which readers skip, until the port's queue must have
 * gone round once. */
void port_drain(struct port *port);

#endif
