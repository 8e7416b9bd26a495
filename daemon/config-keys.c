/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config-keys.h"

#include <gio/gio.h>
#include <string.h>

#include "daemon/address.h"
#include "host/policy.h"
#include "jobs/spec/cpus.h"

#define DAY_S 86400
#define LIBDIR REGRLAB_PREFIX "/lib/regrlab"
#define SHAREDIR REGRLAB_PREFIX "/share/regrlab"

#define LIVE .live = TRUE
#define DAEMON(member) .section = "daemon", .key = #member, .offset = G_STRUCT_OFFSET(Config, member)
#define ACCESS(member) .section = "access", .key = #member, .offset = G_STRUCT_OFFSET(Config, member)
#define BUILD(key_, member) .section = "build", .key = (key_), .offset = G_STRUCT_OFFSET(Config, member)
#define KEEP(member) LIVE, .section = "retention", .key = #member, .offset = G_STRUCT_OFFSET(Config, member)
#define MAIL(key_) LIVE, .section = "mail", .key = #key_, .offset = G_STRUCT_OFFSET(Config, mail_##key_)
#define DAYS(standard_) .kind = CONFIG_INT, .min = 0, .max = 36500, .standard = (standard_), .unit = "days, 0: no limit"
#define MIB(standard_) .kind = CONFIG_INT, .min = 0, .max = G_MAXINT, .standard = (standard_), .unit = "MiB, 0: no limit"
#define TREE(member) .section = "tree", .key = #member, .offset = G_STRUCT_OFFSET(ConfigTree, member)
#define HOST(member) .section = "host", .key = #member, .offset = G_STRUCT_OFFSET(ConfigHost, member)

const ConfigSection config_sections[] = {
	{ "daemon", NULL,
	  "Where the lab listens and where its files are. It listens on loopback: from elsewhere either a proxy with TLS in front "
	  "([access]), or ssh -L 8642:localhost:8642 lab.example.org" },
	{ "access", NULL,
	  "Who may do what. The first token: regrlabd --new-admin-token. From then on each change needs one, and reading does if "
	  "read_needs_token says so." },
	{ "build", NULL,
	  "Kernel builds, which do what a patch says. None runs while time is measured on the same CPUs; with CPUs of their own both "
	  "go on at the same time." },
	{ "retention", NULL,
	  "What is kept for how long, and how much of it. Samples and verdicts always are. regrlabd --retention-dry-run says what would "
	  "go now." },
	{ "mail", NULL,
	  "The lab by mail, with regrlab mail: commands in replies, and series posted on lists that are watched. Without an address "
	  "there is none." },
	{ "tree", "linux", "A git repository of the kernel; the first one is that of jobs that name none." },
	{ "host", "local",
	  "A machine that runs virtual machines for the lab. With no such section there is one, local, on this machine. Others: "
	  "uri=qemu+ssh://root@fast.example.org/system" },
};
const gsize config_n_sections = G_N_ELEMENTS(config_sections);

