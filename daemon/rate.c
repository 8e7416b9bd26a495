/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/rate.h"

#define MINUTE_US (60 * G_USEC_PER_SEC)

typedef struct {
	char *key;
	gint64 full_us;		/* when all of its minute is there again */
	GList link;		/* in rate->order */
} Entry;

struct Rate {
	GHashTable *entries;	/* key -> Entry */
	GQueue order;		/* of Entry, who came last at its end */
};

static void entry_free(gpointer data)
{
	Entry *entry = data;

	g_free(entry->key);
	g_free(entry);
}

Rate *rate_new(void)
{
	Rate *rate = g_new0(Rate, 1);

	rate->entries = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, entry_free);
	g_queue_init(&rate->order);
	return rate;
}

void rate_free(Rate *rate)
{
	if (!rate)
		return;
	g_hash_table_destroy(rate->entries);
	g_free(rate);
}

static Entry *find(Rate *rate, const char *key)
{
	Entry *entry = g_hash_table_lookup(rate->entries, key);

	if (entry) {
		g_queue_unlink(&rate->order, &entry->link);
	} else {
		if (rate->order.length >= RATE_KEYS) {
			Entry *oldest = rate->order.head->data;

			g_queue_unlink(&rate->order, &oldest->link);
			g_hash_table_remove(rate->entries, oldest->key);
		}
		entry = g_new0(Entry, 1);
		entry->key = g_strdup(key);
		entry->link.data = entry;
		g_hash_table_insert(rate->entries, entry->key, entry);
	}
	g_queue_push_tail_link(&rate->order, &entry->link);
	return entry;
}

gboolean rate_take(Rate *rate, const char *key, int per_min, gint64 now_us, int *ret_wait_s)
{
	Entry *entry = find(rate, key);
	gint64 full_us = MAX(entry->full_us, now_us) + MINUTE_US / per_min;
	gint64 late_us = full_us - now_us - MINUTE_US;

	if (late_us > 0) {
		*ret_wait_s = (int)((late_us + G_USEC_PER_SEC - 1) / G_USEC_PER_SEC);
		return FALSE;
	}
	entry->full_us = full_us;
	return TRUE;
}

guint rate_keys(const Rate *rate)
{
	return rate->order.length;
}
