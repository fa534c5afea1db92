/* SPDX-License-Identifier: MIT */
/*
 * root.c - read files below "/" or below a saved machine's directory
 *
 * A saved directory comes from somebody else: its links must not lead out of
 * it, its FIFOs must not stall us, its devices must not be touched. openat2(2)
 * keeps links inside; where it is missing (before Linux 5.6, or filtered) we
 * walk component by component and follow no link at all. What a path leads to
 * is looked at before it is opened, as opening alone may set a device going.
 *
 * /proc reports size 0 for everything: files are read to their end, up to a
 * limit. Memory is fixed, whatever the file holds.
 */
#include "machine/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

static int open_at(int dir, const char *path, int flags)
{
	int fd;

	do
		fd = openat(dir, path, flags);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

/* As the kernel does it: links count as if the root were "/". */
static int open_inside(int dir, const char *path, int flags)
{
#ifdef SYS_openat2
	const struct open_how how = {
		.flags = (uint64_t)(unsigned)flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	/* EAGAIN: something was renamed meanwhile, and the kernel could not be sure. */
	for (int attempt = 0; attempt < 8; attempt++) {
		long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	return -errno;
#else
	(void)dir, (void)path, (void)flags;
	return -ENOSYS;
#endif
}

static int open_by_steps(int dir, const char *path, int flags)
{
	int at = dir;

	for (;;) {
		char name[256];
		size_t len = strcspn(path, "/");
		bool last = path[len] == '\0';
		int fd;

		if (len == 0 || len >= sizeof(name))
			fd = -ENOENT;
		else {
			memcpy(name, path, len);
			name[len] = '\0';
			if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
				fd = -ELOOP;
			else
				fd = open_at(at, name,
					     O_NOFOLLOW |
						 (last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC));
		}
		if (at != dir)
			close(at);
		if (fd < 0 || last)
			return fd;
		at = fd;
		path += len + 1;
	}
}

static int open_below(const struct mach_root *root, const char *path, int flags)
{
	if (root->live)
		return open_at(root->fd, path, flags);
	if (root->simple)
		return open_by_steps(root->fd, path, flags);
	return open_inside(root->fd, path, flags);
}

int mach_root_open(const char *sysroot, struct mach_root *out)
{
	int fd = open_at(AT_FDCWD, sysroot ? sysroot : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int probe;

	if (fd < 0)
		return fd;
	*out = (struct mach_root){ .fd = fd, .live = !sysroot };
	if (out->live)
		return 0;
	/* ENOSYS: an older kernel. EPERM: a seccomp filter that has never heard of it. */
	probe = open_inside(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	out->simple = probe == -ENOSYS || probe == -EPERM;
	if (probe >= 0)
		close(probe);
	return 0;
}

void mach_root_close(struct mach_root *root)
{
	if (root->fd >= 0)
		close(root->fd);
	root->fd = -1;
}

int mach_root_dir(const struct mach_root *root, const char *path)
{
	int fd = open_below(root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

bool mach_root_has(const struct mach_root *root, const char *path)
{
	int fd = open_below(root, path, O_PATH | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int regular_or_error(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
}

int mach_root_file(const struct mach_root *root, const char *path)
{
	int fd, ret;

	if (!root->live) {
		fd = open_below(root, path, O_PATH | O_CLOEXEC);
		if (fd < 0)
			return fd;
		ret = regular_or_error(fd);
		close(fd);
		if (ret)
			return ret;
	}
	fd = open_below(root, path, OPEN_FLAGS);
	if (fd < 0)
		return fd;
	ret = regular_or_error(fd);
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

int mach_root_text(const struct mach_root *root, const char *path, char *buf, size_t size)
{
	int fd = mach_root_file(root, path);
	int error = 0;
	size_t len = 0;

	buf[0] = '\0';
	if (fd < 0)
		return fd;
	while (len < size) {
		ssize_t got = read(fd, buf + len, size - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			error = -errno;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	close(fd);
	if (len == size) {
		error = -EFBIG;
		len--;
	}
	for (size_t i = 0; i < len; i++)
		if (buf[i] == '\0')
			buf[i] = ' ';
	while (len && (buf[len - 1] == '\n' || buf[len - 1] == ' '))
		len--;
	buf[len] = '\0';
	mach_plain(buf);
	return error ? error : (int)len;
}

void mach_lines_start(struct mach_lines *lines, int fd, uint64_t limit)
{
	lines->fd = fd;
	lines->error = 0;
	lines->left = limit;
	lines->start = lines->end = 0;
	lines->eof = lines->skipping = false;
}

int mach_lines_open(struct mach_lines *lines, const struct mach_root *root, const char *path,
		    uint64_t limit)
{
	int fd = mach_root_file(root, path);

	mach_lines_start(lines, fd, limit);
	return fd < 0 ? fd : 0;
}

/* Another piece of the file behind what is there. */
static void fill(struct mach_lines *lines)
{
	size_t room = MACH_LINE_MAX - lines->end;
	ssize_t got;

	if (lines->left == 0) {
		lines->error = -EFBIG;
		lines->eof = true;
		return;
	}
	if (room > lines->left)
		room = (size_t)lines->left;
	do
		got = read(lines->fd, lines->buf + lines->end, room);
	while (got < 0 && (errno == EINTR || errno == EPIPE));
	/* /dev/kmsg: EPIPE when records were overwritten meanwhile, EAGAIN after the last. */
	if (got < 0 && errno != EAGAIN)
		lines->error = -errno;
	if (got <= 0) {
		lines->eof = true;
		return;
	}
	lines->end += (size_t)got;
	lines->left -= (size_t)got;
}

/*
 * Gives out buf[start, start + len), with its newline if it has one. Of a line
 * that does not fit the buffer the first part is given out, the rest passed over.
 */
char *mach_lines_next(struct mach_lines *lines)
{
	for (;;) {
		char *line = lines->buf + lines->start;
		size_t have = lines->end - lines->start;
		char *newline = memchr(line, '\n', have);
		bool skip = lines->skipping;

		if (newline) {
			*newline = '\0';
			lines->start = (size_t)(newline - lines->buf) + 1;
			lines->skipping = false;
			if (!skip)
				return line;
		} else if (lines->eof) {
			lines->start = lines->end;
			lines->skipping = false;
			line[have] = '\0';
			return have && !skip ? line : NULL;
		} else if (have == MACH_LINE_MAX) {
			lines->start = lines->end = 0;
			lines->skipping = true;
			lines->buf[MACH_LINE_MAX] = '\0';
			if (!skip)
				return lines->buf;
		} else {
			memmove(lines->buf, line, have);
			lines->start = 0;
			lines->end = have;
			fill(lines);
		}
	}
}

int mach_lines_close(struct mach_lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	lines->fd = -1;
	return lines->error;
}