const ConfigKey config_keys[] = {
	{ DAEMON(listen), .kind = CONFIG_ADDRESS, .standard = "127.0.0.1",
	  .help = "address to listen on; another than loopback only with behind_tls_proxy, url and tokens" },
	{ DAEMON(port), .kind = CONFIG_INT, .min = 1, .max = 65535, .standard = "8642", .help = "port to listen on" },
	{ DAEMON(url), .kind = CONFIG_URL, .standard = "",
	  .help = "how people reach the lab, for links; empty: http://LISTEN:PORT" },
	{ DAEMON(cpus), .kind = CONFIG_CPUS, .standard = "",
	  .help = "CPUs for the daemon itself; empty: all but those that a host on this machine measures on" },
	{ DAEMON(state_dir), .kind = CONFIG_PATH, .standard = "/var/lib/regrlab",
	  .help = "database and run directories" },
	{ DAEMON(cache_dir), .kind = CONFIG_PATH, .standard = "/var/cache/regrlab",
	  .help = "kernels, worktrees, ccache, disks: can be deleted while nothing runs" },
	{ DAEMON(job_program), .kind = CONFIG_PATH, .standard = REGRLAB_PREFIX "/bin/regrlab-job",
	  .help = "the program of the stages" },
	{ DAEMON(benchmarks_dir), .kind = CONFIG_PATH, .standard = SHAREDIR "/benchmarks",
	  .help = "descriptions of benchmarks, NAME.ini" },
	{ DAEMON(configs_dir), .kind = CONFIG_PATH, .standard = SHAREDIR "/configs",
	  .help = "kernel configuration profiles, NAME.config" },
	{ DAEMON(guest_image), .kind = CONFIG_PATH, .standard = LIBDIR "/guest.cpio", .help = "the guests' initramfs" },
	{ DAEMON(max_body_mib), .kind = CONFIG_INT, .min = 1, .max = 64, .standard = "20", .unit = "MiB",
	  .help = "largest request body" },
	{ DAEMON(queue_max), LIVE, .kind = CONFIG_INT, .min = 1, .max = 100000, .standard = "200", .unit = "jobs",
	  .help = "jobs that have not ended; more are answered with 429" },
	{ DAEMON(connections_max), .kind = CONFIG_INT, .min = 4, .max = 60000, .standard = "1000",
	  .unit = "connections", .help = "open at once; for more, idle ones are closed" },
	{ DAEMON(idle_timeout_s), .kind = CONFIG_INT, .min = 1, .max = 3600, .standard = "30", .unit = "seconds",
	  .help = "until a connection on which nothing moves is closed" },
	{ DAEMON(request_timeout_s), .kind = CONFIG_INT, .min = 1, .max = 3600, .standard = "120", .unit = "seconds",
	  .help = "for a whole request to come in" },

	{ ACCESS(read_needs_token), LIVE, .kind = CONFIG_BOOL, .standard = "no",
	  .help = "whether reading needs a token, too; changes do as soon as there is one" },
	{ ACCESS(behind_tls_proxy), .kind = CONFIG_BOOL, .standard = "no",
	  .help = "a proxy with TLS is in front of the lab; changes then always need a token" },
	{ ACCESS(trusted_proxies), .kind = CONFIG_NETWORKS, .standard = "",
	  .help = "whose X-Forwarded-For is believed; changes then always need a token" },
	{ ACCESS(requests_per_min), LIVE, .kind = CONFIG_INT, .min = 0, .max = 1000000, .standard = "0", .unit = "requests",
	  .help = "of one address without a token, in a minute; more are answered with 429. 0: no limit" },
	{ ACCESS(token_queue_max), LIVE, .kind = CONFIG_INT, .min = 0, .max = 100000, .standard = "50", .unit = "jobs",
	  .help = "of a token, that have not ended; for tokens made without saying so. 0: no limit" },
	{ ACCESS(token_requests_per_min), LIVE, .kind = CONFIG_INT, .min = 0, .max = 1000000, .standard = "600",
	  .unit = "requests", .help = "of a token in a minute, likewise" },
	{ ACCESS(token_hours_per_day), LIVE, .kind = CONFIG_INT, .min = 0, .max = 100000, .standard = "0", .unit = "hours",
	  .help = "of a token's machine time in 24 hours, likewise" },
	{ ACCESS(token_days), LIVE, .kind = CONFIG_INT, .min = 0, .max = CONFIG_TOKEN_MAX_DAYS, .standard = "0", .unit = "days",
	  .help = "after which a token expires, likewise. 0: never" },
	{ ACCESS(token_key), .kind = CONFIG_FOLDER, .standard = "",
	  .help = "file with the key of the tokens; empty: STATE_DIR/token.key. A credential regrlab.token.key of the service goes before "
		  "it: keep the key as /etc/credstore/regrlab.token.key and name that here, for regrlabd --new-admin-token" },

	{ BUILD("cpus", build_cpus), .kind = CONFIG_CPUS, .standard = "",
	  .help = "CPUs that build kernels; empty: all. No build runs while a measurement does on the same CPUs" },
	{ BUILD("jobs", build_jobs), LIVE, .kind = CONFIG_INT, .min = 0, .max = 4096, .standard = "0",
	  .help = "make -j; 0: as many as CPUs" },
	{ BUILD("timeout_s", build_timeout_s), LIVE, .kind = CONFIG_INT, .min = 10, .max = DAY_S, .standard = "3600",
	  .unit = "seconds", .help = "for one kernel" },
	{ BUILD("user", build_user), LIVE, .kind = CONFIG_USER, .standard = "nobody",
	  .help = "as whom builds run if the daemon is root's; any other daemon's run as its own user" },
	{ BUILD("memory_mib", build_memory_mib), LIVE, .kind = CONFIG_INT, .min = 0, .max = G_MAXINT / 2, .standard = "0", .unit = "MiB",
	  .help = "for all processes of a build; 0: three quarters of the machine's" },
	{ BUILD("disk_mib", build_disk_mib), LIVE, .kind = CONFIG_INT, .min = 64, .max = G_MAXINT / 2, .standard = "16384",
	  .unit = "MiB", .help = "for the folders that a build writes" },

	{ KEEP(logs_days), DAYS("365"), .help = "logs of jobs that have ended; samples and verdicts are always kept" },
	{ KEEP(logs_max_mib), MIB("20000"), .help = "of all logs together, the oldest go first" },
	{ KEEP(artifacts_days), DAYS("365"), .help = "consoles, configurations, domains of jobs that have ended" },
	{ KEEP(artifacts_max_mib), MIB("20000"), .help = "of all artifacts together" },
	{ KEEP(kernels_days), DAYS("90"), .help = "built kernels, since one was last used; those of jobs that have not ended stay" },
	{ KEEP(kernels_max_mib), MIB("20000"), .help = "of all kernels together" },
	{ KEEP(worktrees_days), DAYS("30"), .help = "checkouts and their objects, since one was last used" },
	{ KEEP(worktrees_max_mib), MIB("40000"), .help = "of all of them together" },
	{ KEEP(grace_s), .kind = CONFIG_INT, .min = 0, .max = 30 * DAY_S, .standard = "21600", .unit = "seconds",
	  .help = "what was used within so long is not removed, whoever owns it" },

	{ MAIL(address), .kind = CONFIG_TEXT, .standard = "", .help = "of the lab, in lower case; empty: it has no mail" },
	{ MAIL(token), .kind = CONFIG_INT, .min = 0, .max = G_MAXINT, .standard = "0",
	  .help = "number of the token, of role submit, that regrlab mail uses; 0: only an admin's" },
	{ MAIL(lists), .kind = CONFIG_TEXT, .standard = "",
	  .help = "List-Ids that are watched: series posted there are tested, and commands without the lab's address are taken" },
	{ MAIL(senders), .kind = CONFIG_TEXT, .standard = "", .help = "who may submit: addresses, or @example.org for a domain" },
	{ MAIL(known_lists), .kind = CONFIG_TEXT, .standard = "", .help = "List-Ids whose posters may submit" },
	{ MAIL(authserv_id), .kind = CONFIG_TEXT, .standard = "",
	  .help = "the receiving server, whose Authentication-Results are believed; empty: every command is held for a moderator" },
	{ MAIL(arc_sealers), .kind = CONFIG_TEXT, .standard = "", .help = "domains whose ARC seals are believed" },
	{ MAIL(benchmarks), .kind = CONFIG_TEXT, .standard = "aging,pwrite", .help = "for tests that name none" },
	{ MAIL(per_day), .kind = CONFIG_INT, .min = 0, .max = 100000, .standard = "20", .unit = "mails",
	  .help = "of a sender in 24 hours that something comes of. 0: no limit" },
	{ MAIL(per_hour), .kind = CONFIG_INT, .min = 0, .max = 100000, .standard = "60", .unit = "mails",
	  .help = "that the lab sends; others wait. 0: no limit" },
	{ MAIL(moderate), .kind = CONFIG_BOOL, .standard = "yes",
	  .help = "whether mail to more than who asked for it waits for a moderator" },
	{ MAIL(open_lists), .kind = CONFIG_TEXT, .standard = "", .help = "List-Ids in whose threads it does not" },

	{ TREE(path), LIVE, .kind = CONFIG_PATH, .example = "/srv/git/linux.git", .help = "a git repository of the kernel, bare or not" },
	{ TREE(branch), LIVE, .kind = CONFIG_REF, .standard = "master", .help = "the base of a job that names none" },
	{ TREE(remote), LIVE, .kind = CONFIG_REF, .standard = "",
	  .help = "remote to fetch from when a commit is not there; empty: none" },
	{ TREE(url), .kind = CONFIG_URL, .standard = "",
	  .help = "where anybody can clone and look at it: pages link its commits, reproducers clone it; empty: nowhere" },

	{ HOST(uri), .kind = CONFIG_TEXT, .standard = "",
	  .help = "of libvirt; empty: qemu:///embed?root=STATE_DIR/libvirt-NAME, which needs no libvirt daemon" },
	{ HOST(pool_dir), .kind = CONFIG_FOLDER, .standard = "",
	  .help = "directory on the host of the storage pool for kernels and disks; empty: /var/lib/libvirt/regrlab; "
		  "not for the embedded driver" },
	{ HOST(move_after_s), LIVE, .kind = CONFIG_INT, .min = 0, .max = DAY_S, .standard = "600", .unit = "seconds",
	  .help = "that a host is down until jobs that were measured there begin anew on another" },
	{ HOST(vm_cpus), .kind = CONFIG_CPUS, .standard = "", .help = "CPUs for the guests' CPUs; empty: the lab chooses" },
	{ HOST(other_cpus), .kind = CONFIG_CPUS, .standard = "",
	  .help = "CPUs for emulator and I/O threads; empty: what the guests' CPUs leave of vm_cpus" },
	{ HOST(slots), .kind = CONFIG_INT, .min = 1, .max = 64, .standard = "1", .unit = "comparisons",
	  .help = "at once, each on CPUs that share no cache with the others'; not for the embedded driver" },
	{ HOST(labels), .kind = CONFIG_LABELS, .standard = "",
	  .help = "what jobs can ask for with labels=, such as amd,numa" },
	{ HOST(memory_mib), .kind = CONFIG_INT, .min = 0, .max = 1 << 30, .standard = "0", .unit = "MiB",
	  .help = "that guests may have together; 0: not limited" },
	{ HOST(guest_cpus), .kind = CONFIG_INT, .min = 1, .max = 512, .standard = "2", .unit = "CPUs",
	  .help = "of a guest" },
	{ HOST(boot_timeout_s), LIVE, .kind = CONFIG_INT, .min = 1, .max = DAY_S, .standard = "120", .unit = "seconds",
	  .help = "from a guest's start to its first word" },
	{ HOST(silence_timeout_s), LIVE, .kind = CONFIG_INT, .min = 1, .max = DAY_S, .standard = "120", .unit = "seconds",
	  .help = "between two lines of a running guest" },
	{ HOST(policy), LIVE, .kind = CONFIG_POLICY, .standard = "warn",
	  .help = "where time is measured and the host is not as 'require' says: strict measures nothing, warn marks the result" },
	{ HOST(require), LIVE, .kind = CONFIG_REQUIRE, .standard = HOST_POLICY_AUTO,
	  .help = "what must hold on the host, FACT=VALUE and blanks between; auto: turbo off and the like; regrlab-host --help has "
		  "the facts" },
	{ HOST(max_jitter_pct), LIVE, .kind = CONFIG_INT, .min = 0, .max = 100, .standard = "5", .unit = "percent",
	  .help = "of a measuring CPU's time that may be lost in a short spin before a boot; 100: no limit" },
	{ HOST(max_steal_pct), LIVE, .kind = CONFIG_INT, .min = 0, .max = 100, .standard = "2", .unit = "percent",
	  .help = "of the measuring CPUs' time that a hypervisor may take before and during a boot; 100: no limit" },
	{ HOST(noise_wait_s), LIVE, .kind = CONFIG_INT, .min = 0, .max = 3600, .standard = "60", .unit = "seconds",
	  .help = "that a boot waits at most for a quiet host" },
	{ HOST(max_disturbed_boots), LIVE, .kind = CONFIG_INT, .min = 0, .max = 1000, .standard = "4", .unit = "boots",
	  .help = "of a job that are replaced because the host was noisy; further ones count and are marked" },
	{ HOST(control_every), LIVE, .kind = CONFIG_INT, .min = 0, .max = 1000000, .standard = "10", .unit = "jobs",
	  .help = "one of so many in a row, drawn by lot, has a control arm: four boots more of its base, compared with the base, so "
		  "that the host's rate of false alarms is known. 0: none" },
	{ HOST(max_failed_boots), LIVE, .kind = CONFIG_INT, .min = 0, .max = 1000, .standard = "2", .unit = "boots",
	  .help = "of an arm that are tried again before the job ends as boot-failed" },
};
const gsize config_n_keys = G_N_ELEMENTS(config_keys);

