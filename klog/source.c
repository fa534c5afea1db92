/* SPDX-License-Identifier: MIT */
/*
 * source.c - where logs come from: files and pipes, the kernel's ring, the journal
 *
 * A file is read in large pieces, since a log may have gigabytes; gzip is told by its
 * first two bytes and unpacked, several members in a row too. The ring gives one record
 * per read(), and says EPIPE when it has overwritten what we were about to read. The
 * journal is asked through its own program, without a shell.
 *
 * Refused: journal files as such, and other compressions.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "internal.h"

enum {
	PIECE = 256 << 10,
	RECORD = 8192, /* what /dev/kmsg gives at most */
	SYSLOG_READ_ALL = 3,
	SYSLOG_SIZE = 10,
};

/** read() until @size bytes or the end. Return: bytes or -errno. */
static ssize_t fill(int fd, char *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/**
 * Unpack @n bytes at @in and all that follow. Damaged gzip gives what came before, and
 * -EBADMSG; what stands behind a whole member and is none is passed over, as gzip does.
 */
static int unpack(struct klog *log, int fd, char *in, size_t n, char *out)
{
	z_stream z = { .next_in = (Bytef *)in, .avail_in = (uInt)n };
	int rc = 0, got = Z_OK, members = 0;

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return -ENOMEM;
	for (;;) {
		if (!z.avail_in) {
			ssize_t more = fill(fd, in, PIECE);

			if (more <= 0) {
				rc = more || got == Z_STREAM_END ? (int)more : -EBADMSG;
				break;
			}
			z.next_in = (Bytef *)in;
			z.avail_in = (uInt)more;
		}
		if (got == Z_STREAM_END && inflateReset(&z) != Z_OK)
			break;
		z.next_out = (Bytef *)out;
		z.avail_out = PIECE;
		got = inflate(&z, Z_NO_FLUSH);
		klog_feed(log, out, PIECE - z.avail_out);
		members += got == Z_STREAM_END;
		if (got != Z_OK && got != Z_STREAM_END && got != Z_BUF_ERROR) {
			rc = members && !z.total_out ? 0 : -EBADMSG;
			break;
		}
	}
	inflateEnd(&z);
	return rc;
}

int klog_read_fd(struct klog *log, int fd)
{
	struct stat st;
	char *buf;
	ssize_t n, more;
	int rc = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	buf = malloc(2 * (size_t)PIECE);
	if (!buf)
		return -ENOMEM;
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	n = fill(fd, buf, PIECE);
	/* a pipe may give a single byte first */
	if (n == 1 && (unsigned char)buf[0] == 0x1f && (more = fill(fd, buf + 1, PIECE - 1)) > 0)
		n += more;
	if (n > 1 && (unsigned char)buf[0] == 0x1f && (unsigned char)buf[1] == 0x8b) {
		rc = unpack(log, fd, buf, (size_t)n, buf + PIECE);
	} else {
		for (; n > 0; n = fill(fd, buf, PIECE))
			klog_feed(log, buf, (size_t)n);
		rc = (int)n;
	}
	free(buf);
	klog_finish(log);
	return rc;
}

/** One record of /dev/kmsg: the text up to its first line end; the rest is a dictionary. */
static void feed_record(struct klog *log, const char *record, size_t len)
{
	const char *nl = memchr(record, '\n', len);

	klog_feed(log, record, nl ? (size_t)(nl - record) : len);
	klog_feed(log, "\n", 1);
}

static int read_kmsg(struct klog *log)
{
	char record[RECORD];
	bool first = true;
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = fill(fd, record, sizeof(record));

		if (n == -EPIPE) {
			log->ring_wrapped = true;
			continue;
		}
		if (n == -EAGAIN || n == 0)
			break;
		if (n < 0) {
			rc = (int)n;
			break;
		}
		if (first) {
			const char *comma = memchr(record, ',', (size_t)n);
			uint64_t sequence = 0;

			if (comma)
				klog__number(comma + 1, record + n, &sequence);
			log->ring_wrapped |= sequence > 0;
		}
		first = false;
		feed_record(log, record, (size_t)n);
	}
	close(fd);
	return first && !rc ? -ENOENT : rc;
}

static int read_syslog(struct klog *log)
{
	int size = klogctl(SYSLOG_SIZE, NULL, 0), n;
	char *buf;

	if (size <= 0)
		return size < 0 ? -errno : -ENOENT;
	buf = malloc((size_t)size);
	if (!buf)
		return -ENOMEM;
	n = klogctl(SYSLOG_READ_ALL, buf, size);
	if (n < 0)
		n = -errno;
	else if (n == 0)
		n = -ENOENT;
	if (n > 0)
		klog_feed(log, buf, (size_t)n);
	free(buf);
	return n > 0 ? 0 : n;
}

int klog_read_ring(struct klog *log)
{
	int rc = read_kmsg(log), rc2;

	if (rc < 0) {
		rc2 = read_syslog(log);
		/* a refusal says more than an absence */
		rc = rc2 == 0 || rc == -ENOENT || rc == -ENXIO ? rc2 : rc;
	}
	klog__end_of_text(log);
	if (log->boot.head_seen || log->stats.boots)
		log->ring_wrapped = false;
	klog_finish(log);
	return rc;
}

/** In the child: no input, no complaints, output to @out. Does not return. */
static void run_journalctl(int out)
{
	char *const argv[] = {
		(char[]){ "journalctl" }, (char[]){ "-k" },      (char[]){ "-b" },
		(char[]){ "0" },          (char[]){ "-o" },      (char[]){ "short-monotonic" },
		(char[]){ "--no-pager" }, (char[]){ "--quiet" }, NULL
	};
	int null = open("/dev/null", O_RDWR);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDERR_FILENO);
	}
	if (dup2(out, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	_exit(127);
}

int klog_read_journal(struct klog *log)
{
	int ends[2], rc, status = 0;
	uint64_t bytes;
	pid_t child, got;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child < 0) {
		rc = -errno;
		close(ends[0]);
		close(ends[1]);
		return rc;
	}
	if (child == 0)
		run_journalctl(ends[1]);
	close(ends[1]);
	rc = klog_read_fd(log, ends[0]);
	close(ends[0]);
	do
		got = waitpid(child, &status, 0);
	while (got < 0 && errno == EINTR);
	bytes = klog_stats(log)->bytes;
	if (rc == 0 && bytes == 0)
		rc = -ENOENT;
	return rc;
}
