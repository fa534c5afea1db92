/* SPDX-License-Identifier: MIT */
/*
 * save.c - write a copy of this machine's books, without personal details
 *
 * The copy has the same tree of files, each passed line by line through the
 * rule that scrub.c has for it. It is written into a temporary neighbour of
 * the wanted directory and renamed at the end: whoever sees the directory sees
 * all of it. What cannot be read here is left out there, and named; what cannot
 * be written makes the whole fail.
 */
#include "machine/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static const struct {
	const char *path;
	mach_scrub *scrub;
	const char *instead; /* read this where the first is missing */
} books[] = {
	{ "proc/version", mach_scrub_banner, NULL },
	{ "proc/sys/kernel/osrelease", mach_scrub_release, NULL },
	{ "etc/os-release", mach_scrub_os_release, "usr/lib/os-release" },
	{ "proc/cmdline", mach_scrub_cmdline, NULL },
	{ "proc/meminfo", mach_scrub_kib, NULL },
	{ "proc/zoneinfo", mach_scrub_zone, NULL },
	{ "proc/uptime", mach_scrub_figures, NULL },
	{ "proc/vmallocinfo", mach_scrub_area, NULL },
	{ "sys/devices/system/node/possible", mach_scrub_list, NULL },
	{ "sys/devices/system/node/online", mach_scrub_list, NULL },
	{ "sys/devices/system/node/has_memory", mach_scrub_list, NULL },
	{ "sys/devices/system/node/has_normal_memory", mach_scrub_list, NULL },
	{ "sys/devices/system/node/has_cpu", mach_scrub_list, NULL },
	{ "sys/devices/system/cpu/possible", mach_scrub_list, NULL },
	{ "sys/devices/system/cpu/online", mach_scrub_list, NULL },
	{ "proc/sys/fs/dentry-state", mach_scrub_figures, NULL },
	{ "proc/sys/fs/inode-state", mach_scrub_figures, NULL },
	{ "proc/net/sockstat", mach_scrub_sockstat, NULL },
	{ "proc/net/sockstat6", mach_scrub_sockstat, NULL },
	{ "proc/net/protocols", mach_scrub_protocols, NULL },
	{ "proc/self/mountinfo", mach_scrub_mount, NULL },
	{ "proc/slabinfo", mach_scrub_slab, NULL },
};

/* ---- the new tree --------------------------------------------------------------------- */

struct copy {
	const struct mach_root *root;
	const struct machine *machine;
	int dir;
	const struct machine_left_out *left_out;
	struct mach_lines lines; /* large: kept off the stack */
	char out[MACH_SCRUB_MAX];
};

static int make_parents(int dir, const char *path)
{
	char part[256];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		if (mkdirat(dir, part, 0755) == 0) {
			/* Whatever the umask says: a copy is for others to read. */
			if (fchmodat(dir, part, 0755, 0))
				return -errno;
		} else if (errno != EEXIST) {
			return -errno;
		}
	}
	return 0;
}

static int create(int dir, const char *path, FILE **out)
{
	int ret = make_parents(dir, path), fd;

	if (ret)
		return ret;
	fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0644) || !(*out = fdopen(fd, "w"))) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return 0;
}

static int finish(FILE *file)
{
	int ret = ferror(file) ? -EIO : 0;

	if (fflush(file) && !ret)
		ret = -errno;
	if (fclose(file) && !ret)
		ret = -errno;
	return ret;
}

/* ---- one book ------------------------------------------------------------------------- */

/* @error, -errno, kept us from reading @path. Return: it, if that is no fault of the book. */
static int leave_out(const struct copy *c, const char *path, int error)
{
	if (error == -EMFILE || error == -ENFILE || error == -ENOMEM)
		return error;
	if (c->left_out && error != -ENOENT && error != -ENOTDIR)
		c->left_out->tell(c->left_out->arg, path, -error);
	return 0;
}

/* Likewise, unless that was told when the machine was read. */
static int leave_out_now(const struct copy *c, const char *path, int error)
{
	for (uint32_t i = 0; i < c->machine->blinds; i++)
		if (!strcmp(path, c->machine->blind[i].path + 1))
			return 0;
	return leave_out(c, path, error);
}

