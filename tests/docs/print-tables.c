/* SPDX-License-Identifier: MIT */
/*
 * print-tables.c - docs/tables.md: which table, which parameter, which kernel
 *
 * Everything is asked of the catalogue: for each release what it requests, with the configuration
 * that its rules take for usual, on x86-64 with 4 KiB pages. What a release changes starts a row.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hashdist/core.h"

/* The last release of each series, so that a change counts from the series that has it throughout. */
static const uint8_t last_minor[] = { [2] = 0, [3] = 19, [4] = 20, [5] = 19, [6] = 19, [7] = 1 };

struct form {
	bool there;
	struct hd_request request;
};

static struct form form_of(uint32_t version, enum hd_table_id id)
{
	struct hd_machine machine = { .facts = { .memory_nodes = 1,
						 .online_nodes = 1,
						 .possible_nodes = 1,
						 .possible_cpus = 64,
						 .pv_spinlocks = true } };
	struct form form = { 0 };

	hd_rules_init(&machine.rules, version, HD_ARCH_X86_64, NULL);
	hd_params_parse(&machine.params, &machine.rules, "", 0);
	machine.facts.pages.kernel = UINT64_C(16) << 18; /* 16 GiB */
	form.there = !hd_table_request(&machine, id, 65536, &form.request);
	return form;
}

static bool same(const struct form *a, const struct form *b)
{
	return a->there == b->there && a->request.bucket_bytes == b->request.bucket_bytes &&
	       a->request.entries == b->request.entries && a->request.scale == b->request.scale &&
	       a->request.low == b->request.low && a->request.high == b->request.high &&
	       a->request.when == b->request.when;
}

/* 2.6.11 to 2.6.39, 3.0 to 7.1. Return: 0 after the last. */
static uint32_t next_release(uint32_t version)
{
	uint32_t major = HD_VERSION_MAJOR(version), minor = HD_VERSION_MINOR(version);

	if (major == 2)
		return HD_VERSION_PATCH(version) < 39
			   ? HD_VERSION(2, 6, HD_VERSION_PATCH(version) + 1)
			   : HD_VERSION(3, 0, 0);
	if (minor < last_minor[major])
		return HD_VERSION(major, minor + 1, 0);
	return major + 1 < sizeof(last_minor) ? HD_VERSION(major + 1, 0, 0) : 0;
}

static void print_release(uint32_t version)
{
	if (HD_VERSION_MAJOR(version) == 2)
		printf("2.6.%u", HD_VERSION_PATCH(version));
	else
		printf("%u.%u", HD_VERSION_MAJOR(version), HD_VERSION_MINOR(version));
}

static const char *const allocators[] = {
	[HD_WHEN_EARLY] = "boot",
	[HD_WHEN_EARLY_UNLESS] = "boot; distributed: vmalloc",
	[HD_WHEN_LATE] = "page or vmalloc",
};

static void print_form(const struct form *form, uint32_t first, uint32_t last)
{
	const struct hd_request *r = &form->request;

	if (!form->there)
		return;
	fputs("| ", stdout);
	print_release(first);
	if (last != first) {
		fputs(" to ", stdout);
		print_release(last);
	}
	printf(" | %" PRIu64 " | ", (uint64_t)r->bucket_bytes);
	if (r->entries)
		printf("%" PRIu64 " | ", (uint64_t)r->entries);
	else
		printf("one per %" PRIu64 " KiB | ", UINT64_C(1) << r->scale >> 10);
	if (r->low)
		printf("%" PRIu64, (uint64_t)r->low);
	fputs(" | ", stdout);
	if (r->high)
		printf("%" PRIu64, (uint64_t)r->high);
	printf(" | %s |\n", allocators[r->when]);
}

static void print_table(const struct hd_table_info *info)
{
	const char *parameter = hd_param_name(info->param);
	struct form before = { 0 };
	uint32_t first = 0, last = 0;

	printf("\n## %s\n\n`%s hash table entries: ...`; filled by %s", info->key, info->name,
	       info->filled_by);
	if (info->counted_in)
		printf(", counted in `%s`", info->counted_in);
	if (parameter)
		printf("; `%s=`", parameter);
	fputs(".\n\n", stdout);
	puts("| kernels | bucket bytes | buckets | least | most | allocator |");
	puts("|---|---|---|---|---|---|");
	for (uint32_t v = HD_VERSION(2, 6, 11); v; last = v, v = next_release(v)) {
		struct form form = form_of(v, info->id);

		if (first && same(&form, &before))
			continue;
		if (first)
			print_form(&before, first, last);
		first = v;
		before = form;
	}
	print_form(&before, first, last);
}

int main(void)
{
	puts("# Which table, which parameter, which kernel\n\n"
	     "Generated from the catalogue in `core/tables.c` by `tests/docs/print-tables.c`, and "
	     "held to it by a "
	     "test. x86-64\nwith 4 KiB pages, 64 processors where that counts, no debugging of "
	     "locks; other "
	     "architectures and\nconfigurations differ where the sources say so. Buckets: as many, "
	     "or one per so "
	     "much memory, between least\nand most; empty: the kernel's own limits, one page, and "
	     "a sixteenth of "
	     "memory. A parameter sets the number\ninstead. Allocator: *boot* is early, in the "
	     "linear map unless "
	     "distributed.");
	for (unsigned id = 0; id < HD_TABLE_COUNT; id++)
		print_table(hd_table_info((enum hd_table_id)id));
	return 0;
}
