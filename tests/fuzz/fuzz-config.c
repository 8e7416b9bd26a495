/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's configuration: what is taken can be printed, and means the same when it is read again. */
#include <stdint.h>
#include <string.h>

#include "daemon/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(Config) config = NULL, again = NULL;
	g_autofree char *one = NULL, *two = NULL;
	g_autoptr(GError) error = NULL;

	if (!config_from_data("fuzz", (const char *)data, size, &config, &error)) {
		g_assert_true(error && error->domain == CONFIG_ERROR);
		return 0;
	}
	g_assert_true(config_tree(config, "") && config->hosts->len);
	one = config_to_text(config);
	g_assert_true(config_from_data("printed", one, strlen(one), &again, &error));
	two = config_to_text(again);
	g_assert_cmpstr(one, ==, two);
	return 0;
}
