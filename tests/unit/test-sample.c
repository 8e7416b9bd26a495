/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "jobs/spec/sample.h"

#define ROW "7,base,0,0,lab1,icount,aging,nproc=8;lru=mglru,1,1,time,ms,lower,22.9,1764540000000000000,1,\r\n"

static Sample example(void)
{
	return (Sample){
		.job = 7, .arm = SAMPLE_ARM_PATCHED, .boot = 3, .pair = 1, .host = "a \"b\", c", .clock = "tcg",
		.benchmark = "pwrite", .params = "size=1k;lru=classic", .run = 2, .pass = 5, .metric = "time",
		.unit = "usecs/call", .better = SAMPLE_BETTER_HIGHER, .value = 0.1, .boot_start_ns = G_MAXINT64,
		.valid = FALSE, .reason = "panic",
	};
}

static void assert_same(const Sample *a, const Sample *b)
{
	g_assert_cmpint(a->job, ==, b->job);
	g_assert_cmpint(a->arm, ==, b->arm);
	g_assert_cmpint(a->boot, ==, b->boot);
	g_assert_cmpint(a->pair, ==, b->pair);
	g_assert_cmpstr(a->host, ==, b->host);
	g_assert_cmpstr(a->clock, ==, b->clock);
	g_assert_cmpstr(a->benchmark, ==, b->benchmark);
	g_assert_cmpstr(a->params, ==, b->params);
	g_assert_cmpint(a->run, ==, b->run);
	g_assert_cmpint(a->pass, ==, b->pass);
	g_assert_cmpstr(a->metric, ==, b->metric);
	g_assert_cmpstr(a->unit, ==, b->unit);
	g_assert_cmpint(a->better, ==, b->better);
	g_assert_true(a->value == b->value || (isnan(a->value) && isnan(b->value)));
	g_assert_cmpint(a->boot_start_ns, ==, b->boot_start_ns);
	g_assert_cmpint(a->valid, ==, b->valid);
	g_assert_cmpstr(a->reason, ==, b->reason);
}

static void assert_same_table(const SampleTable *a, const SampleTable *b)
{
	g_assert_cmpuint(sample_table_length(a), ==, sample_table_length(b));
	for (gsize i = 0; i < sample_table_length(a); i++)
		assert_same(sample_table_get(a, i), sample_table_get(b, i));
}

/* Values that need every digit, and those that need few, come back equal through all three forms. */
static void test_round_trip(void)
{
	static const double values[] = { 0, -0.0, 0.1, 22.9, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789012345680.0,
					 1e17, 1e22, -7.25, 9007199254740993.0, NAN };
	g_autoptr(SampleTable) table = sample_table_new();
	g_autoptr(GRand) random = g_rand_new_with_seed(1);
	g_autoptr(GError) error = NULL;
	g_autofree char *csv = NULL, *json = NULL;

	for (int i = 0; i < 2000; i++) {
		Sample sample = example();
		guint64 bits = ((guint64)g_rand_int(random) << 32) | g_rand_int(random);

		sample.pass = i;
		if (i < (int)G_N_ELEMENTS(values))
			sample.value = values[i];
		else
			memcpy(&sample.value, &bits, sizeof bits);
		if (isinf(sample.value))
			continue;
		g_assert_true(sample_table_append(table, &sample, &error));
	}
	csv = sample_table_to_csv(table);
	json = sample_table_to_json(table);
	for (int i = 0; i < 3; i++) {
		g_autoptr(SampleTable) back = NULL;

		if (i == 2) { /* the array without its brackets and commas is JSON lines */
			g_autofree char *lines = g_strndup(json + 2, strlen(json) - 4);
			g_auto(GStrv) parts = g_strsplit(lines, ",\n", -1);
			g_autofree char *jsonl = g_strjoinv("\n", parts);

			back = sample_table_from_text(jsonl, strlen(jsonl), &error);
		} else
			back = sample_table_from_text(i ? json : csv, strlen(i ? json : csv), &error);
		g_assert_no_error(error);
		assert_same_table(table, back);
	}
}

