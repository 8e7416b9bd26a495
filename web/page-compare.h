/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /compare: kernels of different jobs side by side. */
#pragma once

#include "web/compare.h"

typedef struct {
	const Comparison *comparison;	/* NULL: nothing was asked for yet */
	const char *query;		/* that it was asked for with: "?kernel=7&kernel=9" */
	const char *const *left_out;	/* sentences: what was asked for and is not in it; NULL-terminated */
} CompareView;

char *page_compare(const CompareView *view, gsize *ret_size);	/* the caller's */
