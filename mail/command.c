/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mail/command.h"

#include <string.h>

#include "jobs/spec/mime.h"
#include "jobs/spec/spec.h"

#define MARK "#regrlab"
#define MORE_BOOTS 10	/* if it is not said */

static gboolean complain(Command *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean complain(Command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_free(command->problem);
	command->problem = g_strdup_vprintf(format, args);
	va_end(args);
	return FALSE;
}

static void field_free(gpointer data)
{
	CommandField *field = data;

	g_free(field->name);
	g_free(field->value);
	g_free(field);
}

static Command *command_new(const char *line)
{
	Command *command = g_new0(Command, 1);

	command->line = mime_line(line);
	command->tree = g_strdup("");
	command->commit = g_strdup("");
	command->message_id = g_strdup("");
	command->fields = g_ptr_array_new_with_free_func(field_free);
	return command;
}

void command_free(Command *command)
{
	if (!command)
		return;
	g_free(command->line);
	g_free(command->problem);
	g_free(command->tree);
	g_free(command->commit);
	g_free(command->message_id);
	g_ptr_array_unref(command->fields);
	g_free(command->good);
	g_free(command->bad);
	g_free(command->benchmark);
	g_free(command);
}

static void set_text(char **member, const char *text)
{
	g_free(*member);
	*member = g_strdup(text);
}

/* ---- words ---- */

static gboolean is_name(const char *word)
{
	return *word && *word != '-' && strlen(word) <= SPEC_MAX_NAME &&
	       strspn(word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._/^~+-") == strlen(word) && !strstr(word, "..");
}

/* An abbreviated hash, a release's tag, or something relative to one: what no tree is called. */
static gboolean is_commit(const char *word)
{
	gsize hex = strspn(word, "0123456789abcdef");

	if (hex >= 7 && hex <= 40 && (!word[hex] || strchr("~^", word[hex])))
		return TRUE;
	return (*word == 'v' && g_ascii_isdigit(word[1])) || strpbrk(word, "~^");
}

static gboolean is_message_id(const char *id)
{
	const char *at = strchr(id, '@');

	if (!at || at == id || !at[1] || strlen(id) > 250)
		return FALSE;
	for (const char *p = id; *p; p++)
		if (!g_ascii_isgraph(*p) || strchr("<>\"\\`|;&", *p))
			return FALSE;
	return TRUE;
}

char *command_message_id(const char *word)
{
	gsize length = strlen(word);

	if (*word == '<' && length > 2 && word[length - 1] == '>') {
		g_autofree char *id = g_strndup(word + 1, length - 2);
		return is_message_id(id) ? g_steal_pointer(&id) : NULL;
	}
	if (!g_str_has_prefix(word, "https://") && !g_str_has_prefix(word, "http://"))
		return NULL;
	/* .../LIST/MESSAGE-ID/ with more behind it or not */
	g_auto(GStrv) parts = g_strsplit(word, "/", 20);
	for (char **part = parts; *part; part++) {
		g_autofree char *id = g_uri_unescape_string(*part, NULL);
		if (part - parts > 2 && id && is_message_id(id))
			return g_steal_pointer(&id);
	}
	return NULL;
}

/* ---- test ---- */

/* As it is called in a mail, and as a field of POST /jobs; what is not here is no name. */
static const struct {
	const char *name, *field;
} fields[] = {
	{ "benchmarks", "benchmarks" }, { "benchmark", "benchmarks" }, { "profile", "profile" }, { "clock", "clock" },
	{ "boots", "max_boots" }, { "max_boots", "max_boots" }, { "effect", "min_effect" }, { "min_effect", "min_effect" },
	{ "host", "host" }, { "labels", "labels" }, { "rule", "rule" }, { "config", "config" },
};

static void add_field(Command *command, const char *name, const char *value)
{
	CommandField *field = g_new(CommandField, 1);

	field->name = g_strdup(name);
	field->value = g_strdup(value);
	g_ptr_array_add(command->fields, field);
}

static gboolean is_value(const char *value)
{
	return *value && strlen(value) <= SPEC_MAX_NAME &&
	       strspn(value, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._,;:+%-") == strlen(value);
}

static gboolean read_field(Command *command, const char *word, const char *equals)
{
	g_autofree char *name = g_strndup(word, (gsize)(equals - word));
	const char *value = equals + 1;

	if (!is_value(value))
		return complain(command, "'%s' has no value that can be one", word);
	if (strchr(name, '.') && is_name(name)) {
		add_field(command, "params", word);
		return TRUE;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
		if (g_str_equal(fields[i].name, name)) {
			add_field(command, fields[i].field, value);
			return TRUE;
		}
	}
	return complain(command, "'%s' is not known; there are benchmarks, profile, clock, boots, effect, host, labels, rule, "
			"config, and parameters such as aging.nproc=8", name);
}

static gboolean read_place(Command *command, const char *word)
{
	if (!is_name(word))
		return complain(command, "'%s' is neither a tree nor a commit", word);
	if (*command->commit || (*command->tree && !is_commit(word) && strchr(word, '=')))
		return complain(command, "'%s' is one word too many: there are a tree and a commit before it", word);
	/* one word alone is a tree if no commit looks like that; the second is a commit, whatever it looks like */
	set_text(*command->tree || is_commit(word) ? &command->commit : &command->tree, word);
	return TRUE;
}

static gboolean read_test(Command *command, char **words)
{
	for (; *words; words++) {
		g_autofree char *id = command_message_id(*words);
		const char *equals = strchr(*words, '=');

		if (id && *command->message_id)
			return complain(command, "'%s' is a second series; a test has one", *words);
		if (id)
			set_text(&command->message_id, id);
		else if (**words == '<' || strstr(*words, "://"))
			return complain(command, "'%s' is no Message-ID, nor a link to a mail in an archive", *words);
		else if (equals ? !read_field(command, *words, equals) : !read_place(command, *words))
			return FALSE;
	}
	return TRUE;
}

/* ---- the others ---- */

static gboolean read_job(Command *command, const char *word)
{
	const char *number = g_str_has_prefix(word, "job=") ? word + 4 : word;

	if (!command->job && g_ascii_string_to_signed(number, 10, 1, G_MAXINT64, &command->job, NULL))
		return TRUE;
	return complain(command, "'%s' is no number of a job", word);
}

static gboolean read_more(Command *command, char **words)
{
	gint64 boots = MORE_BOOTS;

	for (; *words; words++) {
		if (!g_str_has_prefix(*words, "boots=")) {
			if (!read_job(command, *words))
				return FALSE;
		} else if (!g_ascii_string_to_signed(*words + 6, 10, 1, SPEC_MAX_MORE, &boots, NULL)) {
			return complain(command, "boots= is a number from 1 to %d", SPEC_MAX_MORE);
		}
	}
	command->boots = (int)boots;
	return TRUE;
}

static gboolean read_cancel(Command *command, char **words)
{
	for (; *words; words++)
		if (!read_job(command, *words))
			return FALSE;
	return TRUE;
}

static gboolean read_bisect(Command *command, char **words)
{
	if (g_strv_length(words) != 3)
		return complain(command, "bisect wants a commit that is good, one that is bad, and a benchmark");
	for (int i = 0; i < 3; i++)
		if (!is_name(words[i]))
			return complain(command, "'%s' is neither a commit nor a benchmark", words[i]);
	command->good = g_strdup(words[0]);
	command->bad = g_strdup(words[1]);
	command->benchmark = g_strdup(words[2]);
	return TRUE;
}

static gboolean read_no_mail(Command *command, char **words)
{
	command->whole_list = words[0] && g_str_equal(words[0], "list") && !words[1];
	if (words[0] && !command->whole_list)
		return complain(command, "no-mail stands alone, or with 'list' behind it");
	return TRUE;
}

static const struct {
	const char *name;
	gboolean (*read)(Command *command, char **words);
} verbs[VERB_N] = {
	[VERB_NONE] = { "", NULL },
	[VERB_TEST] = { "test", read_test },
	[VERB_MORE] = { "more", read_more },
	[VERB_CANCEL] = { "cancel", read_cancel },
	[VERB_BISECT] = { "bisect", read_bisect },
	[VERB_NO_MAIL] = { "no-mail", read_no_mail },
};

const char *verb_name(Verb verb)
{
	return verbs[verb].name;
}

const char *commands_help(void)
{
	return "  #regrlab test: [TREE] [COMMIT] [benchmarks=aging,pwrite] [profile=quick]\n"
	       "  #regrlab more [JOB] [boots=10]\n"
	       "  #regrlab cancel [JOB]\n"
	       "  #regrlab no-mail\n";
}

/* ---- lines ---- */

static void read_words(Command *command, char **words)
{
	g_autofree char *name = NULL;
	gsize length;

	if (!words[0]) {
		complain(command, "there is nothing behind " MARK);
		return;
	}
	name = g_ascii_strdown(words[0], -1);
	length = strlen(name);
	if (length > 0 && name[length - 1] == ':')
		name[length - 1] = '\0';
	for (int i = VERB_TEST; i < VERB_N; i++)
		if (g_str_equal(verbs[i].name, name))
			command->verb = i;
	if (command->verb == VERB_NONE)
		complain(command, "'%s' is no command", words[0]);
	else
		verbs[command->verb].read(command, words + 1);
}

static Command *read_line(const char *line)
{
	Command *command = command_new(line);
	g_auto(GStrv) split = g_strsplit_set(command->line + strlen(MARK), " ", -1);
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	for (char **word = split; *word; word++)
		if (**word)
			g_ptr_array_add(words, *word);
	g_ptr_array_add(words, NULL);
	if (words->len > COMMAND_MAX_WORDS)
		complain(command, "it has more than %d words", COMMAND_MAX_WORDS);
	else
		read_words(command, (char **)words->pdata);
	return command;
}

/* "#regrlab" at the very start, and a blank or the end behind it. */
static gboolean is_command(const char *line)
{
	gsize length = strlen(MARK);

	return g_ascii_strncasecmp(line, MARK, length) == 0 && (!line[length] || g_ascii_isspace(line[length]));
}

/* What follows is not of the author's hand. */
static gboolean ends_text(const char *line)
{
	return g_str_equal(line, "-- ") || g_str_equal(line, "--") || g_str_has_prefix(line, "-----Original Message-----") ||
	       g_str_has_prefix(line, "________________________________") || g_str_has_prefix(line, "diff --git ");
}

GPtrArray *commands_find(const char *text)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func((GDestroyNotify)command_free);

	while (*text) {
		gsize size = strcspn(text, "\n");
		g_autofree char *line = g_strndup(text, size);

		text += size + (text[size] != 0);
		if (ends_text(line))
			break;
		if (!is_command(line))
			continue;
		if (found->len == COMMAND_MAX) {
			complain(g_ptr_array_index(found, found->len - 1), "one mail has at most %d commands", COMMAND_MAX);
			break;
		}
		g_ptr_array_add(found, read_line(line));
	}
	return g_steal_pointer(&found);
}
