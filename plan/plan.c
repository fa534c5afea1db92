/* SPDX-License-Identifier: MIT */
/*
 * plan.c - from inputs of different worth to one simulated boot
 *
 * A log's own count of pages beats what a description implies, as long as the
 * kernel counts in the same way and the command line leaves memory as it was.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

/* ---- description of the source -------------------------------------------------------- */

/** Nodes and bytes as a log tells them. */
static int describe_log(const struct klog_boot *boot, const struct ktables_facts *facts,
			struct description *out)
{
	unsigned page_shift = (unsigned)facts->machine.rules.value[HD_RULE_PAGE_SHIFT];
	struct description d = { .arch = facts->machine.rules.arch, .cpus = 1 };
	uint64_t total = boot->has & KLOG_HAS_MEMORY ? boot->total_kib << 10 : 0;

	if (facts->machine.facts.possible_cpus)
		d.cpus = facts->machine.facts.possible_cpus;
	d.page_bytes = 1ULL << page_shift;
	d.possible_nodes = facts->machine.facts.possible_nodes;
	/* A possible node that is not there is printed as a memoryless one, too. */
	uint32_t memory = facts->machine.facts.memory_nodes;
	uint32_t online = facts->machine.facts.online_nodes;
	uint32_t memoryless = online > memory ? online - memory : 0;

	d.node = calloc(boot->node_max + 1, sizeof(*d.node));
	if (!d.node)
		return -ENOMEM;
	for (uint32_t n = 0; n < boot->node_max; n++) {
		uint64_t bytes = boot->node_bytes[n];

		if (!bytes && !(boot->has & KLOG_HAS_NODE_RANGES))
			bytes = boot->node_pages[n] << page_shift;
		if (!bytes && (boot->initmem_node[n] != 2 || !memoryless))
			continue;
		memoryless -= !bytes;
		d.node[d.nodes++] = (struct describe_node){ .id = n, .bytes = bytes };
	}
	if (!d.nodes && total && facts->machine.facts.memory_nodes == 1)
		d.node[d.nodes++].bytes = total;
	d.highmem_bytes = boot->highmem_range_bytes;
	if (!d.nodes || !d.arch) {
		free(d.node);
		return -ENODATA;
	}
	if (d.possible_nodes < d.nodes)
		d.possible_nodes = d.nodes;
	*out = d;
	return 0;
}

static int copy_description(const struct description *from, struct description *out)
{
	*out = *from;
	out->node = malloc(from->nodes * sizeof(*out->node));
	if (!out->node)
		return -ENOMEM;
	memcpy(out->node, from->node, from->nodes * sizeof(*out->node));
	return 0;
}

static int describe(const struct plan_source *source, const struct ktables_facts *facts,
		    struct description *out)
{
	int error = -ENODATA;

	if (source->description)
		return copy_description(source->description, out);
	if (source->boot)
		error = describe_log(source->boot, facts, out);
	if (error == -ENODATA && source->books)
		error = machine_describe_books(source->books, out);
	return error;
}

/* ---- rules, command line, pages ----------------------------------------------------------- */

static int set_rules(const struct plan_source *source, const struct plan_wish *wish,
		     const struct description *description, const struct ktables_facts *facts,
		     struct hd_rules *out)
{
	uint32_t version = wish->kernel ? hd_version_parse(wish->kernel, strlen(wish->kernel)) : 0;
	struct hd_config config;

	if (!wish->kernel && !source->description) {
		*out = facts->machine.rules;
		return facts->has_version ? 0 : -ENODATA;
	}
	if (!version)
		return -ENODATA;
	hd_config_init(&config);
	if (source->books && source->books->has_config)
		config = source->books->config;
	for (uint64_t page = description->page_bytes; page > 1; page >>= 1)
		config.page_shift++;
	if (description->page_bytes == 0)
		config.page_shift = 0;
	(void)hd_rules_init(out, version, description->arch, &config);
	if (description->nodes > 1 && out->value[HD_RULE_WORD_BYTES] == 8)
		(void)hd_rules_set(out, HD_RULE_HASHDIST_PARAM, 1, HD_ORIGIN_DETECTED);
	for (uint32_t r = 0; r < wish->given.rules; r++)
		(void)hd_rules_parse(out, wish->given.rule[r], strlen(wish->given.rule[r]));
	return 0;
}

