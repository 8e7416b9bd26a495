/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel configurations: fragments merged, and the targets that one is composed from. */
#include "jobs/kernel-config.h"
#include "jobs/spec/error.h"

static void test_merge(void)
{
	g_autofree char *merged = config_merge(
		"# a comment\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=\"x\"\nCONFIG_AA=y\n\n",
		"# base: tinyconfig\nCONFIG_B=y\n# CONFIG_A is not set\nCONFIG_D=64\nnonsense\nCONFIG_D=65\n");

	g_assert_cmpstr(merged, ==, "# a comment\nCONFIG_C=\"x\"\nCONFIG_AA=y\nCONFIG_B=y\n# CONFIG_A is not set\nCONFIG_D=65\n");
	g_autofree char *a = config_value(merged, "CONFIG_A"), *d = config_value(merged, "CONFIG_D");
	g_autofree char *none = config_value(merged, "CONFIG_NONE");
	g_assert_cmpstr(a, ==, "n");
	g_assert_cmpstr(d, ==, "65");
	g_assert_cmpstr(none, ==, "n");
}

static void test_base_targets(void)
{
	static const char *const bad[] = { "CONFIG_A=y\n", "# base:\n", "# base: all\n", "# base: tinyconfig O=/x\n",
					   "# base: -fconfig\n", "# base: $(shell)config" };
	g_auto(GStrv) targets = config_base_targets("# base: defconfig  kvm_guest.config\nCONFIG_A=y\n", NULL);

	g_assert_cmpstr(targets[0], ==, "defconfig");
	g_assert_cmpstr(targets[1], ==, "kvm_guest.config");
	g_assert_null(targets[2]);
	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(config_base_targets(bad[i], &error));
		g_assert_true(error->domain == SPEC_ERROR);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/kernel-config/merge", test_merge);
	g_test_add_func("/kernel-config/base-targets", test_base_targets);
	return g_test_run();
}
