/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may do what, as far as it needs no connection: tokens, rates, addresses, the store, the routes' own rules. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/address.h"
#include "daemon/rate.h"
#include "daemon/routes.h"
#include "daemon/token.h"

#define NOW G_GINT64_CONSTANT(1790000000123456789)
#define HOUR_NS (G_GINT64_CONSTANT(3600) * 1000000000)
#define SECRET "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* ---- tokens ---- */

static void check_parse(const char *text, gint64 id)
{
	const char *secret = NULL;
	gint64 found = 0;

	g_assert_cmpint(token_parse(text, &found, &secret), ==, id != 0);
	g_assert_cmpint(found, ==, id);
	g_assert_cmpstr(secret, ==, id ? SECRET : NULL);
}

static void test_text(void)
{
	g_autofree char *text = token_text(7, SECRET);
	g_autofree char *one = token_secret_new(NULL), *two = token_secret_new(NULL);

	g_assert_cmpstr(text, ==, "regrlab_7_" SECRET);
	check_parse(text, 7);
	check_parse("regrlab_9223372036854775807_" SECRET, G_MAXINT64);
	check_parse("", 0);
	check_parse("regrlab_", 0);
	check_parse("regrlab__" SECRET, 0);
	check_parse("regrlab_0_" SECRET, 0);
	check_parse("regrlab_-1_" SECRET, 0);
	check_parse("regrlab_7_" SECRET "0", 0);
	check_parse("regrlab_7_0" SECRET, 0);
	check_parse("regrlab_7_g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e", 0);
	check_parse("Regrlab_7_" SECRET, 0);
	check_parse("regrlab_9223372036854775808_" SECRET, 0);
	g_assert_cmpuint(strlen(one), ==, TOKEN_SECRET_DIGITS);
	g_assert_cmpstr(one, !=, two);
}

