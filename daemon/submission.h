/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The body of POST /jobs, in any of its forms, to what is asked. Pure: what
 * has to be looked up (trees, benchmarks) is checked by the caller.
 */
#pragma once

#include "jobs/spec/series.h"
#include "jobs/spec/spec.h"

typedef struct {
	JobSpec *spec;
	GString *series;	/* NULL: none */
	GString *config;	/* NULL: none */
	char *contents;		/* a digest of series and config, after submission_finish() */
	GHashTable *texts;	/* field name -> GString, until submission_finish() */
} Submission;

Submission *submission_new(void);
void submission_free(Submission *submission);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Submission, submission_free)

/*
 * One field. A series, and a config that is a file (or has a newline in it),
 * are contents; benchmarks, params and labels may come more than once.
 */
gboolean submission_field(Submission *submission, const char *name, const char *data, gsize size,
			  gboolean is_file, GError **error);

/* A JSON object whose members are the fields; benchmarks, params and labels may be arrays. SYNTAX: it is none. */
gboolean submission_json(Submission *submission, const char *data, gsize size, GError **error);

/* "multipart/form-data; boundary=x" to "multipart/form-data"; NULL is fine. The caller's. */
char *submission_media(const char *content_type);
gboolean submission_takes(const char *media);
/* All fields of a body of that type: a form, JSON, or an mbox, which is the series. */
gboolean submission_body(Submission *submission, const char *content_type, const GByteArray *body, GError **error);

/*
 * The form of the page: only multipart/form-data. What was left empty is not there, and a series that was pasted
 * (series_text) has the line ends that it had before a browser sent it.
 */
gboolean submission_page(Submission *submission, const char *content_type, const GByteArray *body, GError **error);

/* All fields are there: fills in and checks spec, and reads the series. */
gboolean submission_finish(Submission *submission, GError **error);

/* The same for the same submission, however it was encoded; the caller's. After submission_finish(). */
char *submission_digest(const Submission *submission);
