/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first error of a build, from recorded words of compilers, linkers and make. */
#include <string.h>

#include "jobs/build-error.h"

static JsonObject *first_error(const char *words)
{
	g_autoptr(BuildErrors) errors = build_errors_new("/cache/src");
	g_auto(GStrv) lines = g_strsplit(words, "\n", 0);

	for (char **line = lines; *line; line++)
		build_errors_line(errors, *line);
	return build_errors_detail(errors);
}

static void test_errors(void)
{
	static const struct {
		const char *words, *file, *error;
		int line;
	} rows[] = {
		{ "  CC      mm/x.o\n/cache/src/mm/x.c: In function 'f':\n/cache/src/mm/x.c:12:9: warning: unused variable 'a'\n"
		  "/cache/src/mm/x.c:14:3: error: 'b' undeclared (first use in this function)\n"
		  "/cache/src/mm/x.c:15:3: error: another\nmake[3]: *** [scripts/Makefile.build:229: mm/x.o] Error 1\n",
		  "mm/x.c", "error: 'b' undeclared (first use in this function)", 14 },
		{ "In file included from /cache/src/mm/x.c:3:\n/cache/src/include/y.h:7:10: fatal error: z.h: No such file or directory\n",
		  "include/y.h", "fatal error: z.h: No such file or directory", 7 },
		{ "make[3]: *** [x] Error 1\n../mm/x.c:5:1: error: later, and still the better answer\n", "../mm/x.c",
		  "error: later, and still the better answer", 5 },
		{ "  LD      vmlinux\nld: mm/x.o: in function `f':\nx.c:(.text+0x12): undefined reference to `g'\n"
		  "make[2]: *** [scripts/Makefile.vmlinux:34: vmlinux] Error 1\n", "x.c", "undefined reference to `g'", 0 },
		{ "ld: mm/x.o:mm/x.c:8: multiple definition of `g'; mm/y.o:mm/y.c:3: first defined here\n", "mm/x.o",
		  "multiple definition of `g'; mm/y.o:mm/y.c:3: first defined here", 0 },
		{ "ld: warning: mm/x.o has a LOAD segment with RWX permissions\nERROR: modpost: \"f\" [m.ko] undefined!\n", "",
		  "ERROR: modpost: \"f\" [m.ko] undefined!", 0 },
		{ "make[1]: *** No rule to make target 'mm/none.o', needed by 'mm/built-in.a'.  Stop.\n", "",
		  "make[1]: *** No rule to make target 'mm/none.o', needed by 'mm/built-in.a'.  Stop.", 0 },
		{ "mm/x.S: Assembler messages:\nmm/x.S:3: Error: no such instruction: `foo'\n", "mm/x.S",
		  "Error: no such instruction: `foo'", 3 },
		{ "mm/Kconfig:12: syntax error\nmake[2]: *** [x] Error 1\n", "mm/Kconfig", "syntax error", 12 },
		{ "all is well\n", "", "", 0 },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(JsonObject) detail = first_error(rows[i].words);
		g_assert_cmpstr(json_object_get_string_member(detail, "file"), ==, rows[i].file);
		g_assert_cmpstr(json_object_get_string_member(detail, "error"), ==, rows[i].error);
		g_assert_cmpint(json_object_get_int_member(detail, "line"), ==, rows[i].line);
	}
}

static void test_error_context(void)
{
	g_autoptr(GString) words = g_string_new(NULL);

	for (int i = 0; i < 100; i++)
		g_string_append_printf(words, "  CC      mm/%d.o\n", i);
	g_string_append(words, "/cache/src/mm/x.c:1:1: error: \xff\n");
	for (int i = 100; i < 200; i++)
		g_string_append_printf(words, "  CC      mm/%d.o\n", i);
	g_autoptr(JsonObject) detail = first_error(words->str);
	const char *context = json_object_get_string_member(detail, "context");

	g_assert_true(g_str_has_prefix(context, "  CC      mm/94.o\n"));
	g_assert_nonnull(strstr(context, "mm/99.o\nmm/x.c:1:1: error: "));
	g_assert_nonnull(strstr(context, "mm/111.o\n"));
	g_assert_null(strstr(context, "mm/112.o\n"));
	g_assert_true(g_utf8_validate(context, -1, NULL));
}

static void test_disturbed(void)
{
	static const struct {
		const char *line;
		gboolean disturbed;
	} rows[] = {
		{ "gcc: fatal error: Killed signal terminated program cc1", TRUE },
		{ "make[3]: *** [scripts/Makefile.build:229: mm/x.o] Killed", TRUE },
		{ "arch/x86/kernel/cpu/mkcapflags.sh: 32: Cannot fork", TRUE },
		{ "make[2]: fork: Resource temporarily unavailable", TRUE },
		{ "gcc: fatal error: cannot execute 'cc1': vfork: Cannot allocate memory", TRUE },
		{ "make[3]: *** [scripts/Makefile.build:229: mm/x.o] Error 1", FALSE },
		{ "mm/x.c:14:3: error: 'b' undeclared (first use in this function)", FALSE },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(BuildErrors) errors = build_errors_new("/cache/src");

		build_errors_line(errors, "  CC      mm/x.o");
		build_errors_line(errors, rows[i].line);
		g_assert_cmpint(build_errors_disturbed(errors), ==, rows[i].disturbed);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/build-error/first", test_errors);
	g_test_add_func("/build-error/context", test_error_context);
	g_test_add_func("/build-error/disturbed", test_disturbed);
	return g_test_run();
}
