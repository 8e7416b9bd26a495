/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of web/static/, embedded in the program: /static/NAME. */
#pragma once

#include <glib.h>

typedef struct {
	const char *name;		/* "style.css" */
	const char *content_type;
	const char *etag;		/* with its quotes; changes with the content */
	const unsigned char *data;
	gsize size;
} StaticFile;

const StaticFile *static_file(const char *name);	/* NULL: no such file */
