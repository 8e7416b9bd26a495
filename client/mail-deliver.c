/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/mail-deliver.h"

#include <curl/curl.h>
#include <gio/gio.h>
#include <string.h>
#include <sysexits.h>

#define TIMEOUT_S 120L

/* ---- sendmail ---- */

static Delivery run_sendmail(const MailRoute *route, char *const *recipients, GBytes *message, char **ret_said)
{
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_autoptr(GSubprocess) process = NULL;
	g_autoptr(GError) error = NULL;

	g_ptr_array_add(argv, (gpointer)route->sendmail);
	g_ptr_array_add(argv, (gpointer)"-i");
	g_ptr_array_add(argv, (gpointer)"-f");
	g_ptr_array_add(argv, (gpointer)route->from);
	g_ptr_array_add(argv, (gpointer)"--");
	for (; *recipients; recipients++)
		g_ptr_array_add(argv, *recipients);
	g_ptr_array_add(argv, NULL);
	process = g_subprocess_newv((const char *const *)argv->pdata, G_SUBPROCESS_FLAGS_STDIN_PIPE, &error);
	if (!process) {
		*ret_said = g_strdup(error->message);
		return DELIVERY_LATER;
	}
	if (!g_subprocess_communicate(process, message, NULL, NULL, NULL, &error) || !g_subprocess_get_if_exited(process)) {
		*ret_said = g_strdup_printf("%s ended before it said what it did", route->sendmail);
		return DELIVERY_FAILED;
	}
	int status = g_subprocess_get_exit_status(process);
	*ret_said = status ? g_strdup_printf("%s exited with %d", route->sendmail, status) : g_strdup("");
	return !status ? DELIVERY_TAKEN : status == EX_TEMPFAIL ? DELIVERY_LATER : DELIVERY_FAILED;
}

/* ---- SMTP ---- */

typedef struct {
	const char *data;
	gsize size, at;
	char last[CURL_ERROR_SIZE];	/* line of the server that says something */
} Transfer;

static size_t give(char *buffer, size_t one, size_t count, void *context)
{
	Transfer *transfer = context;
	gsize size = MIN(one * count, transfer->size - transfer->at);

	memcpy(buffer, transfer->data + transfer->at, size);
	transfer->at += size;
	return size;
}

static size_t hear(char *line, size_t one, size_t count, void *context)
{
	Transfer *transfer = context;
	g_autofree char *copy = g_strndup(line, one * count);

	/* not its greeting and its goodbye, nor what it says after a no */
	if ((*copy && strchr("45", *copy)) || (g_str_has_prefix(copy, "250") && !(*transfer->last && strchr("45", *transfer->last))))
		g_strlcpy(transfer->last, g_strchomp(copy), sizeof(transfer->last));
	return one * count;
}

/* Lines of a mail end in CR LF on the wire. */
static GString *wire(const char *message, gsize size)
{
	GString *text = g_string_sized_new(size + size / 16);

	for (gsize i = 0; i < size; i++) {
		if (message[i] == '\n' && (i == 0 || message[i - 1] != '\r'))
			g_string_append_c(text, '\r');
		g_string_append_c(text, message[i]);
	}
	return text;
}

/* Nothing was given yet, or the server itself said that it could not now: surely not taken. */
static Delivery judge(CURLcode code, long reply, const Transfer *transfer)
{
	if (code == CURLE_OK)
		return DELIVERY_TAKEN;
	if (reply >= 400 && reply < 500)
		return DELIVERY_LATER;
	if (reply >= 500)
		return DELIVERY_FAILED;
	return transfer->at == 0 ? DELIVERY_LATER : DELIVERY_FAILED;
}

static Delivery run_smtp(const MailRoute *route, char *const *recipients, const char *message, gsize size, char **ret_said)
{
	CURL *curl = curl_easy_init();
	struct curl_slist *list = NULL;
	g_autoptr(GString) text = wire(message, size);
	Transfer transfer = { .data = text->str, .size = text->len };
	g_autofree char *from = g_strdup_printf("<%s>", route->from);
	char words[CURL_ERROR_SIZE] = "";
	long reply = 0;

	for (; *recipients; recipients++) {
		g_autofree char *to = g_strdup_printf("<%s>", *recipients);
		list = curl_slist_append(list, to);
	}
	curl_easy_setopt(curl, CURLOPT_URL, route->smtp);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	curl_easy_setopt(curl, CURLOPT_USE_SSL, (long)CURLUSESSL_TRY);
	curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, TIMEOUT_S);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
	curl_easy_setopt(curl, CURLOPT_MAIL_FROM, from);
	curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, list);
	/* one address that is gone keeps it from nobody else */
	curl_easy_setopt(curl, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
	curl_easy_setopt(curl, CURLOPT_READDATA, &transfer);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, hear);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
	CURLcode code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply);
	curl_slist_free_all(list);
	curl_easy_cleanup(curl);

	Delivery delivery = judge(code, reply, &transfer);
	*ret_said = g_strdup(delivery == DELIVERY_TAKEN || reply >= 400 ? transfer.last : *words ? words : curl_easy_strerror(code));
	return delivery;
}

Delivery mail_deliver(const MailRoute *route, char *const *recipients, const char *message, gsize size, char **ret_said)
{
	g_autoptr(GBytes) bytes = g_bytes_new_static(message, size);

	return route->sendmail ? run_sendmail(route, recipients, bytes, ret_said)
			       : run_smtp(route, recipients, message, size, ret_said);
}
