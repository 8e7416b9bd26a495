/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "jobs/spec/series-diff.h"
#include "jobs/spec/series.h"

#define DIFF(path) \
	"---\n " path " | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n" \
	"diff --git a/" path " b/" path "\nindex 1111111..2222222 100644\n--- a/" path "\n+++ b/" path "\n" \
	"@@ -1,3 +1,3 @@ head\n one\n-two\n+zwei\n three\n-- \n2.39.5\n\n"

#define HEAD(subject, id) \
	"From 1234567890123456789012345678901234567890 Mon Sep 17 00:00:00 2001\n" \
	"From: Ada Example <ada@example.org>\nDate: Mon, 6 Jan 2025 10:00:00 +0000\n" \
	"Message-ID: <" id "@example.org>\nSubject: " subject "\n"

#define MAIL(subject, id, body) HEAD(subject, id) "\n" body

#define PATCH(subject, id, path) MAIL(subject, id, "Say why.\n\nSigned-off-by: Ada Example <ada@example.org>\n" DIFF(path))

#define HASH "0123456789abcdef0123456789abcdef01234567"

static Series *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	Series *series = NULL;

	series_parse(text, strlen(text), &series, &error);
	g_assert_no_error(error);
	g_assert_nonnull(series);
	return series;
}

static void refuse(const char *text, SpecError code, const char *word)
{
	g_autoptr(GError) error = NULL;
	Series *series = NULL;

	g_assert_false(series_parse(text, strlen(text), &series, &error));
	g_assert_error(error, SPEC_ERROR, (int)code);
	g_assert_nonnull(strstr(error->message, word));
	g_assert_null(series);
}

static const SeriesPatch *patch(const Series *series, guint i)
{
	g_assert_cmpuint(i, <, series->patches->len);
	return g_ptr_array_index(series->patches, i);
}

static void test_single(void)
{
	g_autoptr(Series) series = parse(PATCH("[PATCH] mm: do less", "a", "mm/vmscan.c"));

	g_assert_cmpuint(series->patches->len, ==, 1);
	g_assert_cmpstr(series->subject, ==, "mm: do less");
	g_assert_cmpstr(series->author, ==, "Ada Example <ada@example.org>");
	g_assert_cmpstr(series->base_commit, ==, "");
	g_assert_cmpint(series->version, ==, 1);
	g_assert_cmpint(patch(series, 0)->number, ==, 1);
	g_assert_cmpstr(patch(series, 0)->files[0], ==, "mm/vmscan.c");
	g_assert_null(patch(series, 0)->files[1]);

	gsize size;
	const char *raw = g_bytes_get_data(patch(series, 0)->mail, &size);
	g_assert_true(g_str_has_prefix(raw, "From: Ada"));
	g_assert_cmpmem(raw + size - 8, 8, "2.39.5\n\n", 8);
}

/* A mail as it is saved from a mail reader: no mbox line at all. */
static void test_no_mbox_line(void)
{
	g_autoptr(Series) series = parse(strchr(PATCH("[PATCH] x", "a", "mm/x.c"), '\n') + 1);

	g_assert_cmpuint(series->patches->len, ==, 1);
}

static void test_cover_and_order(void)
{
	g_autoptr(Series) series = parse(
		PATCH("[RFC PATCH mm-unstable v3 2/2] mm: second", "c", "mm/b.c")
		MAIL("Re: [RFC PATCH mm-unstable v3 2/2] mm: second", "d",
		     "On Monday Ada wrote:\n> diff --git a/../x b/../x\n> --- a/../x\n> +++ b/../x\nNice.\n")
		MAIL("Re: [RFC PATCH mm-unstable v3 1/2] mm: first", "e", "How about this?\n\n" DIFF("mm/other.c"))
		PATCH("[RFC PATCH mm-unstable v3 1/2] mm: first", "b", "mm/a.c")
		MAIL("[RFC PATCH mm-unstable v3 0/2] mm: both", "a",
		     "Two patches.\n\n mm/a.c | 2 +-\n\nbase-commit: " HASH "\nchange-id: 20250106-both-0123456789ab\n"));

	g_assert_cmpuint(series->patches->len, ==, 2);
	g_assert_cmpstr(patch(series, 0)->subject, ==, "mm: first");
	g_assert_cmpstr(patch(series, 1)->subject, ==, "mm: second");
	g_assert_cmpint(patch(series, 1)->number, ==, 2);
	g_assert_cmpstr(series->subject, ==, "mm: both");
	g_assert_cmpstr(series->base_commit, ==, HASH);
	g_assert_cmpstr(series->change_id, ==, "20250106-both-0123456789ab");
	g_assert_cmpint(series->version, ==, 3);
}

