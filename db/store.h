/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every SQL statement of the lab is in db/store*.c, bound, never formatted.
 * Only the daemon uses it; pages get the records below and never a database.
 *
 * Times are int64 nanoseconds of CLOCK_REALTIME; 0 means "not yet".
 * Records and arrays are the caller's; strings in them are never NULL.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "db/db.h"
#include "jobs/spec/sample.h"
#include "jobs/spec/spec.h"

typedef enum {
	JOB_QUEUED,
	JOB_BUILDING,
	JOB_WAITING_FOR_HOST,
	JOB_MEASURING,
	JOB_DONE,		/* from here on: final */
	JOB_APPLY_FAILED,
	JOB_BUILD_FAILED,
	JOB_BOOT_FAILED,
	JOB_INFRA_FAILED,
	JOB_CANCELLED,
} JobState;
#define JOB_N_STATES (JOB_CANCELLED + 1)

const char *job_state_name(JobState state);	/* "waiting-for-host" */
gboolean job_state_from_name(const char *name, JobState *ret_state);
gboolean job_state_is_final(JobState state);

typedef struct {
	gint64 id;
	JobState state;
	JobSpec *spec;
	char *reason;		/* of a final state: short, kebab-case; else empty */
	char *message;		/* a sentence a person can act on; else empty */
	char *failed_arm;	/* base, patched or empty */
	JsonObject *detail;	/* of the end event, NULL if none */
	JsonObject *progress;	/* the last progress event's members, NULL if none */
	JsonObject *source;	/* the source event, NULL before it */
	JsonObject *accelerator;	/* likewise */
	JsonObject *plan;	/* likewise */
	JsonObject *look;	/* the last look event, NULL before it */
	JsonObject *more;	/* the last more event, NULL: no boots were added */
	JsonObject *host_state;	/* the last host-state event, likewise */
	JsonObject *arms[2];	/* base, patched: the arm events */
	JsonObject *trust;	/* how fit the host was when the result came (ARCHITECTURE.md, "Trust"), NULL before it */
	JsonObject *control;	/* what came of its control arm, NULL: it has none, or not yet */
	char *host;		/* name, or empty */
	gint64 created_ns, started_ns, finished_ns;
	gint64 last_seq;	/* of the last event ingested */
	int boots_valid[2], boots_failed[2];	/* base, patched */
	int boots_control;	/* valid ones of its control arm */
	int boots_disturbed[2];	/* that the host's noise cost: neither of these */
	gboolean cancel_asked;
	char *submitter;	/* "token N" or an address; empty: before there were any */
} StoreJob;

void store_job_free(StoreJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreJob, store_job_free)

typedef struct {
	int boot, pair;
	char *arm;		/* base, patched or control */
	char *host, *clock;
	gboolean valid;
	char *reason, *detail;
	gint64 start_ns, end_ns, first_sample_ns;
	JsonObject *hello;	/* NULL if the guest never said it */
	JsonObject *machine;	/* the host around it; NULL if the stage did not look */
} StoreBoot;

void store_boot_free(StoreBoot *boot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreBoot, store_boot_free)

/* ---- reading: what pages, API and metrics show ---- */

#define STORE_LIST_MAX	200	/* jobs of one list */

/* Which jobs; FALSE, 0 and NULL mean any. All that is said has to hold. */
typedef struct {
	gboolean live;		/* only those that are not final */
	gboolean ended;		/* only those that are */
	gboolean by_end;	/* only those that are, the last to end first; there is no cursor, and only .state may be said beside */
	gboolean by_state;	/* only those in .state */
	JobState state;
	const char *tree;
	const char *benchmark;
	const char *subject, *author;	/* words, or beginnings of words; case does not matter */
	const char *commit;	/* of base, patched kernel or head: the beginning of its hash, or a name as it was asked for */
	const char *verdict;	/* of a primary comparison: REGRESSION */
	const char *series;	/* StoreBrief.series */
	gint64 before_id;	/* only ids below it: the cursor; 0: from the newest */
	int limit;		/* 1 .. STORE_LIST_MAX */
} StoreFilter;

/* What a list of jobs shows of one. */
typedef struct {
	gint64 id;
	JobState state;
	gboolean cancel_asked;
	char *tree, *reason, *failed_arm;	/* as of StoreJob */
	char *subject, *author;
	char *benchmarks;	/* "aging, pwrite" */
	char *summary;		/* the latest result's sentence; empty: no result */
	char *verdicts;		/* of its primary comparisons, each once, commas between them */
	char *series;		/* the same for all versions of a series: its change-id, else its subject in small letters */
	int version;		/* of the series, 1 if it does not say */
	gint64 created_ns, finished_ns;
} StoreBrief;

