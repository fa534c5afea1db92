/* SPDX-License-Identifier: MIT */
/*
 * main.c - a kernel that does nothing but allocate its large hash tables
 *
 * The order of a boot: what there is, what the rules make of it, early tables, the page allocator,
 * late tables; then the answer where everything is. Everything about tables is core's. The other
 * processors are counted and left asleep; there are no interrupts.
 *
 * Command line, besides what core reads (hashdist=, *_entries=, nohugevmalloc, numa=off):
 *
 *   as=6.1.159        the Linux whose rules hold; the newest known if not given
 *   rule=NAME=VALUE   overrules one of them
 *   crashkernel=SIZE  sets memory aside and does nothing with it: some kernels do not count it
 *   own=N             a table that no Linux has, of N entries; 0: as many as memory calls for
 *   overrun=1         at the end, reads behind a scattered table, which must be a fault
 *   lookups=N         random lookups at the end (100000)
 */
#include "kernel.h"

extern char kernel_start[], kernel_end[]; /* kernel.ld */

static struct start start;
static struct topology topology;
static struct hd_machine machine;

/** The number of a parameter, "100" or "256M"; @otherwise where it is not given. */
static uint64_t number(const char *name, uint64_t otherwise)
{
	size_t len, i;
	const char *text = cmdline_value(start.cmdline, name, &len);
	uint64_t n = 0;

	for (i = 0; i < len && text[i] >= '0' && text[i] <= '9'; i++)
		n = n * 10 + (uint64_t)(text[i] - '0');
	if (i < len)
		n <<= text[i] == 'G' ? 30 : text[i] == 'M' ? 20 : text[i] == 'K' ? 10 : 0;
	return len ? n : otherwise;
}

static void read_parameters(void)
{
	size_t len;
	const char *as = cmdline_value(start.cmdline, "as", &len);
	uint32_t version = hd_version_parse(as, len);
	const char *rule;

	if (len && !version)
		panic("as= is no version");
	if (hd_rules_init(&machine.rules, version, HD_ARCH_X86_64, NULL))
		panic("no rules for this architecture");
	rule = cmdline_value(start.cmdline, "rule", &len);
	if (len && hd_rules_parse(&machine.rules, rule, len))
		panic("rule= is not understood");
	hd_params_parse(&machine.params, &machine.rules, start.cmdline, strlen(start.cmdline));
}

/** RAM by node; a machine that tells of no nodes, or is told not to look, is one. */
static void find_nodes(void)
{
	acpi_read(start.rsdp, &topology);
	if (machine.params.numa_off || !topology.affinity.count) {
		topology.nodes = 1;
		topology.with_cpu = 1;
		topology.affinity.count = 0;
		ranges_add(&topology.affinity, 0, UINT64_MAX, 0);
	}
	ranges_cross(&start.memory, &topology.affinity, &ram);
	if (!ram.count)
		panic("no memory");
}

/** Processors that may ever be there: kernels before 6.9 believed in all that firmware lists. */
static uint32_t possible_cpus(void)
{
	bool believes = machine.rules.version && machine.rules.version < HD_VERSION(6, 9, 0);

	return topology.cpus + (believes ? topology.cpus_later : topology.cpus_capable);
}

static uint32_t ones(uint64_t bits)
{
	uint32_t count = 0;

	for (; bits; bits &= bits - 1)
		count++;
	return count;
}

static void fill_facts(void)
{
	struct hd_facts *facts = &machine.facts;
	uint64_t with_memory = 0;

	for (unsigned i = 0; i < ram.count; i++)
		with_memory |= 1UL << ram.at[i].node;
	facts->memory_nodes = ones(with_memory);
	facts->online_nodes = ones(with_memory | topology.with_cpu);
	facts->possible_nodes = topology.nodes;
	facts->possible_cpus = possible_cpus();
	count_pages(&machine.rules, &facts->pages);
	machine.hashdist = hd_hashdist(&machine.rules, facts, &machine.params, NULL);
}

static void print_machine(void)
{
	const struct hd_facts *facts = &machine.facts;

	print(
	    "machine: %u memory nodes, %u online, %u possible cpus, %lu pages count, hashdist %u\n",
	    facts->memory_nodes, facts->online_nodes, facts->possible_cpus, facts->pages.kernel,
	    machine.hashdist);
	for (unsigned i = 0; i < ram.count; i++)
		print("ram: %lx-%lx node %u\n", ram.at[i].start, ram.at[i].end - 1,
		      (unsigned)ram.at[i].node);
}

/** boot.S comes here, on a stack, with 4 GiB in the linear map. */
_Noreturn void kernel_main(uint64_t start_info);

void kernel_main(uint64_t start_info)
{
	fault_init();
	start_read(start_info, &start);
	print("example kernel, command line: %s\n", start.cmdline);
	read_parameters();
	find_nodes();

	boot_alloc_init();
	boot_reserve(0, 1UL << 20); /* firmware's, and what it gave us */
	boot_reserve((uint64_t)kernel_start - KERNEL_BASE, (uint64_t)kernel_end - KERNEL_BASE);
	paging_init();
	memmap_init();
	if (number("crashkernel", 0) && !boot_alloc(number("crashkernel", 0), HUGE, ANY_NODE))
		panic("no memory to set aside");

	fill_facts();
	print_machine();
	tables_make(&machine, true);
	pages_init();
	deal_init(&machine);
	tables_make(&machine, false);
	if (number("own", UINT64_MAX) != UINT64_MAX)
		tables_make_own(&machine, number("own", 0));

	got_print(topology.nodes);
	lookups_run(number("lookups", 100000));
	if (number("overrun", 0))
		lookups_overrun();
	print("done\n");
	power_off();
}
