/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "daemon/trust.h"
#include "jobs/spec/file.h"
#include "jobs/spec/peek.h"
#include "web/page-hosts.h"
#include "web/trust.h"

typedef struct {
	char *database;
	Db *db;
} Place;

static void set_up(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *dir = g_dir_make_tmp("regrlab-trust-XXXXXX", NULL);

	place->database = g_build_filename(dir, "regrlab.db", NULL);
	place->db = db_open(place->database, NULL);
}

static void tear_down(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	g_autofree char *dir = g_path_get_dirname(place->database);

	db_close(place->db);
	for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) {
		g_autofree char *path = g_strconcat(place->database, ends[i], NULL);

		g_unlink(path);
	}
	g_rmdir(dir);
	g_free(place->database);
}

static gint64 add_job(const Place *place, const char *host)
{
	g_autoptr(JobSpec) spec = job_spec_new();
	StoreSubmission submission = { .spec = spec, .submitter = "token 1" };
	gboolean again;
	gint64 id;

	g_assert_true(job_spec_set(spec, "benchmarks", "aging", NULL));
	g_assert_true(store_job_add(place->db, &submission, 1, &id, &again, NULL));
	g_assert_true(store_job_set_state(place->db, id, JOB_MEASURING, host, 2, NULL));
	return id;
}

static JsonObject *object_of(const char *json)
{
	g_autoptr(GError) error = NULL;
	JsonObject *object = NULL;

	json_object_from_data(json, strlen(json), &object, &error);
	g_assert_no_error(error);
	return object;
}

/* An interval that ends at 0 or above it, and one that has 0 inside; without an interval, p decides. */
#define ALARM "\"ci_low_pct\":0.1,\"ci_high_pct\":0.4,\"p_holm\":0.01"
#define QUIET "\"ci_low_pct\":-0.1,\"ci_high_pct\":0.4,\"p_holm\":0.3"
#define ALARM_EXACT "\"p_holm\":0.0286"
#define QUIET_EXACT "\"p_holm\":1"

static char *comparison(const char *benchmark, const char *params, const char *verdict, const char *numbers)
{
	return g_strdup_printf("{\"benchmark\":\"%s\",\"params\":\"%s\",\"metric\":\"time\",\"unit\":\"ms\",\"better\":\"lower\","
			       "\"primary\":true,\"clock\":\"icount\",\"boots\":{\"base\":4,\"patched\":4},"
			       "\"verdict\":\"%s\",\"reason\":\"\",%s}", benchmark, params, verdict, numbers);
}

static JsonObject *result_of(double alpha, char **comparisons)
{
	g_autofree char *list = g_strjoinv(",", comparisons);
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	g_autofree char *json = g_strdup_printf(
		"{\"method\":\"m\",\"clock\":\"icount\",\"alpha\":%s,\"min_effect_pct\":1.0,\"seed\":1,\"summary\":\"s\","
		"\"comparisons\":[%s],\"failures\":{\"verdict\":\"INSUFFICIENT\",\"reason\":\"r\"}}",
		g_ascii_dtostr(number, sizeof(number), alpha), list);

	return object_of(json);
}

/* A job whose result has one comparison for each of the numbers; returns what was kept of the host's fitness. */
static JsonObject *take(const Place *place, const char *host, gboolean same, double alpha, const char *const *numbers)
{
	gint64 id = add_job(place, host);
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(JsonObject) source = object_of(same ? "{\"base_tree\":\"a\",\"patched_tree\":\"a\"}" :
							"{\"base_tree\":\"a\",\"patched_tree\":\"b\"}");
	g_autoptr(StoreJob) job = NULL;
	g_autoptr(GError) error = NULL;
	StorePosition position;
	StoreIngest *ingest = store_ingest_begin(place->db, id, &position, &error);

	for (guint i = 0; numbers[i]; i++) {
		g_autofree char *params = g_strdup_printf("nproc=%u", i);

		g_ptr_array_add(list, comparison("aging", params, "EQUIVALENT", numbers[i]));
	}
	g_ptr_array_add(list, comparison("pwrite", "", "INSUFFICIENT", QUIET));
	g_ptr_array_add(list, NULL);
	g_autoptr(JsonObject) result = result_of(alpha, (char **)list->pdata);
	g_assert_true(store_ingest_document(ingest, "source", source, &error));
	g_assert_true(trust_take_result(ingest, result, 5, &error));
	g_assert_true(trust_take_result(ingest, result, 5, &error)); /* twice is once */
	g_assert_no_error(error);
	g_assert_true(store_ingest_commit(ingest, &position, &error));
	g_assert_true(store_job_get(place->db, id, &job, &error));
	return json_object_ref(job->trust);
}

