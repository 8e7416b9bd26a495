/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regrlabd: the one long-running process of the lab. */
#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "daemon/access.h"
#include "daemon/cpus.h"
#include "daemon/backup.h"
#include "daemon/health.h"
#include "daemon/lab.h"
#include "daemon/queue.h"
#include "daemon/reload.h"
#include "daemon/routes.h"
#include "daemon/sweep.h"

#define OTHER_DESCRIPTORS 256	/* beside those of connections: files, stages, connections that are closing */
#define BODIES_MAX_BYTES ((gsize)32 * 1024 * 1024)	/* of requests that are coming in */
#define LARGE_BYTES (256 * 1024)	/* memory of this size goes back to the system when it is freed */
#define STOP_S 15	/* until the daemon ends even if a stage does not */

typedef struct {
	char *config, *backup;
	gboolean check, print, new_admin_token, retention_dry_run;
} Options;

typedef struct {
	GMainLoop *loop;
	Lab *lab;
	const char *path;	/* of the configuration */
	gboolean stopping;
} Daemon;

/* A line for all that is wrong, each as the program's own. */
static void complain(const char *message)
{
	g_auto(GStrv) lines = g_strsplit(message, "\n", -1);

	for (char **line = lines; *line; line++)
		g_printerr("regrlabd: %s\n", *line);
}

static gint64 real_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * G_GINT64_CONSTANT(1000000000) + now.tv_nsec;
}

/* ---- ending ---- */

static gboolean quit(gpointer data)
{
	Daemon *daemon = data;

	g_main_loop_quit(daemon->loop);
	return G_SOURCE_REMOVE;
}

static gboolean on_signal(gpointer data)
{
	Daemon *daemon = data;

	if (daemon->stopping)
		return quit(daemon);
	daemon->stopping = TRUE;
	sd_notify(0, "STOPPING=1");
	g_timeout_add_seconds(STOP_S, quit, daemon);
	queue_stop(daemon->lab->queue, quit, daemon);
	return G_SOURCE_CONTINUE;
}

/* ---- SIGHUP ---- */

static void log_lines(GLogLevelFlags level, const char *before, const char *message)
{
	g_auto(GStrv) lines = g_strsplit(message, "\n", -1);

	for (char **line = lines; *line; line++)
		lab_log(level, 0, "%s%s", before, *line);
}

static void reload(Daemon *daemon)
{
	g_autoptr(Config) fresh = NULL;
	g_autoptr(GError) error = NULL;
	g_auto(Reload) reload = { 0 };

	if (!config_load(daemon->path, &fresh, &error)) {
		log_lines(G_LOG_LEVEL_WARNING, "the configuration stays as it was: ", error->message);
		return;
	}
	reload_apply(daemon->lab->config, fresh, &reload);
	lab_log(G_LOG_LEVEL_MESSAGE, 0, "the configuration was read again: %u keys changed", reload.changed);
	for (char **what = reload.restart; *what; what++)
		lab_log(G_LOG_LEVEL_WARNING, 0, "%s takes effect when the daemon is started again", *what);
}

static gboolean on_hangup(gpointer data)
{
	sd_notify(0, "RELOADING=1");
	reload(data);
	sd_notify(0, "READY=1");
	return G_SOURCE_CONTINUE;
}

static gboolean feed_watchdog(gpointer data G_GNUC_UNUSED)
{
	sd_notify(0, "WATCHDOG=1");
	return G_SOURCE_CONTINUE;
}

/* ---- starting ---- */

static gboolean make_folders(const Config *config, GError **error)
{
	g_autofree char *jobs = g_build_filename(config->state_dir, "jobs", NULL);
	const char *const folders[] = { config->state_dir, jobs, config->cache_dir };

	for (gsize i = 0; i < G_N_ELEMENTS(folders); i++)
		if (g_mkdir_with_parents(folders[i], 0755) != 0) {
			g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_IO, "cannot make %s: %s", folders[i],
				    g_strerror(errno));
			return FALSE;
		}
	return TRUE;
}

/* Held as long as the process lives: two daemons on one state would start every stage twice. */
static gboolean lock_state(const Config *config, int *ret_fd, GError **error)
{
	g_autofree char *path = g_build_filename(config->state_dir, "lock", NULL);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
		g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_IO, "%s: %s", path,
			    fd >= 0 && errno == EWOULDBLOCK ? "another regrlabd uses this state directory" : g_strerror(errno));
		if (fd >= 0)
			close(fd);
		return FALSE;
	}
	*ret_fd = fd;
	return TRUE;
}

