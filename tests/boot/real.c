/* SPDX-License-Identifier: MIT */
/*
 * real.c - the boots of tests/core/real-boots.tsv, as descriptions and as lines
 */
#include "tests/boot/real.h"
#include "tests/core/printed.h"
#include "tests/core/tsv.h"

enum { FIELDS = 16 };

struct real_boot real_boots[REAL_BOOTS];

static const char *path = "real-boots.tsv";

void real_arguments(int argc, char **argv)
{
	if (argc > 1)
		path = argv[1];
}

/* ---- what the guests were --------------------------------------------------------- */

/** Nodes of guests whose RAM was not split evenly over the nodes that were online. */
static const struct {
	const char *id_end, *nodes;
} guests[] = {
	{ "-3n", "node:0=1G node:1=512M node:2=512M/nocpu" },
	{ "-ml-2G", "node:0=2G node:1=0" },
	{ "-ml-2G-hd1", "node:0=2G node:1=0" },
	{ "-2n-2G-numaoff", "node:0=1G node:1=1G" },
	{ "-2n-16G-numaoff", "node:0=8G node:1=8G" },
	{ "-mem1G-2n", "node:0=1G node:1=1G" },
	{ "-fake4-2G", "ram=2G" },
	{ "-fake4-16G", "ram=16G" },
	{ "-slot", "ram=2G possible-nodes=2" },
	{ "-slot-hd1", "ram=2G possible-nodes=2" },
};

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static void describe_nodes(const struct real_boot *boot, char *out, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(guests); i++)
		if (ends_with(boot->id, guests[i].id_end)) {
			snprintf(out, size, "%s", guests[i].nodes);
			return;
		}
	for (uint32_t n = 0; n < boot->online_nodes; n++)
		len += (size_t)snprintf(out + len, size - len, "%snode:%u=%lluK", n ? " " : "", n,
					(unsigned long long)boot->ram_kib / boot->online_nodes);
}

/** Debian's i386 kernels map 880 MiB; what is above is highmem. */
static void describe(struct real_boot *boot)
{
	const uint64_t mapped_kib = 880 * KIB;
	char nodes[160], highmem[40] = "";

	describe_nodes(boot, nodes, sizeof(nodes));
	if (boot->arch == HD_ARCH_I386 && boot->ram_kib > mapped_kib)
		snprintf(highmem, sizeof(highmem), " highmem=%lluK",
			 (unsigned long long)(boot->ram_kib - mapped_kib));
	snprintf(boot->description, sizeof(boot->description), "%s %s cpus=%u page=%lluK%s",
		 hd_arch_name(boot->arch), nodes, boot->cpus, (unsigned long long)boot->page_kib,
		 highmem);
}

/* ---- the file --------------------------------------------------------------------- */

static void read_boot(struct real_boot *boot, char **field)
{
	struct hd_config config;

	tsv_copy(boot->id, sizeof(boot->id), field[0]);
	tsv_copy(boot->version, sizeof(boot->version), field[1]);
	boot->arch = hd_arch_parse(field[2], strlen(field[2]));
	boot->page_kib = tsv_number(field[3]);
	boot->ram_kib = tsv_number(field[4]);
	boot->ram_max_kib = tsv_number(field[5]);
	boot->online_nodes = (uint32_t)tsv_number(field[6]);
	boot->memory_nodes = (uint32_t)tsv_number(field[7]);
	boot->cpus = (uint32_t)tsv_number(field[8]);
	tsv_copy(boot->cmdline, sizeof(boot->cmdline), strcmp(field[9], "-") == 0 ? "" : field[9]);
	boot->total = tsv_number(field[10]);
	boot->present_kib = tsv_number(field[12]);
	boot->reserved_kib = tsv_number(field[13]);
	boot->cma_kib = tsv_number(field[14]);
	tsv_copy(boot->tables, sizeof(boot->tables), field[15]);

	hd_config_init(&config);
	config.preempt_rt = strstr(boot->version, "-rt") ? HD_YES : HD_UNKNOWN;
	for (config.page_shift = 10; boot->page_kib >> (config.page_shift - 10) > 1;)
		config.page_shift++;
	assert_int_equal(
	    hd_rules_init(&boot->rules, version_of(boot->version), boot->arch, &config), 0);
	describe(boot);
}

int real_setup(void **state)
{
	FILE *file = fopen(path, "r");
	char line[1024], *field[FIELDS];
	size_t count = 0;

	(void)state;
	if (!file) {
		print_error("cannot open %s; give its path as the argument\n", path);
		return -1;
	}
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		assert_true(count < REAL_BOOTS);
		assert_int_equal(tsv_split(line, field, FIELDS), FIELDS);
		read_boot(&real_boots[count++], field);
	}
	fclose(file);
	assert_int_equal(count, REAL_BOOTS);
	return 0;
}