static const char *fitness_after(const Place *place, const char *host, gboolean same, const char *numbers)
{
	const char *const list[] = { numbers, NULL };
	g_autoptr(JsonObject) trust = take(place, host, same, .05, list);

	return g_intern_string(peek_string(trust, "fitness"));
}

static StoreLedger *only(const GPtrArray *ledger)
{
	g_assert_cmpuint(ledger->len, ==, 1);
	return g_ptr_array_index(ledger, 0);
}

static void test_ledger(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const char *const two[] = { QUIET, ALARM, NULL }, *const exact[] = { ALARM_EXACT, QUIET_EXACT, NULL };
	g_autoptr(GPtrArray) before = NULL, after = NULL;

	/* changes are no false alarms, and neither are verdicts at another error rate */
	fitness_after(place, "lab1", FALSE, ALARM);
	json_object_unref(take(place, "lab1", TRUE, .2, two));
	g_assert_true(store_ledger(place->db, "lab1", &before, NULL));
	g_assert_cmpuint(before->len, ==, 0);

	/* several parameter sets are one comparison; a benchmark with too few boots is none */
	json_object_unref(take(place, "lab1", TRUE, .05, two));
	json_object_unref(take(place, "lab1", TRUE, .05, exact));
	fitness_after(place, "lab1", TRUE, QUIET);
	fitness_after(place, "lab1", TRUE, QUIET_EXACT);
	fitness_after(place, "lab2", TRUE, ALARM);
	g_assert_true(store_ledger(place->db, "lab1", &after, NULL));
	g_assert_cmpstr(only(after)->benchmark, ==, "aging");
	g_assert_cmpstr(only(after)->clock, ==, "icount");
	g_assert_cmpuint(only(after)->comparisons, ==, 4);
	g_assert_cmpuint(only(after)->alarms, ==, 2);
	g_assert_cmpuint(only(after)->of_controls, ==, 0);
	g_assert_cmpint(only(after)->fitness, ==, STATS_FITNESS_UNKNOWN);
}

/* What was kept of a job's control arm. */
static JsonObject *take_control(const Place *place, gboolean same, double alpha, const char *verdict, const char *numbers)
{
	gint64 id = add_job(place, "lab1");
	g_autoptr(JsonObject) source = object_of(same ? "{\"base_tree\":\"a\",\"patched_tree\":\"a\"}" :
							"{\"base_tree\":\"a\",\"patched_tree\":\"b\"}");
	g_autofree char *aging = comparison("aging", "", verdict, numbers);
	g_autoptr(JsonObject) result = result_of(alpha, (char *[]){ aging, NULL });
	g_autoptr(StoreJob) job = NULL;
	StorePosition position;
	StoreIngest *ingest = store_ingest_begin(place->db, id, &position, NULL);

	g_assert_true(store_ingest_document(ingest, "source", source, NULL));
	g_assert_true(trust_take_control(ingest, result, 5, NULL));
	g_assert_true(trust_take_control(ingest, result, 5, NULL)); /* twice is once */
	g_assert_true(trust_take_result(ingest, result, 5, NULL));
	g_assert_true(store_ingest_commit(ingest, &position, NULL));
	g_assert_true(store_job_get(place->db, id, &job, NULL));
	return json_object_ref(job->control);
}

