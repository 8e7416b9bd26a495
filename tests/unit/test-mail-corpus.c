/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is understood of each mail of tests/mail/corpus: NAME.eml and NAME.json. UPDATE=1 writes the latter. */
#include <string.h>

#include "jobs/spec/file.h"
#include "jobs/spec/json-text.h"
#include "mail/understand.h"

#define CORPUS "tests/mail/corpus"
#define MAX_BYTES (1024 * 1024)

/* The settings that the corpus is about. */
static void corpus_settings(MailSettings *settings)
{
	settings->address = g_strdup("lab@regrlab.example.org");
	settings->lists = mail_settings_words("linux-mm.example.org mm-devel.example.org");
	settings->senders = mail_settings_words("ann@example.org, rita@example.org, @trusted.example.org");
	settings->known_lists = mail_settings_words("mm-devel.example.org");
	settings->authserv_id = g_strdup("mx.regrlab.example.org");
	settings->arc_sealers = mail_settings_words("lists.example.org");
}

static char *understand(const char *path)
{
	g_auto(MailSettings) settings = { 0 };
	g_autoptr(GError) error = NULL;
	g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT);
	char *data;
	gsize size;

	corpus_settings(&settings);
	file_read(path, MAX_BYTES, &data, &size, &error);
	g_assert_no_error(error);
	g_autoptr(GBytes) raw = g_bytes_new_take(data, size);
	g_autoptr(Meaning) meaning = meaning_of(raw, &settings);
	json_node_take_object(node, meaning_to_json(meaning));
	g_autofree char *text = json_text(node, TRUE);
	return g_strconcat(text, "\n", NULL);
}

static void test_mail(gconstpointer name)
{
	g_autofree char *mail = g_strdup_printf(CORPUS "/%s.eml", (const char *)name);
	g_autofree char *golden = g_strdup_printf(CORPUS "/%s.json", (const char *)name);
	g_autofree char *found = understand(mail), *wanted = NULL;
	g_autoptr(GError) error = NULL;

	if (g_getenv("UPDATE"))
		g_file_set_contents(golden, found, -1, NULL);
	file_read(golden, MAX_BYTES, &wanted, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(found, ==, wanted);
}

/* No golden file without its mail: one would be tested by nothing. */
static void test_pairs(void)
{
	g_auto(GStrv) mails = file_names(CORPUS, ".eml", NULL), goldens = file_names(CORPUS, ".json", NULL);

	g_assert_cmpuint(g_strv_length(mails), >=, 60);
	g_assert_true(g_strv_equal((const char *const *)mails, (const char *const *)goldens));
}

int main(int argc, char **argv)
{
	g_auto(GStrv) names = NULL;
	int status;

	g_test_init(&argc, &argv, NULL);
	names = file_names(CORPUS, ".eml", NULL);
	for (char **name = names; name && *name; name++) {
		g_autofree char *path = g_strconcat("/mail-corpus/", *name, NULL);
		g_test_add_data_func(path, *name, test_mail);
	}
	g_test_add_func("/mail-corpus/pairs", test_pairs);
	status = g_test_run();
	return status;
}