static void test_format(void)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];

	g_assert_cmpstr(sample_format_double(buffer, 22.9), ==, "22.9");
	g_assert_cmpstr(sample_format_double(buffer, 0.1 + 0.2), ==, "0.30000000000000004");
	g_assert_cmpstr(sample_format_double(buffer, 3), ==, "3");
}

static void test_csv_accepts(void)
{
	static const char *const texts[] = {
		SAMPLE_CSV_HEADER "\r\n" ROW,
		SAMPLE_CSV_HEADER "\n" ROW,
		SAMPLE_CSV_HEADER "\n7,base,0,0,lab1,icount,aging,nproc=8;lru=mglru,1,1,time,ms,lower,22.9,1764540000000000000,1,",
		SAMPLE_CSV_HEADER
		"\n\"7\",\"base\",0,0,\"lab1\",icount,aging,\"nproc=8;lru=mglru\",1,1,time,ms,lower,22.9e0,1764540000000000000,1,\"\"\n\n",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(SampleTable) table = sample_table_from_csv(texts[i], strlen(texts[i]), &error);
		const Sample *sample;

		g_assert_no_error(error);
		g_assert_cmpuint(sample_table_length(table), ==, 1);
		sample = sample_table_get(table, 0);
		g_assert_cmpstr(sample->params, ==, "nproc=8;lru=mglru");
		g_assert_cmpfloat(sample->value, ==, 22.9);
		g_assert_cmpint(sample->boot_start_ns, ==, G_GINT64_CONSTANT(1764540000000000000));
		g_assert_cmpstr(sample->reason, ==, "");
	}
}

typedef struct {
	const char *text;
	int code;
	const char *message; /* pattern */
} Refusal;

#define H SAMPLE_CSV_HEADER "\n"
#define J(value) \
	"[\n{\"job\":7,\"arm\":\"base\",\"boot\":0,\"pair\":0,\"host\":\"h\",\"clock\":\"tcg\",\"benchmark\":\"b\"," \
	"\"params\":\"\",\"run\":1,\"pass\":1,\"metric\":\"m\",\"unit\":\"ms\",\"better\":\"lower\",\"value\":" value \
	",\"boot_start_ns\":1,\"valid\":true,\"reason\":\"\"}"

