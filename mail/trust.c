/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mail/trust.h"

#include <string.h>

static const char *const names[] = {
	[TRUST_NO] = "no",
	[TRUST_DKIM] = "dkim",
	[TRUST_DMARC] = "dmarc",
	[TRUST_ARC] = "arc",
};

const char *trust_name(Trust trust)
{
	return names[trust];
}

static const char *domain_of(const char *address)
{
	const char *at = strrchr(address, '@');

	return at ? at + 1 : "";
}

/* The author's domain, or one above it that is not a top-level one. */
static gboolean is_aligned(const char *signer, const char *author)
{
	gsize signer_length = strlen(signer), author_length = strlen(author);

	if (!strchr(signer, '.') || author_length < signer_length)
		return FALSE;
	const char *end = author + author_length - signer_length;
	return g_ascii_strcasecmp(end, signer) == 0 && (end == author || end[-1] == '.');
}

/* Comments in parentheses go, quoted strings are kept as they are; the caller's. */
static char *without_comments(const char *text)
{
	GString *out = g_string_new(NULL);
	gboolean quoted = FALSE;
	int depth = 0;

	for (; *text; text++) {
		if (*text == '"' && !depth)
			quoted = !quoted;
		if (!quoted && *text == '(')
			depth++;
		if (!depth)
			g_string_append_c(out, *text);
		if (!quoted && *text == ')' && depth)
			depth--;
	}
	return g_string_free(out, FALSE);
}

/* The value of "name=value" among the words; NULL if there is none. */
static const char *property(char **words, const char *name)
{
	gsize length = strlen(name);

	for (; *words; words++)
		if (g_ascii_strncasecmp(*words, name, length) == 0 && (*words)[length] == '=')
			return *words + length + 1;
	return NULL;
}

/* One "method=result property=value …" of the header. */
static Trust read_result(const char *result, const char *author)
{
	g_auto(GStrv) words = g_strsplit_set(result, " ", -1);
	const char *dkim = property(words, "dkim"), *dmarc = property(words, "dmarc");
	const char *signer = property(words, "header.d"), *from = property(words, "header.from");

	if (dkim && g_ascii_strcasecmp(dkim, "pass") == 0 && signer && is_aligned(signer, author))
		return TRUST_DKIM;
	if (dmarc && g_ascii_strcasecmp(dmarc, "pass") == 0 && from && g_ascii_strcasecmp(from, author) == 0)
		return TRUST_DMARC;
	return TRUST_NO;
}

/* The parts of a header between semicolons, the first of which names the server; the caller's. */
static char **split_header(const char *header)
{
	g_autofree char *bare = without_comments(header);
	char **parts = g_strsplit(bare, ";", 50);

	for (char **part = parts; *part; part++)
		g_strstrip(*part);
	return parts;
}

static Trust read_results(char **parts, const char *author)
{
	Trust trust = TRUST_NO;

	for (; *parts && trust == TRUST_NO; parts++)
		trust = read_result(*parts, author);
	return trust;
}

static gboolean names_server(const char *part, const char *id)
{
	gsize length = strlen(id);

	/* a version may follow */
	return length > 0 && g_ascii_strncasecmp(part, id, length) == 0 && (!part[length] || part[length] == ' ');
}

/* Of ARC headers: that of the last instance, "i=N; …"; NULL if there is none. The caller's. */
static char **last_instance(const GPtrArray *headers, int *ret_instance)
{
	char **last = NULL;

	*ret_instance = 0;
	for (guint i = 0; i < headers->len; i++) {
		char **parts = split_header(g_ptr_array_index(headers, i));
		int instance = parts[0] && g_str_has_prefix(parts[0], "i=") ? (int)g_ascii_strtoll(parts[0] + 2, NULL, 10) : 0;

		if (instance > *ret_instance) {
			g_strfreev(last);
			last = g_steal_pointer(&parts);
			*ret_instance = instance;
		}
		g_strfreev(parts);
	}
	return last;
}

static const char *seal_domain(char **parts)
{
	for (; *parts; parts++)
		if (g_str_has_prefix(*parts, "d="))
			return *parts + 2;
	return "";
}

/* Our server says that the chain is whole; its last seal is of somebody who is believed, and he saw it pass. */
static Trust read_chain(const Message *message, const MailSettings *settings, const char *author)
{
	int sealed, results;
	g_auto(GStrv) seal = last_instance(message->seals, &sealed);
	g_auto(GStrv) parts = last_instance(message->sealed, &results);

	if (!seal || !parts || sealed != results || !settings->arc_sealers ||
	    !g_strv_contains((const char *const *)settings->arc_sealers, seal_domain(seal)))
		return TRUST_NO;
	return read_results(parts, author) != TRUST_NO ? TRUST_ARC : TRUST_NO;
}

static gboolean chain_passed(char **parts)
{
	for (; *parts; parts++) {
		g_auto(GStrv) words = g_strsplit_set(*parts, " ", -1);
		const char *arc = property(words, "arc");

		if (arc)
			return g_ascii_strcasecmp(arc, "pass") == 0;
	}
	return FALSE;
}

Trust trust_of(const Message *message, const MailSettings *settings)
{
	const char *author = domain_of(message->from);

	for (guint i = 0; *author && i < message->results->len; i++) {
		g_auto(GStrv) parts = split_header(g_ptr_array_index(message->results, i));
		Trust trust;

		if (!parts[0] || !names_server(parts[0], settings->authserv_id))
			continue;
		trust = read_results(parts + 1, author);
		if (trust == TRUST_NO && chain_passed(parts + 1))
			trust = read_chain(message, settings, author);
		return trust;
	}
	return TRUST_NO;
}

static gboolean is_sender(const Message *message, const MailSettings *settings)
{
	g_autofree char *domain = g_strconcat("@", domain_of(message->from), NULL);
	const char *const *senders = (const char *const *)settings->senders;

	return senders && (g_strv_contains(senders, message->from) || g_strv_contains(senders, domain));
}

gboolean trust_may_submit(const Message *message, const MailSettings *settings, const char **ret_why)
{
	const char *const *known = (const char *const *)settings->known_lists;

	if (trust_of(message, settings) == TRUST_NO) {
		*ret_why = "its sender is not proven";
		return FALSE;
	}
	if (is_sender(message, settings)) {
		*ret_why = "its sender is known";
		return TRUE;
	}
	if (*message->list_id && known && g_strv_contains(known, message->list_id)) {
		*ret_why = "its list is known";
		return TRUE;
	}
	*ret_why = "its sender is not known";
	return FALSE;
}