/*
 * Descriptors for so many connections, and for all else; as many as the
 * system allows. What is left for connections.
 */
static int raise_descriptors(int connections)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return connections;
	if (limit.rlim_cur < (rlim_t)connections + OTHER_DESCRIPTORS) {
		limit.rlim_cur = MIN(limit.rlim_max, (rlim_t)connections + OTHER_DESCRIPTORS);
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur >= (rlim_t)connections + OTHER_DESCRIPTORS)
		return connections;
	lab_log(G_LOG_LEVEL_WARNING, 0, "this process may have %" G_GUINT64_FORMAT " open files only, fewer than connections_max needs",
		(guint64)limit.rlim_cur);
	return MAX(4, (int)limit.rlim_cur - OTHER_DESCRIPTORS);
}

/* A socket that systemd listens on for us: one, or none. */
static gboolean passed_socket(int *ret_listening, GError **error)
{
	int n = sd_listen_fds(1);

	if (n > 1) {
		g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_VALUE, "%d sockets were passed: regrlabd.socket may have one ListenStream", n);
		return FALSE;
	}
	*ret_listening = n == 1 ? SD_LISTEN_FDS_START : 0;
	return TRUE;
}

static gboolean open_lab(Lab *lab, GError **error)
{
	g_autofree char *path = config_database(lab->config);
	HttpOptions options = {
		.listen = lab->config->listen,
		.port = lab->config->port,
		.connections_max = raise_descriptors(lab->config->connections_max),
		.bodies_max_bytes = MAX(BODIES_MAX_BYTES, (gsize)lab->config->max_body_mib * 1024 * 1024),
		.idle_timeout_s = lab->config->idle_timeout_s,
		.request_timeout_s = lab->config->request_timeout_s,
	};

	lab->now_ns = real_time_ns;
	lab->start_ns = lab->now_ns();
	lab->db = db_open(path, error);
	if (!lab->db)
		return FALSE;
	lab->access = access_new(lab, error);
	if (!lab->access || !passed_socket(&options.listening, error))
		return FALSE;
	lab->health = health_new(lab, g_get_monotonic_time);
	lab->queue = queue_new(lab);
	lab->sweeper = sweeper_new(lab);
	lab->http = http_start(&options, &route_rules, lab, error);
	return lab->http != NULL;
}

static void close_lab(Lab *lab)
{
	g_clear_pointer(&lab->http, http_stop);
	g_clear_pointer(&lab->sweeper, sweeper_free);
	g_clear_pointer(&lab->queue, queue_free);
	g_clear_pointer(&lab->health, health_free);
	g_clear_pointer(&lab->access, access_free);
	g_clear_pointer(&lab->db, db_close);
	g_clear_pointer(&lab->config, config_free);
}

/* A signal that comes while the lab is being opened is seen when the loop runs. */
static gboolean run(Lab *lab, const char *path, GError **error)
{
	g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
	Daemon daemon = { .loop = loop, .lab = lab, .path = path };
	guint term = g_unix_signal_add(SIGTERM, on_signal, &daemon);
	guint interrupt = g_unix_signal_add(SIGINT, on_signal, &daemon);
	guint hangup = g_unix_signal_add(SIGHUP, on_hangup, &daemon);
	gboolean good = open_lab(lab, error);
	uint64_t watchdog_us;

	if (good) {
		if (sd_watchdog_enabled(0, &watchdog_us) > 0)
			g_timeout_add((guint)(watchdog_us / 2000), feed_watchdog, NULL);
		lab_log(G_LOG_LEVEL_MESSAGE, 0, "listening on %s", lab->config->url);
		sd_notify(0, "READY=1");
		g_main_loop_run(loop);
	}
	g_source_remove(hangup);
	g_source_remove(term);
	g_source_remove(interrupt);
	return good;
}

