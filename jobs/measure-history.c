/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-history.h"

#include <string.h>

#include "jobs/spec/peek.h"

#define MAX_BOOTS	100000

static const char *get_text(JsonObject *object, const char *name)
{
	return json_object_get_string_member_with_default(object, name, "");
}

static gboolean bad(GError **error, const char *what)
{
	return spec_error_set(error, SPEC_ERROR_VALUE, NULL, "events.jsonl: %s", what);
}

static gboolean take_arm(MeasureHistory *history, JsonObject *object, GError **error)
{
	SampleArm arm;

	if (!sample_arm_from_string(get_text(object, "arm"), &arm) || arm >= SAMPLE_ARM_COUNT || !g_path_is_absolute(get_text(object, "kernel")))
		return bad(error, "an arm event without its arm or kernel");
	g_free(history->kernel[arm]);
	g_free(history->release[arm]);
	history->kernel[arm] = g_strdup(get_text(object, "kernel"));
	history->release[arm] = g_strdup(get_text(object, "kernel_release"));
	return TRUE;
}

static void set_host(MeasureHistory *history, const char *host)
{
	if (!*host)
		return;
	g_free(history->host);
	history->host = g_strdup(host);
}

static gboolean take_accelerator(MeasureHistory *history, JsonObject *object, GError **error)
{
	if (!job_clock_from_name(get_text(object, "clock"), &history->clock) || history->clock == CLOCK_AUTO)
		return bad(error, "an accelerator event without a clock");
	history->accelerator = history->clock == CLOCK_KVM ? VM_KVM : VM_TCG;
	history->has_accelerator = TRUE;
	set_host(history, get_text(object, "host"));
	return TRUE;
}

static gboolean take_plan(MeasureHistory *history, JsonObject *object, GError **error)
{
	g_clear_pointer(&history->plan, measure_plan_free);
	return measure_plan_from_json(object, &history->plan, error);
}

static gboolean take_look(MeasureHistory *history, JsonObject *object, GError **error)
{
	gint64 look = json_object_get_int_member_with_default(object, "look", 0);

	if (look != (gint64)history->looks + 1)
		return bad(error, "a look event out of its order");
	history->looks++;
	return TRUE;
}

static gboolean take_boot(MeasureHistory *history, JsonObject *object, GError **error)
{
	gint64 samples = json_object_get_int_member_with_default(object, "samples", -1);
	gint64 pair = json_object_get_int_member_with_default(object, "pair", -1);
	gint64 start_ns = json_object_get_int_member_with_default(object, "start_ns", 0);
	gint64 end_ns = json_object_get_int_member_with_default(object, "end_ns", 0);
	SampleArm arm;

	if (json_object_get_int_member_with_default(object, "boot", -1) != measure_history_next_boot(history) ||
	    !sample_arm_from_string(get_text(object, "arm"), &arm) || samples < 0 || pair < 0 || pair > SAMPLE_BOOT_MAX ||
	    history->boots->len >= MAX_BOOTS)
		return bad(error, "a boot event out of its order, or incomplete");
	measure_history_add_boot(history, (int)pair, arm, get_text(object, "reason"), samples, MAX(end_ns - start_ns, 0));
	host_warnings_add(history->warnings, peek_object(object, "machine"));
	return TRUE;
}

static gboolean take_host_state(MeasureHistory *history, JsonObject *object, GError **error G_GNUC_UNUSED)
{
	g_free(history->host_state);
	history->host_state = g_strdup(get_text(object, "id"));
	return TRUE;
}

/* The boot that was lost with its host is no failure of anybody. */
static gboolean take_host_down(MeasureHistory *history, JsonObject *object G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
	ScheduleBoot *boot;

	if (!history->boots->len)
		return TRUE;
	boot = &g_array_index(history->boots, ScheduleBoot, history->boots->len - 1);
	if (!g_str_equal(boot->reason, SCHEDULE_LOST))
		return TRUE;
	boot->reason = SCHEDULE_EXCUSED;
	if (history->last_failed_silently)
		history->failed_without_samples[boot->arm]--;
	history->last_failed_silently = FALSE;
	return TRUE;
}

