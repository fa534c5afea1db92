/* SPDX-License-Identifier: MIT */
/*
 * usage.c - what the counters say about the tables
 *
 * Counters of a network or mount namespace tell only part of what a table holds;
 * inside a container they are left out.
 */
#include "ktables/internal.h"

static struct machine_count sum(struct machine_count a, struct machine_count b)
{
	return (struct machine_count){ a.known && b.known, a.value + b.value };
}

static struct machine_count count_for(enum hd_table_id id, const struct machine *books)
{
	const struct machine_usage *usage = &books->usage;
	const struct machine_count unknown = { 0 };

	switch (id) {
	case HD_TABLE_DENTRY:
		return usage->dentries;
	case HD_TABLE_INODE:
		return usage->inodes;
	case HD_TABLE_TCP_BIND:
		return usage->tcp_bind_buckets;
	case HD_TABLE_POSIXTIMERS:
		return usage->posix_timers;
	default:
		break;
	}
	if (books->container)
		return unknown;
	switch (id) {
	case HD_TABLE_TCP_ESTABLISHED:
		return sum(usage->tcp_inuse, usage->tcp_time_wait);
	case HD_TABLE_UDP:
		return usage->udp_inuse;
	case HD_TABLE_UDP_LITE:
		return usage->udplite_inuse;
	case HD_TABLE_MPTCP_TOKEN:
		return usage->mptcp_inuse;
	case HD_TABLE_MOUNT:
	case HD_TABLE_MOUNTPOINT:
		return usage->mounts;
	default:
		return unknown;
	}
}

void ktables_fill_usage(struct ktables_survey *survey, const struct machine *books)
{
	for (uint32_t r = 0; r < survey->rows; r++) {
		struct machine_count count = count_for(survey->row[r].id, books);

		survey->row[r].used_known = count.known;
		survey->row[r].used = count.value;
	}
}

unsigned ktables_linear_shift(const struct machine *books)
{
	const struct {
		struct machine_count kib;
		unsigned shift;
	} sizes[] = {
		{ books->direct_4k_kib, 12 },
		{ books->direct_2m_kib, 21 },
		{ books->direct_4m_kib, 22 },
		{ books->direct_1g_kib, 30 },
	};
	uint64_t most = 0;
	unsigned shift = 0;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i].kib.known && sizes[i].kib.value > most) {
			most = sizes[i].kib.value;
			shift = sizes[i].shift;
		}
	return shift;
}