static int serve(Config *config, const char *path)
{
	Lab lab = { .config = config };
	g_autoptr(GError) error = NULL;
	int lock_fd = -1;
	gboolean good = cpus_apply(config, &lab.stage_cpus, &error);

	lab.build_cpus = cpus_of_builds(config, &lab.stage_cpus);
	good = good && make_folders(config, &error) && lock_state(config, &lock_fd, &error) && run(&lab, path, &error);

	if (!good)
		g_printerr("regrlabd: %s\n", error->message);
	close_lab(&lab);
	if (lock_fd >= 0)
		close(lock_fd);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Whoever can write the state directory is an admin. */
static char *new_admin_token(const Config *config, GError **error)
{
	g_autofree char *path = config_database(config), *key_path = config_token_key(config), *text = NULL, *target = NULL;
	StoreToken token = { .name = g_strdup("regrlabd --new-admin-token"), .role = ROLE_ADMIN, .created_ns = real_time_ns() };
	g_autoptr(Db) db = NULL;
	TokenKey key;

	if (make_folders(config, error) && token_key_load(key_path, &key, error) && (db = db_open(path, error)))
		text = access_new_token(&key, db, &token, error);
	target = g_strdup_printf("token %" G_GINT64_FORMAT ", admin", token.id);

	StoreAudit entry = { .time_ns = token.created_ns, .who = "console", .name = g_get_user_name(), .address = "",
			     .action = "token-create", .target = target };
	if (text && !store_audit_add(db, &entry, error))
		g_clear_pointer(&text, g_free);
	g_free(token.name);
	g_free(token.hash);
	return g_steal_pointer(&text);
}

static int print_new_admin_token(Config *config)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = new_admin_token(config, &error);

	config_free(config);
	if (!text) {
		g_printerr("regrlabd: %s\n", error->message);
		return EXIT_FAILURE;
	}
	g_print("%s\n", text);
	return EXIT_SUCCESS;
}

/* --backup DIR, --retention-dry-run */
static int run_and_exit(Config *config, const Options *options)
{
	g_autoptr(GError) error = NULL;
	gboolean good = options->backup ? backup_make(config, options->backup, &error) : sweep_dry_run(config, &error);

	config_free(config);
	if (!good)
		g_printerr("regrlabd: %s\n", error->message);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* What depends on this machine, too. */
static int check(Config *config)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GArray) cpus = NULL;
	gboolean good = cpus_of_daemon(config, &cpus, &error);

	if (!good)
		g_printerr("regrlabd: %s\n", error->message);
	config_free(config);
	return good ? EXIT_SUCCESS : 2;
}

static gboolean parse_options(int *argc, char ***argv, Options *options, GError **error)
{
	const GOptionEntry entries[] = {
		{ "config", 'c', 0, G_OPTION_ARG_FILENAME, &options->config,
		  "Configuration, " CONFIG_FILE " if not given", "FILE" },
		{ "check-config", 0, 0, G_OPTION_ARG_NONE, &options->check, "Check the configuration and exit", NULL },
		{ "print-config", 0, 0, G_OPTION_ARG_NONE, &options->print,
		  "Print every key with its value, meaning and range, and exit", NULL },
		{ "new-admin-token", 0, 0, G_OPTION_ARG_NONE, &options->new_admin_token,
		  "Make a token that may do everything, print it, and exit; the daemon may be running", NULL },
		{ "backup", 0, 0, G_OPTION_ARG_FILENAME, &options->backup,
		  "Copy all that the lab cannot make again to DIR, a state directory then, and exit; the daemon may be running",
		  "DIR" },
		{ "retention-dry-run", 0, 0, G_OPTION_ARG_NONE, &options->retention_dry_run,
		  "Say what the daily sweep would remove now, and why, and exit; the daemon may be running", NULL },
		{ NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
	};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);

	g_option_context_set_summary(context,
		"The regression lab's daemon: takes jobs over HTTP, builds and measures them,\n"
		"and shows what came out. Runs in the foreground; SIGTERM ends it, and what it\n"
		"was doing goes on when it is started again.");
	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, argc, argv, error))
		return FALSE;
	if (*argc > 1) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "unexpected argument '%s'", (*argv)[1]);
		return FALSE;
	}
	return TRUE;
}

int main(int argc, char **argv)
{
	Options options = { 0 };
	g_autofree char *path = NULL;
	g_autoptr(GError) error = NULL;
	Config *config;

	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	umask(umask(077) | 022);	/* what it was may be stricter */
	if (!parse_options(&argc, &argv, &options, &error)) {
		g_printerr("regrlabd: %s; see regrlabd --help\n", error->message);
		return 2;
	}
	g_autofree char *backup G_GNUC_UNUSED = options.backup;	/* freed here */
	path = options.config ? options.config : g_strdup(CONFIG_FILE);
	if (!config_load(path, &config, &error)) {
		complain(error->message);
		if (!options.config && g_error_matches(error, CONFIG_ERROR, CONFIG_ERROR_IO))
			g_printerr("regrlabd: --config FILE names another one, such as deploy/regrlab.conf.example\n");
		return 2;
	}
	if (options.print) {
		g_autofree char *text = config_to_text(config);

		g_print("%s", text);
	}
	if (options.print || options.check)
		return check(config);
	if (options.backup || options.retention_dry_run)
		return run_and_exit(config, &options);
	return options.new_admin_token ? print_new_admin_token(config) : serve(config, path);
}
