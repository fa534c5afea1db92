/* SPDX-License-Identifier: MIT */
/*
 * infer.c - from what a log and a machine's books say to rules, facts and parameters
 *
 * Versions lie: distributions backport, development trees are ahead of their
 * number. Where the log itself shows a rule, the log is believed.
 */
#include <string.h>

#include "ktables/ktables.h"

/* ---- version --------------------------------------------------------------------------- */

/** "Debian 6.12.32-1"; but "Debian 14.2.0-19" in the same line is a compiler. */
static uint32_t debian_base(const char *banner, uint32_t version)
{
	static const char mark[] = "Debian ";

	for (const char *at = strstr(banner, mark); at; at = strstr(at + 1, mark)) {
		const char *text = at + strlen(mark);
		uint32_t base = hd_version_parse(text, strlen(text));

		if (base && base >> 16 == version >> 16)
			return base;
	}
	return 0;
}

/**
 * "(Ubuntu 6.8.0-51.52-generic 6.8.12)": the last word is the tree it is based on. Of a
 * compiler there is one word only: "(Ubuntu 13.3.0-6ubuntu2~24.04)".
 */
static uint32_t ubuntu_base(const char *banner, uint32_t version)
{
	static const char mark[] = "(Ubuntu ";

	for (const char *at = strstr(banner, mark); at; at = strstr(at + 1, mark)) {
		const char *first = at + strlen(mark), *end = strchr(at, ')'), *word = end;
		uint32_t base;

		if (!end)
			return 0;
		while (word > first && word[-1] != ' ')
			word--;
		base = hd_version_parse(word, (size_t)(end - word));
		if (word > first && base && base >> 16 == version >> 16)
			return base;
	}
	return 0;
}

/**
 * A tree ahead of its number: linux-next, or thousands of commits after a release,
 * which is the next one's merge window.
 */
static bool ahead(const char *release)
{
	const char *at = strstr(release, ".0-");
	unsigned commits = 0;

	if (strstr(release, "-next-"))
		return true;
	if (!at || strstr(release, "-rc"))
		return false;
	for (at += 3; *at >= '0' && *at <= '9' && commits < 100000; at++)
		commits = commits * 10 + (unsigned)(*at - '0');
	return commits >= 1000 && at[0] == '-' && at[1] == 'g' &&
	       strspn(at + 2, "0123456789abcdef") >= 7;
}

/** After 4.20 and every other .19 a new series begins; 2.6 counted in its third number. */
static uint32_t next_release(uint32_t version)
{
	uint32_t major = HD_VERSION_MAJOR(version), minor = HD_VERSION_MINOR(version);

	if (major < 3)
		return version + 1;
	return minor >= (major == 4 ? 20 : 19) ? HD_VERSION(major + 1, 0, 0)
					       : HD_VERSION(major, minor + 1, 0);
}

static uint32_t kernel_version(const char *release, const char *banner)
{
	uint32_t version = hd_version_parse(release, strlen(release)), base;

	if (version && ahead(release))
		return next_release(version);
	base = debian_base(banner, version);
	if (!base)
		base = ubuntu_base(banner, version);
	return base ? base : version;
}

/** "BOOT_IMAGE=/boot/vmlinuz-6.1.0-44-amd64": for logs whose head is cut. */
static uint32_t boot_image_version(const char *cmdline)
{
	const char *at = strstr(cmdline, "BOOT_IMAGE=");
	size_t len = at ? strcspn(at, " ") : 0;
	const char *name = at ? strstr(at, "vmlinu") : NULL;

	if (!name || name > at + len)
		return 0;
	name += strcspn(name, "- ");
	return *name == '-' ? hd_version_parse(name + 1, strcspn(name + 1, " ")) : 0;
}

/* ---- what the table lines show ----------------------------------------------------------- */

static const struct klog_table *find(const struct klog_boot *boot, enum hd_table_id id)
{
	for (uint32_t t = 0; boot && t < boot->tables; t++)
		if (boot->table[t].id == id)
			return &boot->table[t];
	return NULL;
}

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static unsigned log2_of(uint64_t n)
{
	return n ? 63 - (unsigned)__builtin_clzll(n) : 0;
}