/** Bytes of a command line up to a word "--": what follows is init's, not the kernel's. */
static size_t kernel_words(const char *cmdline)
{
	const char *at = cmdline, *end = cmdline;

	while (*at) {
		size_t blanks = strspn(at, " "), len = strcspn(at + blanks, " ");

		if (len == 2 && !strncmp(at + blanks, "--", 2))
			break;
		at += blanks + len;
		end = at;
	}
	return (size_t)(end - cmdline);
}

static void set_cmdline(const struct plan_source *source, const struct plan_wish *wish, char *out)
{
	const char *base = wish->cmdline                                 ? wish->cmdline
			   : source->books && source->books->has_cmdline ? source->books->cmdline
			   : source->boot                                ? source->boot->cmdline
									 : "";

	size_t more = wish->more ? strlen(wish->more) : 0;
	size_t kept = more ? kernel_words(base) : strlen(base);

	if (kept > PLAN_CMDLINE_MAX - 2)
		kept = PLAN_CMDLINE_MAX - 2;
	if (more > PLAN_CMDLINE_MAX - 2 - kept)
		more = PLAN_CMDLINE_MAX - 2 - kept;
	memcpy(out, base, kept);
	if (more) {
		out[kept++] = ' ';
		memcpy(out + kept, wish->more, more);
	}
	out[kept + more] = '\0';
}

/** Words that change how much memory there is, or how much of it is free at the count. */
static bool changes_memory(const char *cmdline)
{
	static const char *const names[] = { "mem=", "memmap=", "crashkernel=", "cma=",
					     "hugetlb_cma=" };

	for (const char *at = cmdline; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			if (!strncmp(at, names[n], strlen(names[n])))
				return true;
	}
	return false;
}

static void set_pages(const struct plan_source *source, const struct plan_wish *wish,
		      const struct ktables_facts *facts, struct hd_machine *machine,
		      struct plan *out)
{
	bool measured = !source->description && facts->has_pages;
	bool same_era = machine->rules.value[HD_RULE_COUNT_ERA] ==
			facts->machine.rules.value[HD_RULE_COUNT_ERA];
	bool new_words = (wish->cmdline && changes_memory(wish->cmdline)) ||
			 (wish->more && changes_memory(wish->more));

	if (measured && same_era && !new_words) {
		machine->facts.pages = facts->machine.facts.pages;
		out->pages_from = facts->pages_from_log ? PLAN_PAGES_LOG : PLAN_PAGES_BOOKS;
		return;
	}
	boot_pages(&out->description, &out->layout, &machine->rules, out->cmdline,
		   &machine->facts.pages);
	out->pages_from = PLAN_PAGES_DESCRIPTION;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static int boot_it(const struct plan_source *source, const struct plan_wish *wish,
		   const struct ktables_facts *facts, struct plan *out, const char **lack)
{
	const struct boot_options options = { .early_all = wish->early_all };
	struct hd_machine machine = { 0 };
	int error = set_rules(source, wish, &out->description, facts, &machine.rules);

	if (error) {
		*lack = "the kernel's version: give --kernel";
		return error;
	}
	set_cmdline(source, wish, out->cmdline);
	hd_params_parse(&machine.params, &machine.rules, out->cmdline, strlen(out->cmdline));
	error = boot_layout(&out->description, &machine.rules, out->cmdline, &out->layout);
	if (error)
		return error;
	set_pages(source, wish, facts, &machine, out);
	/* A log that does not tell the processors leaves the tables sized by them out. */
	if (source->description || facts->machine.facts.possible_cpus)
		machine.facts.possible_cpus = out->description.cpus;
	if (machine.params.nr_cpus && machine.params.nr_cpus < machine.facts.possible_cpus)
		machine.facts.possible_cpus = machine.params.nr_cpus;
	machine.facts.possible_nodes = out->description.possible_nodes;
	machine.facts.pv_spinlocks = facts->machine.facts.pv_spinlocks;
	return boot_run(&out->layout, &machine, &options, &out->result);
}

int plan_describe(const struct plan_source *source, struct description *out)
{
	const struct ktables_given none = { 0 };
	struct ktables_facts facts = { 0 };

	if (!source->description && source->books)
		return machine_describe_books(source->books, out);
	if (!source->description)
		ktables_infer(source->boot, NULL, &none, KTABLES_DETECT_RULES, &facts);
	return describe(source, &facts, out);
}

/** What the source tells; an architecture given by the user counts for a log that tells none. */
static void infer(const struct plan_source *source, const struct plan_wish *wish,
		  struct ktables_facts *out)
{
	struct klog_boot *boot = NULL;

