/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/dispatch.h"

static gboolean has_labels(const DispatchHost *host, char **labels)
{
	for (; *labels; labels++)
		if (!host->labels || !g_strv_contains((const char *const *)host->labels, *labels))
			return FALSE;
	return TRUE;
}

int dispatch_memory_mib(const Need *need, const DispatchHost *host)
{
	return need->memory_mib[host->kvm ? 1 : 0] + DISPATCH_OVERHEAD_MIB;
}

gboolean dispatch_fits(const Need *need, const DispatchHost *host)
{
	return (!*need->host || g_str_equal(need->host, host->name)) && has_labels(host, need->labels) &&
	       (!host->memory_mib || dispatch_memory_mib(need, host) <= host->memory_mib);
}

static gboolean has_place(const DispatchHost *host)
{
	return host->usable && !host->held && host->used < host->slots;
}

static gboolean has_room(const Need *need, const DispatchHost *host)
{
	return !host->memory_mib || host->memory_used_mib + dispatch_memory_mib(need, host) <= host->memory_mib;
}

static guint count_labels(const DispatchHost *host)
{
	return host->labels ? g_strv_length(host->labels) : 0;
}

/* Less work: fewer of its places are taken. */
static gboolean better(const DispatchHost *a, const DispatchHost *b)
{
	guint labels_a = count_labels(a), labels_b = count_labels(b);

	if (labels_a != labels_b)
		return labels_a < labels_b;
	return (gint64)a->used * b->slots < (gint64)b->used * a->slots;
}

static DispatchHost *choose(const Need *need, const GPtrArray *hosts)
{
	DispatchHost *best = NULL, *cramped = NULL;

	for (guint i = 0; i < hosts->len; i++) {
		DispatchHost *host = g_ptr_array_index(hosts, i);

		if (!has_place(host) || (host->disturbed && !need->counts) || !dispatch_fits(need, host))
			continue;
		if (!has_room(need, host))
			cramped = cramped ? cramped : host;
		else if (!best || better(host, best))
			best = host;
	}
	if (!best && cramped)
		cramped->held = TRUE;
	return best;
}

/* The best of those that fit and are not taken yet; NULL: no more. */
static const DispatchHost *next_of_spread(const Need *need, const GPtrArray *hosts, GPtrArray *taken)
{
	const DispatchHost *best = NULL;

	for (guint i = 0; i < hosts->len; i++) {
		const DispatchHost *host = g_ptr_array_index(hosts, i);

		if (!dispatch_fits(need, host) || g_ptr_array_find(taken, host->name, NULL))
			continue;
		if (!best || (host->usable && !best->usable) || (host->usable == best->usable && better(host, best)))
			best = host;
	}
	return best;
}

char **dispatch_spread(const Need *need, const GPtrArray *hosts, guint count)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	const DispatchHost *host;

	while (names->len < count && (host = next_of_spread(need, hosts, names)) != NULL) {
		g_ptr_array_add(names, (gpointer)host->name);
		g_strv_builder_add(builder, host->name);
	}
	return names->len == count ? g_strv_builder_end(builder) : NULL;
}

void dispatch(const GPtrArray *jobs, const GPtrArray *hosts, guint64 pass, DispatchFunc func, gpointer data)
{
	int places = 0;

	for (guint i = 0; i < hosts->len; i++) {
		DispatchHost *host = g_ptr_array_index(hosts, i);

		host->held = FALSE;
		places += host->usable ? MAX(0, host->slots - host->used) : 0;
	}
	for (guint i = 0; i < jobs->len && places > 0; i++) {
		LineJob *job = g_ptr_array_index(jobs, i);
		Need *need = job->need;

		if (need->pass == pass && need->blocked)
			continue;
		DispatchHost *host = choose(need, hosts);
		need->pass = pass;
		need->blocked = !host;
		if (!host)
			continue;
		host->used++;
		host->memory_used_mib += dispatch_memory_mib(need, host);
		places--;
		func(job, host, data);
	}
}