/** Order and size of one line give the page size, when the size is a power of two. */
static unsigned page_shift_of(const struct klog_boot *boot)
{
	unsigned votes[32] = { 0 }, best = 0;

	for (uint32_t t = 0; boot && t < boot->tables; t++) {
		const struct klog_table *table = &boot->table[t];
		int shift = (int)log2_of(table->bytes) - table->order;

		if (table->has_bytes && table->has_order && power_of_two(table->bytes) &&
		    table->order && shift >= 12 && shift <= 18)
			votes[shift]++;
	}
	for (unsigned shift = 12; shift <= 18; shift++)
		if (votes[shift] > votes[best])
			best = shift;
	return best;
}

static unsigned word_bytes_of(const struct klog_boot *boot)
{
	const struct klog_table *dentry = find(boot, HD_TABLE_DENTRY);

	if (!dentry || !dentry->has_bytes || !dentry->entries)
		dentry = find(boot, HD_TABLE_INODE);
	if (!dentry || !dentry->has_bytes || !dentry->entries)
		return 0;
	return dentry->bytes == 8 * dentry->entries   ? 8
	       : dentry->bytes == 4 * dentry->entries ? 4
						      : 0;
}

static void teach(struct hd_rules *rules, enum hd_rule rule, int32_t value)
{
	(void)hd_rules_set(rules, rule, value, HD_ORIGIN_DETECTED);
}

/** The words behind the size came with the clearing of 2019, and travel with it. */
static void detect_kinds(struct hd_rules *rules, const struct klog_boot *boot)
{
	unsigned stated = 0, unstated = 0, huge = 0;

	for (uint32_t t = 0; t < boot->tables; t++) {
		const struct klog_table *table = &boot->table[t];

		if (table->id == HD_TABLE_DQUOT)
			continue;
		stated += table->mapping != HD_MAP_UNKNOWN;
		huge += table->mapping == HD_MAP_VMALLOC_HUGE;
		unstated += table->mapping == HD_MAP_UNKNOWN && table->has_bytes && !table->mended;
	}
	if (stated && rules->value[HD_RULE_KIND_WORDS] == HD_WORDS_NONE) {
		teach(rules, HD_RULE_KIND_WORDS, HD_WORDS_VMALLOC);
		teach(rules, HD_RULE_HASHDIST_CLEARS, 1);
		teach(rules, HD_RULE_FALLBACK_VMALLOC, 1);
	} else if (!stated && unstated > 2) {
		teach(rules, HD_RULE_KIND_WORDS, HD_WORDS_NONE);
		teach(rules, HD_RULE_HASHDIST_CLEARS, 0);
		teach(rules, HD_RULE_FALLBACK_VMALLOC, 0);
	}
	if (huge) {
		teach(rules, HD_RULE_KIND_WORDS, HD_WORDS_HUGEPAGE);
		if (rules->value[HD_RULE_HUGE_VMALLOC] == HD_HUGE_NEVER)
			teach(rules, HD_RULE_HUGE_VMALLOC, HD_HUGE_NODE_SHARE);
	}
}

static void detect_order_print(struct hd_rules *rules, const struct klog_boot *boot)
{
	for (uint32_t t = 0; t < boot->tables; t++) {
		const struct klog_table *table = &boot->table[t];
		int floor = (int)log2_of(table->bytes) - rules->value[HD_RULE_PAGE_SHIFT];

		if (!table->has_bytes || !table->has_order || power_of_two(table->bytes))
			continue;
		if (table->order == floor)
			teach(rules, HD_RULE_ORDER_PRINT, HD_ORDER_FLOOR);
		else if (table->order == floor + 1)
			teach(rules, HD_RULE_ORDER_PRINT, HD_ORDER_CEIL);
	}
}

