/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <libxml/parser.h>
#include <libxml/xpath.h>

#include "tests/unit/job-fixture.h"
#include "web/feed.h"
#include "web/page-hosts.h"
#include "web/page-index.h"
#include "web/page-job.h"
#include "web/page-jobs.h"

/* Pages are XML as well as HTML, and no markup but ours is in them. */
static xmlDoc *parse(const char *page, gsize size)
{
	xmlDoc *document = xmlReadMemory(page, (int)size, "page", "UTF-8", XML_PARSE_NONET | XML_PARSE_NOERROR);

	if (!document)
		g_error("not well-formed: %s\n%s", xmlGetLastError()->message, page);
	return document;
}

static int count(xmlDoc *document, const char *path)
{
	xmlXPathContext *context = xmlXPathNewContext(document);
	xmlXPathObject *found = xmlXPathEvalExpression((const xmlChar *)path, context);
	int nodes;

	g_assert_nonnull(found);
	nodes = found->nodesetval ? found->nodesetval->nodeNr : 0;
	xmlXPathFreeObject(found);
	xmlXPathFreeContext(context);
	return nodes;
}

static void check_page(const char *page, gsize size, int headings, const char *refresh)
{
	xmlDoc *document = parse(page, size);

	g_assert_cmpuint(size, ==, strlen(page));
	g_assert_true(g_utf8_validate(page, -1, NULL));
	g_assert_null(strchr(page, '\x1b'));
	g_assert_cmpint(count(document, "//script[not(@src) or text()]"), ==, 0);
	g_assert_cmpint(count(document, "//script"), ==, 1);
	g_assert_cmpint(count(document, "//@id[. = ../following::*/@id]"), ==, 0);
	g_assert_cmpint(count(document, "//@*[starts-with(name(), 'on') or name() = 'style']"), ==, 0);
	g_assert_cmpint(count(document, "//h1"), ==, 1);
	g_assert_cmpint(count(document, "//h2"), ==, headings);
	g_assert_cmpint(count(document, "//*[@aria-labelledby and not(@aria-labelledby = //@id)]"), ==, 0);
	g_assert_cmpint(count(document, "//a[@href = '']"), ==, 0);
	g_assert_cmpint(count(document, "//noscript/meta[@http-equiv = 'refresh']"), ==, refresh ? 1 : 0);
	xmlFreeDoc(document);
}

static char *render(const StoreJob *job, const GPtrArray *boots, const StatsResult *result, gsize *ret_size)
{
	const char *const artifacts[] = { "boot-1-console.txt", "config-base", "domain.xml", NULL };
	g_autoptr(JsonNode) warnings = json_from_string("[\"turbo is <b>on</b> (4 boots)\", 7]", NULL);
	JobView view = { .job = job, .boots = boots, .result = result, .artifacts = artifacts,
			 .host_warnings = json_node_get_array(warnings),
			 .url = "http://lab.example.org", .queue_position = 2, .now_ns = FIXTURE_TIME_NS };

	return page_job(&view, ret_size);
}

static void test_done(void)
{
	g_autoptr(StoreJob) job = fixture_job(JOB_DONE);
	g_autoptr(GPtrArray) boots = fixture_boots();
	g_autoptr(StatsResult) result = fixture_result();
	gsize size;
	g_autofree char *page = render(job, boots, result, &size);

	/* result, changes, how, boots, files */
	check_page(page, size, 5, NULL);
	g_assert_nonnull(strstr(page, "headline worse"));
	g_assert_nonnull(strstr(page, "aging                    base  patched  change          interval  verdict\nnproc=1;lru=mglru"));
	g_assert_nonnull(strstr(page, "aging is 18 % slower &amp; pwrite is unchanged."));
	/* better or worse in words, beside the verdict and its mark */
	g_assert_nonnull(strstr(page, "+18.0% slower"));
	g_assert_nonnull(strstr(page, "-4.00% faster"));
	g_assert_nonnull(strstr(page, "</span> REGRESSION"));
	g_assert_nonnull(strstr(page, "clock: icount"));
	g_assert_nonnull(strstr(page, "<li>turbo is &lt;b&gt;on&lt;/b&gt; (4 boots)</li>"));
	g_assert_nonnull(strstr(page, "does not count: panic"));
	g_assert_nonnull(strstr(page, "href=\"/api/v1/jobs/7/artifacts/boot-1-console.txt\">console</a>"));
	g_assert_null(strstr(page, "boot-0-console.txt"));
	g_assert_nonnull(strstr(page, "in 183 s, on the objects of the base"));
}

