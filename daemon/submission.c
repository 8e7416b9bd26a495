/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/submission.h"

#include <string.h>

#include "jobs/spec/file.h"

static void string_free(gpointer data)
{
	g_string_free(data, TRUE);
}

Submission *submission_new(void)
{
	Submission *submission = g_new0(Submission, 1);

	submission->spec = job_spec_new();
	submission->texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, string_free);
	return submission;
}

void submission_free(Submission *submission)
{
	if (!submission)
		return;
	job_spec_free(submission->spec);
	if (submission->series)
		g_string_free(submission->series, TRUE);
	if (submission->config)
		g_string_free(submission->config, TRUE);
	g_hash_table_destroy(submission->texts);
	g_free(submission->contents);
	g_free(submission);
}

static gboolean set_content(GString **content, const char *name, const char *data, gsize size, gsize max,
			    GError **error)
{
	if (*content)
		return spec_error_set(error, SPEC_ERROR_VALUE, name, "is given twice");
	if (!size)
		return spec_error_set(error, SPEC_ERROR_MISSING, name, "is empty");
	if (size > max)
		return spec_error_set(error, SPEC_ERROR_LIMIT, name, "is larger than %zu bytes", max);
	*content = g_string_new_len(data, (gssize)size);
	return TRUE;
}

/* What separates several of a field that may come more than once; NULL: it may not. */
static const char *separator(const char *name)
{
	if (g_str_equal(name, "benchmarks") || g_str_equal(name, "labels"))
		return ",";
	return g_str_equal(name, "params") ? " " : NULL;
}

gboolean submission_field(Submission *submission, const char *name, const char *data, gsize size,
			  gboolean is_file, GError **error)
{
	GString *before;

	if (g_str_equal(name, "series"))
		return set_content(&submission->series, name, data, size, SERIES_MAX_BYTES, error);
	if (g_str_equal(name, "config") && (is_file || memchr(data, '\n', size)))
		return set_content(&submission->config, name, data, size, SPEC_MAX_CONFIG_BYTES, error);
	if (size > SPEC_MAX_BYTES)
		return spec_error_set(error, SPEC_ERROR_LIMIT, name, "is longer than %d bytes", SPEC_MAX_BYTES);
	if (memchr(data, 0, size) || !g_utf8_validate(data, (gssize)size, NULL))
		return spec_error_set(error, SPEC_ERROR_VALUE, name, "is not UTF-8 text");
	before = g_hash_table_lookup(submission->texts, name);
	if (before && !separator(name))
		return spec_error_set(error, SPEC_ERROR_VALUE, name, "is given twice");
	if (before && before->len + size > SPEC_MAX_BYTES)
		return spec_error_set(error, SPEC_ERROR_LIMIT, name, "is longer than %d bytes", SPEC_MAX_BYTES);
	if (before) {
		g_string_append(before, separator(name));
		g_string_append_len(before, data, (gssize)size);
	} else {
		g_hash_table_insert(submission->texts, g_strdup(name), g_string_new_len(data, (gssize)size));
	}
	return TRUE;
}

/* ---- JSON ---- */

static gboolean json_element(Submission *submission, const char *name, JsonNode *node, GError **error)
{
	GType type = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	const char *text = number;

	if (type == G_TYPE_STRING)
		text = json_node_get_string(node);
	else if (type == G_TYPE_INT64)
		g_snprintf(number, sizeof(number), "%" G_GINT64_FORMAT, json_node_get_int(node));
	else if (type == G_TYPE_DOUBLE)
		g_ascii_dtostr(number, sizeof(number), json_node_get_double(node));
	else
		return spec_error_set(error, SPEC_ERROR_VALUE, name, "is neither text nor a number");
	return submission_field(submission, name, text, strlen(text), FALSE, error);
}

static gboolean json_member(Submission *submission, const char *name, JsonNode *node, GError **error)
{
	JsonArray *array;

	if (!JSON_NODE_HOLDS_ARRAY(node) || !separator(name))
		return json_element(submission, name, node, error);
	array = json_node_get_array(node);
	for (guint i = 0; i < json_array_get_length(array); i++)
		if (!json_element(submission, name, json_array_get_element(array, i), error))
			return FALSE;
	return TRUE;
}

