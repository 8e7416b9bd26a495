/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * make-image -o FILE INIT PROGRAM …: writes the guest's initramfs, a cpio archive in "newc" format
 * (Documentation/driver-api/early-userspace/buffer-format.rst in the kernel), uncompressed. INIT becomes /init, each
 * program /bin/NAME. The same programs give the same bytes: owner, times, inode numbers and order are fixed.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct image {
	FILE *out;
	uint32_t inode;
	uint64_t offset;
};

static void put(struct image *image, const void *bytes, size_t size)
{
	fwrite(bytes, 1, size, image->out);
	image->offset += size;
}

static void pad(struct image *image, unsigned alignment)
{
	while (image->offset % alignment != 0)
		put(image, "", 1);
}

static void add(struct image *image, const char *name, unsigned mode, const void *bytes, uint32_t size, unsigned major,
		unsigned minor)
{
	char header[111];
	size_t name_size = strlen(name) + 1;

	/* magic, ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check */
	snprintf(header, sizeof header, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", ++image->inode, mode, 0u,
		 0u, 1u, 0u, size, 0u, 0u, major, minor, (unsigned)name_size, 0u);
	put(image, header, sizeof header - 1);
	put(image, name, name_size);
	pad(image, 4);
	put(image, bytes, size);
	pad(image, 4);
}

static void *read_program(const char *path, uint32_t *ret_size)
{
	FILE *in = fopen(path, "rb");
	struct stat info;
	char *bytes = NULL;

	if (in != NULL && fstat(fileno(in), &info) == 0 && info.st_size < 1 << 28) {
		bytes = malloc((size_t)info.st_size + 1);
		if (bytes != NULL && fread(bytes, 1, (size_t)info.st_size, in) != (size_t)info.st_size) {
			free(bytes);
			bytes = NULL;
		}
		*ret_size = (uint32_t)info.st_size;
	}
	if (bytes == NULL)
		fprintf(stderr, "make-image: cannot read %s: %s\n", path, strerror(errno));
	if (in != NULL)
		fclose(in);
	return bytes;
}

static int add_program(struct image *image, const char *directory, const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[256];
	uint32_t size;
	void *bytes = read_program(path, &size);

	if (bytes == NULL)
		return 1;
	snprintf(name, sizeof name, "%s%s", directory, slash ? slash + 1 : path);
	add(image, name, S_IFREG | 0755, bytes, size, 0, 0);
	free(bytes);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const directories[] = { "bin", "dev", "mnt", "mnt/disk", "mnt/tmpfs", "proc", "sys" };
	struct image image = { 0 };
	int failed = 0;

	if (argc < 4 || strcmp(argv[1], "-o") != 0) {
		fprintf(stderr, "Usage: make-image -o FILE INIT PROGRAM …\n");
		return 2;
	}
	image.out = fopen(argv[2], "wb");
	if (image.out == NULL) {
		fprintf(stderr, "make-image: cannot write %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
		add(&image, directories[i], S_IFDIR | 0755, "", 0, 0, 0);
	add(&image, "dev/console", S_IFCHR | 0600, "", 0, 5, 1);
	failed |= add_program(&image, "", argv[3]);
	for (int i = 4; i < argc; i++)
		failed |= add_program(&image, "bin/", argv[i]);
	image.inode = UINT32_MAX;
	add(&image, "TRAILER!!!", 0, "", 0, 0, 0);
	pad(&image, 512);
	failed |= ferror(image.out) != 0;
	failed |= fclose(image.out) != 0;
	if (failed)
		remove(argv[2]);
	return failed;
}