/** Buckets of a lock and a pointer tell the lock's size. */
static void detect_lock(struct hd_rules *rules, const struct klog_boot *boot)
{
	const struct klog_table *bind = find(boot, HD_TABLE_TCP_BIND);
	const struct klog_table *futex = find(boot, HD_TABLE_FUTEX);
	uint64_t word = (uint64_t)rules->value[HD_RULE_WORD_BYTES];

	if (bind && bind->has_bytes && bind->entries && bind->bytes % bind->entries == 0) {
		uint64_t bucket = bind->bytes / bind->entries;

		if (rules->version >= HD_VERSION(6, 1, 0))
			bucket /= 2;
		if (bucket == 2 * word)
			teach(rules, HD_RULE_SPINLOCK_BYTES, 4);
		else if (bucket >= word && bucket < 200)
			teach(rules, HD_RULE_SPINLOCK_BYTES, (int32_t)(bucket - word));
	}
	if (futex && futex->has_bytes && futex->entries && futex->bytes / futex->entries <= 1024) {
		uint64_t bucket = futex->bytes / futex->entries;

		/* 256 buckets for each processor, unless the kernel was built small. */
		if (futex->entries == 16)
			teach(rules, HD_RULE_BASE_SMALL, 1);
		/* Without SMP it is not aligned, and as odd as its fields. */
		teach(rules, HD_RULE_CACHE_LINE, power_of_two(bucket) ? (int32_t)bucket : 0);
	}
}

/** "Total pages" equal to all present pages: a kernel that counts what memblock has free. */
static void detect_era(struct hd_rules *rules, const struct klog_boot *boot)
{
	uint64_t page_kib = (1ULL << rules->value[HD_RULE_PAGE_SHIFT]) >> 10;

	if (!(boot->has & KLOG_HAS_ZONELIST_PAGES) || !(boot->has & KLOG_HAS_MEMORY) ||
	    rules->version < HD_VERSION(6, 9, 0))
		return;
	teach(rules, HD_RULE_COUNT_ERA,
	      boot->zonelist_pages * page_kib == boot->total_kib ? HD_ERA_C : HD_ERA_B);
}

static void infer_rules(const struct klog_boot *boot, const struct machine *books,
			const struct ktables_given *given, enum ktables_detect detect,
			struct ktables_facts *out)
{
	struct hd_rules *rules = &out->machine.rules;
	enum hd_arch arch = books && books->arch ? books->arch : HD_ARCH_UNKNOWN;
	uint32_t version = 0;
	unsigned page_shift = page_shift_of(boot), word = word_bytes_of(boot);
	struct hd_config config;

	if (boot && boot->arch)
		arch = boot->arch;
	if (boot && boot->version[0])
		version = kernel_version(boot->version, boot->banner);
	else if (books && books->release[0])
		version = kernel_version(books->release, books->banner);
	hd_config_init(&config);
	if (books && books->has_config)
		config = books->config;
	if (books && books->page_bytes)
		config.page_shift = (uint8_t)log2_of(books->page_bytes);
	if (!version && boot && boot->has & KLOG_HAS_CMDLINE)
		version = boot_image_version(boot->cmdline);
	out->has_version = version != 0;
	out->has_arch = arch != HD_ARCH_UNKNOWN;
	(void)hd_rules_init(rules, version, arch, &config);
	if (page_shift && !config.page_shift)
		teach(rules, HD_RULE_PAGE_SHIFT, (int32_t)page_shift);
	if (word)
		teach(rules, HD_RULE_WORD_BYTES, (int32_t)word);
	out->has_sizes = out->has_arch || (word && (page_shift || config.page_shift));
	if (boot)
		detect_era(rules, boot);
	/* vmalloc has huge pages only where the MMU walks page tables. */
	if (boot && arch == HD_ARCH_PPC64 && boot->hints & KLOG_HINT_HASH_MMU)
		teach(rules, HD_RULE_HUGE_VMALLOC, HD_HUGE_NEVER);
	if (boot && detect == KTABLES_DETECT_RULES) {
		detect_kinds(rules, boot);
		detect_order_print(rules, boot);
		detect_lock(rules, boot);
	}
	for (uint32_t r = 0; given && r < given->rules; r++)
		(void)hd_rules_parse(rules, given->rule[r], strlen(given->rule[r]));
}

/* ---- nodes and processors ------------------------------------------------------------------- */

static void infer_nodes(const struct klog_boot *boot, const struct machine *books,
			struct ktables_facts *out)
{
	struct hd_facts *facts = &out->machine.facts;

