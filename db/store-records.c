/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/store-records.h"

#include <string.h>

#include "jobs/spec/file.h"

static const char *const state_names[JOB_N_STATES] = {
	[JOB_QUEUED] = "queued",
	[JOB_BUILDING] = "building",
	[JOB_WAITING_FOR_HOST] = "waiting-for-host",
	[JOB_MEASURING] = "measuring",
	[JOB_DONE] = "done",
	[JOB_APPLY_FAILED] = "apply-failed",
	[JOB_BUILD_FAILED] = "build-failed",
	[JOB_BOOT_FAILED] = "boot-failed",
	[JOB_INFRA_FAILED] = "infra-failed",
	[JOB_CANCELLED] = "cancelled",
};

const char *job_state_name(JobState state)
{
	return state_names[state];
}

gboolean job_state_from_name(const char *name, JobState *ret_state)
{
	for (int i = 0; i < JOB_N_STATES; i++) {
		if (g_strcmp0(state_names[i], name) == 0) {
			*ret_state = i;
			return TRUE;
		}
	}
	return FALSE;
}

gboolean job_state_is_final(JobState state)
{
	return state >= JOB_DONE;
}

/* Where a document of a kind is kept in the record. */
static const struct {
	const char *kind;
	gsize offset;
} documents[] = {
	{ "progress", G_STRUCT_OFFSET(StoreJob, progress) },
	{ "source", G_STRUCT_OFFSET(StoreJob, source) },
	{ "accelerator", G_STRUCT_OFFSET(StoreJob, accelerator) },
	{ "plan", G_STRUCT_OFFSET(StoreJob, plan) },
	{ "look", G_STRUCT_OFFSET(StoreJob, look) },
	{ "more", G_STRUCT_OFFSET(StoreJob, more) },
	{ "host-state", G_STRUCT_OFFSET(StoreJob, host_state) },
	{ "arm-base", G_STRUCT_OFFSET(StoreJob, arms[0]) },
	{ "arm-patched", G_STRUCT_OFFSET(StoreJob, arms[1]) },
	{ "trust", G_STRUCT_OFFSET(StoreJob, trust) },
	{ "control", G_STRUCT_OFFSET(StoreJob, control) },
};

void store_job_free(StoreJob *job)
{
	if (!job)
		return;
	job_spec_free(job->spec);
	g_free(job->reason);
	g_free(job->message);
	g_free(job->failed_arm);
	g_free(job->host);
	g_free(job->submitter);
	g_clear_pointer(&job->detail, json_object_unref);
	for (gsize i = 0; i < G_N_ELEMENTS(documents); i++)
		g_clear_pointer((JsonObject **)G_STRUCT_MEMBER_P(job, documents[i].offset), json_object_unref);
	g_free(job);
}

void store_boot_free(StoreBoot *boot)
{
	if (!boot)
		return;
	g_free(boot->arm);
	g_free(boot->host);
	g_free(boot->clock);
	g_free(boot->reason);
	g_free(boot->detail);
	g_clear_pointer(&boot->hello, json_object_unref);
	g_clear_pointer(&boot->machine, json_object_unref);
	g_free(boot);
}

static gboolean read_spec(DbStmt *stmt, int column, JobSpec **ret_spec, GError **error)
{
	const char *json = db_text(stmt, column);
	g_autoptr(JsonObject) object = NULL;

	return json_object_from_data(json, strlen(json), &object, error) &&
	       job_spec_from_json(object, ret_spec, error);
}

static void keep_document(StoreJob *job, const char *kind, JsonObject *object)
{
	for (gsize i = 0; i < G_N_ELEMENTS(documents); i++)
		if (g_str_equal(documents[i].kind, kind))
			*(JsonObject **)G_STRUCT_MEMBER_P(job, documents[i].offset) = json_object_ref(object);
	if (g_str_equal(kind, "end") && json_object_has_member(object, "detail")) {
		JsonNode *detail = json_object_get_member(object, "detail");

		if (JSON_NODE_HOLDS_OBJECT(detail))
			job->detail = json_node_dup_object(detail);
	}
}

static gboolean read_documents(Db *db, StoreJob *job, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT kind, json FROM document WHERE job = ?1 AND kind NOT IN ('result', 'more-result', 'counters')"
		    " AND kind NOT GLOB 'look-*'", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job->id);
	while (db_step(stmt, &row, error)) {
		g_autoptr(JsonObject) object = NULL;
		const char *json;

		if (!row)
			return TRUE;
		json = db_text(stmt, 1);
		if (!json_object_from_data(json, strlen(json), &object, error))
			return FALSE;
		keep_document(job, db_text(stmt, 0), object);
	}
	return FALSE;
}

static gboolean count_boots(Db *db, StoreJob *job, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT arm = 'patched', valid, reason = 'disturbed', control FROM boot"
						" WHERE job = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job->id);
	while (db_step(stmt, &row, error)) {
		if (!row)
			return TRUE;
		if (db_int(stmt, 3))
			job->boots_control += db_int(stmt, 1) != 0;
		else if (db_int(stmt, 1))
			job->boots_valid[db_int(stmt, 0)]++;
		else if (db_int(stmt, 2))
			job->boots_disturbed[db_int(stmt, 0)]++;
		else
			job->boots_failed[db_int(stmt, 0)]++;
	}
	return FALSE;
}

StoreJob *store_job_from_row(Db *db, DbStmt *stmt, GError **error)
{
	g_autoptr(StoreJob) job = g_new0(StoreJob, 1);

	job->id = db_int(stmt, 0);
	if (!job_state_from_name(db_text(stmt, 1), &job->state)) {
		g_set_error(error, DB_ERROR, DB_ERROR_CORRUPT,
			    "job %" G_GINT64_FORMAT " is in no state that there is: %s", job->id, db_text(stmt, 1));
		return NULL;
	}
	job->reason = g_strdup(db_text(stmt, 3));
	job->message = g_strdup(db_text(stmt, 4));
	job->failed_arm = g_strdup(db_text(stmt, 5));
	job->host = g_strdup(db_text(stmt, 6));
	job->cancel_asked = db_int(stmt, 7) != 0;
	job->created_ns = db_int(stmt, 8);
	job->started_ns = db_int(stmt, 9);
	job->finished_ns = db_int(stmt, 10);
	job->last_seq = db_int(stmt, 11);
	job->submitter = g_strdup(db_text(stmt, 12));
	if (!read_spec(stmt, 2, &job->spec, error) || !read_documents(db, job, error) ||
	    !count_boots(db, job, error)) {
		g_prefix_error(error, "job %" G_GINT64_FORMAT ": ", job->id);
		return NULL;
	}
	return g_steal_pointer(&job);
}