void store_brief_free(StoreBrief *brief);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreBrief, store_brief_free)

/* No such job: TRUE, *ret_job is NULL. */
gboolean store_job_get(Db *db, gint64 id, StoreJob **ret_job, GError **error);

/*
 * Newest first; *ret_jobs is an array of StoreJob that owns them, *ret_cursor
 * the before_id of the next list, 0 if this was the last.
 */
gboolean store_job_list(Db *db, const StoreFilter *filter, GPtrArray **ret_jobs,
			gint64 *ret_cursor, GError **error);
/* The same, of StoreBrief. */
gboolean store_brief_list(Db *db, const StoreFilter *filter, GPtrArray **ret_briefs, gint64 *ret_cursor, GError **error);
/* No such job: TRUE, *ret_brief is NULL. */
gboolean store_brief_get(Db *db, gint64 id, StoreBrief **ret_brief, GError **error);

/* How many jobs are in each state; ret_counts has JOB_N_STATES elements. */
gboolean store_job_counts(Db *db, gint64 *ret_counts, GError **error);

/* The boots of a job in the order of their numbers; an array of StoreBoot that owns them. */
gboolean store_boots(Db *db, gint64 job, GPtrArray **ret_boots, GError **error);

/* The look events of a job, the first one first; an array of JsonObject that owns them. */
gboolean store_looks(Db *db, gint64 job, GPtrArray **ret_looks, GError **error);

/* The counters event of a job; *ret_counters is the caller's, NULL: none. */
gboolean store_counters(Db *db, gint64 job, JsonObject **ret_counters, GError **error);

/* The result object as JSON text (stats_result_from_json() reads it), with its continuation; NULL: none yet. */
gboolean store_result(Db *db, gint64 job, char **ret_json, GError **error);

/* A file that came with the job, "series.mbox" or "config"; NULL: none. */
gboolean store_job_file(Db *db, gint64 job, const char *name, GBytes **ret_content, GError **error);

/*
 * A job's samples, in the order in which they were taken, in pages, so that
 * a reader of a million rows holds one page of them and no lock. The strings
 * live as long as the reader.
 */
typedef struct StoreSamples StoreSamples;

gboolean store_samples_open(Db *db, gint64 job, StoreSamples **ret_samples, GError **error);
/* The next sample; NULL without error at the end. Owned by the reader, valid until the next call. */
const Sample *store_samples_next(StoreSamples *samples, GError **error);
void store_samples_free(StoreSamples *samples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreSamples, store_samples_free)

/* What the boots on a host told of it, of all jobs. */
typedef struct {
	char *accelerator, *qemu_version, *libvirt_version;	/* as last seen; empty: not yet */
	gint64 boots_valid, boots_failed;
	gint64 last_boot_ns;
	gboolean drained;	/* somebody said that it is to take no more jobs */
} StoreHost;

gboolean store_host(Db *db, const char *name, StoreHost *ret_host, GError **error);	/* zeros: nothing known */
void store_host_clear(StoreHost *host);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StoreHost, store_host_clear)

/* When a host came and went: up, down, drained, resumed. */
typedef struct {
	gint64 time_ns;
	char *what, *message;
} StoreHostEvent;

void store_host_event_free(StoreHostEvent *event);

/* The last ones, newest first; an array of StoreHostEvent that owns them. */
gboolean store_host_events(Db *db, const char *name, int limit, GPtrArray **ret_events, GError **error);

/* Transactions "host-event" and "host-drain". */
gboolean store_host_event(Db *db, const char *name, const char *what, const char *message, gint64 now_ns, GError **error);
gboolean store_host_drain(Db *db, const char *name, gboolean drained, const char *message, gint64 now_ns, GError **error);

/* How a host was set when a boot was last made there. */
typedef struct {
	JsonObject *object;	/* the host-state event; NULL: never looked at */
	gint64 seen_ns;
	gint64 boots_disturbed;	/* of all jobs */
} StoreHostState;

gboolean store_host_state(Db *db, const char *name, StoreHostState *ret_state, GError **error);
void store_host_state_clear(StoreHostState *state);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StoreHostState, store_host_state_clear)

/* ---- writing: the API's submissions ---- */

typedef struct {
	JobSpec *spec;		/* .job and a zero .seed are filled in */
	GBytes *series;		/* the file series.mbox; NULL: none */
	GBytes *config;		/* the file config; NULL: none */
	const char *key;	/* Idempotency-Key; NULL: none */
	const char *digest;	/* of the request's body, compared when the key comes again */
	const char *submitter;
	char **hosts;		/* a job on each, their numbers following each other; NULL: one job, wherever its spec says */
} StoreSubmission;

