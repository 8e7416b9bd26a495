/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/json-text.h"

#include <math.h>
#include <string.h>

char *json_text(JsonNode *node, gboolean indented)
{
	char *text = json_to_string(node, indented), *to = text;
	gboolean in_string = FALSE;

	for (const char *from = text; *from;) {
		gboolean exponent = !in_string && *from == 'e' && from > text && g_ascii_isdigit(from[-1]);

		if (in_string && *from == '\\')
			*to++ = *from++;
		else if (*from == '"')
			in_string = !in_string;
		*to++ = *from++;
		if (exponent) {
			while (*from == '+' || *from == '-' || g_ascii_isdigit(*from))
				*to++ = *from++;
			if (g_str_has_prefix(from, ".0"))
				from += strlen(".0");
		}
	}
	*to = 0;
	return text;
}

void json_set_double(JsonObject *object, const char *name, double value)
{
	if (isfinite(value))
		json_object_set_double_member(object, name, value);
	else
		json_object_set_null_member(object, name);
}
