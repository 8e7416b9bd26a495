/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guest.h"

#include "files.h"

#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define PORT_NAME "org.regrlab.results.0"
#define LRU_GEN "/sys/kernel/mm/lru_gen/enabled"
#define THP "/sys/kernel/mm/transparent_hugepage/enabled"

enum { PORT_TRIES = 400, PORT_PAUSE_MS = 5 };

bool guest_mount(void)
{
	static const struct {
		const char *type, *where;
		bool needed;
	} table[] = {
		{ "devtmpfs", "/dev", true },
		{ "proc", "/proc", true },
		{ "sysfs", "/sys", true },
		{ "debugfs", "/sys/kernel/debug", false },
		{ "cgroup2", "/sys/fs/cgroup", false },
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (mount(table[i].type, table[i].where, table[i].type, MS_NOSUID | MS_NOEXEC, NULL) == 0 ||
		    errno == EBUSY)
			continue;
		fprintf(stderr, "init: cannot mount %s on %s: %s\n", table[i].type, table[i].where, strerror(errno));
		if (table[i].needed)
			return false;
	}
	file_write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	return guest_fresh_tmpfs();
}

bool guest_fresh_tmpfs(void)
{
	umount2(GUEST_TMPFS, MNT_DETACH);
	/* a kernel without huge pages does not know the option */
	if (mount("tmpfs", GUEST_TMPFS, "tmpfs", MS_NOSUID, "huge=never,size=100%") == 0 ||
	    mount("tmpfs", GUEST_TMPFS, "tmpfs", MS_NOSUID, "size=100%") == 0)
		return true;
	fprintf(stderr, "init: cannot mount tmpfs on %s: %s\n", GUEST_TMPFS, strerror(errno));
	return false;
}

bool guest_mount_disk(const char *device)
{
	if (mount(device, GUEST_DISK, "ext4", MS_NOATIME, NULL) == 0)
		return true;
	fprintf(stderr, "init: cannot mount %s (ext4) on %s: %s\n", device, GUEST_DISK, strerror(errno));
	return false;
}

void guest_settings(void)
{
	static const struct {
		const char *path, *text;
	} table[] = {
		{ THP, "never" },
		{ "/sys/kernel/mm/transparent_hugepage/shmem_enabled", "never" },
		{ "/proc/sys/kernel/randomize_va_space", "0" },
		{ "/proc/sys/kernel/printk", "4" },
		{ "/proc/sys/kernel/panic", "-1" },
		{ "/proc/sys/kernel/panic_on_oops", "1" },
	};

	/* nobody swaps on unless a plan's program does: there is nothing to turn off */
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		file_write(table[i].path, table[i].text);
}

/* Looks for the port's device once. */
static int find_port(void)
{
	DIR *ports = opendir("/sys/class/virtio-ports");
	struct dirent *entry;
	char path[320], name[128];
	int fd = -1;

	while (ports != NULL && fd < 0 && (entry = readdir(ports)) != NULL) {
		snprintf(path, sizeof path, "/sys/class/virtio-ports/%s/name", entry->d_name);
		if (!file_read_line(path, name, sizeof name) || strcmp(name, PORT_NAME) != 0)
			continue;
		snprintf(path, sizeof path, "/dev/%s", entry->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (ports != NULL)
		closedir(ports);
	return fd;
}

bool guest_open_port(struct port *port)
{
	const struct timespec pause = { .tv_nsec = PORT_PAUSE_MS * 1000000 };

	/* the host announces the port in messages that may still be under way; without a virtio console there is no port */
	for (int i = 0; i < PORT_TRIES && access("/sys/class/virtio-ports", F_OK) == 0; i++) {
		port->fd = find_port();
		if (port->fd >= 0)
			return true;
		nanosleep(&pause, NULL);
	}
	port->console = true;
	port->fd = open("/dev/ttyS0", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (port->fd < 0)
		port->fd = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return port->fd >= 0;
}

bool guest_set_lru(enum plan_lru lru, enum plan_lru *ret_lru)
{
	char text[32] = "";

	file_write(LRU_GEN, lru == PLAN_LRU_MGLRU ? "7" : "0");
	file_read_line(LRU_GEN, text, sizeof text);
	*ret_lru = strtoul(text, NULL, 16) & 1 ? PLAN_LRU_MGLRU : PLAN_LRU_CLASSIC;
	return *ret_lru == lru;
}

/* The name that a hypervisor gives itself in CPUID, or "none". */
static void hypervisor_name(char name[13])
{
	unsigned a, b, c, d;

	memcpy(name, "none", 5);
	__cpuid(1, a, b, c, d);
	if (!(c >> 31))
		return;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(name, &b, 4);
	memcpy(name + 4, &c, 4);
	memcpy(name + 8, &d, 4);
	name[12] = '\0';
}

static void text_of_file(struct port *port, const char *member, const char *path)
{
	char text[1024];

	if (!file_read_line(path, text, sizeof text))
		snprintf(text, sizeof text, "absent");
	chosen_word(text);
	port_text(port, member, text);
}

void guest_hello(struct port *port)
{
	struct utsname system;
	struct sysinfo info;
	char hypervisor[13];

	uname(&system);
	sysinfo(&info);
	hypervisor_name(hypervisor);
	port_begin(port, "hello");
	port_text(port, "kernel", system.release);
	port_number(port, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	port_number(port, "memory_kib", (int64_t)(info.totalram * info.mem_unit / 1024));
	text_of_file(port, "clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	port_text(port, "hypervisor", hypervisor);
	text_of_file(port, "cmdline", "/proc/cmdline");
	text_of_file(port, "thp", THP);
	text_of_file(port, "lru_gen", LRU_GEN);
	port_text(port, "swap", info.totalswap == 0 ? "off" : "on");
	port_end(port);
}

void guest_power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	/* a kernel that cannot power off, or a caller that may not */
	reboot(RB_AUTOBOOT);
	_exit(1);
}