/* What is not decided can be added to, and the page says how. */
static void test_open(void)
{
	g_autoptr(StoreJob) job = fixture_job(JOB_DONE);
	g_autoptr(StatsResult) result = fixture_result();
	gsize size;
	g_autofree char *page = NULL;

	fixture_compare(result, "readtwice", "lru=mglru", STATS_VERDICT_INCONCLUSIVE, 2, TRUE);
	page = render(job, NULL, result, &size);
	/* next, result, changes, how, files */
	check_page(page, size, 5, NULL);
	g_assert_nonnull(strstr(page, "-X POST &#39;http://lab.example.org/api/v1/jobs/7/more?boots=10&#39;</code>"));
	g_assert_null(strstr(page, "<form"));
}

/* While it runs: what each look saw, that it is not the answer, the end of the log, and a button for who may press it. */
static void test_running(void)
{
	g_autoptr(StoreJob) job = fixture_job(JOB_MEASURING);
	g_autoptr(GPtrArray) looks = g_ptr_array_new_with_free_func((GDestroyNotify)json_object_unref);
	const char *const artifacts[] = { NULL };
	JobView view = { .job = job, .looks = looks, .log_tail = "boot 3: " EVIL, .open = TRUE, .artifacts = artifacts,
			 .url = "http://lab.example.org", .now_ns = FIXTURE_TIME_NS };
	g_autofree char *page = NULL;
	gsize size;

	for (int look = 1; look <= 2; look++) {
		g_autofree char *json = g_strdup_printf(
			"{\"look\": %d, \"looks\": 4, \"pairs\": %d, \"comparisons\": [{\"benchmark\": \"aging\", \"params\": \"nproc=8\","
			" \"change_pct\": 3, \"ci_low_pct\": %d, \"ci_high_pct\": null}, {\"benchmark\": \"pwrite\", \"params\": \"\","
			" \"change_pct\": 2, \"ci_low_pct\": %d, \"ci_high_pct\": 5}]}", look, 2 + 2 * look, -9 / look, -8 / look);

		g_ptr_array_add(looks, fixture_object(json));
	}
	job->look = json_object_ref(g_ptr_array_index(looks, 1));
	page = page_job(&view, &size);
	check_page(page, size, 3, "5");
	g_assert_nonnull(strstr(page, "These are not the answer."));
	g_assert_nonnull(strstr(page, "after 4 boots a kernel</th><th scope=\"col\">after 6 boots a kernel"));
	g_assert_nonnull(strstr(page, "+2.00% [-8.00%, +5.00%]</td><td class=\"n\">+2.00% [-4.00%, +5.00%]"));
	g_assert_nonnull(strstr(page, "<form method=\"post\" action=\"/jobs/7/cancel\"><button>Cancel this job"));
	g_assert_nonnull(strstr(page, "boot 3: &lt;/title&gt;"));
	job->cancel_asked = TRUE;
	g_free(page);
	page = page_job(&view, &size);
	g_assert_null(strstr(page, "<form"));
}