static gboolean is_cpus(const char *text)
{
	g_autoptr(GArray) cpus = NULL;

	return !*text || cpu_list_parse(text, &cpus, NULL);
}

static gboolean is_address(const char *text)
{
	g_autoptr(GInetAddress) address = g_inet_address_new_from_string(text);

	return address != NULL;
}

static gboolean is_networks(const char *text)
{
	g_autoptr(GPtrArray) masks = address_list_parse(text);

	return masks != NULL;
}

static gboolean is_yes_or_no(const char *text)
{
	return g_str_equal(text, "yes") || g_str_equal(text, "no");
}

static gboolean is_url(const char *text)
{
	const char *scheme;

	if (!*text)
		return TRUE;
	if (!g_uri_is_valid(text, G_URI_FLAGS_NONE, NULL) || g_str_has_suffix(text, "/") || strpbrk(text, "?#"))
		return FALSE;
	scheme = g_uri_peek_scheme(text);
	return g_strcmp0(scheme, "http") == 0 || g_strcmp0(scheme, "https") == 0;
}

static gboolean is_ref(const char *text)
{
	if (*text == '-' || *text == '/' || strstr(text, ".."))
		return FALSE;
	for (; *text; text++)
		if (!g_ascii_isalnum(*text) && !strchr("_./-", *text))
			return FALSE;
	return TRUE;
}