static void test_base_in_patch(void)
{
	g_autoptr(Series) series = parse(PATCH("[PATCH] x", "a", "mm/x.c") "base-commit: " HASH "\n");
	g_assert_cmpstr(series->base_commit, ==, HASH);

	g_autoptr(Series) name = parse(PATCH("[PATCH] x", "a", "mm/x.c") "base-commit: v6.12\n");
	g_assert_cmpstr(name->base_commit, ==, "");
}

static void test_missing(void)
{
	refuse(PATCH("[PATCH 1/4] a", "a", "a") PATCH("[PATCH 3/4] c", "c", "c"), SPEC_ERROR_INCOMPLETE,
	       "part 2/4, 4/4 is missing");
	refuse(MAIL("[PATCH 0/2] cover", "a", "Hello.\n"), SPEC_ERROR_INCOMPLETE, "1/2, 2/2");
	refuse(MAIL("[PATCH 0/0] cover", "a", "Hello.\n"), SPEC_ERROR_MISSING, "no patch");
	refuse("", SPEC_ERROR_MISSING, "no patch");
	refuse(MAIL("Hello", "a", "Nothing.\n"), SPEC_ERROR_MISSING, "no patch");
	/* only the second version's second part was sent again */
	refuse(PATCH("[PATCH 1/2] a", "a", "a") PATCH("[PATCH 2/2] b", "b", "b") PATCH("[PATCH v2 2/2] b", "c", "b"),
	       SPEC_ERROR_INCOMPLETE, "part 1/2 is missing");
}

static void test_doubled(void)
{
	refuse(PATCH("[PATCH 1/2] a", "a", "a") PATCH("[PATCH 2/2] b", "b", "b") PATCH("[PATCH 2/2] c", "c", "c"),
	       SPEC_ERROR_INCOMPLETE, "more than one mail is part 2/2");
	refuse(PATCH("[PATCH 1/2] a", "a", "a") PATCH("[PATCH 2/3] b", "b", "b"), SPEC_ERROR_INCOMPLETE, "differ");
	refuse(PATCH("[PATCH 1/2] a", "a", "a") PATCH("[PATCH] b", "b", "b"), SPEC_ERROR_INCOMPLETE, "differ");
	refuse(PATCH("[PATCH 3/2] a", "a", "a"), SPEC_ERROR_SYNTAX, "part 3 of 2");

	g_autoptr(Series) series = parse(PATCH("[PATCH 1/2] a", "a", "a") PATCH("[PATCH 2/2] b", "b", "b")
					 PATCH("[PATCH 1/2] a", "a", "a"));
	g_assert_cmpuint(series->patches->len, ==, 2);
}

static void test_versions(void)
{
	g_autoptr(Series) series = parse(PATCH("[PATCH 1/1] old", "a", "a") PATCH("[PATCH v2 1/2] new", "b", "b")
					 PATCH("[PATCH v2 2/2] newer", "c", "c"));

	g_assert_cmpint(series->version, ==, 2);
	g_assert_cmpuint(series->patches->len, ==, 2);
	g_assert_cmpstr(series->subject, ==, "new");
}

static void test_unnumbered(void)
{
	g_autoptr(Series) series = parse(PATCH("mm: kept subject", "a", "a") PATCH("second", "b", "b"));

	g_assert_cmpuint(series->patches->len, ==, 2);
	g_assert_cmpstr(patch(series, 1)->subject, ==, "second");
	g_assert_cmpint(patch(series, 1)->number, ==, 2);
}

static void test_encodings(void)
{
	g_autoptr(Series) q = parse(MAIL("=?UTF-8?q?[PATCH]_mm:_gr=C3=BC=C3=9Fe?=", "a", DIFF("mm/x.c")));
	g_assert_cmpstr(q->subject, ==, "mm: grüße");

	g_autoptr(Series) quoted = parse(
		HEAD("[PATCH] qp", "a") "Content-Type: text/plain; charset=iso-8859-1\n"
		"Content-Transfer-Encoding: quoted-printable\n\n"
		"From: J=FCrgen Example <juergen@example.org>\n\n---\n"
		"diff --git a/mm/x.c b/mm/x.c\n--- a/mm/x.c\n+++ b/mm/x.c\n@@ -1 +1 @@\n-a =3D 1\n+a =3D =\n2\n");
	g_assert_cmpstr(patch(quoted, 0)->files[0], ==, "mm/x.c");

	/* "---\ndiff --git a/mm/b.c b/mm/b.c\n--- a/mm/b.c\n+++ b/mm/b.c\n@@ -1 +1 @@\n-a\n+b\n" */
	g_autoptr(Series) base64 = parse(
		HEAD("[PATCH] b64", "a") "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
		"LS0tCmRpZmYgLS1naXQgYS9tbS9iLmMgYi9tbS9iLmMKLS0tIGEvbW0vYi5jCisrKyBiL21tL2IuYwpA\n"
		"QCAtMSArMSBAQAotYQorYgo=\n");
	g_assert_cmpstr(patch(base64, 0)->files[0], ==, "mm/b.c");

	g_autoptr(Series) flowed = parse(
		HEAD("[PATCH] flowed", "a") "Content-Type: text/plain; format=flowed\n\n"
		"---\n\ndiff --git a/mm/f.c \nb/mm/f.c\n--- a/mm/f.c\n+++ b/mm/f.c\n@@ -1,2 +1,2 @@\n  x\n-a\n+b\n");
	g_assert_cmpstr(patch(flowed, 0)->files[0], ==, "mm/f.c");
	g_assert_null(patch(flowed, 0)->files[1]);
}

