/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spinning with a clock made here, the rules for noise, warnings, and how a remote machine is reached. */
#include <string.h>

#include "host/spin.h"
#include "host/target.h"
#include "jobs/host-warnings.h"
#include "jobs/noise.h"
#include "jobs/schedule.h"
#include "jobs/spec/file.h"

/* ---- spinning ---- */

#define STEP_NS	50

/* A clock that moves on by a step a reading, and by more at some of them. */
typedef struct {
	gint64 now_ns;
	guint readings;
	guint every;		/* a gap every so many readings; 0: none */
	gint64 gap_ns;
} FakeClock;

static gint64 fake_now(gpointer user)
{
	FakeClock *clock = user;

	clock->readings++;
	clock->now_ns += STEP_NS;
	if (clock->every && clock->readings % clock->every == 0)
		clock->now_ns += clock->gap_ns;
	return clock->now_ns;
}

static HostSpin spin_with(guint every, gint64 gap_ns)
{
	FakeClock fake = { .every = every, .gap_ns = gap_ns };
	HostClock clock = { fake_now, &fake };

	return host_spin(&clock, 10 * 1000 * 1000);
}

static void test_spin_quiet(void)
{
	HostSpin spin = spin_with(0, 0);

	g_assert_cmpuint(spin.gaps, ==, 0);
	g_assert_cmpint(spin.lost_ns, ==, 0);
	g_assert_cmpint(spin.spun_ns, ==, 10 * 1000 * 1000);
	g_assert_cmpfloat(host_spin_jitter_pct(&spin), ==, 0);
}

/* 200 steps of 50 ns and 10 us elsewhere: half of the time. */
static void test_spin_gaps(void)
{
	HostSpin spin = spin_with(200, 10000);

	g_assert_cmpuint(spin.gaps, ==, 500);
	g_assert_cmpint(spin.longest_ns, ==, 10000 + STEP_NS);
	g_assert_cmpint(spin.lost_ns, ==, 500 * 10000);
	g_assert_cmpfloat_with_epsilon(host_spin_jitter_pct(&spin), 50, 0.1);
}

/* Slower readings now and then are the clock's own: no gap. */
static void test_spin_small(void)
{
	HostSpin spin = spin_with(3, HOST_SPIN_GAP_NS - STEP_NS);

	g_assert_cmpuint(spin.gaps, ==, 0);
}

/* Gaps within the calibration do not make gaps usual. */
static void test_spin_calibration(void)
{
	HostSpin spin = spin_with(3, 100000);

	g_assert_cmpfloat(host_spin_jitter_pct(&spin), >, 99);
}

/* ---- rules ---- */

static JsonObject *object(const char *text)
{
	JsonObject *parsed = NULL;
	g_autoptr(GError) error = NULL;

	json_object_from_data(text, strlen(text), &parsed, &error);
	g_assert_no_error(error);
	return parsed;
}

static void test_before(void)
{
	static const struct {
		const char *spin, *words;	/* NULL: quiet */
	} rows[] = {
		{ "{\"jitter_pct\":5,\"steal_pct\":2}", NULL },
		{ "{\"jitter_pct\":5.1,\"steal_pct\":2}", "did something else for 5.1 % of its time before the boot (limit 5 %)" },
		{ "{\"jitter_pct\":1,\"steal_pct\":2.5}", "the hypervisor took 2.5 %" },
		{ "{\"jitter_pct\":null,\"steal_pct\":null}", NULL },
		{ "{}", NULL },
	};
	const NoiseLimits limits = { .jitter_pct = 5, .steal_pct = 2 };

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(JsonObject) spin = object(rows[i].spin);
		g_autofree char *noise = noise_before(&limits, spin);
		g_assert_true(rows[i].words ? noise && strstr(noise, rows[i].words) != NULL : !noise);
	}
}

static void take(NoiseRecord *record, const char *text)
{
	g_autoptr(JsonObject) line = object(text);

	noise_take_line(record, line);
}

