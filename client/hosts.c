/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/options.h"

static void print_host(JsonObject *host)
{
	options_print(peek_string(host, "name"));
	if (peek_int(host, "job", 0))
		printf(": measures job %" G_GINT64_FORMAT, peek_int(host, "job", 0));
	else
		fputs(": ", stdout), options_print(peek_string(host, "state"));
	if (*peek_string(host, "message")) {
		fputs(" (", stdout);
		options_print(peek_string(host, "message"));
		fputs(")", stdout);
	}
	fputs(", accelerator ", stdout);
	options_print(*peek_string(host, "accelerator") ? peek_string(host, "accelerator") : "not yet known");
	printf(", guests of %" G_GINT64_FORMAT " CPUs on CPUs ", peek_int(host, "guest_cpus", 0));
	options_print(*peek_string(host, "vm_cpus") ? peek_string(host, "vm_cpus") : "all");
	printf(", %" G_GINT64_FORMAT " boots, %" G_GINT64_FORMAT " failed\n",
	       peek_int(host, "boots_valid", 0) + peek_int(host, "boots_failed", 0), peek_int(host, "boots_failed", 0));
}

int cmd_hosts(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;
	JsonArray *hosts;

	if (!options_parse(argc, argv, NULL, TRUE, "", "Lists the machines that run virtual machines for the lab.", 0, 0,
			   &common))
		return EXIT_USAGE;
	remote = options_remote(argv[0], &common);
	if (!remote)
		return EXIT_TROUBLE;
	answer = remote_get(remote, "/hosts", &error);
	if (!answer)
		return options_trouble(argv[0], error);
	if (common.json) {
		options_print_json(answer);
		return EXIT_OK;
	}
	hosts = peek_array(answer, "hosts");
	for (guint i = 0; i < peek_length(hosts); i++)
		print_host(peek_element(hosts, i));
	return EXIT_OK;
}
