/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepare and restore, and the record of what was before, on trees that look like machines. */
#include <sys/stat.h>
#include <unistd.h>

#include "facts-fixture.h"
#include "host/files.h"
#include "host/prepare.h"

#define WHOLE "auto smt=off frequency=fixed irqs=0"

static void run(const char *root, gboolean prepare, const char *policy, int failed, const char *words)
{
	g_auto(HostMachine) machine = { 0 };
	g_auto(HostReport) report = { 0 };
	g_autoptr(GError) error = NULL;
	g_autofree char *record = g_strconcat(root, HOST_RECORD_FILE, NULL);

	host_report_init(&report);
	machine_of(&machine, root);
	if (prepare)
		host_prepare(&machine, policy, record, &report, &error);
	else
		host_restore(&machine, record, &report, &error);
	g_assert_no_error(error);
	g_assert_cmpint(report.failed, ==, failed);
	if (!strstr(report.text->str, words))
		g_error("'%s' does not say '%s'", report.text->str, words);
}

static gboolean has_record(const char *root)
{
	return host_file_exists(root, HOST_RECORD_FILE);
}

static void test_prepare(void)
{
	char *(*const makers[])(void) = { tree_intel, tree_amd };

	for (gsize i = 0; i < G_N_ELEMENTS(makers); i++) {
		char *root = makers[i]();
		g_autofree char *before = tree_text(root);
		run(root, TRUE, WHOLE, 0, "set       /sys/devices/system/cpu/smt/control: off (was on)");
		g_autofree char *left = failing(root, WHOLE), *prepared = tree_text(root);
		g_assert_cmpstr(left, ==, "");
		/* once more: nothing to do, and what was before is still known */
		run(root, TRUE, WHOLE, 0, "as wanted already");
		run(root, FALSE, NULL, 0, "restored");
		g_autofree char *after = tree_text(root);
		g_assert_cmpstr(before, !=, prepared);
		g_assert_cmpstr(before, ==, after);
		g_assert_false(has_record(root));
		run(root, FALSE, NULL, 0, "nothing to put back");
		tree_remove(root);
		g_free(root);
	}
}

/* Two policies one after the other: what was before the first is what comes back. */
static void test_prepare_twice(void)
{
	char *root = tree_intel();
	g_autofree char *before = tree_text(root);

	run(root, TRUE, "governor=performance", 0, "performance (was powersave)");
	run(root, TRUE, "governor=userspace turbo=off", 0, "userspace (was performance)");
	run(root, FALSE, NULL, 0, "restored  /sys/devices/system/cpu/cpu2/cpufreq/scaling_governor: powersave");
	g_autofree char *after = tree_text(root);
	g_assert_cmpstr(before, ==, after);
	tree_remove(root);
	g_free(root);
}

/* A choice is written as its word: the kernel puts the brackets. */
static void test_choice(void)
{
	char *root = tree_intel();

	run(root, TRUE, "thp=never", 0, "never (was madvise)");
	run(root, FALSE, NULL, 0, "madvise");
	expect(root, "thp", "madvise");
	tree_remove(root);
	g_free(root);
}

static void test_nothing_to_set(void)
{
	char *root = tree_machine();

	/* unknown on this machine, and no file to change that */
	run(root, TRUE, "turbo=off", 1, "by hand   turbo should be off: switch it in the firmware");
	/* what only a person can change is said, and is no failure */
	run(root, TRUE, "swap=off", 0, "by hand   swap should be off: swapoff");
	g_assert_false(has_record(root));
	tree_remove(root);
	g_free(root);
}

/* Files that cannot be written: said one by one, and restore has nothing to fail at. */
static void test_read_only(void)
{
	static const char *const files[] = { "/sys/devices/system/cpu/intel_pstate/no_turbo",
					     "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
					     "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor" };
	char *root = tree_intel();
	g_autofree char *before = tree_text(root), *record = g_strconcat(root, "/var/lib/regrlab-host", NULL);

	g_assert_cmpint(g_mkdir_with_parents(record, 0755), ==, 0);
	for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *full = g_strconcat(root, files[i], NULL);
		g_assert_cmpint(chmod(full, 0444), ==, 0);
	}
	if (getuid() == 0) {	/* whom modes do not stop */
		g_assert_cmpint(chmod(root, 0755), ==, 0);
		g_assert_cmpint(chown(record, 65534, 65534), ==, 0);
		g_assert_cmpint(seteuid(65534), ==, 0);
	}
	run(root, TRUE, "turbo=off governor=performance", 3,
	    "FAILED    /sys/devices/system/cpu/intel_pstate/no_turbo: Permission denied (wanted 1)");
	run(root, FALSE, NULL, 0, "nothing to put back");
	g_assert_false(has_record(root));
	if (getuid() == 0)
		g_assert_cmpint(seteuid(0), ==, 0);
	g_autofree char *after = tree_text(root);
	g_assert_cmpstr(before, ==, after);
	tree_remove(root);
	g_free(root);
}

