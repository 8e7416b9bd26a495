/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum {
	RESERVE = 2,                    /* "}\n" */
	QUEUE_LENGTH = 256,             /* QEMU's port has a queue of 128 buffers, one a write */
};

static const char console_prefix[] = "@regrlab ";

static size_t room(const struct port *port)
{
	return sizeof port->line - RESERVE - port->length;
}

static bool add(struct port *port, const char *bytes, size_t length)
{
	if (length > room(port))
		return false;
	memcpy(port->line + port->length, bytes, length);
	port->length += length;
	return true;
}

static void add_name(struct port *port, const char *name)
{
	add(port, ",\"", 2);
	add(port, name, strlen(name));
	add(port, "\":", 2);
}

void port_begin(struct port *port, const char *type)
{
	char head[128];
	int length = snprintf(head, sizeof head, "%s{\"nonce\":\"%s\",\"seq\":%" PRIu64 ",\"type\":\"%s\"",
			      port->console ? console_prefix : "", port->nonce, port->seq, type);

	port->length = 0;
	add(port, head, (size_t)length);
}

/* One byte as JSON text. Bytes above ASCII become the code point of the same number: whatever a program prints, the
 * line stays valid. */
static size_t escape(unsigned char byte, char out[7])
{
	static const char hex[] = "0123456789abcdef";

	if (byte == '"' || byte == '\\') {
		out[0] = '\\';
		out[1] = (char)byte;
		return 2;
	}
	if (byte >= ' ' && byte < 0x7f) {
		out[0] = (char)byte;
		return 1;
	}
	out[0] = '\\';
	out[1] = 'u';
	out[2] = out[3] = '0';
	out[4] = hex[byte >> 4];
	out[5] = hex[byte & 15];
	return 6;
}

void port_bytes(struct port *port, const char *name, const char *bytes, size_t length)
{
	char escaped[7];

	if (strlen(name) + 6 > room(port))
		return;
	add_name(port, name);
	add(port, "\"", 1);
	for (size_t i = 0; i < length; i++) {
		size_t size = escape((unsigned char)bytes[i], escaped);

		if (size + 1 > room(port))
			break;
		add(port, escaped, size);
	}
	add(port, "\"", 1);
}

void port_text(struct port *port, const char *name, const char *text)
{
	port_bytes(port, name, text, strlen(text));
}

void port_number(struct port *port, const char *name, int64_t number)
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%" PRId64, number);

	if (strlen(name) + 4 + (size_t)length > room(port))
		return;
	add_name(port, name);
	add(port, digits, (size_t)length);
}

bool port_members(struct port *port, const char *members, size_t length)
{
	return length + 1 <= room(port) && add(port, ",", 1) && add(port, members, length);
}

static bool write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		length -= (size_t)written;
	}
	return true;
}

bool port_end(struct port *port)
{
	memcpy(port->line + port->length, "}\n", RESERVE);
	port->seq++;
	return write_all(port->fd, port->line, port->length + RESERVE);
}

void port_log(struct port *port, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	port_begin(port, "log");
	port_text(port, "text", text);
	port_end(port);
}

void port_drain(struct port *port)
{
	if (port->console) {
		tcdrain(port->fd);
		return;
	}
	for (int i = 0; i < QUEUE_LENGTH; i++)
		if (!write_all(port->fd, "\n", 1))
			return;
}
