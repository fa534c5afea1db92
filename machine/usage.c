/* SPDX-License-Identifier: MIT */
/*
 * usage.c - how many objects the large hash tables hold
 *
 * From the kernel's own counters. Three things to know about them:
 *
 *   - /proc/net counts one network namespace, mountinfo one mount namespace;
 *     the tables hold the objects of all of them.
 *   - IPv4 and IPv6 sockets share tables but are counted apart, so sockstat
 *     and sockstat6 are added. "tw" covers both already.
 *   - slabinfo, for root only, counts a cache's objects per whole slab, which
 *     is more than are in use; a cache that was merged with others of its size
 *     is not listed at all.
 *
 * nr_negative is real since 5.0; before, that column holds a 0 that means nothing.
 * Sums over CPUs are racy and can print below zero: unknown.
 */
#include "machine/internal.h"

#include <errno.h>
#include <string.h>

/* The column-th number, from 0, of a line of numbers. */
static struct machine_count column(const char *line, unsigned column)
{
	size_t len;

	while (column--)
		mach_word(&line, &len);
	return mach_count(line);
}

static void read_fs(const struct mach_root *root, struct machine *m)
{
	struct machine_usage *u = &m->usage;
	uint32_t version = hd_version_parse(m->release, strlen(m->release));
	char text[256];
	int ret;

	ret = mach_root_text(root, "proc/sys/fs/dentry-state", text, sizeof(text));
	if (ret >= 0) {
		u->dentries = column(text, 0);
		u->dentries_unused = column(text, 1);
		if (version >= HD_VERSION(5, 0, 0))
			u->dentries_negative = column(text, 4);
	} else {
		mach_blind(m, "/proc/sys/fs/dentry-state", ret, "how full the dentry table is",
			   "mount /proc");
	}
	ret = mach_root_text(root, "proc/sys/fs/inode-state", text, sizeof(text));
	if (ret >= 0) {
		u->inodes = column(text, 0);
		u->inodes_free = column(text, 1);
	} else {
		mach_blind(m, "/proc/sys/fs/inode-state", ret, "how full the inode table is",
			   "mount /proc");
	}
}

struct sockets {
	struct machine_count tcp, tcp_time_wait, udp, udplite;
};

static int read_sockstat(const struct mach_root *root, const char *path, struct sockets *s)
{
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, path, MACH_SMALL);
	char *line;

	if (ret)
		return ret;
	while ((line = mach_lines_next(&lines))) {
		if (mach_after(line, "TCP: ") || mach_after(line, "TCP6: ")) {
			s->tcp = mach_field(line, "inuse");
			s->tcp_time_wait = mach_field(line, "tw");
		} else if (mach_after(line, "UDP: ") || mach_after(line, "UDP6: ")) {
			s->udp = mach_field(line, "inuse");
		} else if (mach_after(line, "UDPLITE: ") || mach_after(line, "UDPLITE6: ")) {
			s->udplite = mach_field(line, "inuse");
		}
	}
	return mach_lines_close(&lines);
}

static void read_net(const struct mach_root *root, struct machine *m)
{
	struct machine_usage *u = &m->usage;
	struct sockets v4 = { 0 }, v6 = { 0 };
	int ret = read_sockstat(root, "proc/net/sockstat", &v4);

	if (ret) {
		mach_blind(m, "/proc/net/sockstat", ret, "how full the TCP and UDP tables are",
			   "mount /proc");
		return;
	}
	/* A kernel without IPv6 has no second book, and nothing is missing. */
	ret = read_sockstat(root, "proc/net/sockstat6", &v6);
	if (ret && ret != -ENOENT) {
		mach_blind(m, "/proc/net/sockstat6", ret, "how full the TCP and UDP tables are",
			   NULL);
		return;
	}
	u->tcp_time_wait = v4.tcp_time_wait;
	u->tcp_inuse = ret ? v4.tcp : mach_count_add(v4.tcp, v6.tcp);
	u->udp_inuse = ret ? v4.udp : mach_count_add(v4.udp, v6.udp);
	u->udplite_inuse = ret ? v4.udplite : mach_count_add(v4.udplite, v6.udplite);
}

/* "protocol  size sockets ..."; absent lines mean that the kernel has no MPTCP. */
static void read_protocols(const struct mach_root *root, struct machine *m)
{
	struct machine_count *sum = &m->usage.mptcp_inuse;
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, "proc/net/protocols", MACH_SMALL);
	char *line;

	while (!ret && (line = mach_lines_next(&lines))) {
		struct machine_count sockets;

		if (!mach_after(line, "MPTCP ") && !mach_after(line, "MPTCPv6 "))
			continue;
		sockets = column(line, 2);
		*sum = sum->known ? mach_count_add(*sum, sockets) : sockets;
	}
	if (!ret)
		ret = mach_lines_close(&lines);
	if (ret)
		*sum = (struct machine_count){ .known = false };
	mach_blind_if_there(m, "proc/net/protocols", ret, "how many MPTCP sockets there are");
}

static void read_mounts(const struct mach_root *root, struct machine *m)
{
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, "proc/self/mountinfo", MACH_LARGE);
	uint64_t count = 0;

	while (!ret && mach_lines_next(&lines))
		count++;
	if (!ret)
		ret = mach_lines_close(&lines);
	if (!ret)
		m->usage.mounts = (struct machine_count){ true, count };
	mach_blind_if_there(m, "proc/self/mountinfo", ret, "how many mounts there are");
}

static void read_slabs(const struct mach_root *root, struct machine *m)
{
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, "proc/slabinfo", MACH_SMALL);
	char *line;

	while (!ret && (line = mach_lines_next(&lines))) {
		if (mach_after(line, "tcp_bind_bucket "))
			m->usage.tcp_bind_buckets = column(line, 1);
		else if (mach_after(line, "posix_timers_cache "))
			m->usage.posix_timers = column(line, 1);
	}
	if (!ret)
		ret = mach_lines_close(&lines);
	if (ret && ret != -ENOENT)
		mach_blind(m, "/proc/slabinfo", ret,
			   "how full the TCP bind and POSIX timer tables are", NULL);
}

int mach_read_usage(const struct mach_root *root, struct machine *m)
{
	read_fs(root, m);
	read_net(root, m);
	read_protocols(root, m);
	read_mounts(root, m);
	read_slabs(root, m);
	return 0;
}
