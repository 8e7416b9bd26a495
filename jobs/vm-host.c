/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/vm-host.h"

#include <libvirt/virterror.h>
#include <libxml/parser.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "jobs/hostvolumes.h"
#include "jobs/spec/file.h"
#include "jobs/vm-embed.h"
#include "jobs/vm-xml.h"

#define STORE_DIR	"files"		/* below the embedded root */
#define SYSTEM_RUN_DIR	"/run/libvirt/qemu"
#define XML_MAX_BYTES	(1024 * 1024)
#define LOG_MAX_BYTES	(1024 * 1024)	/* of ROOT/log/libvirt.log; begun anew beyond */
#define LEFTOVER_S	90		/* a QEMU that does not answer holds its lock for 30 s */
#define LEFTOVER_EVERY_MS	500

struct VmHost {
	virConnectPtr connection;
	HostStore *store;
	VmEmbed embed;
	gboolean embedded, here;
	char *marks_dir, *lab, *run;
	GThread *loop;
	gint stop;		/* atomic: the loop's thread ends */
	int stop_fd;
};

/* libvirt prints errors unless told otherwise; ours are in GErrors. */
static void be_silent(void *user G_GNUC_UNUSED, virErrorPtr error G_GNUC_UNUSED)
{
}

/* ---- the event loop ---- */

static gpointer run_loop(gpointer data)
{
	VmHost *host = data;

	while (!g_atomic_int_get(&host->stop))
		if (virEventRunDefaultImpl() < 0)
			break;
	return NULL;
}

static void remove_timer(int timer, void *user G_GNUC_UNUSED)
{
	virEventRemoveTimeout(timer);
}

static void stop_loop(VmHost *host)
{
	if (!host->loop)
		return;
	g_atomic_int_set(&host->stop, TRUE);
	virEventAddTimeout(0, remove_timer, NULL, NULL);
	g_thread_join(host->loop);
}

/* The embedded driver would log to our stderr, all kinds of things that it then does without. Read once, at the first opening. */
static void log_to_file(VmHost *host)
{
	g_autofree char *dir = g_build_filename(host->embed.root, "log", NULL);
	g_autofree char *path = g_build_filename(dir, "libvirt.log", NULL);
	g_autofree char *output = g_strconcat("3:file:", path, NULL);
	struct stat status;

	g_mkdir_with_parents(dir, 0755);
	if (stat(path, &status) == 0 && status.st_size > LOG_MAX_BYTES)
		unlink(path);
	g_setenv("LIBVIRT_LOG_OUTPUTS", output, FALSE);
}

static gboolean start_loop(VmHost *host, GError **error)
{
	static gsize once = 0;
	static gboolean registered = FALSE;

	if (g_once_init_enter(&once)) {
		registered = virInitialize() == 0 && virEventRegisterDefaultImpl() == 0;
		g_once_init_leave(&once, 1);
	}
	if (!registered)
		return vm_error_libvirt(error, "libvirt does not start");
	virSetErrorFunc(NULL, be_silent);
	host->loop = g_thread_new("libvirt", run_loop, host);
	return TRUE;
}

/* ---- opening ---- */

gboolean vm_host_is_here(const char *uri)
{
	g_autoptr(GUri) parsed = g_uri_parse(uri, G_URI_FLAGS_NONE, NULL);
	const char *server = parsed ? g_uri_get_host(parsed) : NULL;

	return !server || !*server;
}

/* QEMU's driver, whatever the way to it. */
static gboolean is_qemu(const char *uri)
{
	g_autoptr(GUri) parsed = g_uri_parse(uri, G_URI_FLAGS_NONE, NULL);
	const char *scheme = parsed ? g_uri_get_scheme(parsed) : "";

	return g_str_equal(scheme, "qemu") || g_str_has_prefix(scheme, "qemu+");
}

static gboolean open_embedded(VmHost *host, const VmHostSetup *setup, GError **error)
{
	g_autofree char *files = NULL;

	if (!vm_embed_prepare(setup->uri, &host->embed, error))
		return FALSE;
	files = g_build_filename(host->embed.root, STORE_DIR, NULL);
	log_to_file(host);
	host->store = host_store_new(files, host->embed.uid, host->embed.gid, error);
	return host->store != NULL;
}

