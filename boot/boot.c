/* SPDX-License-Identifier: MIT */
/*
 * boot.c - the order in which a boot meets its tables
 *
 *   command line, nodes up, flag cleared or not
 *   early tables        those of the file-system caches only if not distributed
 *   memory handed over  page allocator, vmalloc, interleaving over the nodes
 *   late dentry, inode  if distributed
 *   mounts, then initcalls: processors' tables, then the network's
 *
 * Source: start_kernel(), vfs_caches_init_early(), inet_init(), Linux 5.3 to 7.1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"

/** Order of the lines. Tables that this kernel has not are passed over. */
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

struct run {
	const struct boot_layout *layout;
	const struct boot_options *options;
	struct boot_result *out;
	struct sim *sim;
	struct hd_providers providers;
	uint64_t established, established_high; /* at either end of the page count */
	struct hd_pages high;
	void *block[HD_TABLE_COUNT];
};

/** Tables go where memory is mapped directly: not into highmem. Return: ranges in @out. */
static size_t mapped_ram(const struct boot_layout *layout, struct sim_ram *out)
{
	uint64_t end = layout->highmem_start ? layout->highmem_start : UINT64_MAX;
	size_t count = 0;

	for (size_t r = 0; r < layout->rams && layout->ram[r].start < end; r++) {
		out[count] = layout->ram[r];
		if (out[count].end > end)
			out[count].end = end;
		count++;
	}
	return count;
}

static int open_sim(struct run *run)
{
	const struct hd_rules *rules = &run->out->machine.rules;
	bool x86 = rules->arch == HD_ARCH_X86_64;
	unsigned page_shift = (unsigned)rules->value[HD_RULE_PAGE_SHIFT];
	struct sim_config config = {
		.rams = run->layout->rams,
		.nodes = run->layout->nodes,
		.page_shift = page_shift,
		.top_order = (unsigned)rules->value[HD_RULE_TOP_ORDER],
		.whole_order = (unsigned)rules->value[HD_RULE_TOP_ORDER],
		/* arm64 maps its linear map by base pages, so that it can protect each. */
		.linear_shift = x86 ? 30 : page_shift,
		.linear_mid_shift = x86 ? 21 : page_shift,
		.deal = (enum hd_deal)rules->value[HD_RULE_DEAL],
		.bulk_pages = rules->version >= HD_VERSION(5, 16, 0) || !rules->version ? 100 : 0,
		.first_node = run->options->first_node,
	};

	struct sim_ram *ram = malloc((config.rams + 1) * sizeof(*ram));
	int error;

	if (!ram)
		return -ENOMEM;
	config.ram = ram;
	config.rams = mapped_ram(run->layout, ram);
	error = sim_open(&config, &run->sim);
	free(ram);
	return error;
}

/** One table: asked for, allocated, looked at. Return: 0; -ENOMEM: of our own memory, not of the machine's. */
static int make_table(struct run *run, enum hd_table_id id)
{
	struct boot_result *out = run->out;
	struct boot_row *row = &out->row[out->rows];
	struct hd_machine high = out->machine;

	if (hd_table_request(&out->machine, id, run->established, &row->request))
		return 0;
	if (run->options->early_all && !out->machine.hashdist)
		row->request.when = HD_WHEN_EARLY;
	row->id = id;
	row->failed = hd_table_alloc(&out->machine, &row->request, &run->providers, &row->table);
	if (sim_starved(run->sim))
		return -ENOMEM;
	if (row->failed) {
		out->rows++;
		return 0;
	}
	run->block[out->rows] = row->table.start;
	sim_got(run->sim, row->table.start, &row->got);
	row->node_bytes = out->node_store + (size_t)out->rows * run->layout->nodes;
	memcpy(row->node_bytes, row->got.node_bytes, run->layout->nodes * sizeof(*row->node_bytes));
	row->got.node_bytes = row->node_bytes;
	high.facts.pages = run->high;
	if (hd_predict(&high, id, run->established_high, &row->table_high))
		row->table_high = row->table;
	if (row->request.when == HD_WHEN_EARLY)
		row->table_high.mapping = HD_MAP_LINEAR; /* early_all: the prediction knows not */
	row->exact = row->table_high.sizing.entries == row->table.sizing.entries;
	if (hd_table_line(&out->machine.rules, hd_table_info(id)->name, &row->table, row->line,
			  sizeof(row->line)) < 0)
		row->line[0] = '\0';
	if (id == HD_TABLE_TCP_ESTABLISHED) {
		run->established = row->table.entries;
		run->established_high = row->table_high.entries;
	}
	out->rows++;
	return 0;
}

/** Is it made before memory is handed over? */
static bool before_hand_over(const struct run *run, enum hd_table_id id)
{
	struct hd_request request;

	if (run->options->early_all && !run->out->machine.hashdist)
		return true;
	if (hd_table_request(&run->out->machine, id, 1, &request))
		return false;
	return request.when == HD_WHEN_EARLY ||
	       (request.when == HD_WHEN_EARLY_UNLESS && !run->out->machine.hashdist);
}

static int make_tables(struct run *run)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && !error; i++)
		if (before_hand_over(run, order[i]))
			error = make_table(run, order[i]);
	sim_hand_over(run->sim);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && !error; i++)
		if (!before_hand_over(run, order[i]))
			error = make_table(run, order[i]);
	return error;
}

/** Everything is released again, and the machine must be as empty as it was. */
static void tear_down(struct run *run)
{
	run->out->bytes_total = sim_bytes_total(run->sim);
	run->out->bytes_in_use = sim_bytes_in_use(run->sim);
	for (uint32_t r = 0; r < run->out->rows; r++)
		if (run->block[r])
			sim_release(run->sim, run->block[r]);
	run->out->leaked =
	    sim_bytes_in_use(run->sim) || sim_bytes_free(run->sim) != sim_bytes_total(run->sim);
	sim_close(run->sim);
}

/** At least one page is left. */
static uint64_t less(uint64_t pages, uint64_t slack)
{
	return pages > slack ? pages - slack : 1;
}

int boot_run(const struct boot_layout *layout, const struct hd_machine *machine,
	     const struct boot_options *options, struct boot_result *out)
{
	struct run run = { .layout = layout, .options = options, .out = out };
	struct hd_machine *m = &out->machine;
	int error;

	*out = (struct boot_result){ .machine = *machine };
	m->facts.memory_nodes = layout->memory_nodes;
	m->facts.online_nodes = layout->nodes;
	if (m->facts.possible_nodes < layout->nodes)
		m->facts.possible_nodes = layout->nodes;
	m->hashdist = hd_hashdist(&m->rules, &m->facts, &m->params, &out->reason);
	/* The boot runs at the low end of the count; each row looks at the high end, too. */
	run.high = m->facts.pages;
	run.high.kernel += run.high.slack;
	run.high.all += run.high.slack;
	m->facts.pages.kernel = less(m->facts.pages.kernel, m->facts.pages.slack);
	m->facts.pages.all = less(m->facts.pages.all, m->facts.pages.slack);
	out->node_store = calloc((size_t)HD_TABLE_COUNT * layout->nodes, sizeof(*out->node_store));
	if (!out->node_store)
		return -ENOMEM;
	error = open_sim(&run);
	if (error) {
		boot_result_fini(out);
		return error;
	}
	run.providers = sim_providers(run.sim);
	error = make_tables(&run);
	tear_down(&run);
	if (error)
		boot_result_fini(out);
	return error;
}

void boot_result_fini(struct boot_result *result)
{
	free(result->node_store);
	result->node_store = NULL;
}
