/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MAX_S = 86400, RUN_NUMBER_MAX = 1000000 };

struct parser {
	struct plan *plan;
	size_t capacity;                /* of plan->runs */
	size_t line;
	char *error;
	size_t error_size;
};

__attribute__((format(printf, 2, 3)))
static bool fail(struct parser *parser, const char *format, ...)
{
	va_list args;
	int used = snprintf(parser->error, parser->error_size, "plan line %zu: ", parser->line);

	if (used < 0 || (size_t)used >= parser->error_size)
		return false;
	va_start(args, format);
	vsnprintf(parser->error + used, parser->error_size - (size_t)used, format, args);
	va_end(args);
	return false;
}

const char *plan_lru_name(enum plan_lru lru)
{
	return lru == PLAN_LRU_MGLRU ? "mglru" : "classic";
}

/* Cuts line into words at single spaces. Returns their number, or -1 if a word is empty, there are more than max, or
 * a byte is not printable ASCII. */
static int split(char *line, char **words, int max)
{
	int count = 0;
	char *word = line;

	for (char *at = line;; at++) {
		if (*at != ' ' && *at != '\0') {
			if (*at < '!' || *at > '~')
				return -1;
			continue;
		}
		if (at == word || count == max)
			return -1;
		words[count++] = word;
		if (*at == '\0')
			return count;
		*at = '\0';
		word = at + 1;
	}
}

static bool parse_number(const char *word, unsigned min, unsigned max, unsigned *ret_value)
{
	unsigned long value = 0;

	if (*word == '\0' || strlen(word) > 9 || strspn(word, "0123456789") != strlen(word))
		return false;
	value = strtoul(word, NULL, 10);
	if (value < min || value > max)
		return false;
	*ret_value = (unsigned)value;
	return true;
}

static bool parse_lru(const char *word, enum plan_lru *ret_lru)
{
	if (strcmp(word, "mglru") == 0)
		*ret_lru = PLAN_LRU_MGLRU;
	else if (strcmp(word, "classic") == 0)
		*ret_lru = PLAN_LRU_CLASSIC;
	else
		return false;
	return true;
}

static bool parse_nonce(struct parser *parser, char **words, int count)
{
	if (parser->plan->nonce != NULL)
		return fail(parser, "a second nonce");
	if (count != 2 || strlen(words[1]) != PLAN_NONCE || strspn(words[1], "0123456789abcdef") != PLAN_NONCE)
		return fail(parser, "a nonce is %d lower-case hex digits", PLAN_NONCE);
	parser->plan->nonce = words[1];
	return true;
}

static bool parse_disk(struct parser *parser, char **words, int count)
{
	if (parser->plan->disk != NULL)
		return fail(parser, "a second disk");
	if (count != 2 || strncmp(words[1], "/dev/", 5) != 0)
		return fail(parser, "a disk is one path below /dev");
	parser->plan->disk = words[1];
	return true;
}

/* run BENCHMARK PARAMS RUN TIMEOUT_S LRU -- PROGRAM ARG … */
static bool parse_run(struct parser *parser, char **words, int count)
{
	struct plan *plan = parser->plan;
	struct plan_run run = { 0 };
	struct plan_run *grown;

	if (count < 8 || strcmp(words[6], "--") != 0)
		return fail(parser, "a run is: run BENCHMARK PARAMS RUN TIMEOUT_S LRU -- PROGRAM ARG …");
	if (!parse_number(words[3], 0, RUN_NUMBER_MAX, &run.run))
		return fail(parser, "'%s' is no number of a run", words[3]);
	if (!parse_number(words[4], 1, TIMEOUT_MAX_S, &run.timeout_s))
		return fail(parser, "'%s' is no timeout (1 to %d s)", words[4], TIMEOUT_MAX_S);
	if (!parse_lru(words[5], &run.lru))
		return fail(parser, "'%s' is no LRU (mglru, classic)", words[5]);
	if (words[7][0] != '/')
		return fail(parser, "'%s' is no absolute path of a program", words[7]);
	if (plan->run_count == PLAN_RUNS_MAX)
		return fail(parser, "more than %d runs", PLAN_RUNS_MAX);
	run.benchmark = words[1];
	run.params = words[2];
	run.argc = (size_t)count - 7;
	memcpy(run.argv, words + 7, run.argc * sizeof *words);
	if (plan->run_count == parser->capacity) {
		size_t capacity = parser->capacity ? 2 * parser->capacity : 16;

		grown = realloc(plan->runs, capacity * sizeof *grown);
		if (grown == NULL)
			return fail(parser, "out of memory");
		plan->runs = grown;
		parser->capacity = capacity;
	}
	plan->runs[plan->run_count++] = run;
	return true;
}

static bool parse_line(struct parser *parser, char *line)
{
	static const struct {
		const char *word;
		bool (*parse)(struct parser *parser, char **words, int count);
	} table[] = { { "nonce", parse_nonce }, { "disk", parse_disk }, { "run", parse_run } };
	char *words[PLAN_ARGS_MAX + 7];
	int count = split(line, words, PLAN_ARGS_MAX + 7);

	if (count < 0)
		return fail(parser, "words are printable ASCII with one space between them, at most %d", PLAN_ARGS_MAX + 7);
	if (parser->line == 1) {
		if (count == 2 && strcmp(words[0], "regrlab-plan") == 0 && strcmp(words[1], "1") == 0)
			return true;
		return fail(parser, "not a plan of version 1");
	}
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(words[0], table[i].word) == 0)
			return table[i].parse(parser, words, count);
	return fail(parser, "unknown word '%.40s'", words[0]);
}

static bool parse_lines(struct parser *parser, char *text, size_t length)
{
	char *end = text + length;

	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));

		parser->line++;
		if (newline == NULL)
			return fail(parser, "not finished with a newline");
		if (newline - line > PLAN_LINE_MAX)
			return fail(parser, "longer than %d bytes", PLAN_LINE_MAX);
		if (memchr(line, '\0', (size_t)(newline - line)) != NULL)
			return fail(parser, "a zero byte");
		*newline = '\0';
		if (!parse_line(parser, line))
			return false;
		line = newline + 1;
	}
	if (parser->line == 0)
		return fail(parser, "empty");
	if (parser->plan->nonce == NULL)
		return fail(parser, "the plan has no nonce");
	return true;
}

bool plan_parse(struct plan *plan, char *text, size_t length, char *error, size_t error_size)
{
	struct parser parser = { .plan = plan, .error = error, .error_size = error_size };

	*plan = (struct plan){ 0 };
	if (length > PLAN_BYTES_MAX) {
		fail(&parser, "larger than %d bytes", PLAN_BYTES_MAX);
		return false;
	}
	if (parse_lines(&parser, text, length))
		return true;
	plan_clear(plan);
	return false;
}

void plan_clear(struct plan *plan)
{
	free(plan->runs);
	*plan = (struct plan){ 0 };
}
