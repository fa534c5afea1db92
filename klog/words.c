/* SPDX-License-Identifier: MIT */
/*
 * words.c - tell by its first words what a message is
 *
 * One list of all beginnings, found by a hash of the first four bytes. Most lines of a
 * log are none of ours and must cost next to nothing, so nothing here looks beyond the
 * first words, except klog__table_anchor(), which message.c calls when all else failed.
 *
 * Table names are known here only to be quick. A name that is not known is found by
 * the words "hash table entries" and kept all the same.
 */
#include "internal.h"

static const char anchor[] = " hash table entries";
enum { ANCHOR_LEN = sizeof(anchor) - 1 };

/** What a message may begin with; four bytes at least. */
struct beginning {
	const char *text;
	uint8_t len;
	uint8_t what;  /* enum word */
	uint8_t name;  /* W_TABLE: where the name starts */
	bool coloured; /* only where escape sequences were taken out of the line */
};

#define WORD(text, what)                                                                           \
	{                                                                                          \
		text, sizeof(text) - 1, what, 0, false                                             \
	}
#define COLOURED(text, what)                                                                       \
	{                                                                                          \
		text, sizeof(text) - 1, what, 0, true                                              \
	}
#define NAME(text)                                                                                 \
	{                                                                                          \
		text " hash table entries", sizeof(text) + ANCHOR_LEN - 1, W_TABLE, 0, false       \
	}

