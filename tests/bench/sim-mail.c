/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mails of lists as they come, made by chance, each with what it is known to
 * mean: talk with whole patches and commands quoted, patches, programs' mail,
 * other lists, and now and then a command. Counts what is understood, and
 * fails if one mail is taken for something else.
 *
 *	sim-mail [MAILS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mail/understand.h"

#define LAB "lab@regrlab.example.org"
#define DIFF "diff --git a/mm/swap.c b/mm/swap.c\nindex 1111111..2222222 100644\n--- a/mm/swap.c\n+++ b/mm/swap.c\n" \
	"@@ -1,3 +1,3 @@\n int a;\n-int b;\n+int c;\n int d;\n"

typedef struct {
	MeaningKind kind;
	gboolean addressed;
	const char *verb;	/* of commands */
} Truth;

static GRand *dice;

static gboolean chance(int percent)
{
	return g_rand_int_range(dice, 0, 100) < percent;
}

static const char *one_of(const char *const *words, gsize n)
{
	return words[g_rand_int_range(dice, 0, (gint32)n)];
}

/* ---- bodies ---- */

/* What nobody is to take for a command. */
static void add_line(GString *body)
{
	static const char *const lines[] = {
		"I wonder whether this helps on NUMA.", "Reviewed-by: Rita Reviewer <rita@example.org>", "", "  #regrlab test: linux",
		"> #regrlab test", ">> #regrlab cancel 3", "The lab knows #regrlab test, see its page.", "`#regrlab more`", "#regrlabs",
		"#include <linux/mm.h>", "#syz test: git.example.org/linux.git master", "From here on it is slower:", "-- not a signature",
		"    processes    base   patched", "            8   195.1     160.2  -17.9%", "diff -u is better", "--- a/mm/swap.c", "+++ b/mm/swap.c",
		"base-commit: 0123456789abcdef0123456789abcdef01234567", "在 2025/4/1 22:33, David Example 写道:", "regrlab test", "# regrlab test",
		"\t#regrlab test", "On Mon, Ann wrote: #regrlab test", "|#regrlab test", "* #regrlab test", "https://lore.example.org/r/x@example.org/",
	};

	g_string_append_printf(body, "%s\n", one_of(lines, G_N_ELEMENTS(lines)));
}

static void add_talk(GString *body)
{
	for (int n = g_rand_int_range(dice, 1, 30); n > 0; n--)
		add_line(body);
}

static void add_quoted(GString *body, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++)
		g_string_append_printf(body, "%s%s\n", chance(50) ? "> " : ">> ", *line);
}

static void add_patch(GString *body)
{
	g_string_append(body, "Say why.\n\nSigned-off-by: Ann Author <ann@example.org>\n---\n mm/swap.c | 2 +-\n\n" DIFF "-- \n2.39.5\n");
}

/* ---- kinds of mail ---- */

static void talk(GString *body, GString *headers, Truth *truth)
{
	g_string_append(headers, "Subject: Re: [PATCH v3 2/7] mm: do less\n");
	add_talk(body);
	if (chance(60))
		add_quoted(body, "#regrlab test: linux\n" DIFF);
	if (chance(20))
		g_string_append(body, "\n" DIFF);
	add_talk(body);
	if (chance(20))
		g_string_append(body, "-- \n#regrlab test: linux\n");
	truth->kind = MEANING_IGNORED;
}

static void patch(GString *body, GString *headers, Truth *truth)
{
	g_string_append_printf(headers, "Subject: [%sPATCH%s%s] mm: do less\n", chance(10) ? "RFC " : "", chance(20) ? " mm-unstable" : "",
			       chance(50) ? " v2 1/3" : "");
	add_patch(body);
	truth->kind = MEANING_SERIES;
}

