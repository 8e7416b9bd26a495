/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/store-records.h"
#include "jobs/spec/file.h"

#define DAY_NS (G_GINT64_CONSTANT(86400) * 1000000000)

/* The job that a key gave before; 0: none. CONFLICT if it was for another body. */
static gboolean find_key(Db *db, const StoreSubmission *submission, gint64 *ret_job, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT job, digest FROM idempotency WHERE key = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, submission->key);
	if (!db_step(stmt, &row, error))
		return FALSE;
	if (row && !g_str_equal(db_text(stmt, 1), submission->digest)) {
		g_set_error(error, DB_ERROR, DB_ERROR_CONFLICT,
			    "this Idempotency-Key was used before for another submission, job %" G_GINT64_FORMAT,
			    db_int(stmt, 0));
		return FALSE;
	}
	*ret_job = row ? db_int(stmt, 0) : 0;
	return TRUE;
}

static gboolean forget_old_keys(Db *db, gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "DELETE FROM idempotency WHERE created_ns < ?1", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, now_ns - STORE_KEY_DAYS * DAY_NS);
	return db_run(stmt, error);
}

static gboolean add_key(Db *db, const StoreSubmission *submission, gint64 job, gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "INSERT INTO idempotency VALUES (?1, ?2, ?3, ?4)", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, submission->key);
	db_bind_text(stmt, 2, submission->digest);
	db_bind_int(stmt, 3, job);
	db_bind_int(stmt, 4, now_ns);
	return db_run(stmt, error);
}

static gboolean add_file(Db *db, gint64 job, const char *name, GBytes *content, GError **error)
{
	g_autoptr(DbStmt) stmt = NULL;

	if (!content)
		return TRUE;
	stmt = db_prepare(db, "INSERT INTO job_file VALUES (?1, ?2, ?3)", error);
	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	db_bind_text(stmt, 2, name);
	db_bind_bytes(stmt, 3, content);
	return db_run(stmt, error);
}

static gboolean set_spec(Db *db, JobSpec *spec, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "UPDATE job SET spec = ?2 WHERE id = ?1", error);
	g_autoptr(JsonObject) object = job_spec_to_json(spec);
	g_autofree char *json = json_object_to_line(object);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, spec->job);
	db_bind_text(stmt, 2, json);
	return db_run(stmt, error) && store_index(db, spec->job, error);
}

static guint64 pick_seed(void)
{
	guint64 seed = ((guint64)g_random_int() << 32) | g_random_int();

	return seed ? seed : 1;
}

static gboolean add_job(Db *db, JobSpec *spec, const char *submitter, gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "INSERT INTO job (state, tree, priority, spec, created_ns, submitter)"
		    " VALUES (?1, ?2, ?3, '{}', ?4, ?5)", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, job_state_name(JOB_QUEUED));
	db_bind_text(stmt, 2, spec->tree);
	db_bind_int(stmt, 3, spec->priority);
	db_bind_int(stmt, 4, now_ns);
	db_bind_text(stmt, 5, submitter);
	if (!db_run(stmt, error))
		return FALSE;
	spec->job = db_last_id(db);
	if (!spec->seed)
		spec->seed = pick_seed();
	return TRUE;
}

static gboolean add_whole_job(Db *db, const StoreSubmission *submission, gint64 now_ns, GError **error)
{
	JobSpec *spec = submission->spec;

	return set_spec(db, spec, error) && add_file(db, spec->job, "series.mbox", submission->series, error) &&
	       add_file(db, spec->job, "config", submission->config, error) &&
	       (!submission->key || (spec->replicate_of && spec->job != spec->replicate_of) ||
		add_key(db, submission, spec->job, now_ns, error));
}

/* *ret_first: the number of the first. Within one transaction numbers follow each other: AUTOINCREMENT, one writer. */
static gboolean add_jobs(Db *db, const StoreSubmission *submission, gint64 now_ns, gint64 *ret_first, GError **error)
{
	JobSpec *spec = submission->spec;
	guint64 seed = spec->seed;
	guint i = 0;

	*ret_first = 0;
	do {
		spec->seed = seed;
		if (submission->hosts) {
			g_free(spec->host);
			spec->host = g_strdup(submission->hosts[i]);
		}
		if (!add_job(db, spec, submission->submitter, now_ns, error))
			return FALSE;
		*ret_first = i ? *ret_first : spec->job;
		spec->replicate_of = submission->hosts ? *ret_first : 0;
		g_assert(spec->job == *ret_first + i);
		if (!add_whole_job(db, submission, now_ns, error))
			return FALSE;
		i++;
	} while (submission->hosts && submission->hosts[i]);
	return TRUE;
}

