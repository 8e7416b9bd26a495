/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/vm.h"

#include <errno.h>
#include <libvirt/virterror.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "jobs/spec/file.h"
#include "jobs/vm-pinning.h"

#define EVENTS	(VIR_STREAM_EVENT_READABLE | VIR_STREAM_EVENT_ERROR | VIR_STREAM_EVENT_HANGUP)
#define CMDLINE_MAX	(1024 * 1024)
#define STATE_EVERY_US	(2 * G_USEC_PER_SEC)	/* events tell of an end; this is for those that get lost */

/* What callbacks in libvirt's thread may touch: outlives the Vm until libvirt lets go of it. */
typedef struct {
	gint refs;
	int fd;		/* eventfd: something happened */
	gint ended;	/* atomic: the domain is no more; the VmState it is in */
} Waker;

struct Vm {
	VmHost *host;
	char *name;
	const HostPlacement *placement;
	JobClock clock;
	virDomainPtr domain;
	virStreamPtr streams[VM_STREAMS];	/* NULL: at its end */
	int lifecycle;				/* callback's id, -1: none */
	Waker *waker;
	VmState state;
	gint64 state_us;			/* when it was asked for */
};

/* ---- called in libvirt's thread ---- */

static void waker_unref(void *data)
{
	Waker *waker = data;

	if (!g_atomic_int_dec_and_test(&waker->refs))
		return;
	close(waker->fd);
	g_free(waker);
}

static Waker *waker_ref(Waker *waker)
{
	g_atomic_int_inc(&waker->refs);
	return waker;
}

static void wake(Waker *waker)
{
	eventfd_write(waker->fd, 1);
}

/* Not again until the reader has emptied the stream. */
static void on_stream(virStreamPtr stream, int events G_GNUC_UNUSED, void *data)
{
	virStreamEventUpdateCallback(stream, 0);
	wake(data);
}

static int on_lifecycle(virConnectPtr connection G_GNUC_UNUSED, virDomainPtr domain G_GNUC_UNUSED, int event,
			int detail, void *data)
{
	Waker *waker = data;

	if (event == VIR_DOMAIN_EVENT_STOPPED)
		g_atomic_int_set(&waker->ended, detail == VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN ||
							detail == VIR_DOMAIN_EVENT_STOPPED_DESTROYED
						? VM_STOPPED
						: VM_DIED);
	wake(waker);
	return 0;
}

/* ---- starting ---- */

static gboolean open_stream(Vm *vm, VmStream which, GError **error)
{
	virStreamPtr stream = virStreamNew(vm_host_connection(vm->host), VIR_STREAM_NONBLOCK);
	const char *what = which == VM_RESULTS ? "the results port" : "the console";

	if (!stream)
		return vm_error_libvirt(error, what);
	int opened = which == VM_RESULTS ? virDomainOpenChannel(vm->domain, VM_CHANNEL_NAME, stream, 0)
					 : virDomainOpenConsole(vm->domain, NULL, stream, VIR_DOMAIN_CONSOLE_FORCE);
	if (opened < 0) {
		vm_error_libvirt(error, what);
		virStreamFree(stream);
		return FALSE;
	}
	vm->streams[which] = stream;
	if (virStreamEventAddCallback(stream, EVENTS, on_stream, waker_ref(vm->waker), waker_unref) < 0) {
		waker_unref(vm->waker);
		return vm_error_libvirt(error, what);
	}
	return TRUE;
}

static gboolean start(Vm *vm, const char *xml, GError **error)
{
	virConnectPtr connection = vm_host_connection(vm->host);

	vm->domain = virDomainCreateXML(connection, xml, VIR_DOMAIN_START_PAUSED | VIR_DOMAIN_START_VALIDATE);
	if (!vm->domain)
		return vm_error_libvirt(error, "the virtual machine does not start");
	vm->lifecycle = virConnectDomainEventRegisterAny(connection, vm->domain, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
							 VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), waker_ref(vm->waker),
							 waker_unref);
	if (vm->lifecycle < 0) {
		waker_unref(vm->waker);
		return vm_error_libvirt(error, "events of the virtual machine");
	}
	if (!open_stream(vm, VM_CONSOLE, error) || !open_stream(vm, VM_RESULTS, error))
		return FALSE;
	if (virDomainResume(vm->domain) < 0)
		return vm_error_libvirt(error, "the virtual machine does not run");
	return TRUE;
}