/* Passes on what @scrub keeps of the open lines of @from. Return: error of the writing side. */
static int copy_lines(struct copy *c, mach_scrub *scrub, const char *from, const char *path)
{
	FILE *file;
	char *line;
	int ret = create(c->dir, path, &file), broken;

	if (ret) {
		mach_lines_close(&c->lines);
		return ret;
	}
	while (!ferror(file) && (line = mach_lines_next(&c->lines)))
		if (scrub(line, c->out))
			fprintf(file, "%s\n", c->out);
	broken = mach_lines_close(&c->lines);
	ret = finish(file);
	if (ret || !broken)
		return ret;
	/* Half a book misleads more than none. */
	return unlinkat(c->dir, path, 0) ? -errno : leave_out_now(c, from, broken);
}

static int copy_book(struct copy *c, const char *from, mach_scrub *scrub, const char *to,
		     uint64_t limit)
{
	int ret = mach_lines_open(&c->lines, c->root, from, limit);

	return ret ? leave_out_now(c, from, ret) : copy_lines(c, scrub, from, to);
}

static int copy_books(struct copy *c)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(books) / sizeof(books[0]); i++) {
		const char *from = books[i].path;

		if (books[i].instead && !mach_root_has(c->root, from))
			from = books[i].instead;
		ret = copy_book(c, from, books[i].scrub, books[i].path, MACH_LARGE);
	}
	return ret;
}

static int copy_nodes(struct copy *c)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < c->machine->nodes; i++) {
		const struct machine_node *node = &c->machine->node[i];
		char path[64];

		if (!node->online)
			continue;
		snprintf(path, sizeof(path), "sys/devices/system/node/node%u/meminfo", node->id);
		ret = copy_book(c, path, mach_scrub_kib, path, MACH_SMALL);
		snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpulist", node->id);
		if (!ret)
			ret = copy_book(c, path, mach_scrub_list, path, MACH_SMALL);
	}
	return ret;
}

/* ---- configuration ---------------------------------------------------------------------- */

struct config_copy {
	FILE *file;
	char *out;
	bool any;
};

static int take_config_line(void *ctx, char *line)
{
	struct config_copy *copy = ctx;

	if (mach_scrub_config(line, copy->out)) {
		fprintf(copy->file, "%s\n", copy->out);
		copy->any = true;
	}
	return 0;
}

/* Under the name that machine_read() looks for, whichever it came from. */
static int copy_config(struct copy *c)
{
	char to[160], from[160];

	if (!c->machine->has_config || !mach_config_path(c->machine, 1, to, sizeof(to)))
		return 0;
	for (unsigned i = 0; i < MACH_CONFIG_PATHS; i++) {
		struct config_copy copy = { .out = c->out };
		int broken, ret = create(c->dir, to, &copy.file);

		if (ret)
			return ret;
		mach_config_path(c->machine, i, from, sizeof(from));
		broken = mach_config_lines(c->root, from, take_config_line, &copy);
		ret = finish(copy.file);
		if (ret || (!broken && copy.any))
			return ret;
		if (unlinkat(c->dir, to, 0))
			return -errno;
		if (broken)
			ret = leave_out_now(c, from, broken);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- the rest ----------------------------------------------------------------------------- */

static const char *uname_word(const struct machine *m, struct utsname *system)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";

	if (m->live && uname(system) == 0 && !system->machine[strspn(system->machine, fine)])
		return system->machine;
	return hd_arch_name(m->arch);
}

/* What the books of a saved machine do not tell. */
static int write_notes(struct copy *c)
{
	const struct machine *m = c->machine;
	struct utsname system;
	FILE *file;
	int ret = create(c->dir, "hashdist-saved", &file);

	if (ret)
		return ret;
	fprintf(file, "format 1\n");
	if (m->arch != HD_ARCH_UNKNOWN)
		fprintf(file, "arch %s\n", uname_word(m, &system));
	if (m->page_bytes)
		fprintf(file, "page_bytes %u\n", m->page_bytes);
	fprintf(file, "container %d\n", m->container);
	mach_save_processor(&m->processor, file);
	return finish(file);
}

static int copy_log(struct copy *c, int log_fd)
{
	int fd;

	if (log_fd < 0)
		return 0;
	fd = fcntl(log_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	mach_lines_start(&c->lines, fd, MACHINE_LOG_MAX);
	return copy_lines(c, mach_scrub_log, "dev/kmsg", "var/log/dmesg");
}

/* What decides which files there are to copy has been read before. */
static int leave_out_unseen(const struct copy *c)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < c->machine->blinds; i++)
		ret = leave_out(c, c->machine->blind[i].path + 1, -c->machine->blind[i].error);
	return ret;
}

