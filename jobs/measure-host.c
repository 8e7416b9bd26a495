/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-host.h"

#include <poll.h>
#include <string.h>

#include "host/policy.h"
#include "jobs/noise.h"
#include "jobs/spec/peek.h"

#define WAIT_STEP_MS	2000
#define WAITS_MAX	10	/* times noise_wait_s, all boots of a stage together */
#define STATE_ID_CHARS	12

struct MeasureHost {
	StageContext *stage;
	const MeasureHistory *history;
	HostAgent *agent;
	const char *qemu, *libvirt;
	int memory_mib;			/* of a guest */
	HostPlacement *placement;	/* NULL: not asked for yet */
	NoiseLimits limits;
	gboolean judged;	/* the clock's figures depend on the host */
	gboolean noisy;		/* and noise is looked for */
	gint64 waited_us;	/* in all */

	/* of the boot that is next, or goes on */
	gint64 deadline_us;
	char *state;		/* id of the host-state event; empty: nothing is known */
	JsonObject *now, *spin;	/* NULL: not known */
	JsonArray *warnings;
	HostAgentWatch *watch;
	NoiseRecord record;
};

MeasureHost *measure_host_new(StageContext *stage, JobClock clock, const MeasureHistory *history, int memory_mib, const char *qemu,
			      const char *libvirt)
{
	MeasureHost *host = g_new0(MeasureHost, 1);

	host->stage = stage;
	host->history = history;
	host->agent = host_agent_new(stage);
	host->memory_mib = memory_mib;
	host->qemu = qemu;
	host->libvirt = libvirt;
	host->limits = (NoiseLimits){ stage->place->max_jitter_pct, stage->place->max_steal_pct };
	host->judged = clock != CLOCK_ICOUNT;
	host->noisy = noise_matters(&host->limits, clock);
	host->state = g_strdup(history->host_state);
	host->warnings = json_array_new();
	return host;
}

void measure_host_free(MeasureHost *host)
{
	if (!host)
		return;
	host_agent_watch_end(host->watch);
	host_agent_free(host->agent);
	host_placement_free(host->placement);
	g_clear_pointer(&host->now, json_object_unref);
	g_clear_pointer(&host->spin, json_object_unref);
	json_array_unref(host->warnings);
	g_free(host->state);
	g_free(host);
}

static void warn(MeasureHost *host, const char *fact, const char *text)
{
	JsonObject *warning = json_object_new();

	json_object_set_string_member(warning, "fact", fact);
	json_object_set_string_member(warning, "text", text);
	json_array_add_object_element(host->warnings, warning);
	stage_log(host->stage, "host %s: %s", host->stage->place->host, text);
}

/* ---- waiting ---- */

static gint64 wait_us(const MeasureHost *host)
{
	return host->stage->place->noise_wait_s * (gint64)G_USEC_PER_SEC;
}

/* FALSE: the time is over, or the stage is stopping. */
static gboolean wait_a_little(MeasureHost *host, const char *what)
{
	struct pollfd stop = { .fd = host->stage->stop_fd, .events = POLLIN };
	gint64 now_us = g_get_monotonic_time();

	if (!host->deadline_us)
		host->deadline_us = now_us + MIN(wait_us(host), WAITS_MAX * wait_us(host) - host->waited_us);
	if (now_us >= host->deadline_us || stage_stopping(host->stage))
		return FALSE;
	stage_progress(host->stage, what, 0, 0, -1);
	poll(&stop, 1, WAIT_STEP_MS);
	host->waited_us += g_get_monotonic_time() - now_us;
	return !stage_stopping(host->stage);
}

/* ---- facts ---- */

/* What libvirt knows of its host is better than what is installed there. */
static void set_version(JsonObject *fact, const char *version)
{
	const HostFactRow *row = host_fact_row(peek_string(fact, "name"));
	const char *wanted = peek_string(fact, "wanted");

	if (!*version || !row)
		return;
	json_object_set_string_member(fact, "value", version);
	json_object_set_null_member(fact, "reason");
	if (!*wanted)
		return;
	gboolean holds = host_rule_holds(row->rule, version, wanted, NULL);
	json_object_set_boolean_member(fact, "holds", holds);
	if (holds)
		json_object_set_null_member(fact, "advice");
}

static gboolean fails(JsonObject *fact)
{
	JsonNode *holds = json_object_get_member(fact, "holds");

	return holds && JSON_NODE_HOLDS_VALUE(holds) && !peek_bool(fact, "holds");
}

/* "turbo is on and should be off" */
static char *complaint(JsonObject *fact)
{
	const char *value = peek_string(fact, "value");

	return g_strdup_printf("%s is %s%s and should be %s", peek_string(fact, "title"), *value ? value : "unknown: ",
			       *value ? "" : peek_string(fact, "reason"), peek_string(fact, "wanted"));
}