	if (books && books->numa_books) {
		facts->memory_nodes = books->memory_nodes;
		facts->online_nodes = books->online_nodes;
		facts->possible_nodes = books->possible_nodes;
	}
	if (boot) {
		if (boot->nodes_with_memory)
			facts->memory_nodes = boot->nodes_with_memory;
		if (boot->has & KLOG_HAS_ZONELISTS)
			facts->online_nodes = boot->zonelists;
		else if (boot->has & KLOG_HAS_BROUGHT_UP_NODES)
			facts->online_nodes = boot->brought_up_nodes;
		if (!facts->memory_nodes && facts->online_nodes == 1)
			facts->memory_nodes = 1;
		if (boot->has & KLOG_HAS_NODE_IDS)
			facts->possible_nodes = boot->node_ids;
	}
	if (books && !books->numa_books && books->live && !facts->memory_nodes)
		facts->memory_nodes = 1; /* no NUMA in this kernel */
	if (!facts->online_nodes)
		facts->online_nodes = facts->memory_nodes;
	if (!facts->possible_nodes)
		facts->possible_nodes = facts->online_nodes;
	out->has_nodes = facts->memory_nodes != 0;
	/* Several nodes on a 64-bit kernel: it was built with NUMA. */
	if (facts->memory_nodes > 1 && out->machine.rules.value[HD_RULE_WORD_BYTES] == 8) {
		teach(&out->machine.rules, HD_RULE_HASHDIST_PARAM, 1);
		if (!out->machine.rules.value[HD_RULE_HASHDIST_DEFAULT] &&
		    out->machine.rules.version >= HD_VERSION(2, 6, 31))
			teach(&out->machine.rules, HD_RULE_HASHDIST_DEFAULT, 1);
	}
}

static void infer_emulated(const struct klog_boot *boot, struct ktables_facts *out)
{
	if (boot && boot->emulated_nodes > 1)
		out->emulated_nodes = boot->emulated_nodes;
	else if (out->machine.params.numa_fake && out->machine.facts.memory_nodes > 1)
		out->emulated_nodes = out->machine.facts.memory_nodes;
}

static void infer_cpus(const struct klog_boot *boot, const struct machine *books,
		       struct hd_facts *facts)
{
	if (books && books->possible_cpus.known)
		facts->possible_cpus = (uint32_t)books->possible_cpus.value;
	else if (boot && boot->has & KLOG_HAS_POSSIBLE_CPUS)
		facts->possible_cpus = boot->possible_cpus;
	else if (boot && boot->has & KLOG_HAS_CPU_IDS)
		facts->possible_cpus = boot->cpu_ids;
	else if (boot && boot->has & KLOG_HAS_ONLINE_CPUS)
		facts->possible_cpus = boot->online_cpus;
}

/* ---- pages --------------------------------------------------------------------------------- */

static uint64_t highmem_pages(const struct hd_rules *rules, const struct klog_boot *boot)
{
	unsigned page_shift = (unsigned)rules->value[HD_RULE_PAGE_SHIFT];

	if (rules->value[HD_RULE_WORD_BYTES] == 8)
		return 0;
	if (boot->highmem_range_bytes)
		return boot->highmem_range_bytes >> page_shift;
	if (boot->has & KLOG_HAS_HIGHMEM)
		return boot->highmem_kib >> (page_shift - 10);
	return 0;
}

/** Kernels to 2.6.18 count what is there and print it node by node, or in the Memory: line. */
static uint64_t present_pages(const struct hd_rules *rules, const struct klog_boot *boot)
{
	uint64_t pages = 0;

	for (uint32_t n = 0; n < boot->node_max && boot->has & KLOG_HAS_NODE_TOTALS; n++)
		pages += boot->node_pages[n];
	if (!pages && boot->has & KLOG_HAS_MEMORY)
		pages = boot->total_kib >> (rules->value[HD_RULE_PAGE_SHIFT] - 10);
	return pages;
}

/** Tables taken between the count and the Memory: line; they are not free any more in it. */
static uint64_t early_bytes(const struct ktables_facts *facts)
{
	static const enum hd_table_id early[] = { HD_TABLE_DENTRY, HD_TABLE_INODE };
	struct hd_table table;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < 2; i++)
		if (!hd_predict(&facts->machine, early[i], 0, &table) && table.early)
			bytes += table.bytes;
	return bytes;
}

