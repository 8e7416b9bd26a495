/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/quote.h"

#include <math.h>
#include <stdio.h>

#include "client/options.h"
#include "jobs/stats/figure.h"

static void print_duration(double seconds)
{
	gint64 s = (gint64)ceil(seconds);

	if (isnan(seconds))
		fputs("not known", stdout);
	else if (s < 120)
		printf("%" G_GINT64_FORMAT " s", s);
	else if (s < 7200)
		printf("%" G_GINT64_FORMAT " min", (s + 30) / 60);
	else
		printf("%.1f h", (double)s / 3600);
}

/* "  when:       at once (reason)" */
static void print_part(const char *name, JsonObject *part)
{
	printf("  %-16s ", name);
	print_duration(peek_double(part, "seconds", NAN));
	fputs(" (", stdout);
	options_print(peek_string(part, "reason"));
	fputs(")\n", stdout);
}

static void print_effect(JsonObject *effect)
{
	g_autoptr(GString) size = g_string_new(NULL);
	double effect_pct = peek_double(effect, "effect_pct", NAN);

	if (isnan(effect_pct))
		g_string_append(size, "not known");
	else
		stats_append_share(size, effect_pct);
	fputs("  ", stdout);
	options_print(peek_string(effect, "benchmark"));
	putchar(' ');
	options_print(peek_string(effect, "params"));
	printf(": %s (", size->str);
	if (peek_int(effect, "job", 0))
		printf("%s, job %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " boots: ", peek_string(effect, "source"),
		       peek_int(effect, "job", 0), peek_int(effect, "boots", 0));
	options_print(peek_string(effect, "reason"));
	fputs(")\n", stdout);
}

void quote_print(JsonObject *quote)
{
	JsonArray *effects = peek_array(quote, "effects");
	JsonObject *build = peek_object(quote, "build");

	fputs("On host ", stdout);
	options_print(peek_string(quote, "host"));
	fputs(", clock ", stdout);
	options_print(*peek_string(quote, "clock") ? peek_string(quote, "clock") : "not yet known");
	printf(", the smallest change that %" G_GINT64_FORMAT " boots of each kernel would show:\n",
	       peek_int(quote, "boots_per_arm", 0));
	for (guint i = 0; i < peek_length(effects); i++)
		print_effect(peek_element(effects, i));
	fputs("It would take:\n", stdout);
	print_part("base kernel", peek_object(build, "base"));
	print_part("patched kernel", peek_object(build, "patched"));
	print_part("measuring", peek_object(quote, "measure"));
	print_part("before it starts", peek_object(quote, "start"));
	fputs("  done in          ", stdout);
	print_duration(peek_double(quote, "done_in_s", NAN));
	putchar('\n');
}
