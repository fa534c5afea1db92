/* SPDX-License-Identifier: MIT */
/*
 * got.c - where each byte of each table is, read back from the page tables
 *
 *   got dentry: 2097152 bytes, 512 translations, 4K=2097152 2M=0 1G=0, N0=1048576 N1=1048576
 *
 * Bytes of the table behind translations of each size, and on each node. What core was told by
 * its providers is not looked at.
 */
#include "kernel.h"

struct got {
	uint64_t translations;
	uint64_t by_size[3]; /* 4K, 2M, 1G */
	uint64_t by_node[NODES_MAX];
};

static void look(const struct hd_table *table, struct got *out)
{
	uint64_t virt = (uint64_t)table->start, end = virt + table->bytes;

	*out = (struct got){ 0 };
	while (virt < end) {
		uint64_t address, behind;
		unsigned shift;
		int node;

		if (!walk(virt, &address, &shift))
			panic("a byte of a table has no translation");
		node = node_of(address);
		if (node < 0)
			panic("a byte of a table is not in RAM");
		behind = round_down(virt, 1UL << shift) + (1UL << shift);
		behind = behind < end ? behind : end;
		out->translations++;
		out->by_size[(shift - PAGE_SHIFT) / 9] += behind - virt;
		/* A large translation may reach over the border of two nodes. */
		while (virt < behind) {
			uint64_t step = PAGE - (virt & (PAGE - 1));

			step = step < behind - virt ? step : behind - virt;
			out->by_node[node_of(address)] += step;
			virt += step;
			address += step;
		}
	}
}

void got_print(unsigned nodes)
{
	unsigned count;
	const struct row *row = tables_rows(&count);

	for (unsigned i = 0; i < count; i++, row++) {
		struct got got;

		look(&row->table, &got);
		print("got %s: %lu bytes, %lu translations, 4K=%lu 2M=%lu 1G=%lu,", row->key,
		      row->table.bytes, got.translations, got.by_size[0], got.by_size[1],
		      got.by_size[2]);
		for (unsigned n = 0; n < nodes; n++)
			print(" N%u=%lu", n, got.by_node[n]);
		print("\n");
	}
}
