/* SPDX-License-Identifier: MIT */
/* tree.c - a small directory tree for one test; see tree.h */
#include "tree.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(bool done, const char *what)
{
	if (done)
		return;
	perror(what);
	abort();
}

const char *tree_at(const char *tree, const char *path)
{
	static char ring[4][1024];
	static unsigned next;
	char *out = ring[next++ % 4];

	must((size_t)snprintf(out, sizeof(ring[0]), "%s/%s", tree, path) < sizeof(ring[0]), path);
	return out;
}

char *tree_new(void)
{
	const char *base = getenv("TMPDIR");
	char *path;

	must(asprintf(&path, "%s/hashdist-test-XXXXXX", base ? base : "/tmp") > 0, "asprintf");
	must(mkdtemp(path), path);
	return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_D || type == FTW_DNR)
		chmod(path, 0700 | st->st_mode);
	return remove(path);
}

void tree_free(char *tree)
{
	must(nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0, tree);
	free(tree);
}

static const char *parents(const char *tree, const char *path)
{
	const char *full = tree_at(tree, path);
	char part[1024];

	for (const char *slash = strchr(full + strlen(tree) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - full), full);
		mkdir(part, 0755);
	}
	return full;
}

void tree_put_bytes(const char *tree, const char *path, const void *data, size_t len)
{
	FILE *file = fopen(parents(tree, path), "w");

	must(file, path);
	must(fwrite(data, 1, len, file) == len && fclose(file) == 0, path);
}

void tree_put(const char *tree, const char *path, const char *text)
{
	tree_put_bytes(tree, path, text, strlen(text));
}

void tree_link(const char *tree, const char *path, const char *target)
{
	must(symlink(target, parents(tree, path)) == 0, path);
}

void tree_fifo(const char *tree, const char *path)
{
	must(mkfifo(parents(tree, path), 0644) == 0, path);
}

void tree_dir(const char *tree, const char *path)
{
	must(mkdir(parents(tree, path), 0755) == 0, path);
}

void tree_sparse(const char *tree, const char *path, unsigned long long bytes)
{
	tree_put(tree, path, "");
	must(truncate(tree_at(tree, path), (off_t)bytes) == 0, path);
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r"), *out;
	size_t size;
	char *text;
	int c;

	if (!file)
		return NULL;
	out = open_memstream(&text, &size);
	must(out, path);
	while ((c = getc(file)) != EOF)
		putc(c, out);
	fclose(file);
	fclose(out);
	return text;
}

char *tree_read(const char *tree, const char *path)
{
	return read_file(tree_at(tree, path));
}

/* nftw() has no context argument. */
static const char *wanted;
static int found, counted;

static int look(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)ftw;
	counted++;
	if (wanted && strstr(path, wanted))
		found++;
	if (wanted && type == FTW_F) {
		char *text = read_file(path);

		if (text && strstr(text, wanted)) {
			fprintf(stderr, "%s contains \"%s\"\n", path, wanted);
			found++;
		}
		free(text);
	}
	return 0;
}

bool tree_contains(const char *dir, const char *text)
{
	wanted = text;
	found = 0;
	must(nftw(dir, look, 16, FTW_PHYS) == 0, dir);
	return found > 0;
}

int tree_count(const char *dir)
{
	wanted = NULL;
	counted = 0;
	return nftw(dir, look, 16, FTW_PHYS) ? -1 : counted - 1;
}
