/* SPDX-License-Identifier: MIT */
/*
 * layout.c - where a described machine's memory lies, and what its kernel counts
 *
 *   x86   0    640K  1M                3G     4G
 *         |#####|....|##################|......|########...
 *         node 0 first, each node behind the other; page 0 and the last 128 KiB
 *         below the hole belong to firmware
 *
 *   else  |####################...   from 0, or from 1 GiB on arm64
 *
 * Figures of firmware are those of a plain emulated PC: 98 pages below 1 MiB
 * without RAM, 32 pages of tables at the top of low memory (33 on a large machine),
 * 158 pages reserved below 16 MiB. A machine with UEFI keeps more; boot_pages() sets
 * slack for it.
 *
 * Source: the e820 maps and "Total pages" of emulated Debian 6.1 and 6.12 boots.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"

#define KIB 1024ULL
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

enum {
	PC_DMA_RESERVED = 158,   /* pages below 16 MiB that are RAM and reserved at the count */
	PC_FIRMWARE = 128 << 10, /* bytes of tables at the top of low memory */
	PC_FIRMWARE_MORE = 4096, /* and these beyond 64 GiB: seen from 66 GiB on, not at 16 */
};

static bool is_x86(const struct hd_rules *rules)
{
	return rules->arch == HD_ARCH_X86_64 || rules->arch == HD_ARCH_I386;
}

/* ---- parameters that change the map --------------------------------------------------- */

/** The last @name=VALUE of a command line; NULL when there is none. */
static const char *last_value(const char *cmdline, const char *name)
{
	size_t len = strlen(name);
	const char *found = NULL;

	for (const char *at = cmdline; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		if (!strncmp(at, name, len) && at[len] == '=')
			found = at + len + 1;
	}
	return found;
}

/** "256M" and the like; 0 where it is none. */
static uint64_t size_of(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	switch (*end) {
	case 'K':
	case 'k':
		return n << 10;
	case 'M':
	case 'm':
		return n << 20;
	case 'G':
	case 'g':
		return n << 30;
	case 'T':
	case 't':
		return n << 40;
	default:
		return n;
	}
}