/* RFC 4231, test case 1 has a key of 20 bytes; with zeros behind, HMAC's key of 64 bytes is the same. */
static void test_hash(void)
{
	TokenKey key = { { 0 } }, other = { { 1 } };
	g_autofree char *hash = NULL, *again = NULL, *elsewhere = NULL;

	memset(key.bytes, 0x0b, 20);
	hash = token_hash(&key, "Hi There");
	g_assert_cmpstr(hash, ==, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	again = token_hash(&key, "Hi There");
	elsewhere = token_hash(&other, "Hi There");
	g_assert_true(token_hash_is(hash, again));
	g_assert_false(token_hash_is(hash, elsewhere));
	g_assert_false(token_hash_is(hash, ""));
	again[63] = again[63] == '0' ? '1' : '0';
	g_assert_false(token_hash_is(hash, again));
}

static void test_key_file(void)
{
	g_autofree char *dir = g_dir_make_tmp("regrlab-token-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "token.key", NULL);
	g_autoptr(GError) error = NULL;
	TokenKey first, second;
	struct stat status;

	g_assert_true(token_key_load(path, &first, &error));
	g_assert_no_error(error);
	g_assert_true(token_key_load(path, &second, &error));
	g_assert_cmpmem(&first, sizeof(first), &second, sizeof(second));
	g_assert_cmpint(stat(path, &status), ==, 0);
	g_assert_cmpuint(status.st_mode & 0777, ==, 0600);
	g_assert_cmpuint(status.st_size, ==, TOKEN_SECRET_DIGITS + 1);
	g_assert_cmpint(g_chmod(path, 0640), ==, 0);
	g_assert_false(token_key_load(path, &first, &error));
	g_assert_nonnull(strstr(error->message, "chmod 600"));
	g_clear_error(&error);
	g_assert_true(g_file_set_contents_full(path, "short\n", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
	g_assert_cmpint(g_chmod(path, 0600), ==, 0);
	g_assert_false(token_key_load(path, &first, &error));
	g_unlink(path);
	g_rmdir(dir);
}

/* ---- rates ---- */

static void test_rate(void)
{
	g_autoptr(Rate) rate = rate_new();
	gint64 now_us = G_GINT64_CONSTANT(1000000000000);
	int wait_s = 0;

	for (int i = 0; i < 60; i++)
		g_assert_true(rate_take(rate, "a", 60, now_us, &wait_s));
	g_assert_false(rate_take(rate, "a", 60, now_us, &wait_s));
	g_assert_cmpint(wait_s, ==, 1);
	g_assert_true(rate_take(rate, "b", 60, now_us, &wait_s));
	/* one comes back each second, and no more than a minute's */
	g_assert_true(rate_take(rate, "a", 60, now_us + G_USEC_PER_SEC, &wait_s));
	g_assert_false(rate_take(rate, "a", 60, now_us + G_USEC_PER_SEC, &wait_s));
	now_us += G_GINT64_CONSTANT(3600) * G_USEC_PER_SEC;
	for (int i = 0; i < 60; i++)
		g_assert_true(rate_take(rate, "a", 60, now_us, &wait_s));
	g_assert_false(rate_take(rate, "a", 60, now_us, &wait_s));
	g_assert_true(rate_take(rate, "c", 1, now_us, &wait_s));
	g_assert_false(rate_take(rate, "c", 1, now_us, &wait_s));
	g_assert_cmpint(wait_s, ==, 60);
	/* strangers do not use up the memory, nor make it forget who comes all the time */
	for (int i = 0; i < 3 * RATE_KEYS; i++) {
		g_autofree char *key = g_strdup_printf("%d", i);

		g_assert_true(rate_take(rate, key, 1, now_us, &wait_s));
		g_assert_false(rate_take(rate, "c", 1, now_us, &wait_s));
	}
	g_assert_cmpuint(rate_keys(rate), ==, RATE_KEYS);
}

/* ---- addresses ---- */

static void check_address(const char *peer, const char *forwarded, const char *trusted, const char *expected)
{
	g_autoptr(GPtrArray) masks = address_list_parse(trusted);
	g_autofree char *address = NULL;

	g_assert_nonnull(masks);
	address = address_of_caller(peer, forwarded, masks);
	g_assert_cmpstr(address, ==, expected);
}

static void test_addresses(void)
{
	check_address("192.0.2.1", NULL, "", "192.0.2.1");
	check_address("", NULL, "", "");
	check_address("::ffff:192.0.2.1", NULL, "", "192.0.2.1");
	/* a stranger says what he likes */
	check_address("192.0.2.1", "198.51.100.7", "", "192.0.2.1");
	check_address("192.0.2.1", "198.51.100.7", "127.0.0.1", "192.0.2.1");
	check_address("127.0.0.1", "198.51.100.7", "127.0.0.1", "198.51.100.7");
	/* what is before the first address that no proxy of ours saw is a stranger's word */
	check_address("127.0.0.1", "203.0.113.9, 198.51.100.7", "127.0.0.1", "198.51.100.7");
	check_address("127.0.0.1", "203.0.113.9, 198.51.100.7,10.1.2.3", "127.0.0.1,10.0.0.0/8", "198.51.100.7");
	check_address("::1", "2001:db8::7", "::1", "2001:db8::7");
	check_address("127.0.0.1", "rubbish", "127.0.0.1", "127.0.0.1");
	check_address("127.0.0.1", "198.51.100.7, rubbish", "127.0.0.1", "127.0.0.1");
	check_address("127.0.0.1", "", "127.0.0.1", "127.0.0.1");
	g_assert_null(address_list_parse("10.0.0.0/33"));
	g_assert_null(address_list_parse("localhost"));
	g_assert_null(address_list_parse("127.0.0.1,"));
	g_assert_true(address_is_loopback("127.8.0.1") && address_is_loopback("::1") && address_is_loopback("::ffff:127.0.0.1"));
	g_assert_false(address_is_loopback("0.0.0.0") || address_is_loopback("192.0.2.1") || address_is_loopback("x"));
}

/* ---- the store ---- */

static gint64 add_token(Db *db, Role role)
{
	StoreToken token = { .name = (char *)"t", .role = role, .hash = (char *)"h", .queue_max = 3, .created_ns = NOW };
	g_autoptr(GError) error = NULL;

	g_assert_true(store_token_add(db, &token, &error));
	g_assert_no_error(error);
	return token.id;
}

static void check_exist(Db *db, gboolean any, gboolean admin)
{
	gboolean found_any, found_admin;

	g_assert_true(store_tokens_exist(db, NOW, &found_any, &found_admin, NULL));
	g_assert_cmpint(found_any, ==, any);
	g_assert_cmpint(found_admin, ==, admin);
}

static void count_entry(const StoreAudit *entry, gpointer data)
{
	g_assert_cmpstr(entry->action, ==, "submit");
	(*(int *)data)++;
}

static void test_store(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Db) db = db_open(":memory:", &error);
	StoreAudit entry = { .time_ns = NOW, .who = "token 1", .name = "t", .address = "::1", .action = "submit", .target = "job 1" };
	g_autoptr(StoreToken) token = NULL;
	DbTransaction *outer;
	gboolean any, admin;
	int entries = 0, jobs;
	gint64 used;

	g_assert_no_error(error);
	check_exist(db, FALSE, FALSE);
	g_assert_cmpint(add_token(db, ROLE_SUBMIT), ==, 1);
	check_exist(db, TRUE, FALSE);
	g_assert_cmpint(add_token(db, ROLE_ADMIN), ==, 2);
	check_exist(db, TRUE, TRUE);
	g_assert_true(store_token_revoke(db, 2, NOW + 5, &error) && store_token_revoke(db, 2, NOW + 9, &error));
	check_exist(db, TRUE, FALSE);
	g_assert_true(store_token_get(db, 2, &token, &error));
	g_assert_cmpint(token->revoked_ns, ==, NOW + 5);
	g_assert_false(store_token_works(token, NOW));
	/* the last nanosecond of a token, and the one after it */
	token->revoked_ns = 0;
	token->expires_ns = NOW + 7;
	g_assert_true(store_token_works(token, NOW + 6));
	g_assert_false(store_token_works(token, NOW + 7));
	g_assert_true(store_token_add(db, token, &error));
	g_assert_true(store_tokens_exist(db, NOW + 6, &any, &admin, &error) && admin);
	g_assert_true(store_tokens_exist(db, NOW + 7, &any, &admin, &error) && any && !admin);
	check_exist(db, TRUE, TRUE);
	g_assert_true(store_token_revoke(db, token->id, NOW, &error));
	/* an entry that is a part of a change that does not last does not last either */
	outer = db_begin(db, "change", &error);
	g_assert_true(store_audit_add(db, &entry, &error));
	db_rollback(outer);
	outer = db_begin(db, "change", &error);
	g_assert_true(store_audit_add(db, &entry, &error) && db_commit(outer, &error));
	g_assert_true(store_audit_list(db, 0, 10, count_entry, &entries, &error));
	g_assert_cmpint(entries, ==, 1);
	g_assert_true(store_jobs_live_of(db, "token 1", &jobs, &error));
	g_assert_cmpint(jobs, ==, 0);
	g_assert_true(store_machine_time(db, "token 1", NOW, &used, &error));
	g_assert_cmpint(used, ==, 0);
}

static void check_share(const char *submitter, gint64 used_ns, int hours_per_day, gpointer data)
{
	g_assert_cmpstr(submitter, ==, "token 1");
	g_assert_cmpint(used_ns, ==, 112);
	g_assert_cmpint(hours_per_day, ==, 8);
	(*(int *)data)++;
}

static void test_machine_time(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Db) db = db_open(":memory:", &error);
	g_autoptr(JobSpec) spec = job_spec_new();
	StoreSubmission submission = { .spec = spec, .submitter = "token 1" };
	gboolean again;
	StoreToken token = { .name = (char *)"t", .role = ROLE_SUBMIT, .hash = (char *)"h", .hours_per_day = 8, .created_ns = NOW };
	gint64 job = 0, used = 0;
	int jobs, shares = 0;

	g_assert_true(store_token_add(db, &token, &error) && store_job_add(db, &submission, NOW, &job, &again, &error));
	g_assert_true(store_machine_time_add(db, job, 5, NOW, &error) && store_machine_time_add(db, job, 7, NOW, &error) &&
		      store_machine_time_add(db, job, 100, NOW - 12 * HOUR_NS, &error));
	g_assert_true(store_machine_time(db, "token 1", NOW, &used, &error));
	g_assert_cmpint(used, ==, 112);
	g_assert_true(store_machine_time(db, "token 1", NOW + 13 * HOUR_NS, &used, &error));
	g_assert_cmpint(used, ==, 12);
	g_assert_true(store_machine_times(db, NOW, check_share, &shares, &error));
	g_assert_cmpint(shares, ==, 1);
	g_assert_true(store_machine_time(db, "token 8", NOW, &used, &error));
	g_assert_cmpint(used, ==, 0);
	g_assert_true(store_jobs_live_of(db, "token 1", &jobs, &error));
	g_assert_cmpint(jobs, ==, 1);
}

/* ---- routes ---- */

/* Every row says who may; what changes something needs a role and a name in the audit log. */
static void test_routes(void)
{
	for (gsize i = 0; i < routes_n; i++) {
		gboolean reads = g_str_equal(routes[i].method, "GET");

		g_assert_cmpint(routes[i].access, !=, ACCESS_UNDECLARED);
		g_assert_cmpint(routes[i].action == NULL, ==, reads);
		if (!reads)
			g_assert_cmpint(routes[i].access, >=, ACCESS_SUBMIT);
		if (routes[i].body != BODY_NONE)
			g_assert_false(reads);
	}
}

static void test_owner(void)
{
	Caller caller = { .role = ROLE_SUBMIT, .token = 3, .submitter = (char *)"token 3" };

	g_assert_true(caller_owns(&caller, "token 3"));
	g_assert_false(caller_owns(&caller, "token 33"));
	g_assert_false(caller_owns(&caller, ""));
	caller.role = ROLE_ADMIN;
	g_assert_true(caller_owns(&caller, "token 33"));
	/* two that come from one address without a token are not the same */
	caller = (Caller){ .role = ROLE_SUBMIT, .submitter = (char *)"127.0.0.1" };
	g_assert_false(caller_owns(&caller, "127.0.0.1"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/access/text", test_text);
	g_test_add_func("/access/hash", test_hash);
	g_test_add_func("/access/key-file", test_key_file);
	g_test_add_func("/access/rate", test_rate);
	g_test_add_func("/access/addresses", test_addresses);
	g_test_add_func("/access/store", test_store);
	g_test_add_func("/access/machine-time", test_machine_time);
	g_test_add_func("/access/routes", test_routes);
	g_test_add_func("/access/owner", test_owner);
	return g_test_run();
}
