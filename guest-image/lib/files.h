/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Small files of proc, sysfs and cgroups, read and written whole.
 */
#ifndef GUEST_FILES_H
#define GUEST_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Reads at most size - 1 bytes and ends them with a zero. False (errno): text is empty. */
bool file_read(const char *path, char *text, size_t size);
/* The same, without the newline at the end. */
bool file_read_line(const char *path, char *text, size_t size);
/* Writes text in one write to a file that exists. False: errno. */
bool file_write(const char *path, const char *text);
/* Of "always [madvise] never" the word in brackets, in place; text without brackets stays. */
void chosen_word(char *text);

#endif
