/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue's own line, turns and dispatch, with a real database and hosts
 * that are stubs: a simulated clock takes all jobs through. Prints what a
 * decision costs, how much memory it takes and how long jobs waited, and fails
 * if a decision is too slow, memory too much, or a job starved.
 *
 *	sim-hosts [HOSTS JOBS]
 */
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "daemon/line.h"

#define STEP_S		30	/* of the simulated clock: one decision each */
#define MIN_MEASURE_S	300
#define MAX_MEASURE_S	3600
#define LIMIT_MS	5.0
#define LIMIT_MIB	100.0

typedef struct {
	DispatchHost place;	/* the first: dispatch() gives it back */
	gint64 job[2], end_s[2];
	int memory_mib[2];
} Stub;

typedef struct {
	LineJob *job;
	Stub *stub;
} Choice;

typedef struct {
	Db *db;
	Line *line;
	Stub *stubs;
	int n_hosts;
	GPtrArray *places;
	GRand *random;
	gint64 now_s;
	guint64 passes;
	GArray *decision_ms, *wait_s;
} Sim;

static char *plain[] = { NULL }, *amd[] = { (char *)"amd", NULL }, *numa[] = { (char *)"amd", (char *)"numa", NULL };

static void must(gboolean done, GError *error)
{
	if (!done) {
		fprintf(stderr, "sim-hosts: %s\n", error ? error->message : "?");
		exit(EXIT_FAILURE);
	}
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double resident_mib(void)
{
	g_autofree char *text = NULL;
	long pages = 0;

	if (g_file_get_contents("/proc/self/statm", &text, NULL, NULL) && sscanf(text, "%*d %ld", &pages) != 1)
		pages = 0;
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

/* A fifth is special; a tenth takes two jobs at once, but not two large ones. */
static void make_hosts(Sim *sim)
{
	sim->stubs = g_new0(Stub, (gsize)sim->n_hosts);
	sim->places = g_ptr_array_new();
	for (int i = 0; i < sim->n_hosts; i++) {
		sim->stubs[i].place = (DispatchHost){
			.name = g_strdup_printf("host-%d", i),
			.labels = i % 20 == 0 ? numa : i % 5 == 0 ? amd : plain,
			.slots = i % 10 == 3 ? 2 : 1,
			.memory_mib = i % 10 == 3 ? 3000 : 16384,
			.usable = TRUE,
		};
		g_ptr_array_add(sim->places, &sim->stubs[i].place);
	}
}

static char **words(const char *text)
{
	return g_strsplit(text, " ", -1);
}

/* One in twelve needs a rare host, one a certain host, one much memory. */
static void add_job(Sim *sim, int number)
{
	g_autoptr(JobSpec) spec = job_spec_new();
	StoreSubmission submission = { .spec = spec, .submitter = "sim", .digest = "" };
	GError *error = NULL;
	gboolean again;
	gint64 id;
	int kind = number % 12;

	g_strfreev(spec->benchmarks);
	spec->benchmarks = words("aging");
	g_free(spec->tree);
	spec->tree = g_strdup("linux");
	spec->has_series = TRUE;
	spec->clock = number % 2 ? CLOCK_ICOUNT : CLOCK_TCG;
	spec->priority = number % 50 == 0 ? 5 : number % 7 == 0 ? -5 : 0;
	if (kind < 3) {
		g_strfreev(spec->labels);
		spec->labels = words(kind == 0 ? "amd numa" : "amd");
	} else if (kind == 4) {
		g_free(spec->host);
		spec->host = g_strdup_printf("host-%d", number % sim->n_hosts);
	} else if (kind == 5) {
		g_strfreev(spec->params);
		spec->params = words("aging.memory_mib=2500");
	}
	must(store_job_add(sim->db, &submission, 1, &id, &again, &error) &&
	     store_job_set_state(sim->db, id, JOB_WAITING_FOR_HOST, NULL, 1, &error), error);
}

static void end_jobs(Sim *sim)
{
	GError *error = NULL;

	for (int i = 0; i < sim->n_hosts; i++) {
		Stub *stub = &sim->stubs[i];

		stub->place.used = stub->place.memory_used_mib = 0;
		for (int slot = 0; slot < stub->place.slots; slot++) {
			if (stub->job[slot] && stub->end_s[slot] <= sim->now_s) {
				must(store_job_finish(sim->db, stub->job[slot], JOB_DONE, "", "", 1, &error), error);
				line_mark(sim->line, stub->job[slot]);
				stub->job[slot] = 0;
			}
			stub->place.used += stub->job[slot] != 0;
			stub->place.memory_used_mib += stub->job[slot] ? stub->memory_mib[slot] : 0;
		}
		/* hosts go, and come back */
		stub->place.usable = stub->place.usable ? g_rand_int_range(sim->random, 0, 1000) != 0
							: g_rand_int_range(sim->random, 0, 20) == 0;
	}
}

static void keep(LineJob *job, DispatchHost *place, gpointer data)
{
	Choice choice = { job, (Stub *)place };

	g_array_append_val(data, choice);
}

static void start_job(Sim *sim, const Choice *choice)
{
	Stub *stub = choice->stub;
	int slot = stub->job[0] ? 1 : 0;
	double wait_s = (double)sim->now_s;
	GError *error = NULL;

	g_assert(!stub->job[slot]);
	stub->job[slot] = choice->job->id;
	stub->memory_mib[slot] = dispatch_memory_mib(choice->job->need, &stub->place);
	stub->end_s[slot] = sim->now_s + g_rand_int_range(sim->random, MIN_MEASURE_S, MAX_MEASURE_S);
	g_array_append_val(sim->wait_s, wait_s);
	must(store_job_set_state(sim->db, choice->job->id, JOB_MEASURING, stub->place.name, 1, &error), error);
	line_mark(sim->line, choice->job->id);
}

/* How many still wait. */
static guint decide(Sim *sim)
{
	g_autoptr(GArray) choices = g_array_new(FALSE, FALSE, sizeof(Choice));
	GError *error = NULL;
	double before = cpu_ms();

	must(line_refresh(sim->line, sim->db, 1, &error), error);
	const GPtrArray *jobs = line_jobs(sim->line, JOB_WAITING_FOR_HOST);
	dispatch(jobs, sim->places, ++sim->passes, keep, choices);
	double spent = cpu_ms() - before;
	guint waiting = jobs->len - choices->len;
	if (sim->passes > 1)
		g_array_append_val(sim->decision_ms, spent);
	else
		printf("the first decision, which reads all jobs: %.1f ms\n", spent);
	for (guint i = 0; i < choices->len; i++)
		start_job(sim, &g_array_index(choices, Choice, i));
	return waiting;
}

static int compare(gconstpointer a, gconstpointer b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return one < other ? -1 : one > other;
}

static double quantile(GArray *values, double q)
{
	g_array_sort(values, compare);
	return g_array_index(values, double, (guint)(q * (values->len - 1)));
}

static gboolean report(Sim *sim, int n_jobs, double mib)
{
	double worst = quantile(sim->decision_ms, 1), hours = quantile(sim->wait_s, 1) / 3600;
	int places = 0;

	for (int i = 0; i < sim->n_hosts; i++)
		places += sim->stubs[i].place.slots;
	double fair = (double)n_jobs * (MIN_MEASURE_S + MAX_MEASURE_S) / 2 / places / 3600;
	printf("decisions: %u; median %.2f ms, 99 %% %.2f ms, worst %.2f ms of CPU time\n", sim->decision_ms->len,
	       quantile(sim->decision_ms, .5), quantile(sim->decision_ms, .99), worst);
	printf("memory: %.1f MiB resident at most\n", mib);
	printf("jobs started: %u of %d; waited %.1f h in the middle, %.1f h at most; all places busy all the time: %.1f h\n",
	       sim->wait_s->len, n_jobs, quantile(sim->wait_s, .5) / 3600, hours, fair);
	return worst < LIMIT_MS && mib < LIMIT_MIB && sim->wait_s->len == (guint)n_jobs;
}

int main(int argc, char **argv)
{
	Sim sim = { .n_hosts = argc > 2 ? atoi(argv[1]) : 200 };
	int n_jobs = argc > 2 ? atoi(argv[2]) : 5000;
	/* in memory: what a disk takes to sync is not the question */
	g_autofree char *dir = g_strdup("/dev/shm/sim-hosts-XXXXXX");
	GError *error = NULL;
	double mib = 0;

	must(g_mkdtemp(dir) != NULL, NULL);
	g_autofree char *path = g_build_filename(dir, "lab.db", NULL);
	sim.db = db_open(path, &error);
	must(sim.db != NULL, error);
	sim.line = line_new("jobs/benchmarks");
	sim.random = g_rand_new_with_seed(1);
	sim.decision_ms = g_array_new(FALSE, FALSE, sizeof(double));
	sim.wait_s = g_array_new(FALSE, FALSE, sizeof(double));
	make_hosts(&sim);
	for (int i = 0; i < n_jobs; i++)
		add_job(&sim, i);
	printf("%d hosts, %d jobs\n", sim.n_hosts, n_jobs);
	/* a job that starves never starts: ten times what is needed if all places are busy is not enough for it */
	for (int steps = 0; steps < 100000; steps++) {
		guint waiting = decide(&sim);

		mib = MAX(mib, resident_mib());
		if (!waiting)
			break;
		sim.now_s += STEP_S;
		end_jobs(&sim);
	}
	gboolean good = report(&sim, n_jobs, mib);
	line_free(sim.line);
	db_close(sim.db);
	for (const char *const *suffix = (const char *const[]){ "", "-wal", "-shm", NULL }; *suffix; suffix++) {
		g_autofree char *file = g_strconcat(path, *suffix, NULL);
		g_unlink(file);
	}
	g_rmdir(dir);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