static gboolean ask_facts(MeasureHost *host, JsonObject **ret_facts, GError **error)
{
	const char *const args[] = { "facts", "--json", "--no-versions", "--require", host->stage->place->host_require, NULL };

	if (!host_agent_ask(host->agent, args, ret_facts, error))
		return FALSE;
	JsonArray *facts = peek_array(*ret_facts, "facts");
	for (guint i = 0; i < peek_length(facts); i++) {
		JsonObject *fact = peek_element(facts, i);
		if (g_str_equal(peek_string(fact, "name"), "qemu"))
			set_version(fact, host->qemu);
		else if (g_str_equal(peek_string(fact, "name"), "libvirt"))
			set_version(fact, host->libvirt);
	}
	return TRUE;
}

/* An event if the state is another than that of the boot before. */
static gboolean tell_state(MeasureHost *host, JsonArray *facts)
{
	const JobPlace *place = host->stage->place;
	g_autoptr(JsonArray) stable = json_array_new();
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	for (guint i = 0; i < peek_length(facts); i++) {
		JsonObject *fact = peek_element(facts, i);
		if (!fact || peek_bool(fact, "moves"))
			continue;
		g_autofree char *line = g_strdup_printf("%s=%s\n%s\n%s\n", peek_string(fact, "name"), peek_string(fact, "value"),
							peek_string(fact, "reason"), peek_string(fact, "wanted"));
		g_checksum_update(sum, (const guchar *)line, (gssize)strlen(line));
		json_object_remove_member(fact, "moves");
		json_array_add_object_element(stable, json_object_ref(fact));
	}
	g_autofree char *id = g_strndup(g_checksum_get_string(sum), STATE_ID_CHARS);
	if (g_str_equal(id, host->state))
		return TRUE;
	g_free(host->state);
	host->state = g_steal_pointer(&id);

	JsonObject *members = json_object_new();
	json_object_set_string_member(members, "id", host->state);
	json_object_set_string_member(members, "host", place->host);
	json_object_set_string_member(members, "policy", place->host_policy);
	json_object_set_string_member(members, "require", place->host_require);
	json_object_set_array_member(members, "facts", g_steal_pointer(&stable));
	return stage_event(host->stage, "host-state", members, FALSE);
}

static void take_now(MeasureHost *host, JsonArray *facts)
{
	host->now = json_object_new();
	for (guint i = 0; i < peek_length(facts); i++) {
		JsonObject *fact = peek_element(facts, i);
		if (!fact || !peek_bool(fact, "moves"))
			continue;
		if (*peek_string(fact, "value"))
			json_object_set_string_member(host->now, peek_string(fact, "name"), peek_string(fact, "value"));
		else
			json_object_set_null_member(host->now, peek_string(fact, "name"));
	}
}

/* ---- policy ---- */

typedef struct {
	GPtrArray *facts;	/* that fail, borrowed */
	gboolean passing;	/* all of them may pass by themselves */
} Failing;

static void find_failing(JsonArray *facts, Failing *failing)
{
	failing->facts = g_ptr_array_new();
	failing->passing = TRUE;
	for (guint i = 0; i < peek_length(facts); i++) {
		JsonObject *fact = peek_element(facts, i);
		if (!fact || !fails(fact))
			continue;
		g_ptr_array_add(failing->facts, fact);
		failing->passing &= peek_bool(fact, "moves");
	}
}

static gboolean refuse(MeasureHost *host, const char *reason, const char *text)
{
	return stage_fail(host->stage, "infra-failed", reason, "", NULL,
			  "host '%s' is not as its policy (strict) wants it, so nothing is measured there. %s", host->stage->place->host,
			  text);
}

static gboolean refuse_facts(MeasureHost *host, const GPtrArray *failing)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < failing->len; i++) {
		JsonObject *fact = g_ptr_array_index(failing, i);
		g_autofree char *what = complaint(fact);
		g_string_append_printf(text, "%s%s: %s.", i ? " " : "", what, peek_string(fact, "advice"));
	}
	return refuse(host, "host-policy", text->str);
}

/* *ret_again: something that may pass does not hold yet. */
static gboolean judge_facts(MeasureHost *host, JsonArray *facts, gboolean *ret_again)
{
	gboolean strict = g_str_equal(host->stage->place->host_policy, "strict"), good = TRUE;
	Failing failing;

	*ret_again = FALSE;
	find_failing(facts, &failing);
	if (host->judged && failing.facts->len) {
		if (failing.passing && wait_a_little(host, "waiting for a quiet host"))
			*ret_again = TRUE;
		else if (stage_stopping(host->stage))
			good = FALSE;
		else if (strict)
			good = refuse_facts(host, failing.facts);
		for (guint i = 0; good && !*ret_again && i < failing.facts->len; i++) {
			JsonObject *fact = g_ptr_array_index(failing.facts, i);
			g_autofree char *text = complaint(fact);
			warn(host, peek_string(fact, "name"), text);
		}
	}
	g_ptr_array_unref(failing.facts);
	return good;
}

/* The machine cannot be looked at. */
static gboolean judge_silence(MeasureHost *host, const GError *error)
{
	g_autofree char *text = g_strdup_printf("nothing is known of the machine: %s", error->message);

	if (g_error_matches(error, CHILD_ERROR, CHILD_ERROR_STOPPED))
		return FALSE;
	g_free(host->state);
	host->state = g_strdup("");
	/* nothing was wanted of it, either */
	if (!host->judged || !*host->stage->place->host_require)
		return TRUE;
	if (g_str_equal(host->stage->place->host_policy, "strict"))
		return refuse(host, "host-unknown", text);
	warn(host, "machine", text);
	return TRUE;
}