const struct real_boot *real_find(const char *id)
{
	for (size_t i = 0; i < REAL_BOOTS; i++)
		if (strcmp(real_boots[i].id, id) == 0)
			return &real_boots[i];
	fail_msg("no boot is called %s", id);
	return NULL;
}

/* ---- what was printed ------------------------------------------------------------- */

static bool printed(const struct real_boot *boot, enum hd_table_id id, struct hd_table *out)
{
	return printed_table(boot->tables, id, boot->arch, strstr(boot->version, "-rt"), out);
}

void real_line(const struct real_boot *boot, enum hd_table_id id, char *out, size_t size)
{
	printed_text(boot->tables, id, boot->arch, strstr(boot->version, "-rt"),
		     boot->page_kib * KIB, out, size);
}

/* What a log tells besides: the early tables, the bounce buffer, crashkernel=. */
void real_pages(const struct real_boot *boot, struct hd_pages *out)
{
	const char *crash = strstr(boot->cmdline, "crashkernel=");
	struct hd_log_totals log = {
		.has_zonelist_pages = true,
		.has_memory = true,
		.has_reserved = true,
		.zonelist_pages = boot->total,
		.total_kib = boot->present_kib,
		.reserved_kib = boot->reserved_kib,
		.cma_kib = boot->cma_kib,
		.possible_cpus = boot->cpus,
		.page_struct_bytes = boot->arch == HD_ARCH_I386 ? 40 : 0,
	};

	for (int id = HD_TABLE_DENTRY; id <= HD_TABLE_INODE; id++) {
		struct hd_table table;

		if (printed(boot, id, &table) && table.mapping == HD_MAP_LINEAR)
			log.early_bytes += table.bytes;
	}
	if (crash)
		log.crashkernel_bytes = strtoull(crash + 12, NULL, 10) * MIB;
	if (boot->arch == HD_ARCH_I386 && boot->ram_kib > 880 * KIB)
		log.highmem_pages = (boot->ram_kib - 880 * KIB) / 4 - 32;
	/* A bounce buffer of 64 MiB when memory lies, or may be plugged in, above 4 GiB. */
	if (boot->arch == HD_ARCH_X86_64 || boot->arch == HD_ARCH_ARM64) {
		uint64_t below = boot->arch == HD_ARCH_ARM64 ? 3 * GIB : 7 * GIB / 2 - 1;

		log.late_complete = true;
		if (boot->ram_max_kib * KIB > below)
			log.late_reserved_bytes = 64 * MIB;
	}
	assert_int_equal(hd_pages_from_log(&boot->rules, &log, out), 0);
}

void real_lay_out(const struct real_boot *boot, struct description *machine,
		  struct boot_layout *layout)
{
	struct describe_error error;

	if (machine_describe_parse(boot->description, machine, &error))
		fail_msg("%s: \"%s\", column %zu: expected %s", boot->id, boot->description,
			 error.column, error.wanted);
	assert_int_equal(boot_layout(machine, &boot->rules, boot->cmdline, layout), 0);
}

/* ---- boots that nobody recorded --------------------------------------------------- */

struct booted booted_with(const char *description, const struct hd_rules *rules,
			  const char *cmdline, const struct boot_options *options)
{
	struct booted b = { .rules = *rules };
	struct hd_machine machine = { .rules = *rules };
	struct describe_error error;

	if (machine_describe_parse(description, &b.description, &error))
		fail_msg("\"%s\", column %zu: expected %s", description, error.column,
			 error.wanted);
	assert_int_equal(boot_layout(&b.description, rules, cmdline, &b.layout), 0);
	boot_pages(&b.description, &b.layout, rules, cmdline, &b.pages);
	hd_params_parse(&machine.params, rules, cmdline, strlen(cmdline));
	machine.facts.pages = b.pages;
	machine.facts.possible_cpus = b.description.cpus;
	machine.facts.possible_nodes = b.description.possible_nodes;
	machine.facts.pv_spinlocks = rules->arch == HD_ARCH_PPC64; /* pSeries guests */
	assert_int_equal(boot_run(&b.layout, &machine, options, &b.result), 0);
	return b;
}

struct booted booted(const char *description, const char *version, const char *cmdline)
{
	const struct boot_options none = { .first_node = 0 };
	enum hd_arch arch = hd_arch_parse(description, strcspn(description, " "));
	struct hd_rules rules = rules_of(version, arch);

	return booted_with(description, &rules, cmdline, &none);
}

void booted_fini(struct booted *b)
{
	assert_false(b->result.leaked);
	boot_result_fini(&b->result);
	boot_layout_fini(&b->layout);
	machine_describe_free(&b->description);
}

const struct boot_row *row_of(const struct booted *b, enum hd_table_id id)
{
	for (uint32_t r = 0; r < b->result.rows; r++)
		if (b->result.row[r].id == id)
			return &b->result.row[r];
	return NULL;
}