static gboolean is_user(const char *text)
{
	return *text && strspn(text, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-.") == strlen(text) && *text != '-';
}

static gboolean are_labels(const char *text)
{
	g_auto(GStrv) labels = g_strsplit(text, ",", -1);

	for (char **label = labels; *label; label++)
		if (!**label || strspn(*label, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_.-") != strlen(*label) ||
		    strchr(".-", **label))
			return FALSE;
	return TRUE;
}

static gboolean is_path(const char *text)
{
	return g_path_is_absolute(text);
}

static gboolean is_policy(const char *text)
{
	return g_str_equal(text, "strict") || g_str_equal(text, "warn");
}

static gboolean is_require(const char *text)
{
	return host_policy_check(text, NULL);
}

static gboolean is_folder(const char *text)
{
	return !*text || is_path(text);
}

static gboolean is_text(const char *text)
{
	return g_utf8_validate(text, -1, NULL);
}

static const struct {
	gboolean (*check)(const char *text);
	const char *allowed;
} kinds[] = {
	[CONFIG_TEXT] = { is_text, "text in UTF-8" },
	[CONFIG_PATH] = { is_path, "an absolute path" },
	[CONFIG_FOLDER] = { is_folder, "an absolute path, or empty" },
	[CONFIG_CPUS] = { is_cpus, "a list of CPUs such as 0-3,8" },
	[CONFIG_ADDRESS] = { is_address, "an address such as 127.0.0.1 or ::1" },
	[CONFIG_NETWORKS] = { is_networks, "addresses and networks such as 127.0.0.1,10.0.0.0/8" },
	[CONFIG_URL] = { is_url, "an http or https URL without a slash at its end" },
	[CONFIG_LABELS] = { are_labels, "names of letters, digits, '_', '.' and '-', separated by commas" },
	[CONFIG_REF] = { is_ref, "a name that git takes for a branch or remote" },
	[CONFIG_USER] = { is_user, "a user's name" },
	[CONFIG_POLICY] = { is_policy, "strict or warn" },
	[CONFIG_REQUIRE] = { is_require, "words FACT=VALUE with facts and values that regrlab-host knows, or auto" },
	[CONFIG_BOOL] = { is_yes_or_no, "yes or no" },
};

char *config_key_allowed(const ConfigKey *key)
{
	if (key->kind == CONFIG_INT)
		return g_strdup_printf("a whole number from %d to %d", key->min, key->max);
	return g_strdup(kinds[key->kind].allowed);
}

gboolean config_key_set(const ConfigKey *key, gpointer record, const char *text, char **ret_allowed)
{
	gint64 number;
	char **member;

	if (key->kind == CONFIG_INT) {
		if (!g_ascii_string_to_signed(text, 10, key->min, key->max, &number, NULL)) {
			*ret_allowed = config_key_allowed(key);
			return FALSE;
		}
		*(int *)G_STRUCT_MEMBER_P(record, key->offset) = (int)number;
		return TRUE;
	}
	if (!kinds[key->kind].check(text)) {
		*ret_allowed = config_key_allowed(key);
		return FALSE;
	}
	if (key->kind == CONFIG_BOOL) {
		*(gboolean *)G_STRUCT_MEMBER_P(record, key->offset) = g_str_equal(text, "yes");
		return TRUE;
	}
	if (key->kind == CONFIG_LABELS) {
		g_strfreev(*(char ***)G_STRUCT_MEMBER_P(record, key->offset));
		*(char ***)G_STRUCT_MEMBER_P(record, key->offset) = g_strsplit(text, ",", -1);
		return TRUE;
	}
	member = (char **)G_STRUCT_MEMBER_P(record, key->offset);
	g_free(*member);
	*member = g_strdup(text);
	return TRUE;
}

char *config_key_text(const ConfigKey *key, gconstpointer record)
{
	const char *at = (const char *)record + key->offset;

	if (key->kind == CONFIG_INT)
		return g_strdup_printf("%d", *(const int *)at);
	if (key->kind == CONFIG_BOOL)
		return g_strdup(*(const gboolean *)at ? "yes" : "no");
	if (key->kind == CONFIG_LABELS)
		return g_strjoinv(",", *(char **const *)at);
	return g_strdup(*(char *const *)at);
}

void config_keys_clear(const char *section, gpointer record)
{
	for (gsize i = 0; i < config_n_keys; i++) {
		const ConfigKey *key = &config_keys[i];

		if (!g_str_equal(key->section, section) || key->kind == CONFIG_INT || key->kind == CONFIG_BOOL)
			continue;
		if (key->kind == CONFIG_LABELS)
			g_clear_pointer((char ***)G_STRUCT_MEMBER_P(record, key->offset), g_strfreev);
		else
			g_clear_pointer((char **)G_STRUCT_MEMBER_P(record, key->offset), g_free);
	}
}