static void test_attachment(void)
{
	g_autoptr(Series) series = parse(
		HEAD("[PATCH] attached", "a") "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=xx\n\n"
		"--xx\nContent-Type: text/plain\n\nSee the attachment.\n"
		"--xx\nContent-Type: text/x-patch; name=a.patch\nContent-Disposition: attachment; filename=a.patch\n\n"
		DIFF("mm/att.c") "--xx--\n");

	g_assert_cmpstr(patch(series, 0)->files[0], ==, "mm/att.c");
}

static void test_crlf(void)
{
	g_auto(GStrv) lines = g_strsplit(PATCH("[PATCH 1/2] a", "a", "mm/a.c") PATCH("[PATCH 2/2] b", "b", "mm/b.c"), "\n", 0);
	g_autofree char *text = g_strjoinv("\r\n", lines);
	g_autoptr(Series) series = parse(text);

	g_assert_cmpuint(series->patches->len, ==, 2);
	g_assert_cmpstr(patch(series, 1)->files[0], ==, "mm/b.c");
}

/* The author of the body's head; text that begins with "From " is no new mail. */
static void test_body_headers(void)
{
	g_autoptr(Series) series = parse(MAIL("[PATCH] sent by another", "a",
		"From: Bea Example <bea@example.org>\nSubject: mm: her subject\n\nFrom here on it is faster.\n"
		"From now on, at 12:30 too.\n" DIFF("mm/x.c")));

	g_assert_cmpstr(series->author, ==, "Bea Example <bea@example.org>");
	g_assert_cmpstr(series->subject, ==, "mm: her subject");
}

#define GIT(lines) MAIL("[PATCH] x", "a", "---\n" lines "-- \n2.39\n")
#define GIT_NAMES(name) GIT("diff --git a/ok b/ok\n--- a/" name "\n+++ b/" name "\n@@ -1 +1 @@\n-a\n+b\n")

static void test_unsafe(void)
{
	static const char *const texts[] = {
		GIT_NAMES("../etc/passwd"),
		GIT_NAMES("mm/../../x"),
		GIT_NAMES("/etc/passwd"),
		GIT_NAMES(".git/config"),
		GIT_NAMES("mm/.GIT/hooks/post-checkout"),
		GIT_NAMES("GIT~1/config"),
		GIT_NAMES("mm//x"),
		GIT_NAMES("mm/x/"),
		GIT("diff --git a/ok b/ok\n--- \"a/mm\\nx\"\n+++ \"b/mm\\nx\"\n@@ -1 +1 @@\n-a\n+b\n"),
		GIT("diff --git a/ok b/ok\n--- \"a/.\\056/x\"\n+++ \"b/.\\056/x\"\n@@ -1 +1 @@\n-a\n+b\n"),
		GIT("diff --git \"a/../x\" \"b/../x\"\nnew file mode 100644\n"),
		GIT("diff --git a/../x b/../x\nold mode 100644\nnew mode 100755\n"),
		GIT("diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n"),
		GIT("diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+/etc\n"),
		GIT("diff --git a/l b/l\nold mode 100644\nnew mode 120000\n"),
		GIT("diff --git a/sub b/sub\nnew file mode 160000\n--- /dev/null\n+++ b/sub\n@@ -0,0 +1 @@\n+Subproject\n"),
		GIT("diff --git a/ok b/ok2\nsimilarity index 100%\nrename from ok\nrename to ../ok2\n"),
		GIT("diff --git a/ok b/ok2\ncopy from ok\ncopy to .git/ok2\n"),
		/* not git's diff, and after a hunk that is complete */
		GIT("--- a/ok\n+++ b/ok\n@@ -1 +1 @@\n-a\n+b\n--- x/../../y\n+++ x/../../y\n@@ -1 +1 @@\n-a\n+b\n"),
	};

	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
		refuse(texts[i], SPEC_ERROR_UNSAFE, "series");
}