/* Of two that begin alike the longer one comes first, W_NOISE at the end. */
static const struct beginning beginnings[] = {
	NAME("Dentry cache"),
	NAME("Dquot-cache"),
	{ "VFS: Dquot-cache hash table entries", 5 + 11 + ANCHOR_LEN, W_TABLE, 5, false },
	NAME("Inode-cache"),
	NAME("IP idents"),
	NAME("IP route cache"),
	NAME("Mount-cache"),
	NAME("Mountpoint-cache"),
	NAME("MPTCP token"),
	NAME("PID"),
	NAME("PV qspinlock"),
	NAME("TCP established"),
	NAME("TCP bind"),
	NAME("Table-perturb"),
	NAME("UDP"),
	NAME("UDP-Lite"),
	NAME("futex"),
	NAME("posixtimers"),
	NAME("stackdepot"),
	NAME("tcp_listen_portaddr_hash"),

	WORD("Linux version ", W_BANNER),
	WORD("Command line: ", W_CMDLINE),
	WORD("Command line:", W_CMDLINE),
	WORD("Kernel command line: ", W_KERNEL_CMDLINE),
	WORD("Kernel command line:", W_KERNEL_CMDLINE),
	/* dmesg --color may swallow the colon together with its own escape sequences */
	COLOURED("Command line", W_CMDLINE),
	COLOURED("Kernel command line", W_KERNEL_CMDLINE),
	WORD("Unknown kernel command line parameters ", W_REFUSED),
	WORD("Unknown command line parameters: ", W_REFUSED),
	WORD("Booting Linux on physical CPU ", W_BOOTING_ARM64),
	WORD("Booting Linux", W_BOOT_START),
	WORD("BIOS-provided physical RAM map", W_E820_MAP),
	WORD("e820: BIOS-provided physical RAM map", W_E820_MAP),
	WORD("BIOS-e820: ", W_E820),

	WORD("Built ", W_ZONELISTS),
	WORD("Memory: ", W_MEMORY),
	WORD("percpu: Embedded ", W_PERCPU),
	WORD("PERCPU: Embedded ", W_PERCPU),
	WORD("Normal zone: ", W_MEMMAP),
	WORD("Movable zone: ", W_MEMMAP),
	WORD("DMA zone: ", W_MEMMAP),
	WORD("DMA32 zone: ", W_MEMMAP),
	WORD("HighMem zone: ", W_MEMMAP),
	WORD("HighMem  ", W_HIGHMEM_ZONE),
	WORD("DMA32    ", W_DMA32_ZONE),
	WORD("crashkernel reserved: ", W_CRASHKERNEL),
	WORD("crashkernel low memory reserved: ", W_CRASHKERNEL),
	WORD("Reserving ", W_RESERVING),
	WORD("setup: Reserving ", W_RESERVING),
	WORD("software IO TLB", W_SWIOTLB),
	WORD("kfence: initialized - using ", W_KFENCE),
	WORD("cma: Reserved ", W_CMA),
	WORD("cma: CMA: reserved ", W_CMA),

	WORD("node   ", W_NODE_RANGE),
	WORD("node  ", W_NODE_RANGE),
	WORD("node ", W_NODE_RANGE),
	WORD("Initmem setup node ", W_INITMEM),
	WORD("numa: Initmem setup node ", W_INITMEM),
	WORD("NUMA: Initmem setup node ", W_INITMEM),
	WORD("Initializing node ", W_MEMORYLESS),
	WORD("Could not find start_pfn for node ", W_NO_START_PFN),
	WORD("On node ", W_NODE_TOTAL),
	WORD("early_node_map[", W_NODE_MAP),
	WORD("No NUMA configuration found", W_NO_NUMA),
	WORD("NUMA turned off", W_NO_NUMA),
	WORD("NUMA: No NUMA configuration found", W_NO_NUMA),
	WORD("numa: No NUMA configuration found", W_NO_NUMA),
	WORD("Faking node ", W_FAKING_NODE),

	WORD("smpboot: Allowing ", W_ALLOWING),
	WORD("SMP: Allowing ", W_ALLOWING),
	WORD("CPU topo: Allowing ", W_ALLOWING_SUM),
	WORD("setup_percpu: ", W_SETUP_PERCPU),
	WORD("SLUB: ", W_SLUB),
	WORD("RCU restricting CPUs from NR_CPUS=", W_RCU_CPUS),
	WORD("rcu: ", W_RCU),
	WORD("smp: Brought up ", W_BROUGHT_UP),
	WORD("Brought up ", W_BROUGHT_UP),
	WORD("x86: Booted up ", W_BROUGHT_UP),
	WORD("SMP: Total of ", W_SMP_TOTAL),
	WORD("Hypervisor detected: ", W_HYPERVISOR),
	WORD("Booting paravirtualized kernel on ", W_PARAVIRT),

	WORD("CPU: ARM", W_ARM_CPU),
	WORD("CPU: AArch64 ", W_AARCH64_CPU),
	WORD("Boot CPU: AArch64 ", W_AARCH64_CPU),
	WORD("CPU features: detected: ", W_AARCH64_CPU),
	WORD("CPU0 revision is: ", W_MIPS_CPU),
	WORD("CPU revision is: ", W_MIPS_CPU),
	WORD("Kernel default page size is ", W_PARISC_PAGES),
	WORD("Linux is running ", W_S390_HOST),
	WORD("PROMLIB: ", W_PROMLIB),
	WORD("SBI specification ", W_RISCV),
	WORD("riscv: ", W_RISCV),
	WORD("Top of RAM: ", W_TOP_OF_RAM),
	WORD("Using pSeries machine", W_TOP_OF_RAM),
	WORD("Using PowerNV machine", W_TOP_OF_RAM),
	WORD("hash-mmu: ", W_TOP_OF_RAM),
	WORD("radix-mmu: ", W_TOP_OF_RAM),
	WORD("lowmem  : 0x", W_LOWMEM),
	WORD("HugeTLB registered 16.0 MiB page", W_HASH_MMU),
	WORD("HugeTLB: registered 16.0 MiB page", W_HASH_MMU),
	WORD("hash-mmu: ", W_HASH_MMU),
	WORD("lowmem : 0x", W_LOWMEM),

	WORD("ACPI: ", W_NOISE),
	WORD("Device   empty", W_NOISE),
	WORD("DMA      ", W_NOISE),
	WORD("Early memory node ranges", W_NOISE),
	WORD("Faking a node", W_NOISE),
	WORD("HugeTLB", W_NOISE),
	WORD("Movable zone start", W_NOISE),
	WORD("Normal   ", W_NOISE),
	WORD("NUMA: NODE_DATA", W_NOISE),
	WORD("Policy zone: ", W_NOISE),
	WORD("smpboot: Total", W_NOISE),
	WORD("stackdepot: ", W_NOISE),
	WORD("TCP: Hash tables configured", W_NOISE),
	WORD("Zone ranges:", W_NOISE),
};
enum { BEGINNINGS = sizeof(beginnings) / sizeof(*beginnings) };
_Static_assert((int)BEGINNINGS < (int)KLOG_WORDS, "grow KLOG_WORDS");