gboolean submission_json(Submission *submission, const char *data, gsize size, GError **error)
{
	g_autoptr(JsonObject) object = NULL;
	JsonObjectIter iter;
	const char *name;
	JsonNode *node;

	if (!json_object_from_data(data, size, &object, error))
		return FALSE;
	json_object_iter_init(&iter, object);
	while (json_object_iter_next(&iter, &name, &node))
		if (!json_member(submission, name, node, error))
			return FALSE;
	return TRUE;
}

/* ---- the end ---- */

/* A subject or author out of a mail, as JobSpec takes it. */
static char *for_people(const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	glong length = g_utf8_strlen(valid, -1);
	char *cut = g_utf8_substring(valid, 0, MIN(length, SPEC_MAX_TEXT / 4));

	for (char *p = cut; *p; p++)
		if (g_ascii_iscntrl(*p))
			*p = ' ';
	return cut;
}

static gboolean read_series(Submission *submission, GError **error)
{
	g_autoptr(Series) series = NULL;
	g_autoptr(GError) problem = NULL;
	JobSpec *spec = submission->spec;

	if (!series_parse(submission->series->str, submission->series->len, &series, &problem)) {
		g_autofree char *field = spec_error_field(problem);

		if (field && g_str_has_prefix(field, "series"))
			g_propagate_error(error, g_steal_pointer(&problem));
		else
			spec_error_set(error, problem->code, "series", "%s", problem->message);
		return FALSE;
	}
	if (!*spec->subject) {
		g_free(spec->subject);
		spec->subject = for_people(series->subject);
	}
	g_free(spec->author);
	spec->author = for_people(series->author);
	g_free(spec->change_id);
	spec->change_id = for_people(series->change_id);
	spec->version = MAX(series->version, 1);
	return TRUE;
}

static gboolean set_texts(Submission *submission, GError **error)
{
	GHashTableIter iter;
	gpointer name, text;

	g_hash_table_iter_init(&iter, submission->texts);
	while (g_hash_table_iter_next(&iter, &name, &text)) {
		g_autoptr(GError) problem = NULL;
		g_autofree char *field = NULL;

		if (job_spec_set(submission->spec, name, ((GString *)text)->str, &problem))
			continue;
		field = spec_error_field(problem);
		if (field)
			g_propagate_error(error, g_steal_pointer(&problem));
		else
			spec_error_set(error, problem->code, name, "%s", problem->message);
		return FALSE;
	}
	return TRUE;
}

static void add_content(GChecksum *sum, const GString *content)
{
	guint64 size = content ? content->len : 0;

	g_checksum_update(sum, (const guchar *)&size, sizeof(size));
	if (content)
		g_checksum_update(sum, (const guchar *)content->str, (gssize)content->len);
}

static void digest_contents(Submission *submission)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	add_content(sum, submission->series);
	add_content(sum, submission->config);
	g_free(submission->contents);
	submission->contents = g_strdup(g_checksum_get_string(sum));
}

gboolean submission_finish(Submission *submission, GError **error)
{
	JobSpec *spec = submission->spec;

	if (!set_texts(submission, error))
		return FALSE;
	spec->has_series = submission->series != NULL;
	spec->has_config = submission->config != NULL;
	if (submission->config && memchr(submission->config->str, 0, submission->config->len))
		return spec_error_set(error, SPEC_ERROR_VALUE, "config", "has a NUL byte in it");
	if (!job_spec_check(spec, error))
		return FALSE;
	digest_contents(submission);
	if (submission->series)
		return read_series(submission, error);
	if (!*spec->subject) {
		g_free(spec->subject);
		spec->subject = g_strdup(spec->head);
	}
	return TRUE;
}

char *submission_digest(const Submission *submission)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autoptr(JsonObject) object = job_spec_to_json(submission->spec);
	g_autofree char *line = json_object_to_line(object);

	g_checksum_update(sum, (const guchar *)line, -1);
	g_checksum_update(sum, (const guchar *)submission->contents, -1);
	return g_strdup(g_checksum_get_string(sum));
}