static gboolean open_uri(VmHost *host, const VmHostSetup *setup, GError **error)
{
	host->embedded = vm_embed_is(setup->uri);
	host->here = vm_host_is_here(setup->uri);
	host->marks_dir = g_strdup(setup->marks_dir);
	host->lab = g_strdup(setup->lab);
	host->run = g_strdup(setup->run);
	host->stop_fd = setup->stop_fd;
	if (!host->embedded && !is_qemu(setup->uri)) {
		g_set_error(error, VM_ERROR, VM_ERROR_URI, "%s: not an URI of QEMU: wanted qemu:///embed?root=DIR, "
			    "qemu:///system, qemu:///session, qemu+ssh://HOST/system, qemu+tls:// or qemu+tcp://", setup->uri);
		return FALSE;
	}
	if ((host->embedded && !open_embedded(host, setup, error)) || !start_loop(host, error))
		return FALSE;
	host->connection = virConnectOpen(host->embedded ? host->embed.uri : setup->uri);
	if (!host->connection)
		return vm_error_libvirt(error, setup->uri);
	if (host->embedded)
		return TRUE;
	/* not every driver has it: a local socket needs none */
	virConnectSetKeepAlive(host->connection, VM_HOST_PING_S, VM_HOST_PINGS);
	host->store = host_volumes_new(host->connection, setup->pool_dir, setup->marks_dir, setup->lab, setup->run, error);
	return host->store != NULL;
}

VmHost *vm_host_open(const VmHostSetup *setup, GError **error)
{
	g_autoptr(VmHost) host = g_new0(VmHost, 1);

	return open_uri(host, setup, error) ? g_steal_pointer(&host) : NULL;
}

gboolean vm_host_alive(VmHost *host)
{
	return virConnectIsAlive(host->connection) == 1;
}

void vm_host_close(VmHost *host)
{
	if (!host)
		return;
	host_store_free(host->store);
	if (host->connection)
		virConnectClose(host->connection);
	stop_loop(host);
	vm_embed_clear(&host->embed);
	g_free(host->marks_dir);
	g_free(host->lab);
	g_free(host->run);
	g_free(host);
}

virConnectPtr vm_host_connection(VmHost *host)
{
	return host->connection;
}

HostStore *vm_host_store(VmHost *host)
{
	return host->store;
}

const char *vm_host_note(const VmHost *host)
{
	return host->embedded ? host->embed.note : "";
}

/* ---- what the host is ---- */

static char *version_text(unsigned long version)
{
	return g_strdup_printf("%lu.%lu.%lu", version / 1000000, version / 1000 % 1000, version % 1000);
}

char *vm_host_qemu_version(VmHost *host, GError **error)
{
	unsigned long version;

	if (virConnectGetVersion(host->connection, &version) < 0) {
		vm_error_libvirt(error, "QEMU's version");
		return NULL;
	}
	return version_text(version);
}

char *vm_host_libvirt_version(VmHost *host, GError **error)
{
	unsigned long version;

	if (virConnectGetLibVersion(host->connection, &version) < 0) {
		vm_error_libvirt(error, "libvirt's version");
		return NULL;
	}
	return version_text(version);
}

char *vm_host_kernel(VmHost *host)
{
	struct utsname names;

	return g_strdup(host->here && uname(&names) == 0 ? names.release : "");
}

static void add_part(xmlDoc *document, xmlNode *host, const char *name, GChecksum *sum)
{
	for (xmlNode *node = host ? host->children : NULL; node; node = node->next) {
		xmlBuffer *buffer;

		if (node->type != XML_ELEMENT_NODE || !g_str_equal((const char *)node->name, name))
			continue;
		buffer = xmlBufferCreate();
		if (xmlNodeDump(buffer, document, node, 0, 0) >= 0)
			g_checksum_update(sum, xmlBufferContent(buffer), xmlBufferLength(buffer));
		xmlBufferFree(buffer);
	}
}

char *vm_host_identity(VmHost *host)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	char *text = virConnectGetCapabilities(host->connection);
	xmlDoc *document = text ? xmlReadMemory(text, (int)strlen(text), NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR) : NULL;
	xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
	xmlNode *machine = root ? xmlFirstElementChild(root) : NULL;

	add_part(document, machine, "uuid", sum);
	add_part(document, machine, "cpu", sum);
	xmlFreeDoc(document);
	free(text);
	return g_strdup(machine ? g_checksum_get_string(sum) : "");
}

