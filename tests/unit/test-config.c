/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "daemon/config-keys.h"
#include "daemon/cpus.h"

static Config *parse(const char *text, GError **error)
{
	Config *config = NULL;

	config_from_data("test.conf", text, strlen(text), &config, error);
	return config;
}

static void refuse(const char *text, ConfigError code, const char *words)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Config) config = parse(text, &error);

	g_assert_null(config);
	g_assert_error(error, CONFIG_ERROR, (int)code);
	if (!strstr(error->message, words))
		g_error("'%s' does not say '%s'", error->message, words);
}

static void test_defaults(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Config) config = parse("[tree linux]\npath=/srv/linux\n", &error);
	const ConfigHost *host;

	g_assert_no_error(error);
	g_assert_cmpstr(config->listen, ==, "127.0.0.1");
	g_assert_cmpint(config->port, ==, 8642);
	g_assert_cmpstr(config->url, ==, "http://127.0.0.1:8642");
	g_assert_cmpstr(config_tree(config, "")->name, ==, "linux");
	g_assert_cmpstr(config_tree(config, "linux")->branch, ==, "master");
	g_assert_null(config_tree(config, "other"));
	host = config_host(config, "local");
	g_assert_cmpstr(host->uri, ==, "qemu:///embed?root=/var/lib/regrlab/libvirt-local");
	g_assert_cmpint(host->guest_cpus, ==, 2);
	g_assert_null(config_host(config, "elsewhere"));
}

static void test_all(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Config) config = parse(
		"# words\n[daemon]\nlisten = ::1\nport=9000\nmax_body_mib=1\nurl=https://lab.example.org/regrlab\n"
		"[tree b]\npath=/b\nbranch=mm/next\nremote=origin\n[tree a]\npath=/a\n"
		"[host fast]\nuri=qemu+ssh://fast.example.org/system\nvm_cpus=2-5,8\nother_cpus=0\nguest_cpus=4\nslots=2\n"
		"labels=amd,two-sockets\n"
		"[build]\ncpus=0-1\njobs=3\n[access]\nbehind_tls_proxy=yes\ntrusted_proxies=127.0.0.1, 10.0.0.0/8\n", &error);

	g_assert_no_error(error);
	g_assert_cmpstr(config_tree(config, "")->name, ==, "b");
	g_assert_cmpstr(config->url, ==, "https://lab.example.org/regrlab");
	g_assert_cmpuint(config->hosts->len, ==, 1);
	g_assert_cmpint(config->build_jobs, ==, 3);
	g_assert_true(config->behind_tls_proxy && !config->read_needs_token);
	g_assert_cmpint(config->token_queue_max, ==, 50);
	g_assert_true(g_strv_equal((const char *const *)config_host(config, "fast")->labels,
				   (const char *const[]){ "amd", "two-sockets", NULL }));
	g_assert_cmpstr(config_host(config, "fast")->vm_cpus, ==, "2-5,8");
	g_assert_cmpint(config_host(config, "fast")->slots, ==, 2);
}