/* What only looks unsafe. */
static void test_safe(void)
{
	g_autoptr(Series) hunk = parse(GIT("diff --git a/doc b/doc\n--- a/doc\n+++ b/doc\n@@ -1,2 +1,2 @@\n"
					   "--- ../x\n+++ ../x\n common\n"));
	g_assert_null(patch(hunk, 0)->files[1]);

	g_autoptr(Series) names = parse(GIT("diff --git a/.gitignore b/.gitignore\n--- a/.gitignore\n+++ b/.gitignore\n"
					    "@@ -1 +1 @@\n-a\n+b\n"
					    "diff --git a/a..b/...c b/a..b/...c\n--- a/a..b/...c\n+++ b/a..b/...c\n"
					    "@@ -1 +1 @@\n-a\n+b\n"));
	g_assert_cmpstr(patch(names, 0)->files[1], ==, "a..b/...c");

	g_autoptr(Series) gone = parse(GIT("diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n"
					   "@@ -1 +0,0 @@\n-/etc\n"));
	g_assert_cmpstr(patch(gone, 0)->files[0], ==, "l");

	g_autoptr(Series) rename = parse(GIT("diff --git a/mm/o n.c b/mm/n.c\nsimilarity index 100%\n"
					     "rename from mm/o n.c\nrename to mm/n.c\n"));
	g_assert_cmpstr(patch(rename, 0)->files[0], ==, "mm/o n.c");
	g_assert_cmpstr(patch(rename, 0)->files[1], ==, "mm/n.c");
}

static void test_bad_hunk(void)
{
	refuse(GIT("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,99999999999999999999 +1 @@\n-a\n"), SPEC_ERROR_SYNTAX, "hunk");
	refuse(GIT("--- a/x\n+++ b/x\n@@ -a +1 @@\n-a\n"), SPEC_ERROR_SYNTAX, "hunk");
	refuse(GIT("--- \"a/x\n+++ b/x\n"), SPEC_ERROR_SYNTAX, "does not end");
}

static void test_limits(void)
{
	g_autofree char *large = g_malloc0(SERIES_MAX_BYTES + 2);
	memset(large, 'x', SERIES_MAX_BYTES + 1);
	refuse(large, SPEC_ERROR_LIMIT, "larger");

	g_autoptr(GString) wide = g_string_new(GIT_NAMES("x"));
	/* of long lines: sanitizers look through the rest of the text for each */
	while (wide->len <= SERIES_MAX_PATCH_BYTES + 200)
		g_string_append_printf(wide, "%4000s\n", "more and more text");
	refuse(wide->str, SPEC_ERROR_LIMIT, "\"x\" is larger");

	g_autoptr(GString) many = g_string_new(NULL);
	for (int i = 0; i <= SERIES_MAX_PATCHES; i++)
		g_string_append(many, PATCH("x", "a", "a"));
	refuse(many->str, SPEC_ERROR_LIMIT, "patches");
	refuse(PATCH("[PATCH 1/2000] x", "a", "a"), SPEC_ERROR_LIMIT, "patches");

	g_autoptr(GString) talk = g_string_new(NULL);
	for (int i = 0; i < 2100; i++)
		g_string_append(talk, MAIL("Re: x", "a", "y\n"));
	refuse(talk->str, SPEC_ERROR_LIMIT, "mails");
}

static void test_long_subject(void)
{
	g_autoptr(GString) text = g_string_new("From: a@example.org\nSubject: [PATCH] ");
	for (int i = 0; i < 400; i++)
		g_string_append(text, "ü");
	g_string_append(text, "\n\n" DIFF("a"));
	g_autoptr(Series) series = parse(text->str);

	g_assert_true(g_utf8_validate(series->subject, -1, NULL));
	g_assert_cmpuint(strlen(series->subject), <=, 512);
	g_assert_cmpstr(series->author, ==, "<a@example.org>");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/series/single", test_single);
	g_test_add_func("/series/no-mbox-line", test_no_mbox_line);
	g_test_add_func("/series/cover-and-order", test_cover_and_order);
	g_test_add_func("/series/base-in-patch", test_base_in_patch);
	g_test_add_func("/series/missing", test_missing);
	g_test_add_func("/series/doubled", test_doubled);
	g_test_add_func("/series/versions", test_versions);
	g_test_add_func("/series/unnumbered", test_unnumbered);
	g_test_add_func("/series/encodings", test_encodings);
	g_test_add_func("/series/attachment", test_attachment);
	g_test_add_func("/series/crlf", test_crlf);
	g_test_add_func("/series/body-headers", test_body_headers);
	g_test_add_func("/series/unsafe", test_unsafe);
	g_test_add_func("/series/safe", test_safe);
	g_test_add_func("/series/bad-hunk", test_bad_hunk);
	g_test_add_func("/series/limits", test_limits);
	g_test_add_func("/series/long-subject", test_long_subject);
	return g_test_run();
}
