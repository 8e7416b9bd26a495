/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeds every file of the folders and files named to a fuzz target, without libFuzzer. */
#include <stdint.h>
#include <stdio.h>

#include <glib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean replay(const char *path)
{
	g_autofree char *data = NULL;
	gsize size;
	g_autoptr(GError) error = NULL;

	if (!g_file_get_contents(path, &data, &size, &error)) {
		fprintf(stderr, "%s\n", error->message);
		return FALSE;
	}
	/* a copy of just that size, so that reading past its end is seen */
	g_autofree uint8_t *exact = g_memdup2(data, size);
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(exact ? exact : (const uint8_t *)"", size);
	return TRUE;
}

static gboolean replay_dir(const char *path, guint *count)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GDir) dir = g_dir_open(path, 0, &error);

	if (!dir) {
		fprintf(stderr, "%s\n", error->message);
		return FALSE;
	}
	for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
		g_autofree char *file = g_build_filename(path, name, NULL);
		if (!replay(file))
			return FALSE;
		(*count)++;
	}
	return TRUE;
}

int main(int argc, char **argv)
{
	guint count = 0;

	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++) {
		if (g_file_test(argv[i], G_FILE_TEST_IS_DIR) ? !replay_dir(argv[i], &count) : !replay(argv[i]))
			return 1;
	}
	if (count == 0 && argc > 1) {
		fprintf(stderr, "the corpus is empty\n");
		return 1;
	}
	return 0;
}
