/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/spec/file.h"
#include "jobs/spec/place.h"

#define TAIL_BYTES 600

static void set(char **member, const char *value)
{
	g_free(*member);
	*member = g_strdup(value);
}

static JobPlace *make_place(const Config *config, const ConfigTree *tree, const ConfigHost *host, int slot)
{
	JobPlace *place = job_place_new();

	set(&place->tree, tree->name);
	set(&place->tree_path, tree->path);
	set(&place->tree_branch, tree->branch);
	set(&place->tree_remote, tree->remote);
	set(&place->cache_dir, config->cache_dir);
	set(&place->guest_image, config->guest_image);
	set(&place->benchmarks_dir, config->benchmarks_dir);
	set(&place->configs_dir, config->configs_dir);
	set(&place->build_cpus, config->build_cpus);
	place->build_jobs = config->build_jobs;
	place->build_timeout_s = config->build_timeout_s;
	set(&place->build_user, config->build_user);
	place->build_memory_mib = config->build_memory_mib;
	place->build_disk_mib = config->build_disk_mib;
	if (!host)
		return place;
	set(&place->host, host->name);
	set(&place->host_uri, host->uri);
	set(&place->pool_dir, host->pool_dir);
	set(&place->vm_cpus, host->vm_cpus);
	set(&place->other_cpus, host->other_cpus);
	place->guest_cpus = host->guest_cpus;
	place->slots = host->slots;
	place->slot = slot;
	place->boot_timeout_s = host->boot_timeout_s;
	place->silence_timeout_s = host->silence_timeout_s;
	place->max_failed_boots = host->max_failed_boots;
	set(&place->host_policy, host->policy);
	set(&place->host_require, host->require);
	place->max_jitter_pct = host->max_jitter_pct;
	place->max_steal_pct = host->max_steal_pct;
	place->noise_wait_s = host->noise_wait_s;
	place->max_disturbed_boots = host->max_disturbed_boots;
	place->control_every = host->control_every;
	return place;
}

static gboolean write_file(const Lab *lab, gint64 job, const char *dir, const char *name, GError **error)
{
	g_autofree char *path = g_build_filename(dir, name, NULL), *there = NULL;
	g_autoptr(GBytes) content = NULL;
	gsize size, there_size;
	const char *data;

	if (!store_job_file(lab->db, job, name, &content, error))
		return FALSE;
	if (!content)
		return TRUE;
	data = g_bytes_get_data(content, &size);
	if (!data)
		data = "";
	/* what a disk has lost is not built or measured as if it had been asked for */
	if (file_read(path, size, &there, &there_size, NULL) && there_size == size && memcmp(there, data, size) == 0)
		return TRUE;
	return file_write(path, data, size, error);
}

gboolean run_dir_prepare(const Lab *lab, gint64 job, const char *dir, const ConfigHost *host, int slot, GError **error)
{
	g_autoptr(StoreJob) record = NULL;
	g_autoptr(JobPlace) place = NULL;
	const ConfigTree *tree;

	if (g_mkdir_with_parents(dir, 0755) != 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "%s: %s", dir, g_strerror(errno));
	if (!store_job_get(lab->db, job, &record, error))
		return FALSE;
	g_assert(record);
	tree = config_tree(lab->config, record->spec->tree);
	if (!tree)
		return spec_error_set(error, SPEC_ERROR_VALUE, "tree", "there is no tree '%s' any longer",
				      record->spec->tree);
	place = make_place(lab->config, tree, host, slot);
	return write_file(lab, job, dir, "series.mbox", error) && write_file(lab, job, dir, "config", error) &&
	       job_spec_save(record->spec, dir, error) && job_place_save(place, dir, error);
}

gboolean run_dir_prepare_host(const Lab *lab, const char *dir, const ConfigHost *host, GError **error)
{
	g_autoptr(JobPlace) place = make_place(lab->config, g_ptr_array_index(lab->config->trees, 0), host, 0);
	g_autofree char *facts = g_build_filename(dir, "host.json", NULL), *log = g_build_filename(dir, "log", NULL);

	if (g_mkdir_with_parents(dir, 0755) != 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "%s: %s", dir, g_strerror(errno));
	unlink(facts);
	unlink(log);
	return job_place_save(place, dir, error);
}

char *run_dir_log_tail(const char *dir)
{
	g_autofree char *path = g_build_filename(dir, "log", NULL);
	char buffer[TAIL_BYTES + 1] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	ssize_t n = 0;
	char *text;

	if (size >= 0)
		n = pread(fd, buffer, TAIL_BYTES, MAX(0, size - TAIL_BYTES));
	if (fd >= 0)
		close(fd);
	text = g_utf8_make_valid(buffer, MAX(0, n));
	for (char *p = text; *p; p++)
		if (g_ascii_iscntrl(*p))
			*p = ' ';
	return g_strstrip(text);
}
