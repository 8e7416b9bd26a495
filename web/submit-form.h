/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How to submit: a form where a browser may, and the same with curl. */
#pragma once

#include "web/html.h"

typedef struct {
	const char *url;	/* of the lab, no slash at its end */
	const char *const *trees;	/* names, the default first, NULL-terminated */
	const char *const *benchmarks;	/* names, NULL-terminated */
	gboolean needs_token;	/* to submit: then a browser cannot */
} SubmitForm;

void submit_form_section(Html *html, const SubmitForm *form);