/** Lay the list out for klog__word(). Entry 0 stands for none. */
void klog__words_init(struct klog_words *words)
{
	memset(words, 0, sizeof(*words));
	for (unsigned i = BEGINNINGS; i > 0; i--) {
		const struct beginning *b = &beginnings[i - 1];
		struct klog_word *word = &words->word[i];
		uint8_t *first = &words->first[klog__word_hash(b->text)];
		char head[8] = { 0 }, mask[8] = { 0 };
		size_t len = b->len < 8 ? b->len : 8;

		memcpy(head, b->text, len);
		memset(mask, 0xff, len);
		word->head = klog__load8(head);
		word->mask = klog__load8(mask);
		word->text = b->text;
		word->len = b->len;
		word->what = b->what;
		word->name = b->name;
		word->coloured = b->coloured;
		if (b->what == W_TABLE)
			word->known =
			    (uint8_t)(1 + hd_table_by_name(b->text + b->name,
							   (size_t)b->len - b->name - ANCHOR_LEN));
		if (b->what == W_NOISE)
			words->noise = (uint8_t)i;
		word->next = *first;
		*first = (uint8_t)i;
	}
}

/** "760MB LOWMEM available", "0: 0x00000010 -> 0x0000009f" */
static enum word digit(struct line *line, const char *p, const char *e)
{
	static const struct {
		const char *text;
		uint8_t len, what;
	} units[] = { { "MB LOWMEM available", 19, W_LOWMEM },
		      { "MB HIGHMEM available", 20, W_LOWMEM },
		      { ": 0x", 4, W_NODE_PFNS } };

	while (p < e && klog__is_digit(*p))
		p++;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (klog__starts(p, e, units[i].text, units[i].len)) {
			line->figures = p + units[i].len;
			return units[i].what;
		}
	return W_NONE;
}

/** Is @word, whose first eight bytes are there, at @p to its end? */
static inline bool ends(const struct klog_word *word, const char *p, const char *e)
{
	size_t len = word->len;
	uint64_t differ = 0;

	if (len <= 8)
		return true;
	if ((size_t)(e - p) < len)
		return false;
	/* up to 48 bytes, without a branch that depends on the length */
	for (size_t i = 8; i <= 40; i += 8) {
		size_t at = i < len - 8 ? i : len - 8;

		differ |= klog__load8(p + at) ^ klog__load8(word->text + at);
	}
	return !differ;
}

/** What @line is. Sets figures, name, name_len and known. */
enum word klog__word(const struct klog_words *words, struct line *line)
{
	const char *p = line->text, *e = line->end;
	uint64_t head;

