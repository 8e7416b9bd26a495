/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;
	size_t length = 0;
	ssize_t got = -1;

	text[0] = '\0';
	if (fd < 0)
		return false;
	while (length < size - 1 && (got = read(fd, text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	error = errno;
	close(fd);
	errno = error;
	text[got < 0 ? 0 : length] = '\0';
	return got >= 0;
}

bool file_read_line(const char *path, char *text, size_t size)
{
	bool ok = file_read(path, text, size);

	text[strcspn(text, "\n")] = '\0';
	return ok;
}

bool file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error;
	ssize_t written;

	if (fd < 0)
		return false;
	written = write(fd, text, strlen(text));
	error = errno;
	close(fd);
	errno = error;
	return written == (ssize_t)strlen(text);
}

void chosen_word(char *text)
{
	char *open_bracket = strchr(text, '['), *close_bracket = open_bracket ? strchr(open_bracket, ']') : NULL;

	if (close_bracket == NULL)
		return;
	*close_bracket = '\0';
	memmove(text, open_bracket + 1, strlen(open_bracket + 1) + 1);
}
