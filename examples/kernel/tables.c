/* SPDX-License-Identifier: MIT */
/*
 * tables.c - the tables, in the order in which a kernel meets them
 *
 * Which there are, how large, and of which kind is core's to say; the order of events is a kernel's
 * own. This is Linux's, so that lines can be held side by side.
 */
#include "kernel.h"

/** Those that a kernel version has not are passed over. */
static const enum hd_table_id order[] = {
	HD_TABLE_PID,
	HD_TABLE_PV_QSPINLOCK,
	HD_TABLE_DENTRY,
	HD_TABLE_INODE,
	HD_TABLE_MOUNT,
	HD_TABLE_MOUNTPOINT,
	HD_TABLE_POSIXTIMERS,
	HD_TABLE_FUTEX,
	HD_TABLE_IP_ROUTE,
	HD_TABLE_IP_IDENTS,
	HD_TABLE_TCP_LISTEN,
	HD_TABLE_TABLE_PERTURB,
	HD_TABLE_TCP_ESTABLISHED,
	HD_TABLE_TCP_BIND,
	HD_TABLE_MPTCP_TOKEN,
	HD_TABLE_UDP,
	HD_TABLE_UDP_LITE,
};

static struct row rows[HD_TABLE_COUNT + 1];
static unsigned count;
static uint64_t established; /* entries of TCP established, which TCP bind asks for */

/** Is it made while only the boot allocator is there? */
static bool is_early(const struct hd_machine *machine, const struct hd_request *request)
{
	return request->when == HD_WHEN_EARLY ||
	       (request->when == HD_WHEN_EARLY_UNLESS && !machine->hashdist);
}

static const struct hd_table *make(const struct hd_machine *machine, const char *key,
				   const struct hd_request *request)
{
	struct row *row = &rows[count];
	char line[160];

	row->key = key;
	if (hd_table_alloc(machine, request, &providers, &row->table))
		panic(request->name);
	if (hd_table_line(&machine->rules, request->name, &row->table, line, sizeof(line)) < 0)
		panic("a line that is too long");
	print("%s\n", line);
	count++;
	return &row->table;
}

void tables_make(const struct hd_machine *machine, bool early)
{
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const struct hd_table *table;
		struct hd_request request;

		if (hd_table_request(machine, order[i], established, &request) ||
		    is_early(machine, &request) != early)
			continue;
		table = make(machine, hd_table_info(order[i])->key, &request);
		if (order[i] == HD_TABLE_TCP_ESTABLISHED)
			established = table->entries;
	}
}

void tables_make_own(const struct hd_machine *machine, uint64_t entries)
{
	const struct hd_request request = {
		.name = "Example",
		.bucket_bytes = 24,
		.entries = entries,
		.scale = 15, /* when it goes by memory: an entry for each 32 KiB */
		.low = 64,
		.when = HD_WHEN_LATE,
		.zero = true,
	};

	make(machine, "own", &request);
}

const struct row *tables_rows(unsigned *number)
{
	*number = count;
	return rows;
}