	if (unlikely(e - p < 8))
		return W_NONE;
	if (unlikely(klog__is_digit(*p)))
		return digit(line, p, e);
	head = klog__load8(p);
	for (unsigned i = words->first[klog__word_hash(p)]; i; i = words->word[i].next) {
		const struct klog_word *word = &words->word[i];

		if (((head ^ word->head) & word->mask) || !ends(word, p, e) ||
		    unlikely(word->coloured && !line->coloured))
			continue;
		line->figures = p + word->len;
		if (word->what == W_TABLE) {
			line->name = p + word->name;
			line->name_len = word->len - word->name - (uint32_t)ANCHOR_LEN;
			line->known = word->known;
		} else if (word->what == W_RCU) {
			/* "rcu: \tRCU restricting ..." */
			p = klog__blanks(line->figures, e);
			if (!STARTS(p, e, "RCU restricting CPUs from NR_CPUS="))
				return W_NONE;
			line->figures = p + 34;
			return W_RCU_CPUS;
		}
		return word->what;
	}
	return W_NONE;
}

/* ---- names that are not known, and lines that are cut ----------------------------- */

static const char *const names[] = {
	"Dentry cache",
	"Inode-cache",
	"Mount-cache",
	"Mountpoint-cache",
	"futex",
	"Dquot-cache",
	"VFS: Dquot-cache",
	"IP idents",
	"tcp_listen_portaddr_hash",
	"Table-perturb",
	"TCP established",
	"TCP bind",
	"MPTCP token",
	"UDP",
	"UDP-Lite",
	"PID",
	"PV qspinlock",
	"stackdepot",
	"posixtimers",
	"IP route cache",
};

/** Is @c a letter that may stand in a table's name? */
static bool name_char(char c)
{
	return klog__is_alpha(c) || klog__is_digit(c) || c == '-' || c == '_' || c == ' ' ||
	       c == '.' || c == '/' || c == '+';
}

/**
 * Find "hash table entries" anywhere in @line, with any spaces in it.
 * Sets name, name_len, figures, and text where the name does not start the line.
 */
bool klog__table_anchor(struct line *line)
{
	const char *p = line->text, *e = line->end, *hit, *name;

	for (;; p = hit + 1) {
		const char *word = "hash table entries";

		hit = p < e ? memmem(p, (size_t)(e - p), "ash", 3) : NULL;
		if (!hit)
			return false;
		if (hit == line->text || (hit[-1] | 0x20) != 'h')
			continue;
		p = hit;
		for (word++; *word; word++) {
			if (*word == ' ')
				continue;
			p = klog__blanks(p, e);
			if (p == e || (*p | 0x20) != *word)
				break;
			p++;
		}
		if (!*word)
			break;
	}
	line->figures = p;
	hit--;
	while (hit > line->text && klog__is_blank(hit[-1]))
		hit--;
	for (name = hit; name > line->text && name_char(name[-1]); name--)
		;
	name = klog__blanks(name, hit);
	/* something glued in front of a known name; short names may end longer unknown ones */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t len = strlen(names[i]);

		if ((size_t)(hit - name) > len && (len > 8 || hit - name > 30) &&
		    memcmp(hit - len, names[i], len) == 0)
			name = hit - len;
	}
	if (STARTS(name, hit, "VFS: "))
		name += 5;
	line->name = name;
	line->name_len = (uint32_t)(hit - name);
	line->known = 0;
	return true;
}

/**
 * Is @text the beginning of a table line and nothing else: a name and part of the anchor?
 * The rest may follow on the next line, or be lost.
 */
bool klog__name_head(const char *text, const char *end)
{
	size_t len;

	while (end > text && klog__is_blank(end[-1]))
		end--;
	len = (size_t)(end - text);
	if (len < 3 || len > KLOG_NAME_MAX + ANCHOR_LEN)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n = strlen(names[i]);

		if (len <= n ? memcmp(text, names[i], len) == 0
			     : memcmp(text, names[i], n) == 0 && len - n <= ANCHOR_LEN &&
				   memcmp(text + n, anchor, len - n) == 0)
			return true;
	}
	/* any other name is one when the anchor has begun with a whole word */
	return (len > 5 && memcmp(end - 5, " hash", 5) == 0) ||
	       (len > 11 && memcmp(end - 11, " hash table", 11) == 0);
}