static void expect_during(const NoiseRecord *record, const char *words)
{
	const NoiseLimits limits = { .jitter_pct = 5, .steal_pct = 2 };
	g_autofree char *noise = noise_during(&limits, record);

	g_assert_true(words ? noise && strstr(noise, words) != NULL : !noise);
}

static void test_during_steal(void)
{
	NoiseRecord record = { 0 };

	expect_during(&record, NULL);
	take(&record, "{\"steal\":100,\"all\":1000,\"mhz\":null,\"throttled\":null}");
	/* what was stolen before the boot does not count */
	expect_during(&record, NULL);
	take(&record, "{\"steal\":102,\"all\":1100,\"mhz\":null,\"throttled\":null}");
	expect_during(&record, NULL);
	take(&record, "{\"steal\":130,\"all\":2000}");
	expect_during(&record, "the hypervisor took 3.0 % of the measuring CPUs' time during the boot (limit 2 %)");
	g_autoptr(JsonObject) json = noise_record_to_json(&record);
	g_assert_cmpfloat(json_object_get_double_member(json, "steal_pct"), ==, 3);
	g_assert_cmpint(json_object_get_int_member(json, "samples"), ==, 3);
	g_assert_true(json_object_get_null_member(json, "mhz_mean"));
	g_assert_true(json_object_get_null_member(json, "throttled"));
}

static void test_during_heat(void)
{
	NoiseRecord record = { 0 };

	take(&record, "{\"steal\":0,\"all\":10,\"mhz\":2000.5,\"throttled\":7}");
	take(&record, "{\"steal\":0,\"all\":20,\"mhz\":1000,\"throttled\":7}");
	expect_during(&record, NULL);
	take(&record, "{\"steal\":0,\"all\":30,\"mhz\":3000,\"throttled\":9}");
	expect_during(&record, "throttled for heat 2 times");
	g_autoptr(JsonObject) json = noise_record_to_json(&record);
	g_assert_cmpfloat(json_object_get_double_member(json, "mhz_min"), ==, 1000);
	g_assert_cmpfloat(json_object_get_double_member(json, "mhz_max"), ==, 3000);
	g_assert_cmpfloat_with_epsilon(json_object_get_double_member(json, "mhz_mean"), 2000.17, 0.01);
}

static void test_matters(void)
{
	const NoiseLimits none = { 100, 100 }, some = { 100, 2 };

	g_assert_false(noise_matters(&none, CLOCK_KVM));
	g_assert_true(noise_matters(&some, CLOCK_KVM));
	g_assert_true(noise_matters(&some, CLOCK_TCG));
	g_assert_false(noise_matters(&some, CLOCK_ICOUNT));
}

/* A disturbed boot is made again in its pair, and is nobody's failure however many there are. */
static void test_schedule(void)
{
	g_autoptr(GArray) boots = g_array_new(FALSE, FALSE, sizeof(ScheduleBoot));
	const ScheduleBoot made[] = {
		{ 0, SAMPLE_ARM_BASE, "" },
		{ 0, SAMPLE_ARM_PATCHED, SCHEDULE_DISTURBED },
		{ 0, SAMPLE_ARM_PATCHED, SCHEDULE_DISTURBED },
		{ 0, SAMPLE_ARM_PATCHED, SCHEDULE_DISTURBED },
	};
	const char *reason;
	SampleArm arm;
	int pair;

	g_array_append_vals(boots, made, G_N_ELEMENTS(made));
	g_assert_false(schedule_failed(boots, 0, &arm, &reason));
	g_assert_true(schedule_next("AB", 1, boots, &pair, &arm));
	g_assert_cmpint(pair, ==, 0);
	g_assert_cmpint(arm, ==, SAMPLE_ARM_PATCHED);
	/* a failure of its own is one */
	ScheduleBoot oops = { 0, SAMPLE_ARM_PATCHED, "oops" };
	g_array_append_val(boots, oops);
	g_array_append_val(boots, made[1]);
	g_assert_true(schedule_failed(boots, 0, &arm, &reason));
	g_assert_cmpstr(reason, ==, "oops");
}