static void program(GString *body, GString *headers, Truth *truth)
{
	static const char *const marks[] = { "Auto-Submitted: auto-replied\n", "X-Autoreply: yes\n", "X-Regrlab: https://lab.example.org\n",
					     "Return-Path: <>\n", "X-Failed-Recipients: ann@example.org\n" };

	g_string_append_printf(headers, "Subject: %s\n%s", chance(50) ? "Re: [PATCH] mm: do less" : "[PATCH] mm: do less",
			       one_of(marks, G_N_ELEMENTS(marks)));
	g_string_append(body, "#regrlab test: linux\n");
	add_patch(body);
	truth->kind = MEANING_IGNORED;
}

static void command(GString *body, GString *headers, Truth *truth)
{
	static const char *const verbs[] = { "test", "more", "cancel", "no-mail" };

	g_string_append(headers, "Subject: Re: [PATCH v3 2/7] mm: do less\n");
	truth->kind = MEANING_COMMANDS;
	truth->verb = one_of(verbs, G_N_ELEMENTS(verbs));
	add_quoted(body, DIFF);
	g_string_append_printf(body, "#regrlab %s\n\n", truth->verb);
	add_talk(body);
}

/* Nobody is answered who did not write to the lab. */
static void malformed(GString *body, GString *headers, Truth *truth)
{
	g_string_append(headers, "Subject: Re: commands\n");
	g_string_append(body, "#regrlab would be nice to have\n");
	truth->kind = truth->addressed ? MEANING_COMMANDS : MEANING_IGNORED;
}

/* ---- mails ---- */

static char *make_mail(int number, Truth *truth)
{
	g_autoptr(GString) headers = g_string_new(NULL), body = g_string_new(NULL);
	int kind = g_rand_int_range(dice, 0, 1000);
	gboolean watched = chance(70);

	truth->addressed = chance(3);
	g_string_append_printf(headers, "From: Ann Author <ann@example.org>\nTo: someone@example.org%s\nMessage-ID: <%d@example.org>\n%s"
			       "List-Id: <%s.example.org>\n", truth->addressed ? ", " LAB : "", number,
			       chance(30) ? "Content-Type: text/plain; charset=UTF-8; format=flowed\n" : "", watched ? "linux-mm" : "other");
	(kind < 700 ? talk : kind < 960 ? patch : kind < 980 ? program : kind < 990 ? malformed : command)(body, headers, truth);
	/* a program's mail is that first, whoever it is for */
	if (!watched && !truth->addressed && !(kind >= 960 && kind < 980))
		truth->kind = MEANING_NOT_FOR_US;
	return g_strconcat(headers->str, "\n", body->str, NULL);
}

static gboolean is_right(const Meaning *meaning, const Truth *truth)
{
	if (meaning->kind != truth->kind || meaning->addressed != truth->addressed)
		return FALSE;
	if (truth->kind != MEANING_COMMANDS || !truth->verb)
		return TRUE;
	return meaning->commands->len == 1 &&
	       g_str_equal(verb_name(((Command *)g_ptr_array_index(meaning->commands, 0))->verb), truth->verb);
}

static double cpu_s(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
	int mails = argc > 1 ? atoi(argv[1]) : 100000, wrong = 0, counts[4] = { 0 };
	g_auto(MailSettings) settings = { .address = g_strdup(LAB), .lists = mail_settings_words("linux-mm.example.org"),
					  .authserv_id = g_strdup("") };
	double started_s = cpu_s();

	dice = g_rand_new_with_seed(1);
	for (int i = 0; i < mails; i++) {
		Truth truth = { 0 };
		g_autofree char *text = make_mail(i, &truth);
		g_autoptr(GBytes) raw = g_bytes_new(text, strlen(text));
		g_autoptr(Meaning) meaning = meaning_of(raw, &settings);

		counts[meaning->kind]++;
		if (is_right(meaning, &truth) || wrong++ >= 3)
			continue;
		printf("---- taken for %s, and it is %s:\n%s\n", meaning_kind_name(meaning->kind), meaning_kind_name(truth.kind), text);
	}
	for (int kind = 0; kind < 4; kind++)
		printf("%-11s %6d\n", meaning_kind_name(kind), counts[kind]);
	printf("wrong       %6d of %d, %.2f ms a mail\n", wrong, mails, (cpu_s() - started_s) * 1000 / MAX(mails, 1));
	g_rand_free(dice);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
