/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doc/completion.h"

#include <string.h>

#include "doc/help.h"

#define TOP "# SPDX-License-Identifier: GPL-2.0-or-later\n# Made from what regrlab says to --help.\n"

/* Calls func for each command with what it says to --help. */
typedef void (*EachFunc)(GString *out, const HelpRow *command, const Help *help);

static gboolean each(const char *program, const Help *all, GString *out, EachFunc func, GError **error)
{
	for (guint i = 0; i < all->commands->len; i++) {
		const HelpRow *command = g_ptr_array_index(all->commands, i);
		const char *argv[] = { program, command->name, "--help", NULL };
		g_autoptr(Help) help = help_of(argv, error);

		if (!help)
			return FALSE;
		func(out, command, help);
	}
	return TRUE;
}

static Help *all_of(const char *program, GError **error)
{
	return help_of((const char *const[]){ program, "--help", NULL }, error);
}

/* The words that a usage like "check|prepare|restore | drain|resume NAME" begins with. */
static char *actions_of(const Help *help)
{
	g_autoptr(GString) actions = g_string_new(NULL);
	g_auto(GStrv) words = g_strsplit_set(help->usage, " |[]", -1);

	for (char **each_word = words; *each_word; each_word++) {
		const char *one = *each_word;

		if (strlen(one) > 2 && strspn(one, G_CSET_a_2_z) == strlen(one) && !g_str_has_prefix(help->usage, one) &&
		    each_word - words >= 2)
			g_string_append_printf(actions, "%s%s", actions->len ? " " : "", one);
	}
	return g_string_free(g_steal_pointer(&actions), FALSE);
}

static void bash_command(GString *out, const HelpRow *command, const Help *help)
{
	g_autofree char *actions = actions_of(help);

	g_string_append_printf(out, "\t%s)\n\t\twords='", command->name);
	for (guint i = 0; i < help->options->len; i++) {
		g_autofree char *name = help_long_name(g_ptr_array_index(help->options, i));

		g_string_append_printf(out, "%s%s%s", i ? " " : "", name, help_takes_value(g_ptr_array_index(help->options, i)) ? "=" : "");
	}
	g_string_append_printf(out, " --help'\n\t\tactions='%s'\n\t\t;;\n", actions);
}

char *completion_bash(const char *program, GError **error)
{
	g_autoptr(Help) all = all_of(program, error);
	g_autoptr(GString) out = g_string_new(TOP
		"_regrlab() {\n\tlocal words='' actions='' current=${COMP_WORDS[COMP_CWORD]}\n\tCOMPREPLY=()\n"
		"\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tmapfile -t COMPREPLY < <(compgen -W '");

	if (!all)
		return NULL;
	for (guint i = 0; i < all->commands->len; i++)
		g_string_append_printf(out, "%s ", ((const HelpRow *)g_ptr_array_index(all->commands, i))->name);
	g_string_append(out, "help' -- \"$current\")\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	if (!each(program, all, out, bash_command, error))
		return NULL;
	g_string_append(out,
		"\thelp)\n\t\tactions='");
	for (guint i = 0; i < all->commands->len; i++)
		g_string_append_printf(out, "%s%s", i ? " " : "", ((const HelpRow *)g_ptr_array_index(all->commands, i))->name);
	g_string_append(out,
		"'\n\t\t;;\n\tesac\n\tcase $current in\n"
		"\t-*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\") ;;\n"
		"\t*)\n\t\tif [ -n \"$actions\" ] && [ \"$COMP_CWORD\" -eq 2 ]; then\n"
		"\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$actions\" -- \"$current\")\n"
		"\t\telse\n\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n\t\tfi\n\t\t;;\n\tesac\n"
		"\tif [[ ${COMPREPLY[0]:-} = *= ]]; then\n\t\tcompopt -o nospace 2>/dev/null || true\n\tfi\n}\n"
		"complete -o filenames -F _regrlab regrlab\n");
	return g_string_free(g_steal_pointer(&out), FALSE);
}

/* Within single quotes and brackets of zsh's _arguments. */
static void zsh_text(GString *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			g_string_append(out, "'\\''");
		else if (strchr("[]:\\", *text))
			g_string_append_printf(out, "\\%c", *text);
		else
			g_string_append_c(out, *text);
	}
}

static void zsh_command(GString *out, const HelpRow *command, const Help *help)
{
	g_autofree char *actions = actions_of(help);

	g_string_append_printf(out, "\t%s)\n\t\t_arguments \\\n", command->name);
	for (guint i = 0; i < help->options->len; i++) {
		const HelpRow *option = g_ptr_array_index(help->options, i);
		g_autofree char *name = help_long_name(option);
		gboolean value = help_takes_value(option);

		g_string_append_printf(out, "\t\t\t'%s%s[", name, value ? "=" : "");
		zsh_text(out, option->text);
		g_string_append_printf(out, "]%s' \\\n", value ? ":value:_files" : "");
	}
	if (*actions)
		g_string_append_printf(out, "\t\t\t'1:action:(%s)' \\\n", actions);
	g_string_append(out, "\t\t\t'*:file:_files'\n\t\t;;\n");
}

char *completion_zsh(const char *program, GError **error)
{
	g_autoptr(Help) all = all_of(program, error);
	g_autoptr(GString) out = g_string_new("#compdef regrlab\n" TOP "_regrlab() {\n\tlocal -a commands\n\tcommands=(\n");

	if (!all)
		return NULL;
	for (guint i = 0; i < all->commands->len; i++) {
		const HelpRow *command = g_ptr_array_index(all->commands, i);

		g_string_append_printf(out, "\t\t'%s:", command->name);
		zsh_text(out, command->text);
		g_string_append(out, "'\n");
	}
	g_string_append(out, "\t\t'help:Say more of a command'\n\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n"
			     "\t\treturn\n\tfi\n\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in\n");
	if (!each(program, all, out, zsh_command, error))
		return NULL;
	g_string_append(out, "\thelp) _describe command commands ;;\n\tesac\n}\n_regrlab \"$@\"\n");
	return g_string_free(g_steal_pointer(&out), FALSE);
}