/* Twenty parameter sets of forty boots, forty counters and their artifacts: still a small page. */
static void test_large(void)
{
	g_autoptr(StoreJob) job = fixture_job(JOB_DONE);
	g_autoptr(StatsResult) result = stats_result_new();
	g_autoptr(GPtrArray) boots = g_ptr_array_new_with_free_func((GDestroyNotify)store_boot_free);
	g_autoptr(GStrvBuilder) names = g_strv_builder_new();
	g_autoptr(GString) counters = g_string_new("{\"tested\": 900, \"selected\": 40, \"alpha\": 0.05, \"rows\": [");
	g_autoptr(JsonObject) counted = NULL;
	g_auto(GStrv) artifacts = NULL;
	g_autofree char *page = NULL;
	gsize size;

	result->method = g_strdup(STATS_METHOD);
	result->clock = g_strdup("icount");
	result->summary = g_strdup("aging is 18 % slower");
	for (int set = 0; set < 20; set++) {
		g_autofree char *params = g_strdup_printf("nproc=%d;lru=%s", 1 << (set / 2), set % 2 ? "mglru" : "classic");
		StatsComparison *comparison;

		fixture_compare(result, "aging", params, STATS_VERDICT_REGRESSION, 18.25 + set, TRUE);
		comparison = g_ptr_array_index(result->comparisons, set);
		for (int i = 0; i < 40; i++) {
			double value = 20.123 + i * 7 % 13 * .0617 + i % 2 * 3.61;

			g_array_append_val(comparison->boot_values[i % 2], value);
		}
	}
	for (int i = 0; i < 40; i++) {
		g_autoptr(GPtrArray) one = fixture_boots();
		StoreBoot *boot = g_ptr_array_steal_index(one, (guint)i % 2);
		g_autofree char *console = g_strdup_printf("boot-%d-console.txt", i);
		g_autofree char *counter = g_strdup_printf("boot-%d-counters.csv", i);

		boot->boot = i;
		g_ptr_array_add(boots, boot);
		g_strv_builder_add_many(names, console, counter, NULL);
	}
	for (int i = 0; i < 40; i++)
		g_string_append_printf(counters, "%s{\"counter\": \"vmstat.workingset_activate_anon_%d\", \"benchmark\": \"aging\","
				       " \"params\": \"nproc=64;lru=mglru\", \"base\": 123456.5, \"patched\": 234567.25, \"difference\":"
				       " 111110.75, \"low\": 110000, \"high\": 112000, \"p_bh\": 0.001}", i ? ", " : "", i);
	g_string_append(counters, "]}");
	counted = fixture_object(counters->str);
	artifacts = g_strv_builder_end(names);

	JobView view = { .job = job, .result = result, .boots = boots, .counters = counted,
			 .artifacts = (const char *const *)artifacts, .url = "http://lab.example.org", .now_ns = FIXTURE_TIME_NS };

	page = page_job(&view, &size);
	check_page(page, size, 7, NULL);
	g_test_message("%zu bytes", size);
	g_assert_cmpuint(size, <, 100 * 1000);
	g_assert_nonnull(strstr(page, "Of 900 counters that are not the same in every boot, 40 differ"));
}

static void test_every_state(void)
{
	for (int state = 0; state < JOB_N_STATES; state++) {
		g_autoptr(StoreJob) job = fixture_job((JobState)state);
		gboolean final = job_state_is_final((JobState)state);
		gsize size;
		g_autofree char *page = NULL;

		if (state == JOB_BUILDING)
			job->progress = fixture_object("{\"stage\": \"build\", \"step\": \"building <base>\", \"done\": 5, "
						       "\"total\": 4, \"eta_s\": 75}");
		g_free(job->message);
		job->message = g_strdup("told: " EVIL);
		page = render(job, NULL, NULL, &size);
		/* how, files, and progress or why */
		check_page(page, size, state == JOB_DONE ? 2 : 3, final ? NULL : "5");
		if (state == JOB_BUILDING)
			g_assert_nonnull(strstr(page, "1 min 15 s"));
		if (final && state != JOB_DONE)
			g_assert_nonnull(strstr(page, "told: "));
	}
}

