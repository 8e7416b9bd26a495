/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/static.h"

#define STATIC_FILE(name_, type, checksum, ...) \
	{ .name = (name_), .content_type = (type), .etag = "\"" checksum "\"", \
	  .data = (const unsigned char[]){ __VA_ARGS__ }, .size = sizeof((const unsigned char[]){ __VA_ARGS__ }) },
static const StaticFile files[] = {
#include "web/static-files.h"
};

const StaticFile *static_file(const char *name)
{
	for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
		if (g_str_equal(files[i].name, name))
			return &files[i];
	return NULL;
}