static void test_refused(void)
{
#define TREE "[tree linux]\npath=/srv/linux\n"
	refuse("", CONFIG_ERROR_MISSING, "at least one tree");
	refuse("[daemon\n", CONFIG_ERROR_SYNTAX, "test.conf");
	refuse("port=1\n", CONFIG_ERROR_SYNTAX, "test.conf");
	refuse(TREE "[deamon]\nport=1\n", CONFIG_ERROR_UNKNOWN, "test.conf:3: [deamon]: no such section");
	refuse(TREE "[daemon]\nprot=1\n", CONFIG_ERROR_UNKNOWN, "test.conf:4: [daemon] prot: no such key; there are listen, port");
	refuse(TREE "[daemon]\n\n# x\nport = 99999\n", CONFIG_ERROR_VALUE,
	       "test.conf:6: [daemon] port: '99999' is not a whole number from 1 to 65535");
	refuse(TREE "[daemon]\nport=80a\n", CONFIG_ERROR_VALUE, "'80a'");
	refuse(TREE "[daemon]\nlisten=0.0.0.0\n", CONFIG_ERROR_VALUE, "loopback");
	refuse(TREE "[daemon]\nlisten=192.0.2.1\n", CONFIG_ERROR_VALUE, "loopback");
	refuse(TREE "[daemon]\nlisten=localhost\n", CONFIG_ERROR_VALUE, "an address such as 127.0.0.1 or ::1");
	refuse(TREE "[daemon]\nlisten=192.0.2.1\n[access]\nbehind_tls_proxy=yes\n", CONFIG_ERROR_MISSING, "needs url");
	refuse(TREE "[access]\nbehind_tls_proxy=true\n", CONFIG_ERROR_VALUE, "'true' is not yes or no");
	refuse(TREE "[access]\ntrusted_proxies=proxy.example.org\n", CONFIG_ERROR_VALUE, "addresses and networks");
	refuse(TREE "[daemon]\nstate_dir=state\n", CONFIG_ERROR_VALUE, "absolute");
	refuse(TREE "[daemon]\nurl=ftp://example.org\n", CONFIG_ERROR_VALUE, "http");
	refuse(TREE "[daemon]\nurl=http://example.org/\n", CONFIG_ERROR_VALUE, "slash");
	refuse("[tree linux]\nbranch=x\n", CONFIG_ERROR_MISSING, "path");
	refuse("[tree ../x]\npath=/x\n", CONFIG_ERROR_VALUE, "a name has");
	refuse("[tree ]\npath=/x\n", CONFIG_ERROR_VALUE, "a name has");
	refuse("[tree]\npath=/x\n", CONFIG_ERROR_UNKNOWN, "no such section");
	refuse("[tree x]\npath=/x\nbranch=--all\n", CONFIG_ERROR_VALUE, "git");
	refuse(TREE "[host a]\nlabels=a,,b\n", CONFIG_ERROR_VALUE, "separated by commas");
	refuse(TREE "[host a]\nslots=2\n", CONFIG_ERROR_VALUE, "test.conf:4: [host a] slots: the embedded driver runs one comparison at a time");
	refuse(TREE "[host a]\nslots=0\nuri=qemu:///system\n", CONFIG_ERROR_VALUE, "test.conf:4: [host a] slots: '0' is not a whole number");
	refuse(TREE "[host a]\nvm_cpus=1-\n", CONFIG_ERROR_VALUE, "test.conf:4: [host a] vm_cpus: '1-' is not a list of CPUs");
	refuse(TREE "[host a]\npolicy=lax\n", CONFIG_ERROR_VALUE, "strict or warn");
	refuse(TREE "[host a]\nrequire=turbo\n", CONFIG_ERROR_VALUE, "words FACT=VALUE");
	refuse(TREE "[host a]\nmax_steal_pct=101\n", CONFIG_ERROR_VALUE, "0 to 100");
	refuse(TREE "[host a]\nguest_cpus=0\n", CONFIG_ERROR_VALUE, "1 to 512");
}

static void test_print_reads_back(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Config) first = parse("[tree linux]\npath=/srv/linux\n[host a]\nvm_cpus=1\n[host b]\n", &error);
	g_autofree char *text = config_to_text(first);
	g_autoptr(Config) second = parse(text, &error);
	g_autofree char *again = NULL;

	g_assert_no_error(error);
	again = config_to_text(second);
	g_assert_cmpstr(text, ==, again);
	g_autoptr(GRegex) folded = g_regex_new("\n# ", 0, 0, NULL);
	g_autofree char *unfolded = g_regex_replace_literal(folded, text, -1, 0, " ", 0, NULL);
	for (gsize i = 0; i < config_n_keys; i++)
		g_assert_nonnull(strstr(unfolded, config_keys[i].help));
}