static void test_failures(void)
{
	static const struct {
		JobState state;
		const char *arm, *detail, *headline, *excerpt;
	} cases[] = {
		{ JOB_APPLY_FAILED, "patched",
		  "{\"patch\": 2, \"subject\": \"<two>\", \"file\": \"mm/a.c\", \"hunk\": \"@@ -1 +1 @@\", \"git\": \"error: <x>\"}",
		  "The series does not apply.", "<pre tabindex=\"0\">error: &lt;x&gt;</pre>" },
		{ JOB_BUILD_FAILED, "patched",
		  "{\"file\": \"mm/a.c\", \"line\": 12, \"error\": \"'x' undeclared\", \"context\": \"  12 | x & y\"}",
		  "The patched kernel does not build; the base does.", "<dd>mm/a.c:12</dd>" },
		{ JOB_BUILD_FAILED, "base", "{}", "The base kernel does not build, so nothing is known of the patches.", "" },
		{ JOB_BOOT_FAILED, "patched", "{\"kind\": \"oops\", \"console\": \"BUG: <0>\"}",
		  "The patched kernel does not run; the base does.", "BUG: &lt;0&gt;" },
		{ JOB_INFRA_FAILED, "", "{\"patch\": \"two\", \"line\": {}}", "which says nothing about the patches", "" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(StoreJob) job = fixture_job(cases[i].state);
		gsize size;
		g_autofree char *page = NULL;

		g_free(job->failed_arm);
		job->failed_arm = g_strdup(cases[i].arm);
		job->detail = fixture_object(cases[i].detail);
		page = render(job, NULL, NULL, &size);
		check_page(page, size, 3, NULL);
		g_assert_nonnull(strstr(page, cases[i].headline));
		g_assert_nonnull(strstr(page, cases[i].excerpt));
	}
}

/* Nothing in it is to be freed. */
static StoreBrief fixture_brief(gint64 id, JobState state)
{
	return (StoreBrief){ .id = id, .state = state, .tree = (char *)EVIL, .reason = (char *)EVIL, .failed_arm = (char *)"patched",
			     .subject = (char *)(state == JOB_DONE ? EVIL : " \t"), .author = (char *)EVIL, .version = 2,
			     .benchmarks = (char *)"aging", .summary = (char *)"slower " EVIL,
			     .verdicts = (char *)(state == JOB_DONE ? "EQUIVALENT,REGRESSION" : ""),
			     .created_ns = FIXTURE_TIME_NS, .finished_ns = FIXTURE_TIME_NS };
}

static void test_jobs(void)
{
	const char *const names[] = { "aging", "linux", NULL };
	StoreBrief briefs[] = { fixture_brief(8, JOB_DONE), fixture_brief(9, JOB_QUEUED) };
	g_autoptr(GPtrArray) found = g_ptr_array_new();
	StoreFilter filter = { .subject = EVIL, .tree = "linux", .benchmark = "gone & away", .live = TRUE, .before_id = 10 };
	JobsView view = { found, &filter, 8, names, names };
	gsize size;
	g_autofree char *page = page_jobs(&view, &size);

	check_page(page, size, 0, NULL);
	g_assert_nonnull(strstr(page, "No job is like that."));
	g_free(page);
	for (gsize i = 0; i < G_N_ELEMENTS(briefs); i++)
		g_ptr_array_add(found, &briefs[i]);
	page = page_jobs(&view, &size);
	check_page(page, size, 0, NULL);
	g_assert_nonnull(strstr(page, "<option value=\"linux\" selected=\"selected\">"));
	g_assert_nonnull(strstr(page, "<option value=\"gone &amp; away\" selected=\"selected\">"));
	g_assert_nonnull(strstr(page, "&amp;tree=linux&amp;benchmark=gone%20%26%20away&amp;state=live&amp;cursor=8\">Older ones</a>"));
}

static void test_feed(void)
{
	StoreBrief briefs[] = { fixture_brief(8, JOB_DONE), fixture_brief(9, JOB_BUILD_FAILED) };
	g_autoptr(GPtrArray) found = g_ptr_array_new();
	FeedView view = { found, "http://lab.example.org", "?tree=a&state=ended" };
	gsize size;
	g_autofree char *feed = feed_atom(&view, &size);
	xmlDoc *document = parse(feed, size);

	g_assert_cmpint(count(document, "/*/*[local-name() = 'entry']"), ==, 0);
	xmlFreeDoc(document);
	g_free(feed);
	for (gsize i = 0; i < G_N_ELEMENTS(briefs); i++)
		g_ptr_array_add(found, &briefs[i]);
	feed = feed_atom(&view, &size);
	document = parse(feed, size);
	g_assert_cmpint(count(document, "/*/*[local-name() = 'entry']/*[local-name() = 'id']"), ==, 2);
	g_assert_cmpint(count(document, "//*[local-name() = 'script']"), ==, 0);
	g_assert_nonnull(strstr(feed, "<updated>2026-11-30T22:43:18Z</updated>"));
	g_assert_nonnull(strstr(feed, "<title>EQUIVALENT,REGRESSION: "));
	xmlFreeDoc(document);
}

static void test_index(void)
{
	g_autoptr(StoreJob) live = fixture_job(JOB_MEASURING), queued = fixture_job(JOB_QUEUED);
	StoreBrief briefs[] = { fixture_brief(8, JOB_DONE), fixture_brief(9, JOB_BUILD_FAILED) };
	g_autoptr(GArray) running = g_array_new(FALSE, FALSE, sizeof(IndexRow));
	g_autoptr(GArray) waiting = g_array_new(FALSE, FALSE, sizeof(IndexRow));
	g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(IndexHost));
	g_autoptr(GPtrArray) recent = g_ptr_array_new();
	const char *const names[] = { "aging", "pwrite", NULL };
	IndexView view = { .running = running, .waiting = waiting, .recent = recent, .hosts = hosts, .now_ns = FIXTURE_TIME_NS,
			   .submit = { "http://lab.example.org", names, names, FALSE } };
	gsize size;
	g_autofree char *page = page_index(&view, &size);

	check_page(page, size, 4, NULL);
	g_assert_nonnull(strstr(page, "<form action=\"/jobs\" method=\"post\""));
	g_assert_nonnull(strstr(page, "Nothing runs."));
	g_assert_nonnull(strstr(page, "-F benchmarks=aging,pwrite http://lab.example.org/api/v1/jobs"));
	g_free(page);

	live->progress = fixture_object("{\"step\": \"boot 3\", \"eta_s\": 20}");
	g_array_append_val(running, ((IndexRow){ live, NULL }));
	g_array_append_val(waiting, ((IndexRow){ queued, "told why " EVIL }));
	g_array_append_val(hosts, ((IndexHost){ EVIL, "down", EVIL, 0 }));
	g_array_append_val(hosts, ((IndexHost){ "local", "measuring", "", 7 }));
	for (gsize i = 0; i < G_N_ELEMENTS(briefs); i++)
		g_ptr_array_add(recent, &briefs[i]);
	view.submit.needs_token = TRUE;
	page = page_index(&view, &size);
	check_page(page, size, 4, NULL);
	g_assert_nonnull(strstr(page, "measures: boot 3, 2 boots done, about 20 s left"));
	g_assert_nonnull(strstr(page, "waits in the queue: told why "));
	g_assert_nonnull(strstr(page, "measures job 7"));
	g_assert_nonnull(strstr(page, "</span> REGRESSION</strong> slower "));
	g_assert_nonnull(strstr(page, "The patched kernel does not build; the base does"));
	g_assert_nonnull(strstr(page, ">job 9</a>"));
	/* a browser never holds what can change something */
	g_assert_null(strstr(page, "<form"));
	g_assert_nonnull(strstr(page, "Bearer $REGRLAB_TOKEN"));
}

