/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "client/mail.h"
#include "jobs/spec/file.h"
#include "mail/understand.h"

typedef struct {
	char *address, *lists, *senders, *known_lists, *authserv_id, *arc_sealers;
} Texts;

static void texts_clear(Texts *texts)
{
	g_free(texts->address);
	g_free(texts->lists);
	g_free(texts->senders);
	g_free(texts->known_lists);
	g_free(texts->authserv_id);
	g_free(texts->arc_sealers);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Texts, texts_clear)

static void settings_from(const Texts *texts, MailSettings *settings)
{
	settings->address = g_ascii_strdown(texts->address ? texts->address : "", -1);
	settings->lists = mail_settings_words(texts->lists);
	settings->senders = mail_settings_words(texts->senders);
	settings->known_lists = mail_settings_words(texts->known_lists);
	settings->authserv_id = g_strdup(texts->authserv_id ? texts->authserv_id : "");
	settings->arc_sealers = mail_settings_words(texts->arc_sealers);
}

static gboolean read_one(const char *path, const MailSettings *settings, GError **error)
{
	gboolean is_input = g_str_equal(path, "-");
	int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	char *data = NULL;
	gsize size;
	gboolean ok;

	if (fd < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot read %s: %s", path, g_strerror(errno));
	ok = file_read_fd(fd, path, MESSAGE_MAX_BYTES, &data, &size, error);
	if (!is_input)
		close(fd);
	if (!ok)
		return FALSE;
	g_autoptr(GBytes) raw = g_bytes_new_take(data, size);
	g_autoptr(Meaning) meaning = meaning_of(raw, settings);
	g_autoptr(JsonObject) object = meaning_to_json(meaning);
	options_print_json(object);
	return TRUE;
}

int mail_read(int argc, char **argv)
{
	g_auto(Texts) texts = { 0 };
	g_auto(MailSettings) settings = { 0 };
	g_auto(GStrv) files = NULL;
	const GOptionEntry entries[] = {
		{ "address", 'a', 0, G_OPTION_ARG_STRING, &texts.address, "The lab's own address", "ADDRESS" },
		{ "lists", 'l', 0, G_OPTION_ARG_STRING, &texts.lists, "List-Ids that the lab watches", "LIST,…" },
		{ "senders", 0, 0, G_OPTION_ARG_STRING, &texts.senders, "Who may submit: addresses, or @DOMAIN", "ADDRESS,…" },
		{ "known-lists", 0, 0, G_OPTION_ARG_STRING, &texts.known_lists, "List-Ids whose posters may submit", "LIST,…" },
		{ "authserv-id", 0, 0, G_OPTION_ARG_STRING, &texts.authserv_id,
		  "Whose Authentication-Results are believed; nobody's without it", "SERVER" },
		{ "arc-sealers", 0, 0, G_OPTION_ARG_STRING, &texts.arc_sealers, "Whose ARC seals are believed", "DOMAIN,…" },
		{ G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, NULL },
		{ .long_name = NULL },
	};
	g_autoptr(GOptionContext) context = g_option_context_new("FILE …");
	g_autoptr(GError) error = NULL;

	g_option_context_set_summary(context, "Says of each mail, as JSON, what it means to a lab: commands, a part of a series, or why "
					      "it is left alone, and whether its sender may submit. Asks no lab. - is standard input.");
	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, &argc, &argv, &error) || !files) {
		fprintf(stderr, "regrlab mail read: %s; see regrlab mail read --help\n", error ? error->message : "name the mails");
		return EXIT_USAGE;
	}
	settings_from(&texts, &settings);
	for (char **file = files; *file; file++)
		if (!read_one(*file, &settings, &error))
			return options_trouble("mail read", error);
	return EXIT_OK;
}
