/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "client/options.h"

typedef struct {
	char *role;
	int queue_max, requests_per_min, hours_per_day, days;	/* -1: as the lab says */
} TokenOptions;

static void set_limit(JsonObject *wanted, const char *name, int value)
{
	if (value >= 0)
		json_object_set_int_member(wanted, name, value);
}

/* The text alone on stdout, so that it can go into a file. */
static JsonObject *create(Remote *remote, const Common *common, const TokenOptions *options, GError **error)
{
	g_autoptr(JsonObject) wanted = json_object_new();
	JsonObject *answer;

	json_object_set_string_member(wanted, "name", common->words[1]);
	json_object_set_string_member(wanted, "role", options->role ? options->role : "submit");
	set_limit(wanted, "queue_max", options->queue_max);
	set_limit(wanted, "requests_per_min", options->requests_per_min);
	set_limit(wanted, "hours_per_day", options->hours_per_day);
	set_limit(wanted, "days", options->days);
	answer = remote_post_json(remote, "/tokens", wanted, error);
	if (answer && !common->json) {
		options_print(peek_string(answer, "token"));
		putchar('\n');
		fprintf(stderr, "this is token %" G_GINT64_FORMAT "; it is not shown again\n", peek_int(answer, "id", 0));
	}
	return answer;
}

static void print_limit(JsonObject *token, const char *name, const char *what)
{
	if (peek_int(token, name, 0))
		printf(", %" G_GINT64_FORMAT " %s", peek_int(token, name, 0), what);
}

static JsonObject *list(Remote *remote, const Common *common, const TokenOptions *options G_GNUC_UNUSED, GError **error)
{
	JsonObject *answer = remote_get(remote, "/tokens", error);
	JsonArray *tokens = peek_array(answer, "tokens");

	for (guint i = 0; !common->json && i < peek_length(tokens); i++) {
		JsonObject *token = peek_element(tokens, i);

		printf("%4" G_GINT64_FORMAT "  %-6s  ", peek_int(token, "id", 0), peek_string(token, "role"));
		options_print(peek_string(token, "name"));
		printf(", made %s", peek_string(token, "created"));
		print_limit(token, "queue_max", "jobs");
		print_limit(token, "requests_per_min", "requests a minute");
		print_limit(token, "hours_per_day", "hours a day");
		if (*peek_string(token, "expires"))
			printf(", expires %s", peek_string(token, "expires"));
		if (*peek_string(token, "revoked"))
			printf(", revoked %s", peek_string(token, "revoked"));
		putchar('\n');
	}
	return answer;
}

static JsonObject *revoke_one(Remote *remote, const Common *common, const TokenOptions *options G_GNUC_UNUSED, GError **error)
{
	g_autofree char *path = g_strconcat("/tokens/", common->words[1], NULL);
	JsonObject *answer = remote_delete(remote, path, error);

	if (answer && !common->json)
		printf("token %s is revoked\n", common->words[1]);
	return answer;
}

static const struct {
	const char *name;
	guint words;	/* with its name */
	JsonObject *(*run)(Remote *remote, const Common *common, const TokenOptions *options, GError **error);
} actions[] = {
	{ "create", 2, create },
	{ "list", 1, list },
	{ "revoke", 2, revoke_one },
};

static gsize find_action(char **words)
{
	gsize i = 0;

	while (i < G_N_ELEMENTS(actions) &&
	       (!g_str_equal(actions[i].name, words[0]) || g_strv_length(words) != actions[i].words))
		i++;
	return i;
}

static gboolean is_number(const char *word)
{
	return g_ascii_string_to_unsigned(word, 10, 1, G_MAXINT64, NULL, NULL);
}

int cmd_token(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autofree char *role = NULL;
	TokenOptions options = { NULL, -1, -1, -1, -1 };
	const GOptionEntry entries[] = {
		{ "role", 0, 0, G_OPTION_ARG_STRING, &role, "What it may do: read, submit or admin (submit)", "ROLE" },
		{ "queue", 0, 0, G_OPTION_ARG_INT, &options.queue_max, "Jobs that have not ended; 0: no limit", "N" },
		{ "rate", 0, 0, G_OPTION_ARG_INT, &options.requests_per_min, "Requests in a minute; 0: no limit", "N" },
		{ "hours", 0, 0, G_OPTION_ARG_INT, &options.hours_per_day, "Machine time in 24 hours; 0: no limit", "N" },
		{ "days", 0, 0, G_OPTION_ARG_INT, &options.days, "After which it expires; 0: never", "N" },
		{ .long_name = NULL },
	};
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;
	gsize action;

	if (!options_parse(argc, argv, entries, TRUE, "create NAME | list | revoke NUMBER",
			   "Makes, lists and revokes the tokens of a lab; needs one of role admin.", 1, 2, &common))
		return EXIT_USAGE;
	action = find_action(common.words);
	if (action == G_N_ELEMENTS(actions) || (actions[action].run == revoke_one && !is_number(common.words[1]))) {
		fputs("regrlab token: it is create NAME, list, or revoke NUMBER; see regrlab help token\n", stderr);
		return EXIT_USAGE;
	}
	options.role = role;
	remote = options_remote(argv[0], &common);
	if (!remote)
		return EXIT_TROUBLE;
	answer = actions[action].run(remote, &common, &options, &error);
	if (!answer)
		return options_trouble(argv[0], error);
	if (common.json)
		options_print_json(answer);
	return EXIT_OK;
}