static void test_hosts(void)
{
	HostRow rows[] = {
		{ .name = "local", .uri = "qemu:///embed?root=/x&y", .vm_cpus = "", .other_cpus = "", .guest_cpus = 2,
		  .accelerator = "", .qemu_version = "", .libvirt_version = "" },
		{ .name = EVIL, .uri = EVIL, .vm_cpus = "2-5", .other_cpus = "0", .guest_cpus = 4, .job = 7, .accelerator = "kvm",
		  .qemu_version = "7.2.0", .libvirt_version = EVIL, .boots_valid = 5, .boots_failed = 1,
		  .last_boot_ns = FIXTURE_TIME_NS, .set_ns = FIXTURE_TIME_NS, .boots_disturbed = 3,
		  .set = fixture_object("{\"policy\": \"strict\", \"require\": \"auto & <b>\", \"facts\": ["
					  "{\"title\": \"turbo\", \"value\": \"on\", \"wanted\": \"off\", \"holds\": false,"
					  " \"advice\": \"echo 1 > no_turbo\"}, {\"title\": \"heat\", \"value\": null,"
					  " \"reason\": \"no sensor\", \"holds\": null}]}") },
	};
	g_autoptr(GArray) hosts = g_array_new(FALSE, FALSE, sizeof(HostRow));
	gsize size;
	g_autofree char *page = NULL;

	g_array_append_vals(hosts, rows, G_N_ELEMENTS(rows));
	page = page_hosts(hosts, &size);
	check_page(page, size, 4, "30");
	g_assert_nonnull(strstr(page, "Nobody has looked yet"));
	g_assert_nonnull(strstr(page, "policy strict (require auto &amp; &lt;b&gt;): 1 to change. Boots made again because the host was noisy: 3."));
	g_assert_nonnull(strstr(page, "<td class=\"failed\">change: echo 1 &gt; no_turbo</td>"));
	g_assert_nonnull(strstr(page, "unknown: no sensor"));
	json_object_unref(rows[1].set);
	g_assert_nonnull(strstr(page, "href=\"/jobs/7\""));
	g_assert_nonnull(strstr(page, "<time datetime=\"2026-11-30 22:43:18Z\">2026-11-30 22:43:18 UTC</time>"));
	g_assert_nonnull(strstr(page, "6, 1 failed"));
}

int main(int argc, char **argv)
{
	int status;

	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/page/done", test_done);
	g_test_add_func("/page/open", test_open);
	g_test_add_func("/page/running", test_running);
	g_test_add_func("/page/large", test_large);
	g_test_add_func("/page/every-state", test_every_state);
	g_test_add_func("/page/failures", test_failures);
	g_test_add_func("/page/index", test_index);
	g_test_add_func("/page/jobs", test_jobs);
	g_test_add_func("/page/feed", test_feed);
	g_test_add_func("/page/hosts", test_hosts);
	status = g_test_run();
	xmlCleanupParser();
	return status;
}