gboolean vm_host_offers_kvm(VmHost *host)
{
	g_autofree char *capabilities = virConnectGetDomainCapabilities(host->connection, NULL, "x86_64", NULL, "kvm", 0);

	return capabilities != NULL;
}

/* ---- domains of an earlier stage ---- */

/* An attribute of our metadata; the caller's, empty if there is none. */
static char *attribute(xmlNode *node, const char *name)
{
	xmlChar *value = node ? xmlGetProp(node, BAD_CAST name) : NULL;
	char *copy = g_strdup(value ? (const char *)value : "");

	xmlFree(value);
	return copy;
}

/* Whose a domain is, by its metadata; both the caller's, empty: nobody's of a lab. */
static void domain_owner(virDomainPtr domain, char **ret_lab, char **ret_run)
{
	g_autofree char *text = virDomainGetMetadata(domain, VIR_DOMAIN_METADATA_ELEMENT, VM_METADATA_URI,
						     VIR_DOMAIN_AFFECT_LIVE);
	xmlDoc *document = text && strlen(text) < XML_MAX_BYTES
				   ? xmlReadMemory(text, (int)strlen(text), NULL, NULL,
						   XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
				   : NULL;
	xmlNode *root = document ? xmlDocGetRootElement(document) : NULL;
	*ret_lab = attribute(root, "lab");
	*ret_run = attribute(root, "run");

	xmlFreeDoc(document);
}

char *vm_domain_run(virDomainPtr domain)
{
	g_autofree char *lab = NULL, *run = NULL;

	domain_owner(domain, &lab, &run);
	return *run ? g_steal_pointer(&run) : NULL;
}

static gboolean is_leftover(VmHost *host, virDomainPtr domain)
{
	g_autofree char *lab = NULL, *run = NULL;

	domain_owner(domain, &lab, &run);
	if (!*run || host->embedded)
		return *run != '\0';
	return g_str_equal(lab, host->lab) && (g_str_equal(run, host->run) || host_run_is_dead(host->marks_dir, run));
}

/*
 * While the driver still takes up what it finds at its start, a call on that domain waits for its lock and gives up, though
 * the QEMU may be gone: so again, for a while.
 */
gboolean vm_host_end_domain(VmHost *host, virDomainPtr domain, GError **error)
{
	const gint64 end = g_get_monotonic_time() + LEFTOVER_S * G_USEC_PER_SEC;
	struct pollfd stop = { .fd = host->stop_fd, .events = POLLIN };

	for (;;) {
		g_autoptr(GError) failed = NULL;

		if (virDomainDestroy(domain) == 0)
			return TRUE;
		vm_error_libvirt(&failed, "a domain left over cannot be ended");	/* before the next call forgets it */
		if (virDomainIsActive(domain) != 1)
			return TRUE;
		if (g_get_monotonic_time() >= end || poll(&stop, 1, LEFTOVER_EVERY_MS) > 0) {
			g_propagate_error(error, g_steal_pointer(&failed));
			return FALSE;
		}
	}
}

gboolean vm_host_destroy_leftovers(VmHost *host, int *ret_count, GError **error)
{
	virDomainPtr *domains = NULL;
	int count = virConnectListAllDomains(host->connection, &domains, VIR_CONNECT_LIST_DOMAINS_ACTIVE), ended = 0;
	gboolean done = TRUE;

	if (count < 0)
		return vm_error_libvirt(error, "the list of domains");
	for (int i = 0; i < count; i++) {
		if (done && is_leftover(host, domains[i])) {
			done = vm_host_end_domain(host, domains[i], error);
			ended += done;
		}
		virDomainFree(domains[i]);
	}
	free(domains);
	if (done && !host->embedded && host_volumes_sweep(host->store) < 0)
		done = vm_error_libvirt(error, "the list of volumes");
	*ret_count = ended;
	return done;
}

pid_t vm_host_pid(VmHost *host, const char *domain)
{
	g_autofree char *dir = host->embedded ? g_build_filename(host->embed.root, "run", "qemu", NULL)
					      : g_strdup(SYSTEM_RUN_DIR);
	g_autofree char *path = g_strdup_printf("%s/%s.pid", dir, domain);
	g_autofree char *text = NULL;
	guint64 pid;

	if (!host->here)
		return 0;
	if (!file_read(path, 64, &text, NULL, NULL))
		return 0;
	g_strchomp(text);
	return g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT, &pid, NULL) ? (pid_t)pid : 0;
}