Vm *vm_start(VmHost *host, const VmDescription *description, char **ret_xml, GError **error)
{
	g_autoptr(Vm) vm = g_new0(Vm, 1);
	g_autofree char *xml = vm_description_to_xml(description);

	vm->host = host;
	vm->name = g_strdup(description->name);
	vm->placement = description->placement;
	vm->clock = description->clock;
	vm->lifecycle = -1;
	vm->waker = g_new0(Waker, 1);
	vm->waker->refs = 1;
	vm->waker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (vm->waker->fd < 0) {
		g_set_error(error, VM_ERROR, VM_ERROR_LIBVIRT, "no eventfd: %s", g_strerror(errno));
		return NULL;
	}
	if (!start(vm, xml, error))
		return NULL;
	if (ret_xml) {
		char *live = virDomainGetXMLDesc(vm->domain, 0);
		*ret_xml = live ? live : g_steal_pointer(&xml);
	}
	return g_steal_pointer(&vm);
}

static void close_stream(Vm *vm, VmStream which)
{
	virStreamPtr stream = vm->streams[which];

	if (!stream)
		return;
	vm->streams[which] = NULL;
	virStreamEventRemoveCallback(stream);
	virStreamAbort(stream);
	virStreamFree(stream);
}

/*
 * At once: there is nothing that it has to save, libvirt asks for ten seconds before it does this, and a stage that is told to
 * stop has less. Where the QEMU is not on this machine libvirt has to do.
 */
static void kill_qemu(Vm *vm)
{
	pid_t pid = vm_host_pid(vm->host, vm->name);
	g_autofree char *path = g_strdup_printf("/proc/%d/cmdline", (int)pid), *line = NULL;
	g_autofree char *guest = g_strdup_printf("guest=%s,", vm->name);
	gsize size;

	if (pid > 0 && file_read(path, CMDLINE_MAX, &line, &size, NULL) && memmem(line, size, guest, strlen(guest)))
		kill(pid, SIGKILL);
}

void vm_free(Vm *vm)
{
	if (!vm)
		return;
	for (int i = 0; i < VM_STREAMS; i++)
		close_stream(vm, (VmStream)i);
	if (vm->lifecycle >= 0)
		virConnectDomainEventDeregisterAny(vm_host_connection(vm->host), vm->lifecycle);
	if (vm->domain) {
		kill_qemu(vm);
		virDomainDestroy(vm->domain);
		virDomainFree(vm->domain);
	}
	waker_unref(vm->waker);
	g_free(vm->name);
	g_free(vm);
}

/* ---- running ---- */

void vm_wait(Vm *vm, int stop_fd, int timeout_ms)
{
	struct pollfd fds[] = { { .fd = vm->waker->fd, .events = POLLIN }, { .fd = stop_fd, .events = POLLIN } };
	eventfd_t count;

	poll(fds, G_N_ELEMENTS(fds), timeout_ms);
	eventfd_read(vm->waker->fd, &count);
}

gssize vm_read(Vm *vm, VmStream which, char *buffer, gsize size)
{
	virStreamPtr stream = vm->streams[which];

	if (!stream)
		return -1;
	int got = virStreamRecv(stream, buffer, size);
	if (got > 0)
		return got;
	if (got == -2) {
		virStreamEventUpdateCallback(stream, EVENTS);
		return 0;
	}
	close_stream(vm, which);
	return -1;
}

static VmState ask_state(Vm *vm)
{
	int state, reason;

	if (virConnectIsAlive(vm_host_connection(vm->host)) != 1)
		return VM_UNKNOWN;
	if (virDomainGetState(vm->domain, &state, &reason, 0) < 0)
		/* a transient domain that is gone */
		return virGetLastErrorCode() == VIR_ERR_NO_DOMAIN ? VM_STOPPED : VM_UNKNOWN;
	if (state == VIR_DOMAIN_CRASHED)
		return VM_DIED;
	if (state != VIR_DOMAIN_SHUTOFF)
		return VM_RUNNING;
	return reason == VIR_DOMAIN_SHUTOFF_CRASHED || reason == VIR_DOMAIN_SHUTOFF_FAILED ? VM_DIED : VM_STOPPED;
}

VmState vm_state(Vm *vm)
{
	gint64 now = g_get_monotonic_time();

	if (vm->state == VM_RUNNING)
		vm->state = (VmState)g_atomic_int_get(&vm->waker->ended);
	if (vm->state != VM_RUNNING || now - vm->state_us < STATE_EVERY_US)
		return vm->state;
	vm->state_us = now;
	vm->state = ask_state(vm);
	return vm->state;
}

gboolean vm_check_pinning(Vm *vm, char **ret_report, GError **error)
{
	pid_t pid = vm_host_pid(vm->host, vm->name);

	*ret_report = NULL;
	return pid == 0 || vm_pinning_check(pid, vm->placement, vm->clock, ret_report, error);
}
