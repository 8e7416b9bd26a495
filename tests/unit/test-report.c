/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/job-fixture.h"
#include "web/report-text.h"

static char *render(const StoreJob *job, const GPtrArray *boots, const StatsResult *result)
{
	g_autoptr(JsonNode) warnings = json_from_string("[\"turbo is on and should be off, and this sentence goes on for longer"
							" than a line of mail (4 boots)\", \"\\u001b[1m\"]", NULL);
	JobView view = { .job = job, .boots = boots, .result = result, .url = "http://lab.example.org",
			 .host_warnings = json_node_get_array(warnings), .now_ns = FIXTURE_TIME_NS };
	gsize size;
	char *text = report_text(&view, &size);

	g_assert_cmpuint(size, ==, strlen(text));
	g_assert_true(g_utf8_validate(text, -1, NULL));
	for (const char *c = text; *c; c++)
		g_assert_true(*c == '\n' || !g_ascii_iscntrl(*c));
	return text;
}

/* Only a word that cannot be broken may make a line longer. */
static void check_width(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		const char *last = strrchr(g_strstrip(*line), ' ');

		if (g_utf8_strlen(*line, -1) > 78 && last)
			g_error("too long: %s", *line);
	}
}

static void test_done(void)
{
	g_autoptr(StoreJob) job = fixture_job(JOB_DONE);
	g_autoptr(GPtrArray) boots = fixture_boots();
	g_autoptr(StatsResult) result = fixture_result();
	g_autofree char *text = render(job, boots, result);

	g_assert_true(g_str_has_prefix(text, "aging "));	/* the table comes first */
	g_assert_nonnull(strstr(text, "REGRESSION"));
	g_assert_nonnull(strstr(text, "aging is 18 % slower & pwrite is unchanged"));
	g_assert_nonnull(strstr(text, "http://lab.example.org/jobs/7\n"));
	g_assert_nonnull(strstr(text, "chosen by      tree default\n"));
	g_assert_nonnull(strstr(text, "patch 1        one\n"));
	g_assert_nonnull(strstr(text, "order          ABBAABBA\n"));
	g_assert_nonnull(strstr(text, "while this was measured:\n\n  - turbo is on and should be off, and"));
	check_width(text);
}

static void test_failed(void)
{
	g_autoptr(StoreJob) job = fixture_job(JOB_APPLY_FAILED);
	g_autofree char *text = NULL;

	g_free(job->message);
	job->message = g_strdup("patch 2 does not apply to the base that was asked for: send the series again with the base "
				"that it was made on " EVIL);
	job->detail = fixture_object("{\"patch\": 2, \"subject\": \"two\", \"file\": \"mm/a.c\", \"hunk\": \"@@ -1 +1 @@\","
				     " \"git\": \"error: patch failed\\nerror: mm/a.c: \\u001b does not apply\\n\"}");
	text = render(job, NULL, NULL);
	g_assert_true(g_str_has_prefix(text, "The series does not apply.\n\npatch 2 does not apply to the base"));
	g_assert_nonnull(strstr(text, "  patch          2 two\n"));
	g_assert_nonnull(strstr(text, "    error: mm/a.c: ? does not apply\n"));
	check_width(text);
}

static void test_not_yet(void)
{
	g_autoptr(StoreJob) job = fixture_job(JOB_QUEUED);
	g_autofree char *text = render(job, NULL, NULL);

	g_assert_true(g_str_has_prefix(text, "No answer yet: the job waits in the queue.\n"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/report/done", test_done);
	g_test_add_func("/report/failed", test_failed);
	g_test_add_func("/report/not-yet", test_not_yet);
	return g_test_run();
}
