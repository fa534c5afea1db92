/* SPDX-License-Identifier: MIT */
/*
 * scrub.c - what of a line may leave this machine
 *
 * Saved machines are attached to bug reports. So nothing is copied because it
 * looks harmless; each kind of line has a rule for what is kept, and the rest
 * is dropped: other boot parameters (root=UUID=..., ip=..., keys), the name of
 * who built the kernel, host names in front of log lines, addresses of the
 * vmalloc area, mount points.
 *
 * Log lines are kept by how the kernel's message begins, after any prefix that
 * dmesg, syslog, the journal or a serial console put before it. Lines of
 * programs in the same file have another beginning. As a second net, a kept
 * line that holds an "@", a UUID, an IPv4 or a hardware address is dropped.
 */
#include "machine/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool starts_with_any(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (mach_after(text, list[i]))
			return true;
	return false;
}

static bool only(const char *text, const char *set)
{
	return text[strspn(text, set)] == '\0';
}

static bool keep(char *line, char *out)
{
	mach_plain(line);
	snprintf(out, MACH_SCRUB_MAX, "%s", line);
	return true;
}

/* ---- the kernel's name ------------------------------------------------------------- */

/* "(user@host)" wherever it stands. */
bool mach_scrub_banner(char *line, char *out)
{
	size_t at = 0;

	if (!mach_after(line, "Linux version "))
		return false;
	mach_plain(line);
	while (*line && at < MACH_LINE_MAX) {
		size_t len = strcspn(line + 1, "()") + 1;

		if (*line == '(' && memchr(line, '@', len)) {
			at += (size_t)snprintf(out + at, MACH_SCRUB_MAX - at, "(builder@localhost");
			line += len;
		} else {
			out[at++] = *line++;
		}
	}
	out[at < MACH_SCRUB_MAX ? at : MACH_SCRUB_MAX - 1] = '\0';
	return true;
}

bool mach_scrub_release(char *line, char *out)
{
	return !strchr(line, '@') && keep(line, out);
}

bool mach_scrub_os_release(char *line, char *out)
{
	static const char *const names[] = { "PRETTY_NAME=", "ID=", "VERSION_ID=" };

	return starts_with_any(line, names, COUNT(names)) && keep(line, out);
}

/* ---- boot parameters ----------------------------------------------------------------- */

/* About memory, nodes, CPU counts, page tables and hash tables. */
static const char *const parameters[] = {
	"hashdist",
	"nohugevmalloc",
	"nohugeiomap",
	"numa",
	"numa_balancing",
	"mem",
	"memmap",
	"memblock",
	"movablecore",
	"kernelcore",
	"movable_node",
	"hugepages",
	"hugepagesz",
	"default_hugepagesz",
	"hugetlb_cma",
	"hugetlb_cma_only",
	"hugetlb_free_vmemmap",
	"cma",
	"numa_cma",
	"cma_pernuma",
	"crashkernel",
	"nr_cpus",
	"maxcpus",
	"possible_cpus",
	"nosmp",
	"transparent_hugepage",
	"gbpages",
	"nogbpages",
	"no5lvl",
	"nokaslr",
	"kaslr",
	"debug_pagealloc",
	"page_owner",
	"page_poison",
	"page_ext",
	"init_on_alloc",
	"init_on_free",
	"swiotlb",
	"log_buf_len",
	"mitigations",
	"pti",
	"nopti",
	"rodata",
	"vmalloc",
	"highmem",
	"fadump",
	"fadump_reserve_mem",
	"kfence.sample_interval",
	"kasan",
	"slab_nomerge",
	"slab_merge",
	"slab_max_order",
	"slab_min_order",
	"slab_min_objects",
	"slab_debug",
	"slub_nomerge",
	"slub_merge",
	"slub_max_order",
	"slub_min_order",
	"slub_min_objects",
	"slub_debug",
};

