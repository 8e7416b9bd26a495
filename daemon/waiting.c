/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/waiting.h"

#include "daemon/health.h"
#include "daemon/queue.h"

static char *for_its_build(Lab *lab, const LineJob *waits)
{
	gint64 building = queue_building(lab->queue);

	if (waits->position > 1)
		return g_strdup_printf("%d go before it", waits->position - 1);
	if (building)
		return g_strdup_printf("job %" G_GINT64_FORMAT " is being built, and one is at a time", building);
	if (queue_build_disturbs(lab->queue))
		return g_strdup("a build would disturb what is being measured on this machine");
	return g_strdup("its turn is next");
}

static void add_host(GString *text, const Host *host)
{
	gint64 job = host_first_job(host);

	g_string_append_printf(text, "%s%s ", text->len ? "; " : "", host->config->name);
	if (host->down)
		g_string_append_printf(text, "is down%s%s", *host->message ? ": " : "", host->message);
	else if (host->drained)
		g_string_append(text, "takes no more jobs (drained)");
	else if (job)
		g_string_append_printf(text, "measures job %" G_GINT64_FORMAT, job);
	else if (host->place.disturbed)
		g_string_append(text, "is free, but a build on it would disturb");
	else
		g_string_append(text, "is about to take one");
}

static char *for_a_host(Lab *lab, const LineJob *waits)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < lab->config->hosts->len; i++) {
		const ConfigHost *config = g_ptr_array_index(lab->config->hosts, i);
		const Host *host = queue_host(lab->queue, config->name);

		if (dispatch_fits(waits->need ? waits->need : waits->anywhere, &host->place))
			add_host(text, host);
	}
	if (!text->len)
		g_string_append(text, "no host of the configuration has what it needs any more");
	return g_string_free(text, FALSE);
}

char *waiting_reason(Lab *lab, const StoreJob *job)
{
	const LineJob *waits = job->state == JOB_QUEUED || job->state == JOB_WAITING_FOR_HOST ? queue_find(lab->queue, job->id) : NULL;

	if (!waits || job->cancel_asked)
		return g_strdup("");
	if (health_blocks(lab->health))
		return g_strdup("the lab is in trouble, and starts nothing");
	if (waits->over && !waits->home)
		return g_strdup("the machine time of its submitter for 24 hours is used");
	return job->state == JOB_QUEUED ? for_its_build(lab, waits) : for_a_host(lab, waits);
}
