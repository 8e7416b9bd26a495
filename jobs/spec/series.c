/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/series.h"

#include <string.h>

#include "jobs/spec/series-mail.h"

#define MAX_MAILS	2000	/* of an archived thread: the patches and the talk about them */

static void patch_free(gpointer data)
{
	SeriesPatch *patch = data;

	g_free(patch->subject);
	g_free(patch->author);
	g_clear_pointer(&patch->mail, g_bytes_unref);
	g_strfreev(patch->files);
	g_free(patch);
}

void series_free(Series *series)
{
	if (!series)
		return;
	g_clear_pointer(&series->patches, g_ptr_array_unref);
	g_free(series->subject);
	g_free(series->author);
	g_free(series->base_commit);
	g_free(series->change_id);
	g_free(series);
}

/* ---- the mbox ---- */

/*
 * "From ANYTHING hh:mm:ss yyyy": the line between two mails. A line of text
 * that begins with "From " has no such end, and mboxes do not always mark it.
 */
static gboolean is_separator(const char *line, gsize size)
{
	if (size < 5 || memcmp(line, "From ", 5) != 0)
		return FALSE;
	while (size > 0 && g_ascii_isspace(line[size - 1]))
		size--;
	if (size < 19)
		return FALSE;

	const char *year = line + size - 4, *clock = year - 4;	/* ":ss yyyy" */
	for (int i = 0; i < 4; i++)
		if (!g_ascii_isdigit(year[i]))
			return FALSE;
	return year[-1] == ' ' && *clock == ':' && g_ascii_isdigit(clock[1]) && g_ascii_isdigit(clock[2]) &&
	       g_ascii_isdigit(clock[-1]);
}

static void add_mail(GPtrArray *mails, GBytes *all, gsize start, gsize end)
{
	if (end > start)
		g_ptr_array_add(mails, g_bytes_new_from_bytes(all, start, end - start));
}

/* GBytes of each message, without its separator. A message without one is a mbox of one mail. */
static GPtrArray *split_mbox(GBytes *all)
{
	g_autoptr(GPtrArray) mails = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	gsize size, start = 0;
	const char *data = g_bytes_get_data(all, &size);

	for (gsize line = 0; line < size && mails->len <= MAX_MAILS;) {
		const char *newline = memchr(data + line, '\n', size - line);
		gsize next = newline ? (gsize)(newline - data) + 1 : size;
		if (is_separator(data + line, next - line)) {
			add_mail(mails, all, start, line);
			start = next;
		}
		line = next;
	}
	add_mail(mails, all, start, size);
	return g_steal_pointer(&mails);
}

/* ---- what belongs to the series ---- */

/* Patches and cover letters of the newest version in it. */
static gboolean collect_parts(GPtrArray *raw, GPtrArray *parts, int *ret_version, GError **error)
{
	int version = 1;

	for (guint i = 0; i < raw->len; i++) {
		g_autoptr(Mail) mail = NULL;
		/* decoding takes time and memory: not for what will not be taken */
		if (g_bytes_get_size(g_ptr_array_index(raw, i)) > SERIES_MAX_MAIL_BYTES)
			return spec_error_set(error, SPEC_ERROR_LIMIT, "series", "mail %u of it is larger than %d bytes", i + 1,
					      SERIES_MAX_MAIL_BYTES);
		if (!mail_parse(g_ptr_array_index(raw, i), &mail, error))
			return FALSE;
		if (!mail_is_part(mail))
			continue;
		version = MAX(version, mail->version);
		g_ptr_array_add(parts, g_steal_pointer(&mail));
	}
	for (guint i = parts->len; i-- > 0;)
		if (((Mail *)g_ptr_array_index(parts, i))->version < version)
			g_ptr_array_remove_index(parts, i);
	*ret_version = version;
	return TRUE;
}

static int by_number(gconstpointer a, gconstpointer b)
{
	const Mail *first = *(Mail *const *)a, *second = *(Mail *const *)b;

	return first->number - second->number;
}

/* The same mail twice, as archives of several lists have it, counts once. */
static gboolean is_same_mail(const Mail *a, const Mail *b)
{
	return *a->message_id && g_str_equal(a->message_id, b->message_id);
}

static void name_part(GString *names, int number, int total)
{
	g_string_append_printf(names, "%s%d/%d", names->len ? ", " : "", number, total);
}

/* Sorted parts of one "m": all there, each once? Removes repeated mails. */
static gboolean check_numbers(GPtrArray *parts, int total, GError **error)
{
	g_autoptr(GString) doubled = g_string_new(NULL), missing = g_string_new(NULL);
	int expected = 1;

	for (guint i = 0; i < parts->len; i++) {
		const Mail *mail = g_ptr_array_index(parts, i);
		const Mail *before = i ? g_ptr_array_index(parts, i - 1) : NULL;

		if (before && before->number == mail->number) {
			if (is_same_mail(before, mail))
				g_ptr_array_remove_index(parts, i--);
			else
				name_part(doubled, mail->number, total);
			continue;
		}
		for (; expected < mail->number; expected++)
			name_part(missing, expected, total);
		expected = mail->number + 1;
	}
	for (; expected <= total; expected++)
		name_part(missing, expected, total);

	if (doubled->len)
		return spec_error_set(error, SPEC_ERROR_INCOMPLETE, "series", "more than one mail is part %s", doubled->str);
	if (missing->len)
		return spec_error_set(error, SPEC_ERROR_INCOMPLETE, "series", "part %s is missing", missing->str);
	return TRUE;
}