gboolean store_job_add(Db *db, const StoreSubmission *submission, gint64 now_ns,
		       gint64 *ret_job, gboolean *ret_again, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "submit", error);
	gint64 before = 0, first = 0;

	if (!transaction || !forget_old_keys(db, now_ns, error) ||
	    (submission->key && !find_key(db, submission, &before, error)) ||
	    (!before && !add_jobs(db, submission, now_ns, &first, error)) ||
	    !db_commit(g_steal_pointer(&transaction), error))
		return FALSE;
	*ret_job = before ? before : first;
	*ret_again = before != 0;
	return TRUE;
}

/* ---- states ---- */

static gboolean end_job(Db *db, gint64 job, JobState state, const char *reason, const char *message,
			gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "UPDATE job SET state = " STORE_END_STATE ", reason = ?3, message = ?4, finished_ns = ?5"
		    " WHERE id = ?1 AND finished_ns = 0", error);

	g_assert(job_state_is_final(state) && now_ns > 0);
	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	db_bind_text(stmt, 2, job_state_name(state));
	db_bind_text(stmt, 3, reason);
	db_bind_text(stmt, 4, message);
	db_bind_int(stmt, 5, now_ns);
	return db_run(stmt, error) && store_index(db, job, error);
}

static gboolean ask_cancel(Db *db, gint64 job, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "UPDATE job SET cancel_asked = 1 WHERE id = ?1 AND finished_ns = 0", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	return db_run(stmt, error);
}

static gboolean read_state(Db *db, gint64 job, JobState *ret_state, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT state FROM job WHERE id = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	if (!db_step(stmt, &row, error))
		return FALSE;
	if (!row || !job_state_from_name(db_text(stmt, 0), ret_state)) {
		g_set_error(error, DB_ERROR, DB_ERROR_FAILED, "there is no job %" G_GINT64_FORMAT, job);
		return FALSE;
	}
	return TRUE;
}

gboolean store_job_cancel(Db *db, gint64 job, gboolean running, gint64 now_ns, JobState *ret_state, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "cancel", error);
	JobState state;

	if (!transaction || !ask_cancel(db, job, error) ||
	    (!running && !end_job(db, job, JOB_CANCELLED, "cancelled", "cancelled before it came to an end",
				  now_ns, error)) ||
	    !read_state(db, job, &state, error) || !db_commit(g_steal_pointer(&transaction), error))
		return FALSE;
	*ret_state = state;
	return TRUE;
}

gboolean store_job_set_state(Db *db, gint64 job, JobState state, const char *host, gint64 now_ns, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "state", error);
	g_autoptr(DbStmt) stmt = NULL;

	g_assert(!job_state_is_final(state));
	if (!transaction)
		return FALSE;
	stmt = db_prepare(db, "UPDATE job SET state = ?2, host = coalesce(?3, host),"
			      " started_ns = CASE WHEN started_ns = 0 THEN ?4 ELSE started_ns END"
			      " WHERE id = ?1 AND finished_ns = 0", error);
	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	db_bind_text(stmt, 2, job_state_name(state));
	db_bind_text(stmt, 3, host);
	db_bind_int(stmt, 4, now_ns);
	return db_run(stmt, error) && store_index(db, job, error) && db_commit(g_steal_pointer(&transaction), error);
}

gboolean store_job_finish(Db *db, gint64 job, JobState state, const char *reason, const char *message,
			  gint64 now_ns, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "finish", error);

	return transaction && end_job(db, job, state, reason, message, now_ns, error) &&
	       db_commit(g_steal_pointer(&transaction), error);
}

/* ---- boots added to a job that is done ---- */

static gboolean wake_job(Db *db, gint64 job, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "UPDATE job SET state = ?2, reason = '', message = '', failed_arm = '', cancel_asked = 0, finished_ns = 0"
		    " WHERE id = ?1", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	db_bind_text(stmt, 2, job_state_name(JOB_WAITING_FOR_HOST));
	return db_run(stmt, error) && store_index(db, job, error);
}

gboolean store_job_more(Db *db, gint64 job, int boots, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "more", error);
	g_autoptr(StoreJob) record = NULL;

	if (!transaction || !store_job_get(db, job, &record, error))
		return FALSE;
	if (!record || record->state != JOB_DONE || record->spec->more_boots + boots > SPEC_MAX_MORE) {
		g_set_error(error, DB_ERROR, DB_ERROR_CONFLICT, "job %" G_GINT64_FORMAT " takes no more boots now", job);
		return FALSE;
	}
	record->spec->more_boots += boots;
	return set_spec(db, record->spec, error) && wake_job(db, job, error) &&
	       db_commit(g_steal_pointer(&transaction), error);
}
