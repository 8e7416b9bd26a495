/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters.h"

#include "files.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 32768 };

void counters_parse(struct counters *counters, const char *text)
{
	counters->count = 0;
	while (*text != '\0' && counters->count < COUNTERS_MAX) {
		size_t name = strcspn(text, " \n"), line = strcspn(text, "\n");
		char *end;

		if (name > 0 && name < COUNTER_NAME && text[name] == ' ') {
			int64_t value = strtoll(text + name + 1, &end, 10);

			if (end == text + line && end != text + name + 1) {
				memcpy(counters->items[counters->count].name, text, name);
				counters->items[counters->count].name[name] = '\0';
				counters->items[counters->count++].value = value;
			}
		}
		text += line;
		text += *text == '\n';
	}
}

void counters_read(struct counters *counters, const char *path)
{
	char *text = malloc(FILE_MAX);

	counters->count = 0;
	if (text != NULL && file_read(path, text, FILE_MAX))
		counters_parse(counters, text);
	free(text);
}

int64_t counters_value(const struct counters *counters, const char *name, size_t hint)
{
	if (hint < counters->count && strcmp(counters->items[hint].name, name) == 0)
		return counters->items[hint].value;
	for (size_t i = 0; i < counters->count; i++)
		if (strcmp(counters->items[i].name, name) == 0)
			return counters->items[i].value;
	return 0;
}
