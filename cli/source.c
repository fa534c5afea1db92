/* SPDX-License-Identifier: MIT */
/*
 * source.c - gather one machine: its books, and the log of its boot
 *
 * Live, the ring buffer comes first and the journal where the ring has lost the
 * start of the boot; of a saved machine the log that was saved with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/source.h"

static void keep_boot(void *ctx, const struct klog_boot *boot)
{
	struct cli_source *source = ctx;

	*source->store = *boot;
	source->boot = source->store;
}

static void show_damaged(void *ctx, const char *line, size_t len, uint64_t number)
{
	const struct cli_source *source = ctx;

	(void)number;
	if (source->show_damaged)
		fprintf(stderr, "not understood: %.*s\n", (int)len, line);
}

static struct klog *open_reader(struct cli_source *source)
{
	const struct klog_sink sink = { source, keep_boot, show_damaged };
	struct klog *klog;

	source->store = calloc(1, sizeof(*source->store));
	klog = source->store ? klog_new(&sink) : NULL;
	if (!klog)
		cli_error("out of memory");
	return klog;
}

static bool complete(const struct cli_source *source)
{
	return source->boot && source->boot->head_seen && !source->boot->ring_wrapped;
}

static void read_live_log(struct cli_source *source, struct klog *klog)
{
	int error = klog_read_ring(klog);

	if (complete(source))
		return;
	/* The ring forgets; the journal, where there is one, does not. */
	if (!klog_read_journal(klog) && complete(source))
		return;
	if (error == -EPERM || error == -EACCES) {
		snprintf(source->note, sizeof(source->note),
			 "kernel log: no right to read it; sizes are computed, not read");
		source->remedy = "run as root, or give CAP_SYSLOG, or set kernel.dmesg_restrict=0";
	} else if (error) {
		snprintf(source->note, sizeof(source->note),
			 "kernel log: %s; sizes are computed, not read", strerror(-error));
	} else {
		snprintf(source->note, sizeof(source->note),
			 "kernel log: it no longer reaches back to the boot; what is gone is "
			 "computed");
		source->remedy = "boot with a larger log_buf_len=, or keep a persistent journal";
	}
}

static void read_saved_log(struct cli_source *source, struct klog *klog, const char *sysroot)
{
	int fd = machine_open_log(sysroot);

	if (fd == -EFBIG)
		snprintf(
		    source->note, sizeof(source->note),
		    "%s: its kernel log is larger than a GiB and is not read; sizes are computed",
		    sysroot);
	else if (fd < 0)
		snprintf(source->note, sizeof(source->note),
			 "%s: no kernel log in it (var/log/dmesg); sizes are computed", sysroot);
	if (fd < 0) {
		source->remedy = "save the output of dmesg there";
		return;
	}
	if (klog_read_fd(klog, fd) || !source->boot)
		snprintf(source->note, sizeof(source->note),
			 "%s/var/log/dmesg: no boot messages in it; sizes are computed", sysroot);
	close(fd);
}

bool cli_source_machine(struct cli_source *source, const char *sysroot)
{
	struct klog *klog;
	int error = machine_read(sysroot, &source->books);

	if (error == -ENODATA) {
		cli_error("%s: neither proc/ nor sys/ in it", sysroot ? sysroot : "/");
		cli_hint("try", "hashdist report --save DIR on the machine in question");
		return false;
	}
	if (error) {
		cli_error("%s: %s", sysroot ? sysroot : "/proc", strerror(-error));
		return false;
	}
	klog = open_reader(source);
	if (!klog)
		return false;
	if (sysroot)
		read_saved_log(source, klog, sysroot);
	else
		read_live_log(source, klog);
	klog_free(klog);
	return true;
}

/** Is it about what the tables hold by now, or where they lie? */
static bool is_of_use(const char *path)
{
	static const char *const books[] = { "/proc/vmallocinfo", "/proc/slabinfo",
					     "/proc/net/",        "/proc/sys/fs/",
					     "/proc/uptime",      "/proc/self/mountinfo" };

	for (size_t i = 0; i < sizeof(books) / sizeof(books[0]); i++)
		if (!strncmp(path, books[i], strlen(books[i])))
			return true;
	return false;
}

void cli_source_say_unread(const struct cli_source *source)
{
	for (uint32_t b = 0; source->books && b < source->books->blinds; b++) {
		const struct machine_blind *blind = &source->books->blind[b];

		if (blind->error != ENOENT && blind->error != ENOTDIR && !is_of_use(blind->path))
			cli_error("%s: %s; not known: %s", blind->path, strerror(blind->error),
				  blind->lost);
	}
}

int cli_open_log(const char *file)
{
	struct stat st;
	int fd;

	if (!strcmp(file, "-"))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		cli_error("%s: %s", strcmp(file, "-") ? file : "standard input", strerror(errno));
		return -1;
	}
	/* /dev/kmsg and /dev/zero have no end. */
	if (!fstat(fd, &st) && S_ISCHR(st.st_mode) && !isatty(fd) && strcmp(file, "-")) {
		cli_error("%s: a device, not a log", file);
		cli_hint("try", "hashdist report, which reads this machine's kernel log");
		close(fd);
		return -1;
	}
	return fd;
}

bool cli_log_was_read(const char *file, int error, const struct klog_stats *stats)
{
	const char *name = strcmp(file, "-") ? file : "standard input";

	if (error == -EBADMSG)
		cli_error("%s: damaged gzip data; only what comes before it was read", name);
	else if (error)
		cli_error("%s: %s", name, strerror(-error));
	else if (!stats->bytes)
		cli_error("%s: empty", name);
	else if (!stats->boots && stats->binary)
		cli_error("%s: binary data, no kernel log", name);
	else if (!stats->boots)
		cli_error("%s: no boot messages in its %" PRIu64 " line%s", name, stats->lines,
			  stats->lines == 1 ? "" : "s");
	return !error && stats->boots;
}

bool cli_source_log(struct cli_source *source, const char *file)
{
	struct klog *klog;
	int error, fd = cli_open_log(file);
	bool fine;

	if (fd < 0)
		return false;
	klog = open_reader(source);
	if (!klog) {
		close(fd);
		return false;
	}
	error = klog_read_fd(klog, fd);
	close(fd);
	fine = cli_log_was_read(file, error, klog_stats(klog));
	klog_free(klog);
	return fine;
}

void cli_source_close(struct cli_source *source)
{
	machine_free(source->books);
	free(source->store);
	source->books = NULL;
	source->boot = source->store = NULL;
}
