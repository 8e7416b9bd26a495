/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completions of regrlab's command line, made of what it says to --help. */
#pragma once

#include <glib.h>

/* program: of the client, absolute. NULL with an error; the caller's. */
char *completion_bash(const char *program, GError **error);
char *completion_zsh(const char *program, GError **error);