/* The example that is installed is a configuration, and is made of the table. UPDATE=1 writes it anew. */
static void test_example(void)
{
	const char *path = "deploy/regrlab.conf.example";
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL, *made = config_example();
	g_autoptr(Config) config = NULL, defaults = parse("[tree linux]\npath=/srv/git/linux.git\n", &error);
	Config *nowhere = NULL;

	if (g_strcmp0(g_getenv("UPDATE"), "1") == 0)
		g_assert_true(g_file_set_contents(path, made, -1, NULL));
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, made);
	g_assert_true(config_load(path, &config, &error));
	g_assert_no_error(error);
	/* what is commented out is what holds without it */
	g_autofree char *one = config_to_text(config), *two = config_to_text(defaults);
	g_assert_cmpstr(one, ==, two);
	g_autoptr(GRegex) commented = g_regex_new("^#([a-z_]+=)", G_REGEX_MULTILINE, 0, NULL);
	g_autofree char *open = g_regex_replace(commented, text, -1, 0, "\\1", 0, NULL);
	g_autoptr(Config) all = parse(open, &error);
	g_assert_no_error(error);
	g_autofree char *three = config_to_text(all);
	g_assert_cmpstr(three, ==, two);
	g_assert_false(config_load("/nowhere/regrlab.conf", &nowhere, &error));
	g_assert_error(error, CONFIG_ERROR, CONFIG_ERROR_IO);
}

/* Every key is of a section that there is, and is said with all that a reader wants to know. */
static void test_tables(void)
{
	for (gsize i = 0; i < config_n_keys; i++) {
		const ConfigKey *key = &config_keys[i];
		g_autofree char *allowed = config_key_allowed(key);
		gboolean found = FALSE;

		for (gsize k = 0; k < config_n_sections; k++)
			found |= g_str_equal(config_sections[k].section, key->section);
		g_assert_true(found);
		g_assert_true(key->help && *key->help && *allowed);
		g_assert_true(!key->standard == (key->example != NULL));
		if (key->kind == CONFIG_INT)
			g_assert_cmpint(key->min, <, key->max);
	}
}

/* All that is wrong is said, in the order of the file. */
static void test_all_complaints(void)
{
	const char *const wanted[] = {
		"test.conf:1: a key before the first [SECTION]",
		"test.conf:3: [daemon] port: 'no' is not a whole number from 1 to 65535",
		"test.conf:4: neither [SECTION] nor KEY=VALUE nor a comment that begins with #",
		"test.conf:5: [daemon] prot: no such key",
		"test.conf:6: [deamon]: no such section",
		"test.conf:8: [host /]: a name",
		"test.conf:9: [tree x]: the key path must be there",
		NULL,
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(Config) config = parse("a=b\n[daemon]\n port = no\nlisten\nprot=1\n[deamon]\n[host a]\n[host /]\n[tree x]\n", &error);
	g_auto(GStrv) lines = NULL;

	g_assert_null(config);
	g_assert_error(error, CONFIG_ERROR, CONFIG_ERROR_SYNTAX);
	lines = g_strsplit(error->message, "\n", -1);
	g_assert_cmpuint(g_strv_length(lines), ==, g_strv_length((char **)wanted));
	for (gsize i = 0; wanted[i]; i++)
		g_assert_true(g_str_has_prefix(lines[i], wanted[i]));
}

static gboolean disturbs(const char *build, const char *vm, const char *other, const char *uri)
{
	g_autofree char *text = g_strdup_printf("[tree t]\npath=/t\n[build]\ncpus=%s\n[host h]\nvm_cpus=%s\nother_cpus=%s\nuri=%s\n",
						build, vm, other, uri);
	g_autoptr(GError) error = NULL;
	g_autoptr(Config) config = parse(text, &error);

	g_assert_no_error(error);
	return cpus_build_disturbs(config, config_host(config, "h"));
}

static void test_disturbs(void)
{
	g_assert_true(disturbs("", "", "", ""));
	g_assert_true(disturbs("0-3", "3-4", "5", ""));
	g_assert_true(disturbs("0-3", "4", "2", "qemu:///system"));
	g_assert_false(disturbs("0-3", "4-7", "8", "qemu:///system"));
	g_assert_false(disturbs("0-3", "4-7", "", ""));
	g_assert_false(disturbs("0-3", "0-3", "", "qemu+ssh://fast.example.org/system"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/config/defaults", test_defaults);
	g_test_add_func("/config/all", test_all);
	g_test_add_func("/config/refused", test_refused);
	g_test_add_func("/config/print-reads-back", test_print_reads_back);
	g_test_add_func("/config/example", test_example);
	g_test_add_func("/config/tables", test_tables);
	g_test_add_func("/config/all-complaints", test_all_complaints);
	g_test_add_func("/config/disturbs", test_disturbs);
	return g_test_run();
}