static int fill(struct copy *c, int log_fd)
{
	int ret = leave_out_unseen(c);

	if (!ret)
		ret = write_notes(c);
	if (!ret)
		ret = copy_books(c);
	if (!ret)
		ret = copy_nodes(c);
	if (!ret)
		ret = copy_config(c);
	if (!ret)
		ret = copy_log(c, log_fd);
	return ret;
}

/* ---- the neighbour and the renaming --------------------------------------------------------- */

static void remove_below(int dir, const char *name);

/* What one reading of @dir tells. Return: how many entries are gone. */
static unsigned remove_some(int dir)
{
	_Alignas(struct dirent64) char buf[2048];
	ssize_t len = lseek(dir, 0, SEEK_SET) ? -1 : syscall(SYS_getdents64, dir, buf, sizeof(buf));
	unsigned gone = 0;

	for (ssize_t at = 0; at < len;) {
		const struct dirent64 *entry = (const void *)(buf + at);

		at += entry->d_reclen;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(dir, entry->d_name, 0))
			remove_below(dir, entry->d_name);
		gone += faccessat(dir, entry->d_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
	}
	return gone;
}

/* The tree is a few levels deep: we have made it. */
static void remove_below(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return;
	while (remove_some(fd))
		;
	close(fd);
	unlinkat(dir, name, AT_REMOVEDIR);
}

/* Takes no memory: the lack of it may be why we are here. */
static void remove_tree(const char *path)
{
	remove_below(AT_FDCWD, path);
}

/* @dir without slashes at its end, and "X.saving-XXXXXX" beside it. */
static int name_neighbour(const char *dir, char **target, char **temporary)
{
	size_t len = strlen(dir);
	const char *base;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	*target = strndup(dir, len);
	if (!*target)
		return -ENOMEM;
	base = strrchr(*target, '/');
	base = base ? base + 1 : *target;
	/* These have a name elsewhere, and cannot be renamed onto. */
	if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
		return -EINVAL;
	if (asprintf(temporary, "%s.saving-XXXXXX", *target) < 0) {
		*temporary = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* rename(2) has the last word; this one spares the work. */
static int check_target(const char *dir)
{
	struct stat st;

	if (lstat(dir, &st))
		return errno == ENOENT ? 0 : -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static int save_into(struct copy *c, const char *temporary, const char *target, int log_fd)
{
	int ret;

	c->dir = open(temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (c->dir < 0)
		return -errno;
	ret = fill(c, log_fd);
	if (!ret && fchmod(c->dir, 0755))
		ret = -errno;
	close(c->dir);
	if (!ret && rename(temporary, target))
		ret = errno == ENOTEMPTY ? -EEXIST : -errno;
	return ret;
}

static int save_machine(struct copy *c, const char *dir, int log_fd)
{
	char *target = NULL, *temporary = NULL;
	int ret = name_neighbour(dir, &target, &temporary);

	if (!ret)
		ret = check_target(target);
	if (!ret && !mkdtemp(temporary))
		ret = -errno;
	else if (!ret) {
		ret = save_into(c, temporary, target, log_fd);
		if (ret)
			remove_tree(temporary);
	}
	free(temporary);
	free(target);
	return ret;
}

int mach_save(const struct mach_root *root, const char *dir, int log_fd,
	      const struct machine_left_out *left_out)
{
	struct copy *c = malloc(sizeof(*c));
	struct machine *m = NULL;
	int ret;

	if (!c)
		return -ENOMEM;
	ret = mach_read(root, &m);
	if (!ret) {
		c->root = root;
		c->left_out = left_out;
		c->machine = m;
		ret = save_machine(c, dir, log_fd);
	}
	machine_free(m);
	free(c);
	return ret;
}
