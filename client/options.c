/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/options.h"

#include <string.h>

#include "client/token-file.h"
#include "jobs/spec/json-text.h"

void common_clear(Common *common)
{
	g_free(common->server);
	g_free(common->token_file);
	g_strfreev(common->words);
}

void options_add_fields(GOptionEntry *entries, const FieldOption *rows, char **values, int n)
{
	for (int i = 0; i < n; i++)
		entries[i] = (GOptionEntry){ .long_name = rows[i].option, .arg = G_OPTION_ARG_STRING, .arg_data = &values[i],
					     .description = rows[i].help, .arg_description = rows[i].value };
}

static gboolean complain(const char *name, const char *message)
{
	fprintf(stderr, "regrlab %s: %s; see regrlab help %s\n", name, message, name);
	return FALSE;
}

gboolean options_parse(int argc, char **argv, const GOptionEntry *entries, gboolean with_json, const char *usage,
		       const char *summary, int min_words, int max_words, Common *common)
{
	const GOptionEntry shared[] = {
		{ "server", 's', 0, G_OPTION_ARG_STRING, &common->server,
		  "The lab ($REGRLAB_SERVER, else " REMOTE_DEFAULT ")", "URL" },
		{ "token-file", 0, 0, G_OPTION_ARG_FILENAME, &common->token_file,
		  "The token ($REGRLAB_TOKEN, else ~/.config/regrlab/token)", "FILE" },
		{ G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &common->words, NULL, NULL },
		{ .long_name = NULL },
	};
	const GOptionEntry json[] = {
		{ "json", 'j', 0, G_OPTION_ARG_NONE, &common->json, "Print the lab's answer as JSON", NULL },
		{ .long_name = NULL },
	};
	g_autoptr(GOptionContext) context = g_option_context_new(usage);
	g_autoptr(GError) error = NULL;
	const char *name = argv[0];
	int words;

	g_option_context_set_summary(context, summary);
	if (entries)
		g_option_context_add_main_entries(context, entries, NULL);
	if (with_json)
		g_option_context_add_main_entries(context, json, NULL);
	g_option_context_add_main_entries(context, shared, NULL);
	if (!g_option_context_parse(context, &argc, &argv, &error))
		return complain(name, error->message);
	words = common->words ? (int)g_strv_length(common->words) : 0;
	if (words < min_words)
		return complain(name, "an argument is missing");
	if (max_words >= 0 && words > max_words)
		return complain(name, "too many arguments");
	return TRUE;
}

Remote *options_remote(const char *name, const Common *common)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Remote) remote = remote_new(common->server, &error);
	g_autofree char *token = NULL;

	if (remote && token_file_find(common->token_file, &token, &error) &&
	    (!token || remote_set_token(remote, token, &error)))
		return g_steal_pointer(&remote);
	options_trouble(name, error);
	return NULL;
}

gboolean options_job(const char *name, const char *word, gint64 *ret_job)
{
	const char *slash = strrchr(word, '/');
	guint64 job;

	if (!g_ascii_string_to_unsigned(slash ? slash + 1 : word, 10, 1, G_MAXINT64, &job, NULL)) {
		g_autofree char *message = g_strdup_printf("'%s' is no number of a job", word);

		return complain(name, message);
	}
	*ret_job = (gint64)job;
	return TRUE;
}

int options_trouble(const char *name, const GError *error)
{
	fprintf(stderr, "regrlab %s: %s\n", name, error->message);
	return EXIT_TROUBLE;
}

void options_print_json(JsonObject *object)
{
	g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT);
	g_autofree char *text = NULL;

	json_node_set_object(node, object);
	text = json_text(node, TRUE);
	puts(text);
}

void options_print(const char *text)
{
	g_autofree char *clean = text_plain(text);

	fputs(clean, stdout);
}
