/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mail that asks for something, and mail that goes out. States are words of the
 * tables' own (db/009-mail.sql); a state that is none is CONFLICT.
 */
#pragma once

#include "db/db.h"

typedef struct {
	gint64 id;
	char *message_id, *root;	/* without < > */
	gint64 received_ns;
	char *sender, *subject, *list;
	gboolean is_part;
	char *state, *reason;
	gint64 job;	/* 0: none */
	GBytes *raw;	/* NULL in lists */
} StoreMailIn;

void store_mail_in_free(StoreMailIn *mail);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreMailIn, store_mail_in_free)

/* Transaction "mail-in"; forgets the text of patches that are 90 days old. One that is known by its Message-ID stays as it is: mail->id is set, *ret_new FALSE. */
gboolean store_mail_in_add(Db *db, StoreMailIn *mail, gboolean *ret_new, GError **error);
/* *ret_mail NULL: there is none. With raw. */
gboolean store_mail_in_get(Db *db, gint64 id, StoreMailIn **ret_mail, GError **error);
/*
 * Arrays that own StoreMailIn, oldest first, at most limit. state "due": those that are testing and whose job has ended;
 * "waiting": of the last seven days.
 */
gboolean store_mail_in_list(Db *db, const char *state, gint64 now_ns, int limit, GPtrArray **ret_mails, GError **error);
/* Patches and cover letters of a thread, and mails that have a job, with raw. message_id: of any mail of the thread, known or not. */
gboolean store_mail_thread(Db *db, const char *message_id, int limit, GPtrArray **ret_mails, GError **error);
/* Transaction "mail-in-set". */
gboolean store_mail_in_set(Db *db, gint64 id, const char *state, const char *reason, gint64 job, GError **error);
/* Mails of the sender in the 24 hours before now_ns that were not refused. */
gboolean store_mail_count(Db *db, const char *sender, gint64 now_ns, int *ret_count, GError **error);

typedef struct {
	gint64 id;
	char *about;
	gint64 queued_ns;
	char *recipients, *subject;
	GBytes *message;	/* NULL in lists */
	char *state;
	int attempts;
	gint64 next_ns, changed_ns;
	char *said;
} StoreMailOut;

void store_mail_out_free(StoreMailOut *mail);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreMailOut, store_mail_out_free)

/* Transaction "mail-out". What has been said already (about) is not said again: *ret_new FALSE. */
gboolean store_mail_out_add(Db *db, const StoreMailOut *mail, gboolean *ret_new, GError **error);
gboolean store_mail_out_get(Db *db, gint64 id, StoreMailOut **ret_mail, GError **error);
/* state empty: all. Newest first. */
gboolean store_mail_out_list(Db *db, const char *state, int limit, GPtrArray **ret_mails, GError **error);
/*
 * Transaction "mail-claim": marks the next one that is queued and due as being sent. *ret_mail NULL: there is none, or
 * per_hour (0: no limit) have been sent in an hour, or all mail is stopped.
 */
gboolean store_mail_claim(Db *db, int per_hour, gint64 now_ns, StoreMailOut **ret_mail, GError **error);
/*
 * Transaction "mail-out-set": from the one state to the other; *ret_was FALSE: it was not in that state, and stays as it
 * is.
 */
gboolean store_mail_out_set(Db *db, const StoreMailOut *mail, const char *from, gboolean *ret_was, GError **error);

/* Addresses and List-Ids that want no mail; a NULL-terminated array, the caller's. */
gboolean store_mail_refusals(Db *db, char ***ret_addresses, GError **error);
gboolean store_mail_refuse(Db *db, const char *address, gint64 now_ns, GError **error);	/* transaction "mail-refuse" */

gboolean store_mail_stopped(Db *db, gint64 *ret_since_ns, GError **error);	/* 0: not */
gboolean store_mail_stop(Db *db, gboolean stop, gint64 now_ns, GError **error);	/* transaction "mail-stop" */
