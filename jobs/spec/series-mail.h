/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One mail of a series: what its headers and its body say. */
#pragma once

#include <glib.h>

#include "jobs/spec/error.h"

typedef struct {
	GBytes *raw;		/* the message without its "From " line */
	char *message_id;	/* without < >, or empty */
	char *subject;		/* without its [brackets], UTF-8, one line */
	char *author;		/* "Name <address>"; of the From: line in the body if there is one */
	gboolean is_reply;	/* Re:, Fwd: and the like */
	gboolean has_tag;	/* [PATCH], [RFC], … */
	gboolean is_rfc;
	GPtrArray *prefixes;	/* of char *, owned: other words in its [brackets], such as a tree's name */
	int number, total;	/* of "n/m"; both -1 if there is none */
	int version;		/* of "v3"; 1 if there is none */
	char *base_commit;	/* 40 hex digits, or empty */
	char *change_id;	/* or empty */
	GPtrArray *prerequisites;	/* of char *, owned: "patch-id: HASH" and the like, of prerequisite- lines */
	GPtrArray *files;	/* of char *, owned: paths of the diff; none: no diff */
} Mail;

/* Parses one message. An unsafe path is an error only in what is a patch, not in a reply. */
gboolean mail_parse(GBytes *raw, Mail **ret_mail, GError **error);
void mail_free(Mail *mail);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Mail, mail_free)

/* A patch or cover letter, and not talk about one. */
gboolean mail_is_part(const Mail *mail);
