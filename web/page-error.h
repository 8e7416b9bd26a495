/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a browser gets instead of a page. */
#pragma once

#include <glib.h>

/* status as in HTTP; message: a sentence a person can act on. The result is the caller's. */
char *page_error(unsigned status, const char *message, gsize *ret_size);
