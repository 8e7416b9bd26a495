/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/host-agent.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "host/target.h"
#include "jobs/spec/file.h"

#define ASK_TIMEOUT_MS	(60 * 1000)
#define COPY_TIMEOUT_MS	(180 * 1000)
#define LINE_MAX_BYTES	4096

struct HostAgent {
	StageContext *stage;
	HostTarget target;
	char *cpus;		/* that measure, list format; empty: all */
	GError *refused;	/* why it cannot be run there */
};

HostAgent *host_agent_new(StageContext *stage)
{
	HostAgent *agent = g_new0(HostAgent, 1);
	g_autofree char *program = host_target_program(), *content = NULL;
	gsize size;

	agent->stage = stage;
	agent->cpus = g_strdup(stage->place->vm_cpus);
	if (!host_target_init(&agent->target, stage->place->host_uri, program, &agent->refused))
		return agent;
	if (agent->target.reach == HOST_CLOSED)
		g_set_error(&agent->refused, SPEC_ERROR, SPEC_ERROR_VALUE,
			    "%s lets libvirt in and nothing else: with qemu+ssh the lab could look at the machine", stage->place->host_uri);
	else if (agent->target.reach == HOST_SSH)
		host_target_load(&agent->target, &content, &size, &agent->refused);
	return agent;
}

void host_agent_free(HostAgent *agent)
{
	if (!agent)
		return;
	host_target_clear(&agent->target);
	g_clear_error(&agent->refused);
	g_free(agent->cpus);
	g_free(agent);
}

void host_agent_measure_on(HostAgent *agent, const char *cpus)
{
	g_free(agent->cpus);
	agent->cpus = g_strdup(cpus);
}

/* ssh asks an agent of the lab's user, if there is one. */
static char **make_env(void)
{
	const char *socket = g_getenv("SSH_AUTH_SOCK");
	GPtrArray *env = g_ptr_array_new();

	if (socket)
		g_ptr_array_add(env, g_strconcat("SSH_AUTH_SOCK=", socket, NULL));
	g_ptr_array_add(env, NULL);
	return (char **)g_ptr_array_free(env, FALSE);
}

/* args with what every command needs; the words are borrowed. */
static GPtrArray *whole_args(const HostAgent *agent, const char *const *args)
{
	GPtrArray *all = g_ptr_array_new();
	const JobPlace *place = agent->stage->place;

	for (; *args; args++)
		g_ptr_array_add(all, (gpointer)*args);
	g_ptr_array_add(all, (gpointer) "--cpus");
	g_ptr_array_add(all, agent->cpus);
	if (*place->host_root) {
		g_ptr_array_add(all, (gpointer) "--root");
		g_ptr_array_add(all, place->host_root);
	}
	g_ptr_array_add(all, NULL);
	return all;
}

static gboolean run(const HostAgent *agent, const char *const *argv, const char *input, gsize input_bytes, gint64 timeout_ms,
		    ChildResult *ret_result, GError **error)
{
	g_auto(GStrv) env = make_env();
	ChildSpec spec = {
		.argv = argv,
		.env = (const char *const *)env,
		.input = input,
		.input_bytes = input_bytes,
		.timeout_ms = timeout_ms,
		.stop_fd = agent->stage->stop_fd,
	};

	return child_run(&spec, ret_result, error);
}

static gboolean copy_program(HostAgent *agent, GError **error)
{
	g_auto(ChildResult) result = { 0 };
	g_autofree char *content = NULL;
	gsize size;

	if (!host_target_load(&agent->target, &content, &size, error))
		return FALSE;
	g_auto(GStrv) argv = host_target_copy_argv(&agent->target);
	ChildSpec shown = { .argv = (const char *const *)argv };
	stage_log(agent->stage, "copying regrlab-host to %s", agent->target.destination);
	return run(agent, (const char *const *)argv, content, size, COPY_TIMEOUT_MS, &result, error) &&
	       child_check(&shown, &result, error);
}

gboolean host_agent_ask(HostAgent *agent, const char *const *args, JsonObject **ret_object, GError **error)
{
	g_autoptr(GPtrArray) all = whole_args(agent, args);

	if (agent->refused) {
		g_propagate_error(error, g_error_copy(agent->refused));
		return FALSE;
	}
	g_auto(GStrv) argv = host_target_argv(&agent->target, (const char *const *)all->pdata);
	ChildSpec shown = { .argv = (const char *const *)argv };
	for (gboolean again = agent->target.reach != HOST_SSH;; again = TRUE) {
		g_auto(ChildResult) result = { 0 };
		if (!run(agent, (const char *const *)argv, NULL, 0, ASK_TIMEOUT_MS, &result, error))
			return FALSE;
		if (result.status == HOST_TARGET_MISSING && !again) {
			if (!copy_program(agent, error))
				return FALSE;
			continue;
		}
		return child_check(&shown, &result, error) &&
		       json_object_from_data(result.output, result.output_bytes, ret_object, error);
	}
}

/* ---- watching ---- */

struct HostAgentWatch {
	HostAgent *agent;
	HostAgentLine sink;
	gpointer user;
	GThread *thread;
	int stop[2];		/* a pipe: a byte in it stops the program */
	GString *pending;	/* of a line */
};

static void take_output(const char *data, gsize size, gboolean is_error, gpointer user)
{
	HostAgentWatch *watch = user;
	char *end;

	if (is_error || watch->pending->len > LINE_MAX_BYTES)
		return;
	g_string_append_len(watch->pending, data, (gssize)size);
	while ((end = strchr(watch->pending->str, '\n'))) {
		gsize length = (gsize)(end - watch->pending->str);
		g_autoptr(JsonObject) line = NULL;
		if (json_object_from_data(watch->pending->str, length, &line, NULL))
			watch->sink(line, watch->user);
		g_string_erase(watch->pending, 0, (gssize)length + 1);
	}
}

static gpointer follow(gpointer data)
{
	static const char *const args[] = { "watch", NULL };
	HostAgentWatch *watch = data;
	g_autoptr(GPtrArray) all = whole_args(watch->agent, args);
	g_auto(GStrv) argv = host_target_argv(&watch->agent->target, (const char *const *)all->pdata);
	g_auto(GStrv) env = make_env();
	g_auto(ChildResult) result = { 0 };
	ChildSpec spec = {
		.argv = (const char *const *)argv,
		.env = (const char *const *)env,
		.stop_fd = watch->stop[0],
		.max_output_bytes = 1,	/* the sink has it */
		.sink = take_output,
		.sink_data = watch,
	};

	/* that it was stopped is how it ends; that it could not be started shows in that no line came */
	child_run(&spec, &result, NULL);
	return NULL;
}

HostAgentWatch *host_agent_watch_start(HostAgent *agent, HostAgentLine sink, gpointer user)
{
	HostAgentWatch *watch;
	int ends[2];

	if (agent->refused || pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	watch = g_new0(HostAgentWatch, 1);
	*watch = (HostAgentWatch){ .agent = agent, .sink = sink, .user = user, .stop = { ends[0], ends[1] } };
	watch->pending = g_string_new(NULL);
	watch->thread = g_thread_new("host-watch", follow, watch);
	return watch;
}

void host_agent_watch_end(HostAgentWatch *watch)
{
	if (!watch)
		return;
	/* there is always room for a byte in an empty pipe */
	if (write(watch->stop[1], "", 1) != 1)
		g_assert_not_reached();
	g_thread_join(watch->thread);
	close(watch->stop[0]);
	close(watch->stop[1]);
	g_string_free(watch->pending, TRUE);
	g_free(watch);
}
