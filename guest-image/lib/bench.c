/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPTIONS_MAX = 40, LONG_BASE = 256, HELP = 1000, SAMPLES_FD = 1001 };

struct bench_sample {
	unsigned pass;
	const char *metric, *unit, *better;
	double value;
};

uint64_t bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool bench_parse_size(const char *text, bool size, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	size_t digits = strspn(text, "0123456789");
	unsigned shift = 0;
	uint64_t value;

	if (digits == 0 || digits > 18)
		return false;
	if (size && text[digits] != '\0') {
		const char *units = "kKmMgG", *unit = strchr(units, text[digits]);

		if (unit == NULL || text[digits + 1] != '\0')
			return false;
		shift = 10 * (unsigned)((unit - units) / 2 + 1);
	} else if (text[digits] != '\0') {
		return false;
	}
	value = strtoull(text, NULL, 10);
	if (value > UINT64_MAX >> shift)
		return false;
	value <<= shift;
	if (value < min || value > max)
		return false;
	*ret_value = value;
	return true;
}

static void print_option(const char *name, char letter, bool takes_value, const char *help)
{
	char left[64];

	snprintf(left, sizeof left, "%c%c%s%s%s%s", letter ? '-' : ' ', letter ? letter : ' ',
		 letter && name ? ", " : "  ", name ? "--" : "", name ? name : "", takes_value ? " X" : "");
	printf("  %-22s %s\n", left, help);
}

static void print_help(const struct bench_program *program)
{
	printf("Usage: %s [OPTION …]%s%s\n\n%s\n\nOptions:\n", program->name, program->operand ? " " : "",
	       program->operand ? program->operand : "", program->summary);
	for (size_t i = 0; i < program->option_count; i++) {
		const struct bench_option *option = program->options + i;

		print_option(option->name, option->letter, option->kind != BENCH_FLAG, option->help);
	}
	print_option("samples-fd", 0, true, "also write the samples as JSON lines to this descriptor");
	print_option("help", 'h', false, "print this and exit");
	printf("\nExit codes: 0 done, 1 failed, 2 wrong options, 77 this machine lacks what is needed.\n");
}

static bool store(const struct bench_program *program, const struct bench_option *option, const char *value)
{
	uint64_t *number = option->target;

	switch (option->kind) {
	case BENCH_FLAG:
		*(bool *)option->target = true;
		return true;
	case BENCH_TEXT:
		*(const char **)option->target = value;
		return true;
	default:
		break;
	}
	if (bench_parse_size(value, option->kind == BENCH_SIZE, option->min, option->max, number))
		return true;
	fprintf(stderr, "%s: '%s' is no value of %s%s: it must be a number from %" PRIu64 " to %" PRIu64 "%s\n",
		program->name, value, option->name ? "--" : "-", option->name ? option->name : (char[]){ option->letter, 0 },
		option->min, option->max, option->kind == BENCH_SIZE ? ", with k, m or g if wanted" : "");
	return false;
}

struct tables {
	struct option longs[OPTIONS_MAX + 3];
	char shorts[2 * OPTIONS_MAX + 4];
};

/* getopt's two tables from ours. The program's own -h goes before ours. */
static void make_tables(const struct bench_program *program, struct tables *tables)
{
	size_t n_longs = 0, n_shorts = 0;
	bool own_h = false;

	tables->shorts[n_shorts++] = ':';
	for (size_t i = 0; i < program->option_count && i < OPTIONS_MAX; i++) {
		const struct bench_option *option = program->options + i;

		if (option->letter) {
			tables->shorts[n_shorts++] = option->letter;
			if (option->kind != BENCH_FLAG)
				tables->shorts[n_shorts++] = ':';
			own_h |= option->letter == 'h';
		}
		if (option->name)
			tables->longs[n_longs++] = (struct option){ option->name, option->kind != BENCH_FLAG, NULL,
								    LONG_BASE + (int)i };
	}
	if (!own_h)
		tables->shorts[n_shorts++] = 'h';
	tables->shorts[n_shorts] = '\0';
	tables->longs[n_longs++] = (struct option){ "help", no_argument, NULL, HELP };
	tables->longs[n_longs++] = (struct option){ "samples-fd", required_argument, NULL, SAMPLES_FD };
	tables->longs[n_longs] = (struct option){ 0 };
}