static void test_control(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const struct {
		gboolean same;
		double alpha;
		const char *verdict, *numbers;
		gboolean counts;
		guint comparisons, of_controls, alarms;	/* in the ledger then */
		const char *words;
	} rows[] = {
		{ FALSE, .05, "INCONCLUSIVE", QUIET, TRUE, 1, 1, 0, "aging: no difference (p 0.300); counted for" },
		{ FALSE, .05, "EQUIVALENT", ALARM, TRUE, 2, 2, 1, "aging: a false alarm (p 0.010); counted for" },
		{ FALSE, .05, "INSUFFICIENT", QUIET, FALSE, 2, 2, 1, "too few boots to compare; not counted" },
		{ FALSE, .2, "EQUIVALENT", ALARM, FALSE, 2, 2, 1, "a false alarm (p 0.010); not counted" },
		{ TRUE, .05, "EQUIVALENT", ALARM, FALSE, 3, 2, 2, "a false alarm (p 0.010); not counted" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(JsonObject) control = take_control(place, rows[i].same, rows[i].alpha, rows[i].verdict, rows[i].numbers);
		StoreJob job = { .host = (char *)"lab1", .control = control };
		g_autoptr(GPtrArray) ledger = NULL;
		g_autoptr(Html) html = html_new();
		gsize size;

		g_assert_cmpint(peek_bool(control, "counts"), ==, rows[i].counts);
		g_assert_true(store_ledger(place->db, "lab1", &ledger, NULL));
		g_assert_cmpuint(only(ledger)->comparisons, ==, rows[i].comparisons);
		g_assert_cmpuint(only(ledger)->of_controls, ==, rows[i].of_controls);
		g_assert_cmpuint(only(ledger)->alarms, ==, rows[i].alarms);
		trust_control_paragraph(html, &job);
		g_autofree char *text = html_take(html, &size);
		if (!strstr(text, rows[i].words))
			g_error("no '%s' in: %s", rows[i].words, text);
	}
}

/* Out of the limits with the fifth alarm of forty; fit again when two hundred have come after. */
static void test_fitness(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	for (int i = 0; i < 39; i++)
		g_assert_cmpstr(fitness_after(place, "lab1", TRUE, i < 4 ? ALARM : QUIET), ==, "unknown");
	g_assert_cmpstr(fitness_after(place, "lab1", TRUE, QUIET), ==, "fit");
	for (int i = 0; i < 3; i++)
		fitness_after(place, "lab1", TRUE, ALARM);
	g_assert_cmpstr(fitness_after(place, "lab1", FALSE, ALARM), ==, "unfit");
	g_assert_cmpstr(fitness_after(place, "lab2", FALSE, ALARM), ==, "unknown");
	for (int i = 0; i < 200; i++)
		fitness_after(place, "lab1", TRUE, QUIET);
	g_assert_cmpstr(fitness_after(place, "lab1", FALSE, QUIET), ==, "fit");
	g_autoptr(GPtrArray) ledger = NULL;
	g_assert_true(store_ledger(place->db, "lab1", &ledger, NULL));
	g_assert_cmpuint(only(ledger)->comparisons, ==, STATS_LEDGER_MAX);
	g_assert_cmpuint(only(ledger)->alarms, ==, 0);
}

#define ROW(params, boots) "{\"benchmark\":\"aging\",\"params\":\"" params "\",\"clock\":\"tcg\",\"boots\":" boots "," \
	"\"best_runs\":3,\"boot_sd_pct\":1.5,\"run_sd_pct\":0.25,\"pass_sd_pct\":null,\"warnings\":[\"drifts\"]," \
	"\"effects\":[{\"boots_per_arm\":4,\"effect_pct\":4.5},{\"boots_per_arm\":10,\"effect_pct\":2}," \
	"{\"boots_per_arm\":20,\"effect_pct\":1.25}]}"

static gboolean take_calibration(const Place *place, const char *event)
{
	g_autoptr(JsonObject) object = object_of(event);
	StorePosition position;
	StoreIngest *ingest = store_ingest_begin(place->db, add_job(place, "lab1"), &position, NULL);

	if (!trust_take_calibration(ingest, object, 5, NULL)) {
		store_ingest_rollback(ingest);
		return FALSE;
	}
	return store_ingest_commit(ingest, &position, NULL);
}

static void test_calibrations(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(JsonObject) host = json_object_new();
	JsonObject *last;

	g_assert_true(take_calibration(place, "{\"config_sha256\":\"f00\",\"rows\":[" ROW("nproc=1", "40") "," ROW("nproc=8", "40") "]}"));
	g_assert_true(take_calibration(place, "{\"config_sha256\":\"f00\",\"rows\":[" ROW("nproc=8", "60") "]}"));
	g_assert_true(take_calibration(place, "{\"config_sha256\":\"f11\",\"rows\":[" ROW("nproc=8", "20") "]}"));
	g_assert_false(take_calibration(place, "{\"rows\":[" ROW("nproc=8", "20") "]}"));
	g_assert_false(take_calibration(place, "{\"config_sha256\":\"f00\",\"rows\":[3]}"));
	g_assert_true(trust_add_host(place->db, "lab1", host, NULL));
	g_assert_cmpuint(peek_length(peek_array(host, "false_alarms")), ==, 0);
	g_assert_cmpuint(peek_length(peek_array(host, "calibrations")), ==, 3);
	last = peek_element(peek_array(host, "calibrations"), 1);
	g_assert_cmpstr(peek_string(last, "params"), ==, "nproc=8");
	g_assert_cmpint(peek_int(last, "boots", 0), ==, 60);
	g_assert_cmpint(peek_int(last, "job", 0), ==, 2);
	g_assert_cmpstr(peek_string(last, "config_sha256"), ==, "f00");
}

static void test_words(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const char *const wanted[] = { "How far lab1 can be trusted", "<td class=\"n\">41</td>", "NOT FIT", "nproc=8", "4.5 %", "1.2 %", "0.25 %",
					      "drifts", "href=\"/jobs/42\"" };
	StoreJob job = { .host = (char *)"lab1" };
	g_autoptr(GPtrArray) ledger = NULL, calibrations = NULL;
	g_autoptr(JsonObject) trust = NULL;
	const char *const alarm[] = { ALARM, NULL };

	g_assert_null(trust_warning(&job));
	for (int i = 0; i < 40; i++)
		fitness_after(place, "lab1", TRUE, ALARM);
	trust = take(place, "lab1", TRUE, .05, alarm);
	job.trust = trust;
	g_autofree char *warning = trust_warning(&job);
	g_assert_nonnull(strstr(warning, "host lab1 was not fit"));
	g_assert_nonnull(strstr(warning, "aging (icount): 41 false alarms in 41 comparisons"));

	g_assert_true(take_calibration(place, "{\"config_sha256\":\"f00\",\"rows\":[" ROW("nproc=8", "60") "]}"));
	g_assert_true(store_ledger(place->db, "lab1", &ledger, NULL));
	g_assert_true(store_calibrations(place->db, "lab1", &calibrations, NULL));
	HostRow row = { .name = "lab1", .uri = "", .vm_cpus = "", .other_cpus = "", .accelerator = "", .qemu_version = "",
			.libvirt_version = "", .ledger = ledger, .calibrations = calibrations };
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(HostRow));
	g_array_append_val(rows, row);
	g_autofree char *page = page_hosts(rows, NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++)
		if (!strstr(page, wanted[i]))
			g_error("the page has no %s: %s", wanted[i], page);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/trust/ledger", Place, NULL, set_up, test_ledger, tear_down);
	g_test_add("/trust/control", Place, NULL, set_up, test_control, tear_down);
	g_test_add("/trust/fitness", Place, NULL, set_up, test_fitness, tear_down);
	g_test_add("/trust/calibrations", Place, NULL, set_up, test_calibrations, tear_down);
	g_test_add("/trust/words", Place, NULL, set_up, test_words, tear_down);
	return g_test_run();
}
