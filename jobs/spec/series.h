/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A patch series as it came: an mbox of mails (git format-patch, b4 am, a
 * list archive). Pure: bytes in, patches in order out. MIME is gmime's.
 */
#pragma once

#include <glib.h>

#include "jobs/spec/error.h"

#define SERIES_MAX_BYTES	(16 * 1024 * 1024)
#define SERIES_MAX_PATCHES	200
#define SERIES_MAX_PATCH_BYTES	(2 * 1024 * 1024)
#define SERIES_MAX_MAIL_BYTES	(2 * SERIES_MAX_PATCH_BYTES)	/* as it is sent: with headers, in base64 */

typedef struct {
	int number;		/* of [PATCH n/m]; 1 for a single patch */
	char *subject;		/* without its [PATCH ...] prefix, UTF-8 */
	char *author;		/* "Name <address>", UTF-8 */
	GBytes *mail;		/* the raw message without its mbox "From " line, for git am */
	char **files;		/* paths the diff touches, NULL-terminated */
} SeriesPatch;

typedef struct {
	GPtrArray *patches;	/* of SeriesPatch, owned, in order 1..m; the cover letter is not among them */
	char *subject;		/* of the cover letter, else of the first patch */
	char *author;
	char *base_commit;	/* of the base-commit: trailer; 40 hex digits, or empty */
	char *change_id;	/* of the change-id: trailer, or empty */
	int version;		/* of [PATCH v3]; 1 if none */
} Series;

/*
 * Parts out of order are put in order; replies between them (no diff, or a
 * quoted one) are left out; missing and doubled parts are errors that name
 * them (INCOMPLETE). Of several versions the newest counts; the same mail
 * twice (one Message-ID) counts once; mails without numbers are taken in the
 * order in which they come. A path that leaves the tree, is absolute, has .git in
 * it, or a new symbolic link or submodule is UNSAFE.
 */
gboolean series_parse(const char *data, gsize size, Series **ret_series, GError **error);
void series_free(Series *series);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Series, series_free)
