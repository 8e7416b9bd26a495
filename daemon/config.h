/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's configuration, a GKeyFile. Every key is one row of the table in
 * config-keys.c: section, key, kind, range, default, unit, help. Unknown
 * sections and keys are errors, as are values out of range.
 */
#pragma once

#include <glib.h>

#define CONFIG_FILE "/etc/regrlab/regrlab.conf"
#define CONFIG_MAX_BYTES (256 * 1024)
#define CONFIG_TOKEN_MAX_DAYS 36500

#define CONFIG_ERROR (config_error_quark())
GQuark config_error_quark(void);

typedef enum {
	CONFIG_ERROR_IO,	/* cannot be read */
	CONFIG_ERROR_SYNTAX,	/* not a key file */
	CONFIG_ERROR_UNKNOWN,	/* no such section or key */
	CONFIG_ERROR_VALUE,	/* not what the key allows */
	CONFIG_ERROR_MISSING,	/* a section or key that must be there */
} ConfigError;

typedef struct {
	char *name;
	char *path;		/* a git repository, absolute */
	char *branch;		/* the default base */
	char *remote;		/* to fetch from when a commit is missing; empty: none */
	char *url;		/* where anybody can clone it; empty: nowhere */
} ConfigTree;

#define CONFIG_EMBEDDED "qemu:///embed"	/* what URIs of the embedded driver begin with */

typedef struct {
	char *name;
	char *uri;		/* of libvirt */
	char *pool_dir;		/* of its storage pool; empty: the standard one */
	int move_after_s;	/* a host is down until its jobs begin anew on another */
	char *vm_cpus;		/* for vCPUs, list format; empty: all */
	char *other_cpus;	/* for emulator and I/O threads; empty: vm_cpus */
	char **labels;		/* NULL-terminated: what jobs can ask for */
	int memory_mib;		/* for guests; 0: not limited */
	int guest_cpus;
	int slots;		/* comparisons at once */
	int boot_timeout_s;
	int silence_timeout_s;
	int max_failed_boots;
	char *policy;		/* strict or warn */
	char *require;		/* words of host/policy.h */
	int max_jitter_pct, max_steal_pct;	/* 100: no limit */
	int noise_wait_s;
	int max_disturbed_boots;
	int control_every;	/* 0: never */
} ConfigHost;

typedef struct {
	char *listen;		/* an address; not loopback only with behind_tls_proxy */
	int port;
	char *url;		/* of the lab for people, no slash at its end */
	char *cpus;		/* for the daemon itself, list format; empty: all that measure nothing */
	char *state_dir;
	char *cache_dir;
	char *job_program;
	char *benchmarks_dir;
	char *configs_dir;
	char *guest_image;
	int max_body_mib;
	int queue_max;		/* jobs that are not final */
	int connections_max;
	int idle_timeout_s;	/* of a connection on which nothing moves */
	int request_timeout_s;	/* from a request's first byte to its last */

	gboolean behind_tls_proxy;
	gboolean read_needs_token;
	char *trusted_proxies;	/* addresses and networks, commas between them */
	int requests_per_min;	/* of one address, without a token; 0: no limit */
	int token_queue_max;	/* for new tokens; 0: no limit */
	int token_requests_per_min;
	int token_hours_per_day;
	char *token_key;	/* a file; empty: in state_dir */
	int token_days;		/* until they expire; 0: never */

	char *build_cpus;	/* list format; empty: all */
	int build_jobs;		/* of make; 0: as many as build_cpus */
	int build_timeout_s;	/* of one kernel */
	char *build_user;	/* as whom builds run if root starts them */
	int build_memory_mib;	/* of a build; 0: three quarters of the machine's */
	int build_disk_mib;	/* of the folders that a build writes */

	/* [retention]; 0: no limit */
	int logs_days, logs_max_mib;
	int artifacts_days, artifacts_max_mib;
	int kernels_days, kernels_max_mib;
	int worktrees_days, worktrees_max_mib;
	int grace_s;

	/* [mail]; words with commas or blanks between them */
	char *mail_address;	/* the lab's own; empty: no mail */
	int mail_token;		/* the bot's; 0: none but admins' */
	char *mail_lists, *mail_senders, *mail_known_lists;
	char *mail_authserv_id, *mail_arc_sealers;
	char *mail_benchmarks;	/* of what names none */
	int mail_per_day;	/* of a sender; 0: no limit */
	int mail_per_hour;	/* sent; 0: no limit */
	gboolean mail_moderate;
	char *mail_open_lists;	/* List-Ids to which mail goes without a moderator */

	GPtrArray *trees;	/* of ConfigTree, owned; at least one; the first is the default */
	GPtrArray *hosts;	/* of ConfigHost, owned; at least one */
} Config;

/* The error has a line for all that is wrong: file, line (where there is one), section, key and what is allowed. */
gboolean config_load(const char *path, Config **ret_config, GError **error);
gboolean config_from_data(const char *name, const char *data, gsize size, Config **ret_config, GError **error);
void config_free(Config *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Config, config_free)

/* The configuration as a file with every key, its help and its range; the caller's. */
char *config_to_text(const Config *config);
/* The same with the defaults, commented out: deploy/regrlab.conf.example; the caller's. */
char *config_example(void);

const ConfigTree *config_tree(const Config *config, const char *name);	/* empty: the first; NULL: none such */
const ConfigHost *config_host(const Config *config, const char *name);	/* NULL: none such */

char *config_database(const Config *config);	/* STATE/regrlab.db; the caller's */
/* The service's credential of that name if systemd gave it one, else token_key, else STATE/token.key; the caller's. */
#define CONFIG_TOKEN_CREDENTIAL "regrlab.token.key"
char *config_token_key(const Config *config);

gboolean config_host_is_here(const ConfigHost *host);	/* on this machine: there is no other in its URI */