static const Refusal refusals[] = {
	{ "", SAMPLE_ERROR_SYNTAX, "line 1: empty; wanted is the header *" },
	{ "a,b\n", SAMPLE_ERROR_SYNTAX, "line 1: the header is not *" },
	{ H "1,2\n", SAMPLE_ERROR_SYNTAX, "line 2: 2 fields instead of 17" },
	{ H ROW ROW, SAMPLE_ERROR_DUPLICATE, "line 3: the same sample as sample 1: arm base, boot 0,*" },
	{ H "7,base,0,0,h,tcg,b,p,1,1,m,ms,lower,1,1,1,,\n", SAMPLE_ERROR_SYNTAX, "line 2: more than 17 fields" },
	{ H "7,base,0,0,\"h,tcg,b,p,1,1,m,ms,lower,1,1,1,\n", SAMPLE_ERROR_SYNTAX, "line 2: a quoted field has no end*" },
	{ H "7,base,0,0,\"h\"x,tcg,b,p,1,1,m,ms,lower,1,1,1,\n", SAMPLE_ERROR_SYNTAX, "line 2: a closing quote*" },
	{ H "7,base,0,0,h\"x,tcg,b,p,1,1,m,ms,lower,1,1,1,\n", SAMPLE_ERROR_SYNTAX, "line 2: a quote inside*" },
	{ H "7,bose,0,0,h,tcg,b,p,1,1,m,ms,lower,1,1,1,\n", SAMPLE_ERROR_VALUE, "line 2: arm: \"bose\" is not base, patched or control" },
	{ H "7,base,-1,0,h,tcg,b,p,1,1,m,ms,lower,1,1,1,\n", SAMPLE_ERROR_VALUE, "line 2: boot: \"-1\" is not a whole number from 0 to 99999" },
	{ H "7,base,0,0,h,tcg,b,p,1,1,m,ms,lower,inf,1,1,\n", SAMPLE_ERROR_VALUE, "line 2: value: \"inf\" is not a number" },
	{ H "7,base,0,0,h,tcg,b,p,1,1,m,ms,lower,1e999,1,1,\n", SAMPLE_ERROR_VALUE, "line 2: value: \"1e999\" is not a finite number" },
	{ H "7,base,0,0,h,tcg,b,p,1,1,m,ms,lower,0x10,1,1,\n", SAMPLE_ERROR_VALUE, "line 2: value: \"0x10\" is not a number" },
	{ H "7,base,0,0,h,,b,p,1,1,m,ms,lower,1,1,1,\n", SAMPLE_ERROR_VALUE, "line 2: clock: \"\" is not a name" },
	{ H "7,base,0,0,h,tcg,b,p,1,1,m,ms,lower,1,1,2,\n", SAMPLE_ERROR_VALUE, "line 2: valid: \"2\" is not*" },
	{ H "7,base,0,0,h\x01,tcg,b,p,1,1,m,ms,lower,1,1,1,\n", SAMPLE_ERROR_VALUE, "line 2: host: * is not free of control characters" },
	{ H "7,base,0,0,h\xff,tcg,b,p,1,1,m,ms,lower,1,1,1,\n", SAMPLE_ERROR_VALUE, "line 2: host: * is not valid UTF-8" },
	{ H ROW "7,base,0,0,lab2,icount,aging,nproc=8;lru=mglru,1,2,time,ms,lower,1,1764540000000000000,1,\n",
	  SAMPLE_ERROR_CONFLICT, "line 3: host: boot 0 of arm base had another host*" },
	{ J("1"), SAMPLE_ERROR_SYNTAX, "line 2: neither a comma nor*" },
	{ J("1") ",]", SAMPLE_ERROR_SYNTAX, "line 2: no JSON object*" },
	{ J("1") "]]", SAMPLE_ERROR_SYNTAX, "line 2: something behind*" },
	{ J("\"1\"") "]", SAMPLE_ERROR_VALUE, "line 2: value: is not a number or null" },
	{ J("010") "]", SAMPLE_ERROR_SYNTAX, "line 2: a malformed number" },
	{ J("0x10") "]", SAMPLE_ERROR_SYNTAX, "line 2: a malformed number" },
	{ J("100000000000000000000") "]", SAMPLE_ERROR_SYNTAX, "line 2: a whole number above *" },
	{ J("1e999") "]", SAMPLE_ERROR_VALUE, "line 2: value: * is not a finite number" },
	{ J("[[[[1]]]]") "]", SAMPLE_ERROR_SYNTAX, "line 2: not a JSON object of plain members" },
	{ J("1,\"x\":2") "]", SAMPLE_ERROR_SYNTAX, "line 2: a member that is no column" },
	{ "[{\"job\":1}]", SAMPLE_ERROR_SYNTAX, "line 1: arm: is missing" },
	{ "[{\"job", SAMPLE_ERROR_SYNTAX, "line 1: a string without its end" },
	{ "{}\n", SAMPLE_ERROR_SYNTAX, "line 1: job: is missing" },
	{ "{} {}\n", SAMPLE_ERROR_SYNTAX, "line 1: *" },
};

static void test_refuses(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(SampleTable) table = sample_table_from_text(refusals[i].text, strlen(refusals[i].text), &error);

		if (table || !g_error_matches(error, SAMPLE_ERROR, refusals[i].code) ||
		    !g_pattern_match_simple(refusals[i].message, error->message))
			g_error("refusal %" G_GSIZE_FORMAT ": got %s", i, error ? error->message : "a table");
	}
}