/* ---- warnings ---- */

static void test_warnings(void)
{
	g_autoptr(HostWarnings) warnings = host_warnings_new();
	static const char *const machines[] = {
		"{\"warnings\":[{\"fact\":\"turbo\",\"text\":\"turbo is on\"},{\"fact\":\"load\",\"text\":\"load is 3\"}]}",
		"{\"warnings\":[{\"fact\":\"load\",\"text\":\"load is 4\"}]}", "{\"warnings\":[]}", "{}",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(machines); i++) {
		g_autoptr(JsonObject) machine = object(machines[i]);
		host_warnings_add(warnings, machine);
	}
	host_warnings_add(warnings, NULL);
	g_autoptr(JsonArray) list = host_warnings_to_json(warnings);
	g_assert_cmpuint(json_array_get_length(list), ==, 2);
	g_assert_cmpstr(json_array_get_string_element(list, 0), ==, "turbo is on (1 boot)");
	g_assert_cmpstr(json_array_get_string_element(list, 1), ==, "load is 3 (2 boots)");
}

/* ---- reaching a machine ---- */

static void test_target(void)
{
	static const struct {
		const char *uri, *argv;	/* argv without the last word; NULL: cannot be reached */
	} rows[] = {
		{ "qemu:///system", "/p/regrlab-host" },
		{ "qemu:///embed?root=/var/lib/x", "/p/regrlab-host" },
		{ "qemu+ssh://fast.example.org/system", "ssh -o BatchMode=yes -o ConnectTimeout=15 -- fast.example.org" },
		{ "qemu+ssh://root@fast.example.org:2222/system?keyfile=/k&command=/opt/ssh",
		  "/opt/ssh -o BatchMode=yes -o ConnectTimeout=15 -i /k -p 2222 -- root@fast.example.org" },
		{ "qemu+tls://fast.example.org/system", NULL },
		{ "qemu+tcp://fast.example.org/system", NULL },
	};
	static const char *const args[] = { "check", "--require", "a'b; c", NULL };

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(HostTarget) target = { 0 };
		g_assert_true(host_target_init(&target, rows[i].uri, "/p/regrlab-host", NULL));
		g_assert_true((target.reach == HOST_CLOSED) == (rows[i].argv == NULL));
		if (target.reach == HOST_CLOSED)
			continue;
		target.copy = g_strdup(".cache/regrlab/regrlab-host-12");
		g_auto(GStrv) argv = host_target_argv(&target, args), wanted = g_strsplit(rows[i].argv, " ", -1);
		for (guint k = 0; wanted[k]; k++)
			g_assert_cmpstr(argv[k], ==, wanted[k]);
		/* one line for the shell over there, each word quoted; as they are here */
		const char *next = argv[g_strv_length(wanted)];
		g_assert_cmpstr(next, ==, target.reach == HOST_SSH ? "exec .cache/regrlab/regrlab-host-12 'check' '--require' 'a'\\''b; c'" :
								    "check");
	}
	HostTarget bad = { 0 };
	g_assert_false(host_target_init(&bad, "qemu+ssh://-oProxyCommand=x/system", "/p", NULL));
	g_assert_false(host_target_init(&bad, "no uri", "/p", NULL));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/noise/spin/quiet", test_spin_quiet);
	g_test_add_func("/noise/spin/gaps", test_spin_gaps);
	g_test_add_func("/noise/spin/small", test_spin_small);
	g_test_add_func("/noise/spin/calibration", test_spin_calibration);
	g_test_add_func("/noise/before", test_before);
	g_test_add_func("/noise/during/steal", test_during_steal);
	g_test_add_func("/noise/during/heat", test_during_heat);
	g_test_add_func("/noise/matters", test_matters);
	g_test_add_func("/noise/schedule", test_schedule);
	g_test_add_func("/noise/warnings", test_warnings);
	g_test_add_func("/noise/target", test_target);
	return g_test_run();
}
