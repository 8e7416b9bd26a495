/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/guest-hello.h"

#include "jobs/guest.h"
#include "jobs/spec/peek.h"

/* Clock sources that are fit for timing: the others are ticks, or an I/O port a reading. The TSC is called early at first. */
static const struct {
	const char *hypervisor;	/* as CPUID has it */
	const char *const clocksources[4];
} machines[] = {
	[VM_KVM] = { "KVMKVMKVM", { "kvm-clock", "tsc", "tsc-early", NULL } },
	[VM_TCG] = { "TCGTCGTCGTCG", { "tsc", "tsc-early", "hpet", NULL } },
};

static gboolean fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean fail(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *message = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error_literal(error, GUEST_ERROR, GUEST_ERROR_VALUE, message);
	return FALSE;
}

gboolean guest_hello_check(JsonObject *hello, VmAccelerator accelerator, int cpus, GError **error)
{
	const char *hypervisor = peek_string(hello, "hypervisor"), *clocksource = peek_string(hello, "clocksource");
	gint64 count = peek_int(hello, "cpus", 0);

	if (!g_str_equal(hypervisor, machines[accelerator].hypervisor))
		return fail(error, "the guest runs on '%.32s', not on '%s'", hypervisor, machines[accelerator].hypervisor);
	if (!g_strv_contains(machines[accelerator].clocksources, clocksource)) {
		g_autofree char *fit = g_strjoinv(", ", (char **)machines[accelerator].clocksources);
		return fail(error, "the guest's clock source is '%.32s', none of %s", clocksource, fit);
	}
	if (count != cpus)
		return fail(error, "the guest has %" G_GINT64_FORMAT " CPUs, not the %d that it was given", count, cpus);
	return TRUE;
}
