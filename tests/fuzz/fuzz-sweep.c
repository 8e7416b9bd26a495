/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sweep's order.json: what is taken is within its limits, and comes back as it was. Nothing is swept. */
#include <stdint.h>
#include <string.h>

#include "jobs/spec/file.h"
#include "jobs/spec/sweep.h"
#include "tests/fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *path = g_build_filename(scratch_folder(), "order.json", NULL), *one = NULL, *two = NULL;
	g_autoptr(SweepOrder) order = NULL, again = NULL;
	g_autoptr(GError) error = NULL;

	scratch_write("order.json", (const char *)data, size);
	if (!sweep_order_load(path, &order, &error)) {
		g_assert_true(error && error->domain == SPEC_ERROR && g_utf8_validate(error->message, -1, NULL));
		return 0;
	}
	g_assert_true(*order->state_dir == '/' && *order->cache_dir == '/' && order->grace_s >= 0 && order->last_job >= 0);
	g_assert_true(order->logs.days >= 0 && order->kernels_kept.max_mib >= 0);
	g_assert_true(sweep_order_save(order, path, &error) && file_read(path, G_MAXSSIZE, &one, NULL, &error));
	g_assert_true(sweep_order_load(path, &again, &error) && sweep_order_save(again, path, &error) &&
		      file_read(path, G_MAXSSIZE, &two, NULL, &error));
	g_assert_cmpstr(one, ==, two);
	return 0;
}
