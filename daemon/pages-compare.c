/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels side by side, as a page and as JSON. */
#include <math.h>

#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/compare-ask.h"
#include "jobs/spec/peek.h"
#include "web/page-compare.h"

void pages_compare(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_auto(CompareAsk) ask = { 0 };
	gsize size;
	char *text;

	if (!compare_ask(request, lab, &ask))
		return;

	CompareView view = { ask.comparison, ask.query, (const char *const *)ask.left_out->pdata };
	text = page_compare(&view, &size);
	answer_text(request, match->route->produces, text, size);
}

/* ---- JSON ---- */

static void set_double(JsonObject *object, const char *name, double value)
{
	if (isnan(value))
		json_object_set_null_member(object, name);
	else
		json_object_set_double_member(object, name, value);
}

static JsonObject *kernel_json(const CompareKernel *kernel)
{
	JsonObject *object = json_object_new();

	json_object_set_int_member(object, "job", kernel->of.job->id);
	json_object_set_string_member(object, "arm", sample_arm_to_string(kernel->arm));
	json_object_set_string_member(object, "commit", peek_string(kernel->of.job->arms[kernel->arm], "commit"));
	json_object_set_string_member(object, "kernel_sha256", compare_kernel_image(&kernel->of, kernel->arm));
	json_object_set_string_member(object, "host", kernel->of.job->host);
	if (kernel->of.result->clock)
		json_object_set_string_member(object, "clock", kernel->of.result->clock);
	else
		json_object_set_null_member(object, "clock");
	json_object_set_string_member(object, "relation", compare_relation_name(kernel->relation));
	json_object_set_string_member(object, "why", kernel->why);
	return object;
}

static JsonObject *cell_json(const CompareCell *cell)
{
	JsonObject *object = json_object_new();

	set_double(object, "value", cell->value);
	set_double(object, "change_pct", cell->change_pct);
	set_double(object, "ci_low_pct", cell->low_pct);
	set_double(object, "ci_high_pct", cell->high_pct);
	set_double(object, "p", cell->p);
	return object;
}

static JsonObject *row_json(const CompareRow *row, guint kernels)
{
	JsonObject *object = json_object_new();
	JsonArray *cells = json_array_new();

	json_object_set_string_member(object, "benchmark", row->measured->benchmark);
	json_object_set_string_member(object, "params", row->measured->params);
	json_object_set_string_member(object, "metric", row->measured->metric);
	json_object_set_string_member(object, "unit", row->measured->unit);
	json_object_set_string_member(object, "better", sample_better_to_string(row->measured->better));
	for (guint i = 0; i < kernels; i++)
		json_array_add_object_element(cells, cell_json(&row->cells[i]));
	json_object_set_array_member(object, "cells", cells);
	return object;
}

void api_compare(HttpRequest *request, Lab *lab, const RouteMatch *match G_GNUC_UNUSED)
{
	g_auto(CompareAsk) ask = { 0 };
	JsonArray *kernels = json_array_new(), *rows = json_array_new(), *left_out = json_array_new();
	JsonObject *object = json_object_new();

	json_object_set_array_member(object, "kernels", kernels);
	json_object_set_array_member(object, "rows", rows);
	json_object_set_array_member(object, "left_out", left_out);
	if (!compare_ask(request, lab, &ask)) {
		json_object_unref(object);
		return;
	}
	for (guint i = 0; ask.comparison && i < ask.comparison->kernels->len; i++)
		json_array_add_object_element(kernels, kernel_json(&g_array_index(ask.comparison->kernels, CompareKernel, i)));
	for (guint i = 0; ask.comparison && i < ask.comparison->rows->len; i++)
		json_array_add_object_element(rows, row_json(&g_array_index(ask.comparison->rows, CompareRow, i),
							     ask.comparison->kernels->len));
	for (guint i = 0; g_ptr_array_index(ask.left_out, i); i++)
		json_array_add_string_element(left_out, g_ptr_array_index(ask.left_out, i));
	json_object_set_double_member(object, "alpha", COMPARE_ALPHA);
	json_object_set_int_member(object, "adjusted_for", ask.comparison ? ask.comparison->shared : 0);
	answer_json(request, 200, object);
}