/* A CPU goes while the machine is prepared: its files are gone, the others come back. */
static void test_restore_vanished(void)
{
	char *root = tree_intel();
	g_autofree char *gone = g_strconcat(root, "/sys/devices/system/cpu/cpu3", NULL);

	run(root, TRUE, "turbo=off governor=performance", 0, "set");
	tree_remove(gone);
	run(root, FALSE, NULL, 0, "gone      /sys/devices/system/cpu/cpu3/cpufreq/scaling_governor: No such file or directory (was powersave)");
	expect(root, "turbo", "on");
	expect(root, "governor", "powersave");
	g_assert_false(has_record(root));
	tree_remove(root);
	g_free(root);
}

/* ---- the machine was rebooted in between ---- */

#define TURBO	 "/sys/devices/system/cpu/intel_pstate/no_turbo"
#define GOVERNOR "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor"

static void reboot(const char *root)
{
	tree_put(root, "/proc/sys/kernel/random/boot_id", "99999999-2222-3333-4444-555555555555\n");
}

static void test_reboot_restore(void)
{
	char *root = tree_intel();

	run(root, TRUE, "turbo=off governor=performance", 0, "set");
	reboot(root);
	/* as the kernel starts; something else set the governor since; one CPU still has what prepare wrote */
	tree_put(root, TURBO, "0\n");
	tree_put(root, GOVERNOR, "ondemand\n");
	run(root, FALSE, NULL, 0, "left      " GOVERNOR ": ondemand, set since the machine was rebooted");
	expect(root, "turbo", "on");
	expect(root, "governor", "mixed: ondemand, powersave");
	g_assert_false(has_record(root));
	tree_remove(root);
	g_free(root);
}

static void test_reboot_prepare(void)
{
	char *root = tree_intel();

	run(root, TRUE, "turbo=off governor=performance", 0, "set");
	reboot(root);
	tree_put(root, TURBO, "0\n");
	tree_put(root, GOVERNOR, "ondemand\n");
	run(root, TRUE, "turbo=off governor=performance", 0, "performance (was ondemand)");
	run(root, FALSE, NULL, 0, "restored  " GOVERNOR ": ondemand");
	/* the one that still had what prepare wrote gets what was before that */
	expect(root, "governor", "mixed: ondemand, powersave");
	expect(root, "turbo", "on");
	tree_remove(root);
	g_free(root);
}

/* ---- the record itself ---- */

static void test_record_unfinished(void)
{
	char *root = tree_intel();
	g_autofree char *text = NULL, *more = NULL, *before = tree_text(root);

	run(root, TRUE, "turbo=off", 0, "set");
	text = tree_get(root, HOST_RECORD_FILE);
	g_assert_cmpstr(text, ==, "regrlab-host 1\nboot 11111111-2222-3333-4444-555555555555\nset\t" TURBO "\t0\\n\t1\n");
	more = g_strconcat(text, "set\t" GOVERNOR "\tpower", NULL);
	tree_put(root, HOST_RECORD_FILE, more);
	run(root, FALSE, NULL, 0, "restored  " TURBO);
	g_autofree char *after = tree_text(root);
	g_assert_cmpstr(before, ==, after);
	tree_remove(root);
	g_free(root);
}

static void test_record_bad(void)
{
	static const char *const texts[] = { "something else\n", "regrlab-host 1\nset\tno/root\ta\tb\n",
					     "regrlab-host 1\nset\t/sys/../etc/passwd\ta\tb\n", "regrlab-host 1\nset\t/x\n" };

	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		char *root = tree_intel();
		g_autofree char *path = g_strconcat(root, HOST_RECORD_FILE, NULL), *after = NULL;

		tree_put(root, HOST_RECORD_FILE, texts[i]);
		g_assert_null(host_record_open(path, "x", &error));
		g_assert_error(error, HOST_ERROR, HOST_ERROR_RECORD);
		after = tree_get(root, HOST_RECORD_FILE);
		g_assert_cmpstr(after, ==, texts[i]);
		tree_remove(root);
		g_free(root);
	}
}

static void test_record_busy(void)
{
	char *root = tree_intel();
	g_autofree char *path = g_strconcat(root, HOST_RECORD_FILE, NULL);
	g_autoptr(HostRecord) first = host_record_open(path, "x", NULL);
	g_autoptr(GError) error = NULL;

	g_assert_nonnull(first);
	g_assert_null(host_record_open(path, "x", &error));
	g_assert_error(error, HOST_ERROR, HOST_ERROR_BUSY);
	tree_remove(root);
	g_free(root);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/host/prepare/back", test_prepare);
	g_test_add_func("/host/prepare/twice", test_prepare_twice);
	g_test_add_func("/host/prepare/choice", test_choice);
	g_test_add_func("/host/prepare/nothing-to-set", test_nothing_to_set);
	g_test_add_func("/host/prepare/read-only", test_read_only);
	g_test_add_func("/host/restore/vanished", test_restore_vanished);
	g_test_add_func("/host/restore/rebooted", test_reboot_restore);
	g_test_add_func("/host/prepare/rebooted", test_reboot_prepare);
	g_test_add_func("/host/record/unfinished", test_record_unfinished);
	g_test_add_func("/host/record/bad", test_record_bad);
	g_test_add_func("/host/record/busy", test_record_busy);
	return g_test_run();
}
