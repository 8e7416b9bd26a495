/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees that look like the /proc and /sys of machines, for tests. */
#pragma once

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "jobs/spec/file.h"

static inline void tree_put(const char *root, const char *path, const char *text)
{
	g_autofree char *full = g_strconcat(root, path, NULL), *folder = g_path_get_dirname(full);

	g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
	g_assert_true(g_file_set_contents(full, text, -1, NULL));
}

static inline char *tree_get(const char *root, const char *path)
{
	g_autofree char *full = g_strconcat(root, path, NULL);
	char *text = NULL;

	g_assert_true(g_file_get_contents(full, &text, NULL, NULL));
	return text;
}

static inline void tree_remove(const char *path)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);
		if (g_file_test(child, G_FILE_TEST_IS_DIR) && !g_file_test(child, G_FILE_TEST_IS_SYMLINK))
			tree_remove(child);
		else
			g_assert_cmpint(g_unlink(child), ==, 0);
	}
	g_assert_cmpint(g_rmdir(path), ==, 0);
}

/* Four CPUs in two cores, one node, and what every kernel has. */
static inline char *tree_machine(void)
{
	static const struct {
		const char *path, *text;
	} files[] = {
		{ "/sys/devices/system/cpu/online", "0-3\n" },
		{ "/sys/devices/system/cpu/isolated", "2-3\n" },
		{ "/sys/devices/system/cpu/nohz_full", "(null)\n" },
		{ "/sys/devices/system/cpu/smt/control", "on\n" },
		{ "/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n" },
		{ "/sys/devices/system/cpu/vulnerabilities/spectre_v1", "Mitigation: barriers\n" },
		{ "/sys/devices/system/node/node0/cpulist", "0-3\n" },
		{ "/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       32768000 kB\n" },
		{ "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n" },
		{ "/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm \n" },
		{ "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n" },
		{ "/sys/kernel/mm/ksm/run", "1\n" },
		{ "/sys/class/hwmon/hwmon0/temp1_input", "41000\n" },
		{ "/sys/class/hwmon/hwmon0/temp2_input", "54000\n" },
		{ "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme\nmicrocode\t: 0x2f\n" },
		{ "/proc/loadavg", "0.42 0.30 0.20 1/200 777\n" },
		{ "/proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 10 0 0 90 0 0 0 0 0 0\ncpu2 10 0 0 80 0 0 0 10 0 0\n"
				"cpu3 10 0 0 90 0 0 0 0 0 0\n" },
		{ "/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2 partition 2097148 1024 -2\n" },
		{ "/proc/sys/kernel/osrelease", "6.12.1\n" },
		{ "/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n" },
		{ "/proc/irq/1/smp_affinity_list", "0-3\n" },
		{ "/proc/irq/9/smp_affinity_list", "2\n" },
		{ "/proc/irq/10/smp_affinity_list", "0\n" },
		{ "/proc/1/comm", "init\n" },
		{ "/proc/77/comm", "qemu-system-x86\n" },
	};
	/* in memory where there is room for it: syncing thousands of files to a disk takes minutes */
	char *root = g_strdup(g_access("/dev/shm", W_OK) == 0 ? "/dev/shm/host-XXXXXX" : "/tmp/host-XXXXXX");

	g_assert_nonnull(g_mkdtemp(root));
	for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
		tree_put(root, files[i].path, files[i].text);
	return root;
}

static inline void tree_cpufreq(const char *root, const char *governor)
{
	static const struct {
		const char *name, *text;
	} files[] = { { "scaling_min_freq", "800000\n" }, { "scaling_max_freq", "3600000\n" }, { "scaling_cur_freq", "2000000\n" } };

	for (int cpu = 0; cpu < 4; cpu++) {
		g_autofree char *path = g_strdup_printf("/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
		g_autofree char *text = g_strconcat(governor, "\n", NULL);
		tree_put(root, path, text);
		for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
			g_autofree char *limit = g_strdup_printf("/sys/devices/system/cpu/cpu%d/cpufreq/%s", cpu, files[i].name);
			tree_put(root, limit, files[i].text);
		}
	}
}

static inline char *tree_intel(void)
{
	char *root = tree_machine();

	tree_cpufreq(root, "powersave");
	tree_put(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
	tree_put(root, "/sys/devices/system/cpu/intel_pstate/status", "active\n");
	for (int cpu = 0; cpu < 4; cpu++) {
		g_autofree char *path = g_strdup_printf("/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", cpu);
		tree_put(root, path, "3\n");
	}
	return root;
}

static inline char *tree_amd(void)
{
	char *root = tree_machine();

	tree_cpufreq(root, "schedutil");
	tree_put(root, "/sys/devices/system/cpu/amd_pstate/status", "passive\n");
	tree_put(root, "/sys/devices/system/cpu/cpufreq/boost", "1\n");
	for (int cpu = 0; cpu < 4; cpu++) {
		g_autofree char *path = g_strdup_printf("/sys/devices/system/cpu/cpufreq/policy%d/boost", cpu);
		tree_put(root, path, "1\n");
	}
	return root;
}

static inline char *tree_virtual(void)
{
	char *root = tree_intel();

	tree_put(root, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor vme\nmicrocode\t: 0x1\n");
	tree_put(root, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
	tree_put(root, "/sys/class/dmi/id/product_name", "Standard PC\n");
	return root;
}

static inline int tree_by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every file with its text, "PATH=TEXT" in the order of the paths, but for those below /var. */
static inline void tree_text_below(const char *root, const char *path, GString *out)
{
	g_autofree char *full = g_strconcat(root, path, NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GDir) dir = g_dir_open(full, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		g_ptr_array_add(names, g_strdup(name));
	g_ptr_array_sort(names, tree_by_name);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *child = g_strconcat(path, "/", g_ptr_array_index(names, i), NULL);
		g_autofree char *place = g_strconcat(root, child, NULL);
		if (g_file_test(place, G_FILE_TEST_IS_DIR)) {
			tree_text_below(root, child, out);
		} else {
			g_autofree char *text = tree_get(root, child);
			g_string_append_printf(out, "%s=%s", child, text);
		}
	}
}

static inline char *tree_text(const char *root)
{
	GString *out = g_string_new(NULL);

	tree_text_below(root, "/proc", out);
	tree_text_below(root, "/sys", out);
	return g_string_free(out, FALSE);
}