/* Numbered parts: one total, every part known. Unnumbered ones are taken as they come. */
static gboolean order_parts(GPtrArray *parts, GError **error)
{
	const Mail *first = g_ptr_array_index(parts, 0);
	int total = first->total;

	for (guint i = 0; i < parts->len; i++) {
		const Mail *mail = g_ptr_array_index(parts, i);
		if (mail->total != total)
			return spec_error_set(error, SPEC_ERROR_INCOMPLETE, "series",
					      "\"%s\" and \"%s\" are not parts of one series: their numbers differ",
					      first->subject, mail->subject);
		if (mail->number > mail->total)
			return spec_error_set(error, SPEC_ERROR_SYNTAX, "series", "\"%s\" is part %d of %d",
					      mail->subject, mail->number, mail->total);
	}
	if (total < 0)
		return TRUE;
	if (total > SERIES_MAX_PATCHES)
		return spec_error_set(error, SPEC_ERROR_LIMIT, "series", "more than %d patches", SERIES_MAX_PATCHES);
	g_ptr_array_sort(parts, by_number);
	return check_numbers(parts, total, error);
}

static gboolean is_cover(const Mail *mail)
{
	return mail->number == 0;
}

static gboolean add_patch(Series *series, Mail *mail, GError **error)
{
	if (g_bytes_get_size(mail->raw) > SERIES_MAX_PATCH_BYTES)
		return spec_error_set(error, SPEC_ERROR_LIMIT, "series", "\"%s\" is larger than %d bytes", mail->subject,
				      SERIES_MAX_PATCH_BYTES);
	if (series->patches->len == SERIES_MAX_PATCHES)
		return spec_error_set(error, SPEC_ERROR_LIMIT, "series", "more than %d patches", SERIES_MAX_PATCHES);

	SeriesPatch *patch = g_new0(SeriesPatch, 1);
	patch->number = (int)series->patches->len + 1;
	patch->subject = g_strdup(mail->subject);
	patch->author = g_strdup(mail->author);
	patch->mail = g_bytes_ref(mail->raw);
	g_ptr_array_add(mail->files, NULL);
	patch->files = g_strdupv((char **)mail->files->pdata);
	g_ptr_array_add(series->patches, patch);
	return TRUE;
}

static gboolean build_series(GPtrArray *parts, int version, Series **ret_series, GError **error)
{
	g_autoptr(Series) series = g_new0(Series, 1);
	const Mail *head = g_ptr_array_index(parts, 0);

	series->patches = g_ptr_array_new_with_free_func(patch_free);
	series->version = version;
	series->subject = g_strdup(head->subject);
	series->author = g_strdup(head->author);
	for (guint i = 0; i < parts->len; i++) {
		Mail *mail = g_ptr_array_index(parts, i);
		if (!series->base_commit && *mail->base_commit)
			series->base_commit = g_strdup(mail->base_commit);
		if (!series->change_id && *mail->change_id)
			series->change_id = g_strdup(mail->change_id);
		if (!is_cover(mail) && !add_patch(series, mail, error))
			return FALSE;
	}
	if (!series->base_commit)
		series->base_commit = g_strdup("");
	if (!series->change_id)
		series->change_id = g_strdup("");
	if (series->patches->len == 0)
		return spec_error_set(error, SPEC_ERROR_MISSING, "series", "a cover letter and no patch");
	*ret_series = g_steal_pointer(&series);
	return TRUE;
}

gboolean series_parse(const char *data, gsize size, Series **ret_series, GError **error)
{
	if (size > SERIES_MAX_BYTES)
		return spec_error_set(error, SPEC_ERROR_LIMIT, "series", "larger than %d bytes", SERIES_MAX_BYTES);

	g_autoptr(GBytes) all = g_bytes_new(data, size);
	g_autoptr(GPtrArray) raw = split_mbox(all);
	g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)mail_free);
	int version = 1;

	if (raw->len > MAX_MAILS)
		return spec_error_set(error, SPEC_ERROR_LIMIT, "series", "more than %d mails", MAX_MAILS);
	if (!collect_parts(raw, parts, &version, error))
		return FALSE;
	if (parts->len == 0)
		return spec_error_set(error, SPEC_ERROR_MISSING, "series",
				      "no patch in it: wanted mails with a diff, as git format-patch writes them");
	return order_parts(parts, error) && build_series(parts, version, ret_series, error);
}