/** Bytes of crashkernel=: "256M", or the one of "1G-4G:192M,4G-:256M" that holds for @ram. */
static uint64_t crash_bytes(const char *value, uint64_t ram)
{
	size_t len = strcspn(value, " ");
	const char *end = value + len;

	if (!memchr(value, ':', len))
		return size_of(value);
	while (value < end) {
		const char *dash = value + strcspn(value, "-: ");
		const char *colon = value + strcspn(value, ": ");
		bool open = *dash != '-' || dash + 1 == colon;

		if (*colon == ':' && ram >= size_of(value) && (open || ram < size_of(dash + 1)))
			return size_of(colon + 1);
		value += strcspn(value, ", ");
		value += *value == ',';
	}
	return 0;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static int add_range(struct boot_layout *layout, uint64_t start, uint64_t end, uint32_t node)
{
	struct sim_ram *more;

	if (start >= end)
		return 0;
	more = realloc(layout->ram, (layout->rams + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	layout->ram = more;
	layout->ram[layout->rams++] = (struct sim_ram){ start, end, node };
	return 0;
}

/** RAM addresses of a machine with @bytes: a list of stretches. */
struct stretches {
	struct {
		uint64_t start, end;
	} at[4];
	int count;
	uint64_t usable; /* end of the first one, less firmware's tables on a PC */
};

static void map_ram(const struct hd_rules *rules, uint64_t bytes, struct stretches *out)
{
	uint64_t base = rules->arch == HD_ARCH_ARM64 ? GIB : 0;

	out->count = 0;
	if (!is_x86(rules)) {
		out->at[out->count].start = base;
		out->at[out->count++].end = out->usable = base + bytes;
		return;
	}
	uint64_t low = bytes >= 7 * GIB / 2 ? 3 * GIB : bytes;
	uint64_t firmware = PC_FIRMWARE + (bytes > 64 * GIB ? PC_FIRMWARE_MORE : 0);

	out->at[out->count].start = 0;
	out->at[out->count++].end = low;
	out->usable = low > firmware ? low - firmware : 0;
	if (bytes > low) {
		out->at[out->count].start = 4 * GIB;
		out->at[out->count++].end = 4 * GIB + bytes - low;
	}
}

/** Takes [start, end) of node @node, less what is no RAM on a PC. */
static int add_ram(struct boot_layout *layout, const struct hd_rules *rules, uint64_t start,
		   uint64_t end, const struct stretches *map, uint32_t node)
{
	const uint64_t page = 1ULL << rules->value[HD_RULE_PAGE_SHIFT];
	int error = 0;

	if (!is_x86(rules) || start >= map->at[0].end)
		return add_range(layout, start, end, node);
	if (end > map->usable)
		end = map->usable;
	if (start < MIB) {
		uint64_t gap = 0x9f * page < end ? 0x9f * page : end;

		error = add_range(layout, start < page ? page : start, gap, node);
		start = MIB;
	}
	return error ? error : add_range(layout, start, end, node);
}

/** Lays node after node over the stretches of a machine with @installed bytes. */
static int place_nodes(struct boot_layout *layout, const struct hd_rules *rules,
		       const uint64_t *node_bytes, uint64_t installed)
{
	struct stretches map;
	uint64_t used = 0;
	int s = 0, error = 0;

	map_ram(rules, installed, &map);
	for (uint32_t n = 0; n < layout->nodes && !error; n++) {
		uint64_t left = node_bytes[n];

		while (left && s < map.count && !error) {
			uint64_t start = map.at[s].start + used;
			uint64_t room = map.at[s].end - start;
			uint64_t take = left < room ? left : room;

			error = add_ram(layout, rules, start, start + take, &map, n);
			left -= take;
			used += take;
			if (take == room) {
				s++;
				used = 0;
			}
		}
	}
	return error;
}

/** One node; or, with numa=fake=N, as many as that, of equal size. */
static uint32_t faked_nodes(const struct hd_rules *rules, const char *cmdline)
{
	const char *value = last_value(cmdline, "numa");
	unsigned long n;
	char *end;

	/* Others know it only with an option that distributions leave out. */
	if (rules->arch != HD_ARCH_X86_64 || !value || strncmp(value, "fake=", 5))
		return 0;
	n = strtoul(value + 5, &end, 10);
	if (*end && *end != ' ') /* nodes of a size, or split another way: not modelled */
		return 0;
	return n > 1 && n <= 64 ? (uint32_t)n : 0;
}

static bool numa_is_off(const struct hd_rules *rules, const char *cmdline)
{
	const char *value = last_value(cmdline, "numa");

	return (value && !strncmp(value, "off", 3)) || !rules->value[HD_RULE_HASHDIST_PARAM];
}

static uint64_t installed_bytes(const struct description *machine)
{
	uint64_t total = 0;

	for (uint32_t n = 0; n < machine->nodes; n++)
		total += machine->node[n].bytes;
	return total;
}

/** What mem= leaves: on x86 what lies below that address, elsewhere so many bytes. */
static uint64_t bytes_left(const struct hd_rules *rules, uint64_t installed, const char *cmdline)
{
	const char *limit = last_value(cmdline, "mem");
	uint64_t most = limit ? size_of(limit) : 0, left = 0;
	struct stretches map;

	if (!most || !is_x86(rules))
		return most && most < installed ? most : installed;
	map_ram(rules, installed, &map);
	for (int s = 0; s < map.count && map.at[s].start < most; s++)
		left += (map.at[s].end < most ? map.at[s].end : most) - map.at[s].start;
	return left;
}

/** Sizes of the nodes that the kernel will see. Return: how many; their ids in @id. */
static uint32_t nodes_seen(const struct description *machine, const struct hd_rules *rules,
			   const char *cmdline, uint64_t total, uint64_t *bytes, uint32_t *id)
{
	uint32_t fakes = faked_nodes(rules, cmdline);
	uint64_t left = total;

	if (numa_is_off(rules, cmdline) || (fakes && machine->nodes == 1)) {
		uint32_t count = fakes && !numa_is_off(rules, cmdline) ? fakes : 1;

		for (uint32_t n = 0; n < count; n++) {
			id[n] = n;
			bytes[n] = n + 1 < count ? total / count & ~(32 * MIB - 1) : left;
			left -= bytes[n];
		}
		return count;
	}
	for (uint32_t n = 0; n < machine->nodes; n++) {
		id[n] = machine->node[n].id;
		bytes[n] = machine->node[n].bytes < left ? machine->node[n].bytes : left;
		left -= bytes[n];
	}
	return machine->nodes;
}

/** Address of the byte behind the first @count ones. */
static uint64_t address_of(const struct hd_rules *rules, uint64_t installed, uint64_t count)
{
	struct stretches map;
	int s = 0;

	map_ram(rules, installed, &map);
	while (s + 1 < map.count && count >= map.at[s].end - map.at[s].start) {
		count -= map.at[s].end - map.at[s].start;
		s++;
	}
	return map.at[s].start + count;
}

static void sum_up(const struct hd_rules *rules, struct boot_layout *layout)
{
	unsigned page_shift = (unsigned)rules->value[HD_RULE_PAGE_SHIFT];

	for (size_t r = 0; r < layout->rams; r++) {
		uint64_t start = layout->ram[r].start, end = layout->ram[r].end;

		layout->present_pages += (end - start) >> page_shift;
		/* Nodes were laid out one behind the other. */
		if (!r || layout->ram[r].node != layout->ram[r - 1].node)
			layout->memory_nodes++;
		if (!layout->highmem_start || end <= layout->highmem_start)
			continue;
		if (start < layout->highmem_start)
			start = layout->highmem_start;
		layout->highmem_pages += (end - start) >> page_shift;
	}
}

int boot_layout(const struct description *machine, const struct hd_rules *rules,
		const char *cmdline, struct boot_layout *out)
{
	uint32_t most = machine->nodes > 64 ? machine->nodes : 64;
	uint64_t installed = installed_bytes(machine);
	uint64_t total = bytes_left(rules, installed, cmdline);
	uint64_t *bytes = calloc(most, sizeof(*bytes));
	int error = -ENOMEM;

	*out = (struct boot_layout){ .node_id = calloc(most, sizeof(*out->node_id)) };
	if (bytes && out->node_id) {
		out->nodes = nodes_seen(machine, rules, cmdline, total, bytes, out->node_id);
		out->emulated = machine->emulated || (machine->nodes == 1 && out->nodes > 1);
		error = place_nodes(out, rules, bytes, installed);
		if (machine->highmem_bytes)
			out->highmem_start =
			    address_of(rules, installed, installed - machine->highmem_bytes);
	}
	free(bytes);
	if (!error)
		sum_up(rules, out);
	if (!error && !out->present_pages)
		error = -EINVAL;
	if (error)
		boot_layout_fini(out);
	return error;
}

void boot_layout_fini(struct boot_layout *layout)
{
	free(layout->ram);
	free(layout->node_id);
	*layout = (struct boot_layout){ 0 };
}

/* ---- what sizing counts -------------------------------------------------------------------- */

/** Zones of one node that hold memory: below 16 MiB, below 4 GiB or highmem, the rest. */
static size_t zones_of(const struct boot_layout *layout, const struct hd_rules *rules,
		       uint32_t node, struct hd_zone *out)
{
	uint64_t high = layout->highmem_start ? layout->highmem_start : UINT64_MAX - 1;
	const uint64_t x86_borders[] = { 0, 16 * MIB, rules->arch == HD_ARCH_I386 ? high : 4 * GIB,
					 UINT64_MAX };
	const uint64_t borders[] = { 0, high, UINT64_MAX };
	const uint64_t *border = is_x86(rules) ? x86_borders : borders;
	unsigned page_shift = (unsigned)rules->value[HD_RULE_PAGE_SHIFT];
	size_t count = 0;

	for (int z = 0; border[z] != UINT64_MAX; z++) {
		uint64_t first = UINT64_MAX, last = 0, present = 0;

		for (size_t r = 0; r < layout->rams; r++) {
			uint64_t start = layout->ram[r].start, end = layout->ram[r].end;

			if (layout->ram[r].node != node || end <= border[z] ||
			    start >= border[z + 1])
				continue;
			start = start > border[z] ? start : border[z];
			end = end < border[z + 1] ? end : border[z + 1];
			first = start < first ? start : first;
			last = end > last ? end : last;
			present += end - start;
		}
		if (present)
			out[count++] = (struct hd_zone){ .spanned = (last - first) >> page_shift,
							 .present = present >> page_shift,
							 .highmem = border[z] == high };
	}
	return count;
}

/** Era B: present pages less the memory map, less what is reserved at the bottom. */
static void count_zones(const struct boot_layout *layout, const struct hd_rules *rules,
			struct hd_pages *out)
{
	/* 64 bytes is what 64-bit kernels have, 40 what Debian's i386 has (32 to 44 elsewhere). */
	unsigned struct_bytes = rules->value[HD_RULE_WORD_BYTES] == 8 ? 64 : 40;
	uint64_t dma_reserve = rules->arch == HD_ARCH_X86_64 ? PC_DMA_RESERVED : 0;

	for (uint32_t n = 0; n < layout->nodes; n++) {
		struct hd_zone zones[3];
		size_t count = zones_of(layout, rules, n, zones);
		struct hd_pages node;

		if (!count)
			continue;
		hd_pages_from_zones(rules, zones, count, struct_bytes, dma_reserve, &node);
		out->kernel += node.kernel;
		out->all += node.all;
		dma_reserve = 0; /* only the first zone of all */
	}
}

/**
 * Era C: what the boot allocator has free. Memory map by whole sections of 128 MiB,
 * a kernel of 40 MiB with an initial ramdisk, page tables of the linear map.
 */
static void count_free(const struct boot_layout *layout, const struct hd_rules *rules,
		       struct hd_pages *out)
{
	uint64_t page = 1ULL << rules->value[HD_RULE_PAGE_SHIFT];
	uint64_t present = layout->present_pages * page;
	uint64_t sections = (present + 128 * MIB - 1) / (128 * MIB);
	uint64_t memmap = sections * (128 * MIB / page) * 64;
	uint64_t fixed = 50 * MIB, tables = 0;

	if (rules->arch == HD_ARCH_ARM64) /* mapped by base pages: one entry of 8 bytes each */
		tables = present / page * 8;
	fixed += memmap + tables;
	out->all = present > fixed ? (present - fixed) / page : 1;
	out->slack = 12 * MIB / page;
}

void boot_pages(const struct description *machine, const struct boot_layout *layout,
		const struct hd_rules *rules, const char *cmdline, struct hd_pages *out)
{
	const char *crash = last_value(cmdline, "crashkernel");
	const char *log_buffer = last_value(cmdline, "log_buf_len");
	uint64_t page = 1ULL << rules->value[HD_RULE_PAGE_SHIFT];
	uint64_t reserved = machine->reserved_bytes;

	*out = (struct hd_pages){ 0 };
	if (rules->value[HD_RULE_COUNT_ERA] == HD_ERA_C) {
		count_free(layout, rules, out);
		/* Until 7.0 only x86 put the crash kernel aside before the count. */
		if (crash &&
		    (is_x86(rules) || !rules->version || rules->version >= HD_VERSION(7, 0, 0)))
			reserved += crash_bytes(crash, layout->present_pages * page);
		/* x86 enlarges it first of all: with 112 bytes of books for each 32 of text. */
		if (log_buffer && is_x86(rules))
			reserved += size_of(log_buffer) / 2 * 9;
		reserved /= page;
		out->all = out->all > reserved ? out->all - reserved : 1;
		out->kernel =
		    out->all > layout->highmem_pages ? out->all - layout->highmem_pages : 1;
	} else {
		count_zones(layout, rules, out);
		out->slack = is_x86(rules) ? 64 : 0;
	}
	out->slack += out->kernel / 1024; /* what firmware keeps is not known */
}
