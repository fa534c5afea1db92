/* SPDX-License-Identifier: MIT */
/*
 * acpi.c - nodes and processors, from two of firmware's tables
 *
 *   SRAT  which processors and which memory are near each other (a "domain")
 *   MADT  the processors
 *
 * Domains become nodes in the order in which they are met, processors' first: so does Linux, and
 * node numbers are compared with its. A machine without SRAT is one node. Nothing is interpreted
 * beyond these fixed layouts (ACPI 6.x, 5.2.12 and 5.2.16).
 */
#include "kernel.h"

enum {
	RSDP_REVISION = 15,
	RSDP_RSDT = 16,
	RSDP_XSDT = 24,
	HEADER = 36, /* of every table; its length is at 4 */
	SRAT_FIRST = 48,
	MADT_FIRST = 44,
	SRAT_CPU = 0,
	SRAT_MEMORY = 1,
	SRAT_X2APIC = 2,
	MADT_CPU = 0,
	MADT_X2APIC = 9,
	ENABLED = 1,
	ONLINE_CAPABLE = 2,
};

static uint32_t domains[NODES_MAX];

/** A little-endian number that may lie anywhere. */
static uint64_t field(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | at[bytes];
	return value;
}

static const uint8_t *find_table(uint64_t rsdp, const char *signature)
{
	const uint8_t *root = linear(rsdp);
	unsigned width = root[RSDP_REVISION] >= 2 && field(root + RSDP_XSDT, 8) ? 8 : 4;
	const uint8_t *list = linear(field(root + (width == 8 ? RSDP_XSDT : RSDP_RSDT), width));
	uint64_t bytes = field(list + 4, 4);

	for (uint64_t at = HEADER; at + width <= bytes; at += width) {
		const uint8_t *table = linear(field(list + at, width));

		if (!memcmp(table, signature, 4))
			return table;
	}
	return NULL;
}

/** The next entry of a table, from offset *@at on; NULL behind the last. */
static const uint8_t *next_entry(const uint8_t *table, uint64_t *at)
{
	uint64_t bytes = field(table + 4, 4);
	const uint8_t *entry = table + *at;

	if (*at + 2 > bytes || entry[1] < 2 || *at + entry[1] > bytes)
		return NULL;
	*at += entry[1];
	return entry;
}

static int node_of_domain(struct topology *out, uint64_t domain)
{
	unsigned node = 0;

	while (node < out->nodes && domains[node] != domain)
		node++;
	if (node == NODES_MAX)
		panic("too many nodes");
	if (node == out->nodes)
		domains[out->nodes++] = (uint32_t)domain;
	return (int)node;
}

static void read_srat(const uint8_t *srat, struct topology *out)
{
	const uint8_t *entry;

	for (uint64_t at = SRAT_FIRST; (entry = next_entry(srat, &at));) {
		uint64_t domain = entry[2] | field(entry + 9, 3) << 8;

		if (entry[0] == SRAT_X2APIC)
			domain = field(entry + 4, 4);
		if ((entry[0] == SRAT_CPU && field(entry + 4, 4) & ENABLED) ||
		    (entry[0] == SRAT_X2APIC && field(entry + 12, 4) & ENABLED))
			out->with_cpu |= 1UL << node_of_domain(out, domain);
	}
	for (uint64_t at = SRAT_FIRST; (entry = next_entry(srat, &at));) {
		uint64_t start = field(entry + 8, 8);

		if (entry[0] == SRAT_MEMORY && field(entry + 28, 4) & ENABLED)
			ranges_add(&out->affinity, start, start + field(entry + 16, 8),
				   node_of_domain(out, field(entry + 2, 4)));
	}
}

static void read_madt(const uint8_t *madt, struct topology *out)
{
	const uint8_t *entry;

	for (uint64_t at = MADT_FIRST; (entry = next_entry(madt, &at));) {
		uint64_t flags = field(entry + (entry[0] == MADT_X2APIC ? 8 : 4), 4);

		if (entry[0] != MADT_CPU && entry[0] != MADT_X2APIC)
			continue;
		out->cpus += !!(flags & ENABLED);
		out->cpus_later += !(flags & ENABLED);
		out->cpus_capable += (flags & (ENABLED | ONLINE_CAPABLE)) == ONLINE_CAPABLE;
	}
}

void acpi_read(uint64_t rsdp, struct topology *out)
{
	const uint8_t *srat = rsdp ? find_table(rsdp, "SRAT") : NULL;
	const uint8_t *madt = rsdp ? find_table(rsdp, "APIC") : NULL;

	if (srat)
		read_srat(srat, out);
	if (madt)
		read_madt(madt, out);
	if (!out->cpus)
		out->cpus = 1; /* this one */
}
