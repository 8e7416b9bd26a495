/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/noise.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "host/files.h"
#include "host/readers.h"
#include "host/spin.h"
#include "host/ticks.h"
#include "jobs/spec/cpus.h"

#define MS_NS G_GINT64_CONSTANT(1000000)

typedef struct {
	int cpu;
	gint64 duration_ns;
	gboolean done;
	HostSpin spin;
} Spinner;

static gint64 monotonic_ns(gpointer user G_GNUC_UNUSED)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * G_GINT64_CONSTANT(1000000000) + now.tv_nsec;
}

static gpointer spin_on(gpointer data)
{
	static const HostClock clock = { monotonic_ns, NULL };
	Spinner *spinner = data;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(spinner->cpu, &set);
	/* a CPU that is not ours, or not there */
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return NULL;
	spinner->spin = host_spin(&clock, spinner->duration_ns);
	spinner->done = TRUE;
	return NULL;
}

static const Spinner *worst(const Spinner *spinners, guint n)
{
	const Spinner *top = NULL;

	for (guint i = 0; i < n; i++)
		if (spinners[i].done && (!top || host_spin_jitter_pct(&spinners[i].spin) > host_spin_jitter_pct(&top->spin)))
			top = &spinners[i];
	return top;
}

/* No locale's comma, and no more digits than it is worth. */
static void add_number(GString *out, const char *name, gboolean known, double value)
{
	char digits[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_append_printf(out, "%s\"%s\":%s", out->len > 1 ? "," : "", name,
			       known ? g_ascii_formatd(digits, sizeof(digits), "%.3f", value) : "null");
}

char *host_noise(const HostMachine *machine, int ms)
{
	guint n = machine->cpus->len;
	g_autofree Spinner *spinners = g_new0(Spinner, n);
	g_autofree GThread **threads = g_new0(GThread *, n);
	HostTicks before, after;
	gboolean counted = host_ticks_read(machine, &before, NULL);
	GString *out = g_string_new("{");

	for (guint i = 0; i < n; i++) {
		spinners[i] = (Spinner){ .cpu = g_array_index(machine->cpus, int, i), .duration_ns = ms * MS_NS };
		threads[i] = g_thread_new("spin", spin_on, &spinners[i]);
	}
	for (guint i = 0; i < n; i++)
		g_thread_join(threads[i]);
	counted = counted && host_ticks_read(machine, &after, NULL);

	const Spinner *top = worst(spinners, n);
	add_number(out, "jitter_pct", top != NULL, top ? host_spin_jitter_pct(&top->spin) : 0);
	add_number(out, "longest_us", top != NULL, top ? (double)top->spin.longest_ns / 1000 : 0);
	add_number(out, "gaps", top != NULL, top ? top->spin.gaps : 0);
	add_number(out, "steal_pct", counted, counted ? host_ticks_steal_pct(&before, &after) : 0);
	g_string_append_c(out, '}');
	return g_string_free(out, FALSE);
}

static void leave_measuring_cpus(const HostMachine *machine)
{
	g_autoptr(GArray) mine = NULL;
	cpu_set_t set;

	CPU_ZERO(&set);
	if (!cpu_list_parse("", &mine, NULL))
		return;
	for (guint i = 0; i < mine->len; i++)
		if (!host_cpus_have(machine->cpus, g_array_index(mine, int, i)))
			CPU_SET(g_array_index(mine, int, i), &set);
	/* none left: an empty set is refused, and we stay where we are */
	sched_setaffinity(0, sizeof(set), &set);
}

void host_watch(const HostMachine *machine, int interval_ms)
{
	leave_measuring_cpus(machine);
	for (;;) {
		g_autoptr(GString) line = g_string_new("{");
		HostTicks ticks = { 0 };
		guint64 throttled = 0;
		double mhz = 0;
		gboolean counted = host_ticks_read(machine, &ticks, NULL);
		/* what a virtual machine is shown of these says nothing */
		gboolean has_mhz = !machine->hypervisor && host_frequency_mhz(machine, &mhz);
		gboolean has_throttled = !machine->hypervisor && host_throttle_count(machine, &throttled);

		add_number(line, "steal", counted, (double)ticks.steal);
		add_number(line, "all", counted, (double)ticks.all);
		add_number(line, "mhz", has_mhz, mhz);
		add_number(line, "throttled", has_throttled, (double)throttled);
		if (printf("%s}\n", line->str) < 0 || fflush(stdout) != 0)
			return;
		g_usleep((gulong)interval_ms * 1000);
	}
}
