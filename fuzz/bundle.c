/* SPDX-License-Identifier: MIT */
/* bundle.c - see bundle.h */
#include "fuzz/bundle.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)status, (void)kind, (void)at;
	return remove(path);
}

static void remove_directory(void)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *bundle_directory(void)
{
	static const char *const places[] = { "/dev/shm", "/tmp" };

	for (int p = 0; !*directory && p < 2; p++) {
		snprintf(directory, sizeof(directory), "%s/hashdist-fuzz-XXXXXX", places[p]);
		if (mkdtemp(directory))
			atexit(remove_directory);
		else
			*directory = '\0';
	}
	CHECK(*directory);
	return directory;
}

static void make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		CHECK(!mkdir(path, 0700) || errno == EEXIST);
		*slash = '/';
	}
}

static void write_one(const char *name, const uint8_t *text, size_t len)
{
	char path[256];
	FILE *file;

	CHECK((size_t)snprintf(path, sizeof(path), "%s/%s", bundle_directory(), name) <
	      sizeof(path));
	make_directories(path);
	file = fopen(path, "w");
	CHECK(file);
	CHECK(fwrite(text, 1, len, file) == len);
	CHECK(!fclose(file));
}

void bundle_write(const uint8_t *data, size_t size, const char *const *names, size_t count)
{
	char path[256];

	for (size_t n = 0; n < count; n++) {
		const uint8_t *end = size ? memchr(data, 0, size) : NULL;
		size_t len = end ? (size_t)(end - data) : size;

		if (len) {
			write_one(names[n], data, len);
		} else {
			snprintf(path, sizeof(path), "%s/%s", bundle_directory(), names[n]);
			CHECK(!unlink(path) || errno == ENOENT || errno == ENOTDIR);
		}
		data += end ? len + 1 : len;
		size -= end ? len + 1 : len;
	}
}