/**
 * Era C without its Memory: line. From what is there, the memory map takes a
 * sixty-fourth, the kernel some MiB, and crashkernel= and the like up to a tenth.
 */
static void estimate_free(uint64_t present, struct hd_pages *pages)
{
	uint64_t high = present - present / 64;

	pages->slack = present / 20;
	pages->kernel = pages->all = high - pages->slack;
}

static void pages_from_ranges(const struct klog_boot *boot, struct ktables_facts *out)
{
	const struct hd_rules *rules = &out->machine.rules;
	uint64_t bytes = 0;

	if (rules->value[HD_RULE_COUNT_ERA] != HD_ERA_C || !(boot->has & KLOG_HAS_NODE_RANGES) ||
	    rules->value[HD_RULE_WORD_BYTES] != 8)
		return;
	for (uint32_t n = 0; n < boot->node_max; n++)
		bytes += boot->node_bytes[n];
	estimate_free(bytes >> rules->value[HD_RULE_PAGE_SHIFT], &out->machine.facts.pages);
	out->has_pages = out->pages_from_log = bytes != 0;
}

static void pages_from_log(const struct klog_boot *boot, struct ktables_facts *out)
{
	struct hd_machine *machine = &out->machine;
	struct hd_log_totals totals = {
		.has_zonelist_pages = boot->has & KLOG_HAS_ZONELIST_PAGES,
		.zonelist_pages = boot->zonelist_pages,
		.has_memory = boot->has & KLOG_HAS_MEMORY,
		.total_kib = boot->total_kib,
		.has_reserved = boot->has & KLOG_HAS_RESERVED,
		.reserved_kib = boot->reserved_kib,
		.cma_kib = boot->has & KLOG_HAS_CMA ? boot->cma_kib : 0,
		.highmem_pages = highmem_pages(&machine->rules, boot),
		.percpu_pages = boot->has & KLOG_HAS_PERCPU ? boot->percpu_pages : 0,
		.possible_cpus = machine->facts.possible_cpus,
		.late_reserved_bytes = boot->swiotlb_bytes + boot->kfence_bytes,
		.late_complete = boot->head_seen && boot->has & KLOG_HAS_PERCPU,
		.crashkernel_bytes = boot->crashkernel_bytes,
	};

	if (machine->rules.value[HD_RULE_COUNT_ERA] == HD_ERA_A && !totals.has_zonelist_pages) {
		totals.zonelist_pages = present_pages(&machine->rules, boot);
		totals.has_zonelist_pages = totals.zonelist_pages != 0;
	}
	if (hd_pages_from_log(&machine->rules, &totals, &machine->facts.pages)) {
		pages_from_ranges(boot, out);
		return;
	}
	/* Their size hangs on the count, and the count on them; twice is enough. */
	for (int round = 0; round < 2 && machine->rules.value[HD_RULE_COUNT_ERA] == HD_ERA_C;
	     round++) {
		totals.early_bytes = early_bytes(out);
		(void)hd_pages_from_log(&machine->rules, &totals, &machine->facts.pages);
	}
	out->has_pages = true;
	out->pages_from_log = true;
}

/** Without a log: zones tell what is there, but not all that was set aside at the count. */
static void pages_from_books(const struct machine *books, struct ktables_facts *out)
{
	struct hd_machine *machine = &out->machine;
	struct hd_zone zone[64];
	uint32_t zones = 0;
	uint64_t present = 0, highmem = 0;

	for (uint32_t z = 0; z < books->zones; z++) {
		bool high = !strcmp(books->zone[z].name, "HighMem");

		present += books->zone[z].present;
		highmem += high ? books->zone[z].present : 0;
		if (!books->zone[z].present)
			continue;
		if (zones == 64)
			return;
		zone[zones++] = (struct hd_zone){
			.spanned = books->zone[z].spanned,
			.present = books->zone[z].present,
			.highmem = high,
		};
	}
	if (!present)
		return;
	if (machine->rules.value[HD_RULE_COUNT_ERA] != HD_ERA_C) {
		hd_pages_from_zones(&machine->rules, zone, zones,
				    machine->rules.value[HD_RULE_WORD_BYTES] == 8 ? 64 : 32, 0,
				    &machine->facts.pages);
		machine->facts.pages.slack = 512; /* what firmware holds below 16 MiB */
	} else {
		/* Managed pages are no help: many become so long after the count, or never. */
		estimate_free(present - highmem, &machine->facts.pages);
		machine->facts.pages.all += highmem;
	}
	out->has_pages = true;
}