static gboolean take_moved(MeasureHistory *history, JsonObject *object, GError **error)
{
	const char *host = get_text(object, "to");

	if (!*host)
		return bad(error, "a moved event that does not say where to");
	measure_history_set_aside(history, host);
	return TRUE;
}

static gboolean take_result(MeasureHistory *history, JsonObject *object G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
	history->has_result = TRUE;
	return TRUE;
}

static gboolean take_more(MeasureHistory *history, JsonObject *object, GError **error)
{
	gint64 boots = json_object_get_int_member_with_default(object, "more_boots", 0);
	const char *order = get_text(object, "order");

	if (boots <= history->more_boots || boots > SPEC_MAX_MORE ||
	    !schedule_order_is_sound(order, SPEC_MAX_BOOTS + SPEC_MAX_MORE))
		return bad(error, "a more event without its boots or order");
	history->more_boots = (int)boots;
	history->more_pairs = schedule_pairs(order);
	g_free(history->more_order);
	history->more_order = g_strdup(order);
	return TRUE;
}

static gboolean take_more_result(MeasureHistory *history, JsonObject *object G_GNUC_UNUSED, GError **error G_GNUC_UNUSED)
{
	history->more_told = history->more_boots;
	return TRUE;
}

static gboolean take_event(gint64 seq G_GNUC_UNUSED, const char *type, JsonObject *object, gpointer data, GError **error)
{
	static const struct {
		const char *type;
		gboolean (*take)(MeasureHistory *history, JsonObject *object, GError **error);
	} rows[] = {
		{ "arm", take_arm },   { "accelerator", take_accelerator }, { "plan", take_plan },
		{ "boot", take_boot }, { "look", take_look },		    { "result", take_result },
		{ "host-state", take_host_state },
		{ "more", take_more }, { "more-result", take_more_result },
		{ "moved", take_moved }, { "host-down", take_host_down },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		if (g_str_equal(rows[i].type, type))
			return rows[i].take(data, object, error);
	return TRUE;
}

gboolean measure_history_load(const char *dir, MeasureHistory **ret_history, GError **error)
{
	g_autoptr(MeasureHistory) history = g_new0(MeasureHistory, 1);
	gint64 offset = 0;

	history->boots = g_array_new(FALSE, FALSE, sizeof(ScheduleBoot));
	history->text = g_string_chunk_new(256);
	history->host_state = g_strdup("");
	history->warnings = host_warnings_new();
	if (!event_read(dir, &offset, 0, take_event, history, error))
		return FALSE;
	*ret_history = g_steal_pointer(&history);
	return TRUE;
}

void measure_history_free(MeasureHistory *history)
{
	if (!history)
		return;
	for (int i = 0; i < SAMPLE_ARM_COUNT; i++) {
		g_free(history->kernel[i]);
		g_free(history->release[i]);
	}
	measure_plan_free(history->plan);
	g_free(history->host_state);
	host_warnings_free(history->warnings);
	g_free(history->more_order);
	g_free(history->host);
	g_array_unref(history->boots);
	g_string_chunk_free(history->text);
	g_free(history);
}

void measure_history_set_aside(MeasureHistory *history, const char *host)
{
	set_host(history, host);
	history->set_aside = measure_history_next_boot(history);
	history->set_aside_samples = history->samples;
	g_array_set_size(history->boots, 0);
	history->boots_ns = 0;
	history->looks = 0;
	history->has_accelerator = FALSE;
	memset(history->failed_without_samples, 0, sizeof(history->failed_without_samples));
}

int measure_history_next_boot(const MeasureHistory *history)
{
	return history->set_aside + (int)history->boots->len;
}

void measure_history_add_boot(MeasureHistory *history, int pair, SampleArm arm, const char *reason, gint64 samples,
			      gint64 duration_ns)
{
	ScheduleBoot boot = { pair, arm, g_string_chunk_insert_const(history->text, reason) };

	g_array_append_val(history->boots, boot);
	history->samples += samples;
	history->boots_ns += duration_ns;
	history->last_failed_silently = *reason && samples == 0 && !g_str_equal(reason, MEASURE_DISTURBED);
	if (g_str_equal(reason, MEASURE_DISTURBED))
		history->disturbed++;
	else if (history->last_failed_silently)
		history->failed_without_samples[arm]++;
}