	if (source->boot && wish->arch) {
		boot = calloc(1, sizeof(*boot));
		if (boot) {
			klog_boot_copy(boot, source->boot);
			boot->arch = wish->arch;
		}
	}
	ktables_infer(boot ? boot : source->boot, source->books, &wish->given, KTABLES_DETECT_RULES,
		      out);
	free(boot);
}

int plan_make(const struct plan_source *source, const struct plan_wish *wish, struct plan *out,
	      const char **lack)
{
	struct ktables_facts facts = { 0 };
	int error;

	*out = (struct plan){ 0 };
	*lack = "";
	if (!source->description)
		infer(source, wish, &facts);
	error = describe(source, &facts, &out->description);
	if (error == -ENODATA)
		*lack = facts.has_arch ? "memory and nodes: give --machine"
				       : "the architecture: give --arch";
	if (!error)
		error = boot_it(source, wish, &facts, out, lack);
	if (error)
		plan_fini(out);
	return error;
}

void plan_fini(struct plan *plan)
{
	machine_describe_free(&plan->description);
	boot_layout_fini(&plan->layout);
	boot_result_fini(&plan->result);
}

/* ---- comparing with a log ----------------------------------------------------------------------- */

static bool agrees(const struct hd_rules *rules, const struct hd_table *planned,
		   const struct klog_table *printed)
{
	enum hd_mapping mapping = planned->mapping;

	if (rules->value[HD_RULE_KIND_WORDS] == HD_WORDS_VMALLOC && mapping == HD_MAP_VMALLOC_HUGE)
		mapping = HD_MAP_VMALLOC;
	return planned->entries == printed->entries &&
	       (!printed->has_bytes || planned->bytes == printed->bytes) &&
	       (printed->mapping == HD_MAP_UNKNOWN || mapping == printed->mapping);
}

/** Tables the plan cannot have: not of this allocator, or only of debugging kernels. */
static bool beyond_plan(const struct hd_rules *rules, const struct klog_table *printed,
			enum hd_table_id id)
{
	/* Before 3.13 mounts had one page that fs/namespace.c took by itself. */
	if (id == HD_TABLE_MOUNT && rules->version < HD_VERSION(3, 13, 0) &&
	    printed->bytes <= 1ULL << rules->value[HD_RULE_PAGE_SHIFT])
		return true;
	return id == HD_TABLE_DQUOT || id == HD_TABLE_STACKDEPOT || id == HD_TABLE_COUNT ||
	       (id == HD_TABLE_FUTEX && printed->nodes);
}

static bool sized_by_cpus(enum hd_table_id id)
{
	return id == HD_TABLE_FUTEX || id == HD_TABLE_POSIXTIMERS || id == HD_TABLE_PV_QSPINLOCK;
}

uint32_t plan_check(const struct plan *plan, const struct klog_boot *boot,
		    struct plan_difference *out, uint32_t *same)
{
	const struct hd_rules *rules = &plan->result.machine.rules;
	bool unknown_cpus = !plan->result.machine.facts.possible_cpus;
	bool seen[HD_TABLE_COUNT] = { false };
	uint32_t count = 0;

	*same = 0;
	for (uint32_t t = 0; t < boot->tables; t++) {
		const struct klog_table *printed = &boot->table[t];
		enum hd_table_id id = printed->id;
		const struct boot_row *row = NULL;

		if (beyond_plan(rules, printed, id) || (unknown_cpus && sized_by_cpus(id)))
			continue;
		for (uint32_t r = 0; r < plan->result.rows; r++)
			if (plan->result.row[r].id == id)
				row = &plan->result.row[r];
		seen[id] = true;
		if (row && agrees(rules, &row->table, printed)) {
			++*same;
			continue;
		}
		out[count++] = (struct plan_difference){
			.id = id,
			.planned = row,
			.printed = printed,
			.within = row && agrees(rules, &row->table_high, printed),
		};
	}
	for (uint32_t r = 0; r < plan->result.rows; r++)
		if (!seen[plan->result.row[r].id])
			out[count++] = (struct plan_difference){ .id = plan->result.row[r].id,
								 .planned = &plan->result.row[r] };
	return count;
}
