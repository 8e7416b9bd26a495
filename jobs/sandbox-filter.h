/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that no program of a build has a use for. A short list of
 * what is refused, not a long one of what is allowed: compilers and make use
 * a few hundred calls that differ with their versions, and the list is there
 * to take away what the namespaces leave: the kernel's least used doors.
 */
#pragma once

#include <glib.h>

/*
 * The filter as a program for the kernel in a file in memory; its descriptor
 * is at its beginning, the caller closes it. network: sockets of every family.
 * -1: CHILD_ERROR_SANDBOX.
 */
int sandbox_filter(gboolean network, GError **error);