/*
 * Stores a job (or one a host; *ret_job is the first), queued, with its files and key, in transaction "submit". The
 * same key with the same digest gives the job it gave before, *ret_again
 * TRUE; with another digest it is DB_ERROR_CONFLICT. Keys are kept
 * STORE_KEY_DAYS.
 */
#define STORE_KEY_DAYS	7
gboolean store_job_add(Db *db, const StoreSubmission *submission, gint64 now_ns,
		       gint64 *ret_job, gboolean *ret_again, GError **error);

/*
 * Transaction "cancel": cancel_asked is set, and unless a stage of it runs
 * the job ends at once. A final one stays as it is. *ret_state is the state
 * afterwards.
 */
gboolean store_job_cancel(Db *db, gint64 job, gboolean running, gint64 now_ns, JobState *ret_state, GError **error);

/*
 * Transaction "more": a job that is done waits for its host again, for that
 * many boots an arm more. CONFLICT if it is not done, or would have more than
 * SPEC_MAX_MORE added. Whatever comes of them it is done afterwards: a job
 * that has a result never ends in another state.
 */
gboolean store_job_more(Db *db, gint64 job, int boots, GError **error);

/* ---- writing: queue and runner ---- */

/* A job that has not ended, as far as deciding whose turn it is needs it. */
typedef struct {
	gint64 id;
	JobState state;
	gboolean cancel_asked;
	gint64 created_ns;
	JobClock clock;		/* of its boots; auto: not known yet */
	JobSpec *spec;		/* NULL: as it was known */
	char *spec_text;	/* its JSON */
	char *host;		/* where it is or was measured; empty: nowhere yet */
	char *submitter;
	gboolean has_boots;	/* valid ones, on that host */
} StoreTurn;

/* May steal spec, spec_text, host and submitter of the turn; what is left is freed. */
typedef void (*StoreTurnFunc)(StoreTurn *turn, gpointer data);

/* All with ids above after, in the order of their ids. */
gboolean store_turns(Db *db, gint64 after, StoreTurnFunc func, gpointer data, GError **error);
/*
 * One; func is not called if there is none, or it has ended. known_spec: the spec_text that it had; where it still has that, the
 * spec is not read again. NULL: not known.
 */
gboolean store_turn(Db *db, gint64 job, const char *known_spec, StoreTurnFunc func, gpointer data, GError **error);

/* Transaction "state": to a state that is not final. host NULL: as it was. */
gboolean store_job_set_state(Db *db, gint64 job, JobState state, const char *host,
			     gint64 now_ns, GError **error);

/* Transaction "finish": to a final state, unless it is final already. */
gboolean store_job_finish(Db *db, gint64 job, JobState state, const char *reason, const char *message,
			  gint64 now_ns, GError **error);

/* ---- writing: ingest. One transaction "ingest", from begin to commit or rollback. ---- */

/* How far the run directory has been taken in. */
typedef struct {
	gint64 seq;		/* of the last event */
	gint64 events_offset;	/* behind the last event, bytes of events.jsonl */
	gint64 samples_offset;	/* behind the last sample, bytes of samples.jsonl */
	gint64 samples;		/* lines before it */
} StorePosition;

typedef struct StoreIngest StoreIngest;

StoreIngest *store_ingest_begin(Db *db, gint64 job, StorePosition *ret_position, GError **error);
gboolean store_ingest_commit(StoreIngest *ingest, const StorePosition *position, GError **error);	/* takes it */
void store_ingest_rollback(StoreIngest *ingest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreIngest, store_ingest_rollback)

/*
 * kind: progress, source, accelerator, plan, look, look-01 …, counters, host-state, result, more, more-result, end, arm-base, arm-patched or
 * trust; the last of each is kept.
 */
gboolean store_ingest_document(StoreIngest *ingest, const char *kind, JsonObject *object, GError **error);
/* A host's state, of a host-state event: the job's document and the host's. */
gboolean store_ingest_host_state(StoreIngest *ingest, const char *host, JsonObject *object, gint64 now_ns, GError **error);
gboolean store_ingest_boot(StoreIngest *ingest, const StoreBoot *boot, GError **error);
/* number: of its line in samples.jsonl, 0 first; its boot must be there */
gboolean store_ingest_sample(StoreIngest *ingest, gint64 number, const Sample *sample, GError **error);
/* Boots on other hosts than this one count no longer: the job has begun anew there. */
gboolean store_ingest_moved(StoreIngest *ingest, const char *host, GError **error);
/* Any state but queued; a final one ends the job. */
gboolean store_ingest_state(StoreIngest *ingest, JobState state, const char *reason, const char *message,
			    const char *arm, gint64 now_ns, GError **error);