/** These two are early unless the flag is set: scattered, they say that it is. */
static bool early_is_scattered(const struct klog_boot *boot)
{
	static const enum hd_table_id early[] = { HD_TABLE_DENTRY, HD_TABLE_INODE };
	unsigned scattered = 0;

	for (unsigned i = 0; i < 2; i++) {
		const struct klog_table *table = find(boot, early[i]);

		if (table && table->mapping == HD_MAP_LINEAR)
			return false;
		scattered += table && table->mapping != HD_MAP_UNKNOWN;
	}
	return scattered;
}

/* ---- all of it --------------------------------------------------------------------------------- */

void ktables_infer(const struct klog_boot *boot, const struct machine *books,
		   const struct ktables_given *given, enum ktables_detect detect,
		   struct ktables_facts *out)
{
	struct hd_machine *machine = &out->machine;
	const char *cmdline = "";

	*out = (struct ktables_facts){ 0 };
	infer_rules(boot, books, given, detect, out);
	if (books && books->has_cmdline) {
		cmdline = books->cmdline;
		out->has_cmdline = true;
	} else if (boot && boot->has & KLOG_HAS_CMDLINE) {
		cmdline = boot->cmdline;
		out->has_cmdline = !boot->cmdline_cut;
	}
	infer_nodes(boot, books, out);
	hd_params_parse(&machine->params, &machine->rules, cmdline, strlen(cmdline));
	infer_emulated(boot, out);
	infer_cpus(boot, books, &machine->facts);
	machine->facts.pv_spinlocks = find(boot, HD_TABLE_PV_QSPINLOCK) != NULL;
	machine->hashdist =
	    hd_hashdist(&machine->rules, &machine->facts, &machine->params, &out->reason);
	if (boot && detect == KTABLES_DETECT_RULES && out->reason == HD_REASON_ONE_NODE &&
	    early_is_scattered(boot)) {
		teach(&machine->rules, HD_RULE_HASHDIST_CLEARS, 0);
		machine->hashdist =
		    hd_hashdist(&machine->rules, &machine->facts, &machine->params, &out->reason);
	}
	if (boot)
		pages_from_log(boot, out);
	if (!out->has_pages && books)
		pages_from_books(books, out);
}

/** Without an architecture: one node, and a kernel that clears the flag then. */
static bool mapping_known(const struct ktables_facts *facts)
{
	if (!facts->has_nodes)
		return false;
	return facts->has_arch || (facts->machine.facts.memory_nodes == 1 &&
				   facts->machine.rules.value[HD_RULE_HASHDIST_CLEARS] &&
				   !facts->machine.params.param[HD_PARAM_HASHDIST].in_force);
}

int ktables_predict(const struct ktables_facts *facts, enum hd_table_id id, uint64_t established,
		    struct ktables_range *out)
{
	const struct hd_pages *pages = &facts->machine.facts.pages;
	uint64_t slack = pages->slack;
	struct hd_machine end;
	int error;

	/* Older kernels sized their tables elsewhere, each in its own way. */
	if (!facts->has_version || facts->machine.rules.version < HD_VERSION(2, 6, 11) ||
	    !facts->has_pages || !facts->has_sizes)
		return HD_ENOENT;
	if (slack) {
		end = facts->machine;
		end.facts.pages.kernel -= slack < pages->kernel ? slack : pages->kernel;
		end.facts.pages.all -= slack < pages->all ? slack : pages->all;
	}
	error = hd_predict(slack ? &end : &facts->machine, id, established, &out->low);
	if (error)
		return error;
	out->high = out->low;
	if (slack) {
		end.facts.pages.kernel = pages->kernel + slack;
		end.facts.pages.all = pages->all + slack;
		error = hd_predict(&end, id, established, &out->high);
	}
	out->exact = out->low.entries == out->high.entries;
	out->mapping_known = mapping_known(facts) && out->low.mapping == out->high.mapping;
	return error;
}