static const struct bench_option *find(const struct bench_program *program, int value)
{
	if (value >= LONG_BASE && value < LONG_BASE + OPTIONS_MAX)
		return program->options + (value - LONG_BASE);
	for (size_t i = 0; i < program->option_count; i++)
		if (value != 0 && program->options[i].letter == value)
			return program->options + i;
	return NULL;
}

static bool usage(const struct bench_program *program, const char *what, const char *which)
{
	fprintf(stderr, "%s: %s '%s'; --help lists the options\n", program->name, what, which);
	return false;
}

static bool parse_options(const struct bench_program *program, int argc, char **argv, int *ret_samples_fd,
			  bool *ret_help)
{
	struct tables tables;
	int value;

	make_tables(program, &tables);
	opterr = 0;
	optind = 0;
	while ((value = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
		const struct bench_option *option = find(program, value);
		uint64_t number;

		if (option != NULL) {
			if (!store(program, option, optarg))
				return false;
		} else if (value == HELP || value == 'h' || (value == '?' && optopt == '?')) {
			*ret_help = true;
			return true;
		} else if (value == SAMPLES_FD) {
			if (!bench_parse_size(optarg, false, 1, 1023, &number))
				return usage(program, "no descriptor", optarg);
			*ret_samples_fd = (int)number;
		} else {
			return usage(program, value == ':' ? "a value is missing after" : "unknown option",
				     argv[optind - 1]);
		}
	}
	return true;
}

bool bench_parse(const struct bench_program *program, int argc, char **argv, const char **ret_operand,
		 int *ret_samples_fd, int *ret_exit)
{
	bool help = false;
	int wanted = program->operand != NULL;

	*ret_samples_fd = -1;
	*ret_exit = BENCH_USAGE;
	if (!parse_options(program, argc, argv, ret_samples_fd, &help))
		return false;
	if (help) {
		print_help(program);
		*ret_exit = BENCH_OK;
		return false;
	}
	if (argc - optind < wanted)
		return usage(program, "this operand is missing:", program->operand);
	if (argc - optind > wanted)
		return usage(program, "one operand too many:", argv[optind + wanted]);
	if (ret_operand)
		*ret_operand = wanted ? argv[optind] : NULL;
	return true;
}

bool bench_samples_add(struct bench_samples *samples, unsigned pass, const char *metric, const char *unit,
		       const char *better, double value)
{
	if (samples->count == samples->capacity) {
		size_t capacity = samples->capacity ? 2 * samples->capacity : 256;
		struct bench_sample *items = realloc(samples->items, capacity * sizeof *items);

		if (items == NULL)
			return false;
		samples->items = items;
		samples->capacity = capacity;
	}
	samples->items[samples->count++] = (struct bench_sample){ pass, metric, unit, better, value };
	return true;
}

bool bench_samples_write(const struct bench_samples *samples, int fd)
{
	FILE *out;
	int copy;
	bool failed;

	if (fd < 0)
		return true;
	copy = dup(fd);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (out == NULL) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	for (size_t i = 0; i < samples->count; i++) {
		const struct bench_sample *sample = samples->items + i;

		fprintf(out, "{\"pass\":%u,\"metric\":\"%s\",\"unit\":\"%s\",\"better\":\"%s\",\"value\":%.17g}\n",
			sample->pass, sample->metric, sample->unit, sample->better, sample->value);
	}
	failed = ferror(out) != 0;
	return fclose(out) == 0 && !failed;
}

void bench_samples_clear(struct bench_samples *samples)
{
	free(samples->items);
	*samples = (struct bench_samples){ 0 };
}