static gboolean check_facts(MeasureHost *host)
{
	for (;;) {
		g_autoptr(JsonObject) facts = NULL;
		g_autoptr(GError) error = NULL;
		gboolean again;

		if (!ask_facts(host, &facts, &error))
			return judge_silence(host, error);
		JsonArray *list = peek_array(facts, "facts");
		if (!judge_facts(host, list, &again))
			return FALSE;
		if (again)
			continue;
		take_now(host, list);
		return tell_state(host, list);
	}
}

/* ---- noise ---- */

static gboolean wait_for_quiet(MeasureHost *host)
{
	static const char *const args[] = { "noise", NULL };

	for (;;) {
		g_autoptr(GError) error = NULL;
		g_clear_pointer(&host->spin, json_object_unref);
		if (!host_agent_ask(host->agent, args, &host->spin, &error))
			return !g_error_matches(error, CHILD_ERROR, CHILD_ERROR_STOPPED);
		g_autofree char *noise = noise_before(&host->limits, host->spin);
		if (!noise)
			return TRUE;
		if (wait_a_little(host, "waiting for a quiet host"))
			continue;
		if (stage_stopping(host->stage))
			return FALSE;
		warn(host, "noise", noise);
		return TRUE;
	}
}

static void take_line(JsonObject *line, gpointer user)
{
	noise_take_line(user, line);
}

/* ---- where guests belong ---- */

static gboolean plan_placement(MeasureHost *host)
{
	const JobPlace *place = host->stage->place;
	g_autofree char *refused = NULL;

	if (host->placement)
		return TRUE;
	if (!placement_ask(host->agent, place, host->memory_mib, &host->placement, &refused))
		return refused && stage_fail(host->stage, "infra-failed", "host-placement", "", NULL,
					     "guests cannot be placed on host '%s' as it is configured: %s", place->host, refused);
	/* where the CPUs that measure are the plan's choice, they alone are looked at */
	if (host->placement->vcpus->len && (!*place->vm_cpus || place->slots > 1))
		host_agent_measure_on(host->agent, host->placement->vcpu_list);
	if (vm_host_is_here(place->host_uri))
		placement_keep_off(host->placement, place->vm_cpus);
	return TRUE;
}

static gboolean judge_placement(MeasureHost *host)
{
	char **shortfalls = host->placement->shortfalls;

	if (!host->judged || !*host->stage->place->host_require || !*shortfalls)
		return TRUE;
	if (g_str_equal(host->stage->place->host_policy, "strict")) {
		g_autofree char *text = g_strjoinv(". ", shortfalls);
		return refuse(host, "host-placement", text);
	}
	for (; *shortfalls; shortfalls++)
		warn(host, "placement", *shortfalls);
	return TRUE;
}

const HostPlacement *measure_host_placement(const MeasureHost *host)
{
	return host->placement;
}

/* ---- the three moments ---- */

gboolean measure_host_before(MeasureHost *host)
{
	g_clear_pointer(&host->now, json_object_unref);
	g_clear_pointer(&host->spin, json_object_unref);
	json_array_unref(host->warnings);
	host->warnings = json_array_new();
	host->record = (NoiseRecord){ 0 };
	host->deadline_us = 0;
	if (!plan_placement(host) || !check_facts(host) || !judge_placement(host) || (host->noisy && !wait_for_quiet(host)))
		return FALSE;
	if (host->noisy)
		host->watch = host_agent_watch_start(host->agent, take_line, &host->record);
	return TRUE;
}

void measure_host_after(MeasureHost *host, BootResult *result)
{
	host_agent_watch_end(host->watch);
	host->watch = NULL;
	g_autofree char *noise = host->noisy ? noise_during(&host->limits, &host->record) : NULL;
	if (!noise)
		return;
	/* a kernel that fails has failed, however noisy it was */
	if (*result->reason || host->history->disturbed >= (guint)host->stage->place->max_disturbed_boots) {
		warn(host, "disturbed", noise);
		return;
	}
	result->reason = MEASURE_DISTURBED;
	g_free(result->detail);
	result->detail = g_steal_pointer(&noise);
}

JsonObject *measure_host_machine(const MeasureHost *host)
{
	JsonObject *object = json_object_new(), *noise = json_object_new();

	json_object_set_string_member(object, "state", host->state);
	if (host->now)
		json_object_set_object_member(object, "now", json_object_ref(host->now));
	if (host->spin)
		json_object_set_object_member(noise, "before", json_object_ref(host->spin));
	if (host->noisy)
		json_object_set_object_member(noise, "during", noise_record_to_json(&host->record));
	json_object_set_object_member(object, "noise", noise);
	if (host->placement)
		json_object_set_object_member(object, "placement", placement_to_json(host->placement));
	json_object_set_array_member(object, "warnings", json_array_ref(host->warnings));
	return object;
}