static void test_limits(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	g_autofree char *host = g_strnfill(SAMPLE_HOST_MAX_BYTES, 'h');
	g_autofree char *long_host = g_strnfill(SAMPLE_HOST_MAX_BYTES + 1, 'h');
	g_autofree char *long_line = g_strnfill(SAMPLE_LINE_MAX_BYTES + 1, 'x');
	g_autofree char *csv = g_strconcat(H, long_line, NULL);
	g_autofree char *json = g_strdup_printf("{\"job\":\"%s\"}\n", long_line);
	g_autoptr(GError) error = NULL;
	Sample sample = example();

	sample.host = host;
	g_assert_true(sample_table_append(table, &sample, &error));
	sample.host = long_host;
	sample.boot++;
	g_assert_false(sample_table_append(table, &sample, &error));
	g_assert_error(error, SAMPLE_ERROR, SAMPLE_ERROR_LIMIT);
	g_assert_cmpuint(sample_table_length(table), ==, 1);
	g_clear_error(&error);
	g_assert_null(sample_table_from_csv(csv, strlen(csv), &error));
	g_assert_error(error, SAMPLE_ERROR, SAMPLE_ERROR_LIMIT);
	g_clear_error(&error);
	g_assert_null(sample_table_from_jsonl(json, strlen(json), NULL, &error));
	g_assert_nonnull(error);
	g_clear_error(&error);
	sample = example();
	sample.pass = SAMPLE_PASS_MAX + 1;
	g_assert_false(sample_table_append(table, &sample, &error));
	g_assert_error(error, SAMPLE_ERROR, SAMPLE_ERROR_VALUE);
}

static void test_jsonl_unfinished(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(SampleTable) table = NULL;
	Sample sample = example();
	gsize used, whole;

	sample_append_json(text, &sample);
	g_string_append_c(text, '\n');
	whole = text->len;
	g_string_append(text, "{\"job\":7,\"ar");
	table = sample_table_from_jsonl(text->str, text->len, &used, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(used, ==, whole);
	g_assert_cmpuint(sample_table_length(table), ==, 1);
	g_assert_false(sample_table_append_json(table, text->str + whole, text->len - whole, &error));
	g_assert_error(error, SAMPLE_ERROR, SAMPLE_ERROR_SYNTAX);
}

static void test_append_boots(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), other = sample_table_new();
	g_autoptr(GError) error = NULL;
	Sample sample = example();

	g_assert_true(sample_table_append(table, &sample, &error));
	sample.boot = 0;
	g_assert_true(sample_table_append(other, &sample, &error));
	g_assert_true(sample_table_append_boots(table, other, &error));
	g_assert_cmpuint(sample_table_length(table), ==, 2);
	g_assert_cmpint(sample_table_get(table, 1)->boot, ==, 4);
	g_assert_cmpint(sample_table_get(table, 1)->pair, ==, 3);
	g_assert_true(sample_table_get(table, 0)->host == sample_table_get(table, 1)->host);
}

/* Many samples: the index of identities grows, and still finds every double. */
static void test_many(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	g_autoptr(GError) error = NULL;
	Sample sample = example();

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 20000; i++) {
			sample.boot = i % 10;
			sample.run = i / 10 % 10;
			sample.pass = i / 100;
			g_assert_cmpint(sample_table_append(table, &sample, &error), ==, round == 0);
			g_assert_cmpint(error != NULL, ==, round == 1);
			g_clear_error(&error);
		}
	g_assert_cmpuint(sample_table_length(table), ==, 20000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sample/round-trip", test_round_trip);
	g_test_add_func("/sample/format", test_format);
	g_test_add_func("/sample/csv-accepts", test_csv_accepts);
	g_test_add_func("/sample/refuses", test_refuses);
	g_test_add_func("/sample/limits", test_limits);
	g_test_add_func("/sample/jsonl-unfinished", test_jsonl_unfinished);
	g_test_add_func("/sample/append-boots", test_append_boots);
	g_test_add_func("/sample/many", test_many);
	return g_test_run();
}