/* The kernel takes '-' and '_' for the same. */
static bool same_parameter(const char *name, size_t len, const char *want)
{
	if (strlen(want) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((name[i] == '-' ? '_' : name[i]) != want[i])
			return false;
	return true;
}

static bool digits_in_a_row(const char *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* Starts @p with four decimal numbers and dots between? */
static bool is_ipv4(const char *p)
{
	for (int part = 0; part < 4; part++) {
		size_t len = strspn(p, "0123456789");

		if (len == 0 || len > 3 || (part < 3 && p[len] != '.'))
			return false;
		p += len + 1;
	}
	return true;
}

static bool is_uuid(const char *p)
{
	static const size_t parts[] = { 8, 4, 4, 4, 12 };

	for (size_t i = 0; i < 5; i++) {
		if (!digits_in_a_row(p, parts[i]) || (i < 4 && p[parts[i]] != '-'))
			return false;
		p += parts[i] + 1;
	}
	return true;
}

static bool is_hardware_address(const char *p)
{
	for (int part = 0; part < 6; part++, p += 3)
		if (!digits_in_a_row(p, 2) || (part < 5 && p[2] != ':'))
			return false;
	return true;
}

static bool looks_private(const char *text)
{
	for (const char *p = text; *p; p++)
		if (is_uuid(p) || is_hardware_address(p) ||
		    ((p == text || !isalnum((unsigned char)p[-1])) && is_ipv4(p)))
			return true;
	return false;
}

/* A misspelt hash parameter tells the reader why nothing happened; roothash= is none of them. */
static bool nearly_hash_parameter(const char *name, size_t len, const char *value)
{
	char lower[32];

	if (len >= sizeof(lower))
		return false;
	for (size_t i = 0; i < len; i++)
		lower[i] = (char)tolower((unsigned char)name[i]);
	lower[len] = '\0';
	return strstr(lower, "hash") && !strstr(lower, "root") && !strstr(lower, "usr") &&
	       strlen(value) <= 12 && only(value, "0123456789xXkKmMgG");
}

static bool keep_parameter(const char *word)
{
	static const char suffix[] = "hash_entries";
	size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : "";

	if (!only(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			"_-=.,:;@$!#%+*") ||
	    strlen(value) > 128 || looks_private(value))
		return false;
	if (same_parameter(word, len, "efi"))
		return strcmp(value, "nosoftreserve") == 0;
	if (len >= sizeof(suffix) - 1 &&
	    same_parameter(word + len - (sizeof(suffix) - 1), sizeof(suffix) - 1, suffix))
		return strlen(value) <= 24;
	for (size_t i = 0; i < COUNT(parameters); i++)
		if (same_parameter(word, len, parameters[i]))
			return true;
	return nearly_hash_parameter(word, len, value);
}

/*
 * Words as the kernel splits them: quotes keep blanks together, and what
 * follows "--" is for the first program.
 */
static void filter_words(char *text, char *out)
{
	size_t at = 0;

	out[0] = '\0';
	for (;;) {
		bool quoted = false;
		char *word = text + strspn(text, " \t");
		char *end = word, old;

		if (!*word)
			return;
		for (; *end && (quoted || (*end != ' ' && *end != '\t')); end++)
			if (*end == '"')
				quoted = !quoted;
		old = *end;
		*end = '\0';
		if (strcmp(word, "--") == 0)
			return;
		if (keep_parameter(word))
			at += (size_t)sprintf(out + at, "%s%s", at ? " " : "", word);
		*end = old;
		text = end;
	}
}

bool mach_scrub_cmdline(char *line, char *out)
{
	mach_plain(line);
	filter_words(line, out);
	return true;
}

/* ---- figures of /proc and /sys ------------------------------------------------------- */

/* "MemTotal:    4417312 kB", of nodes "Node 0 MemTotal:    4417312 kB" */
bool mach_scrub_kib(char *line, char *out)
{
	static const char *const names[] = {
		"MemTotal",       "MemFree",      "MemAvailable", "HighTotal",
		"LowTotal",       "Slab",         "SReclaimable", "SUnreclaim",
		"KernelStack",    "PageTables",   "Percpu",       "VmallocTotal",
		"VmallocUsed",    "CmaTotal",     "CmaFree",      "HugePages_Total",
		"HugePages_Free", "Hugepagesize", "Hugetlb",      "DirectMap4k",
		"DirectMap64k",   "DirectMap1M",  "DirectMap2M",  "DirectMap4M",
		"DirectMap1G",    "DirectMap2G",
	};
	const char *name = mach_after(line, "Node ");
	size_t len;

	name = name ? name + strspn(name, "0123456789 ") : line;
	len = strcspn(name, ":");
	if (!name[len] || !only(name + len + 1, " 0123456789kB"))
		return false;
	for (size_t i = 0; i < COUNT(names); i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return keep(line, out);
	return false;
}

bool mach_scrub_zone(char *line, char *out)
{
	static const char *const figures[] = { "spanned ", "present ", "managed ", "pages free" };
	const char *text = line + strspn(line, " ");

	if (mach_after(line, "Node "))
		return strlen(line) < 64 && keep(line, out);
	return starts_with_any(text, figures, COUNT(figures)) &&
	       only(text, "abcdefghijklmnopqrstuvwxyz 0123456789") && keep(line, out);
}

bool mach_scrub_list(char *line, char *out)
{
	return only(line, "0123456789-,") && keep(line, out);
}

bool mach_scrub_figures(char *line, char *out)
{
	return only(line, "0123456789.- \t") && keep(line, out);
}

bool mach_scrub_sockstat(char *line, char *out)
{
	static const char *const names[] = { "TCP: ",  "UDP: ",  "UDPLITE: ",
					     "TCP6: ", "UDP6: ", "UDPLITE6: " };

	return starts_with_any(line, names, COUNT(names)) &&
	       only(line, "TCPUDLIE6: abcdefghijklmnopqrstuvwxyz0123456789-") && keep(line, out);
}

bool mach_scrub_protocols(char *line, char *out)
{
	return (mach_after(line, "MPTCP ") || mach_after(line, "MPTCPv6 ")) && keep(line, out);
}

bool mach_scrub_slab(char *line, char *out)
{
	static const char *const names[] = { "slabinfo - version", "tcp_bind_bucket ",
					     "tcp_bind2_bucket ", "posix_timers_cache " };

	return starts_with_any(line, names, COUNT(names)) && keep(line, out);
}

/* Their number is what counts. */
bool mach_scrub_mount(char *line, char *out)
{
	(void)line;
	strcpy(out, "-");
	return true;
}

bool mach_scrub_config(char *line, char *out)
{
	const char *name, *value;
	size_t len;

	return mach_config_split(line, &name, &len, &value) && mach_config_option(name, len) &&
	       keep(line, out);
}

/* "pages=512", "N0=256", "vmalloc", "vpages" */
static bool keep_area_word(const char *word, size_t len)
{
	static const char digits[] = "0123456789";
	const char *pages = mach_after(word, "pages="), *node = mach_after(word, "N");
	const char *end = word + len;

	if (pages)
		return pages + strspn(pages, digits) == end;
	if (node) {
		node += strspn(node, digits);
		return *node == '=' && node + 1 + strspn(node + 1, digits) == end;
	}
	return (len == 7 && mach_after(word, "vmalloc")) ||
	       (len == 6 && mach_after(word, "vpages"));
}

bool mach_scrub_area(char *line, char *out)
{
	static const char zero[] = "0x0000000000000000";
	char *caller = strstr(line, "alloc_large_system_hash"), *size = caller;
	const char *text = caller, *word;
	size_t len, at;

	if (!caller || caller == line || caller[-1] != ' ')
		return false;
	while (size > line && size[-1] == ' ')
		size--;
	*size = '\0';
	while (size > line && isdigit((unsigned char)size[-1]))
		size--;
	at = (size_t)snprintf(out, MACH_SCRUB_MAX, "%s-%s %s alloc_large_system_hash", zero, zero,
			      size);
	mach_word(&text, &len);
	while ((word = mach_word(&text, &len)), len) {
		if (!keep_area_word(word, len))
			continue;
		if (at + len + 2 > MACH_SCRUB_MAX)
			return false;
		at += (size_t)sprintf(out + at, " %.*s", (int)len, word);
	}
	return true;
}

/* ---- the kernel log ------------------------------------------------------------------- */

/* How messages begin that tell of memory, nodes, CPUs and hash tables. */
static const char *const beginnings[] = {
	"BIOS-provided physical RAM map",
	"BIOS-e820:",
	" BIOS-e820:",
	"e820:",
	"ACPI: SRAT:",
	"SRAT:",
	"NUMA:",
	"No NUMA",
	"Faking ",
	"numa:",
	"Zone ranges",
	"Zone PFN ranges",
	"stackdepot: ",
	"  DMA",
	"  Normal",
	"  HighMem",
	"  Movable",
	"  Device",
	"Movable zone start",
	"Early memory node",
	"early_node_map",
	"  node ",
	"    node ",
	"  Node ",
	"Initmem setup node",
	"Initializing node",
	"On node ",
	"Built ",
	"Policy zone",
	"Fallback order for Node",
	"Memory: ",
	"Total pages:",
	"Top of RAM",
	"Memory hole size",
	"    vmalloc",
	"    lowmem",
	"    pkmap",
	"percpu: ",
	"PERCPU: ",
	"setup_percpu:",
	"smpboot: Allowing",
	"smpboot: Total of",
	"smpboot: Brought up",
	"SMP: ",
	"smp: ",
	"Brought up ",
	"Total of ",
	"CPU topo: ",
	"SLUB: ",
	"SLAB: ",
	"CPU: ARM",
	"Booting Linux on physical CPU",
	"Booting paravirtualized kernel",
	"Hypervisor detected",
	"crashkernel",
	"Reserving ",
	"cma: ",
	"software IO TLB",
	"PCI-DMA: Using software bounce",
	"kfence: ",
	"HugeTLB",
	"hugetlb",
	"TCP: Hash tables configured",
	"Using GB pages",
	"Stack Depot",
};

/* Some are told by their middle: what stands before it is a figure, "node 3" or "rcu: ". */
static const char *const middles[] = {
	"deferred pages initialised",
	"MB LOWMEM available",
	"MB HIGHMEM available",
	"RCU restricting CPUs from",
};

static void drop_colours(char *line)
{
	char *to = line;

	for (char *p = line; *p; p++) {
		if (*p == '\033' && p[1] == '[') {
			char *end = p + 2 + strspn(p + 2, "0123456789;");

			if (*end == '\0')
				break;
			p = end;
			continue;
		}
		*to++ = *p;
	}
	*to = '\0';
}

/* /dev/kmsg writes them as four characters. */
static char *unescape_tabs(char *message)
{
	char *at = message;

	while ((at = strstr(at, "\\x09"))) {
		*at++ = '\t';
		memmove(at, at + 3, strlen(at + 3) + 1);
	}
	return message;
}

/* "6,339,5140900,-;message", a record of /dev/kmsg; the time is in microseconds. */
static char *skip_record_head(char *line, char *stamp, size_t size)
{
	const char *p = line;
	uint64_t head[3];
	char *message;

	for (int i = 0; i < 3; i++) {
		if (!mach_number(&p, &head[i]) || *p++ != ',')
			return line;
	}
	message = strchr(p, ';');
	if (!message)
		return line;
	snprintf(stamp, size, "[%5llu.%06llu] ", (unsigned long long)(head[2] / 1000000),
		 (unsigned long long)(head[2] % 1000000));
	return unescape_tabs(message + 1);
}

/* "[   12.345678]" keeps its place, "[T0]" and "[Wed Dec 14 20:00:04 2022]" do not. */
static char *skip_brackets(char *line, char *stamp, size_t size)
{
	for (;;) {
		char *open = line + strspn(line, " ");
		char *close = *open == '[' ? strchr(open, ']') : NULL;
		size_t inside = close ? (size_t)(close - open) - 1 : 0;
		size_t digits;

		if (!close || inside > 40 ||
		    !(isdigit((unsigned char)open[1]) || strchr(" TC+MSWF", open[1])) ||
		    mach_after(open, "[mem") || mach_after(open, "[Firmware"))
			return line;
		digits = 1 + strspn(open + 1, " 0123456789");
		if (!*stamp && open[digits] == '.' && isdigit((unsigned char)open[digits + 1]))
			snprintf(stamp, size, "[%.*s] ",
				 (int)(digits - 1 + 1 + strspn(open + digits + 1, "0123456789")),
				 open + 1);
		line = close + 1;
		if (*line == ' ')
			line++;
	}
}

/* "kern  :info  : " of dmesg -x */
static char *skip_level(char *line)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	char *p = line + strspn(line, letters);

	if (p == line)
		return line;
	p += strspn(p, " ");
	if (*p != ':')
		return line;
	p++;
	if (!islower((unsigned char)*p))
		return line;
	p += strspn(p, letters);
	p += strspn(p, " ");
	return *p == ':' && p[1] == ' ' ? p + 2 : line;
}

/* What the kernel said, after whatever was put before it; the time it said it in @stamp. */
static char *message_of(char *line, char *stamp, size_t size)
{
	char *tag, *p;

	*stamp = '\0';
	drop_colours(line);
	line = skip_record_head(line, stamp, size);
	if (*stamp)
		return line;
	/* Dates and host names come before the tag, and a message does not have one. */
	tag = strstr(line, " kernel: ");
	if (tag && tag - line < 128 && *line != '[')
		line = tag + 9;
	if (*line == '<' && (p = strchr(line, '>')) && p - line < 6)
		line = p + 1;
	line = skip_level(line);
	return skip_brackets(line, stamp, size);
}

/* "8192 (order: 4, 65536 bytes, vmalloc hugepage)": figures, and no other words than these. */
static bool only_table_words(const char *text)
{
	static const char *const words[] = { "order", "bytes", "linear", "vmalloc", "hugepage",
					     "on",    "NUMA",  "nodes",  "total",   "KiB" };

	if (!isdigit((unsigned char)*text) || strlen(text) > 160)
		return false;
	while (*text) {
		bool known = false;
		size_t len = 0;

		while (isalpha((unsigned char)text[len]))
			len++;
		for (size_t i = 0; len && i < COUNT(words); i++)
			known =
			    known || (strlen(words[i]) == len && memcmp(text, words[i], len) == 0);
		if (len ? !known : !strchr("0123456789 (),:.-", *text))
			return false;
		text += len ? len : 1;
	}
	return true;
}

/* "VFS: Dquot-cache hash table entries: 512 (order 0, 4096 bytes)", of any table. */
static bool is_table_line(const char *message)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-: ";
	static const char key[] = " hash table entries: ";
	const char *entries = strstr(message, key);

	return entries && entries - message < 64 &&
	       strspn(message, name) >= (size_t)(entries - message) &&
	       only_table_words(entries + sizeof(key) - 1);
}

/* 'Unknown kernel command line parameters "quiet hashdist=2", will be passed to user space.' */
static bool scrub_refused(char *words, char *out)
{
	char *end = strrchr(words, '"');
	char kept[4096];

	if (*words++ != '"' || !end || end < words)
		return false;
	*end = '\0';
	if (strlen(words) >= sizeof(kept))
		return false;
	filter_words(words, kept);
	if (!kept[0])
		return false;
	snprintf(out, MACH_SCRUB_MAX,
		 "Unknown kernel command line parameters \"%s\", will be passed to user space.",
		 kept);
	return true;
}

static bool has_middle(const char *message)
{
	for (size_t i = 0; i < COUNT(middles); i++) {
		const char *found = strstr(message, middles[i]);

		if (found && strspn(message, "rcunode: \t0123456789") >= (size_t)(found - message))
			return true;
	}
	return false;
}

/* "    0: 0x00000001 -> 0x0000009f", before 3.x */
static bool is_old_node_range(const char *message)
{
	return strstr(message, ": 0x") && strstr(message, " -> 0x") &&
	       only(message, "0123456789abcdefx:-> ");
}

static bool scrub_message(char *message, char *out)
{
	static const char *const cmdlines[] = { "Command line: ", "Kernel command line: " };
	char *rest;

	for (size_t i = 0; i < COUNT(cmdlines); i++) {
		if (!mach_after(message, cmdlines[i]))
			continue;
		rest = message + strlen(cmdlines[i]);
		mach_plain(rest);
		strcpy(out, cmdlines[i]);
		filter_words(rest, out + strlen(out));
		return true;
	}
	if (mach_scrub_banner(message, out))
		return true;
	rest = (char *)mach_after(message, "Unknown kernel command line parameters ");
	if (rest)
		return scrub_refused(rest, out);
	if (!is_table_line(message) && !is_old_node_range(message) && !has_middle(message) &&
	    !starts_with_any(message, beginnings, COUNT(beginnings)))
		return false;
	if (strlen(message) > 512 || strchr(message, '@') || looks_private(message))
		return false;
	return keep(message, out);
}

bool mach_scrub_log(char *line, char *out)
{
	char stamp[64], *message;
	size_t len;

	line += strspn(line, "\r");
	line[strcspn(line, "\r")] = '\0';
	message = message_of(line, stamp, sizeof(stamp));
	len = strlen(stamp);
	memcpy(out, stamp, len);
	/* The longest message is shorter than a line by as much as the stamp is long. */
	return scrub_message(message, out + len);
}
