/* SPDX-License-Identifier: MIT */
/*
 * fuzz-own.c - any bytes at all as the books of the machine a program runs on
 *
 * What the library, a preloaded program and the verbs read of /proc and /sys about themselves, and
 * the variables of the environment they take. The input is the texts below, with NUL bytes between
 * them. All system calls of backend/linux come by here (--wrap): a file is a text of that name, and
 * answers of the kernel are made of the last text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/linux/internal.h"
#include "command/internal.h"
#include "fuzz/bundle.h"
#include "lib/wish.h"
#include "preload/maps.h"
#include "preload/options.h"
#include "process/blocks.h"
#include "process/internal.h"

#define REGION UINT64_C(0x7f0000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
long __wrap_hdl_sys(long number, const long *args);
long __real_hdl_sys(long number, const long *args);

enum { HASHDIST, HASHDIST_PAGES, HASHDIST_RUN, FILES };

/** The last parts of paths; the first that fits is taken. */
static const char *const names[] = {
	[HASHDIST] = "",
	[HASHDIST_PAGES] = "",
	[HASHDIST_RUN] = "",
	[FILES] = "transparent_hugepage/enabled",
	"hpage_pmd_size",
	"/enabled",
	"/proc/meminfo",
	"/proc/zoneinfo",
	"/proc/buddyinfo",
	"self/cgroup",
	"self/mountinfo",
	"/status",
	"/smaps",
	"/numa_maps",
	"/maps",
	"/has_memory",
	"/has_cpu",
	"node0/meminfo",
	"node1/meminfo",
	"/cpulist",
	"weighted_interleave/node0",
	"weighted_interleave/node1",
	"/nr_hugepages",
	"/free_hugepages",
	"/resv_hugepages",
	"/nr_overcommit_hugepages",
	"/surplus_hugepages",
	"/overcommit_memory",
	"/memory.max",
	"/memory.high",
	"/memory.current",
	"/memory.stat",
	"/memory.limit_in_bytes",
	"/memory.usage_in_bytes",
	"/hugetlb.2MB.max",
	"/hugetlb.2MB.current",
	"/hugetlb.2MB.limit_in_bytes",
	"/hugetlb.2MB.usage_in_bytes",
	"/pagemap",
	"", /* what the kernel answers */
};
enum { TEXTS = sizeof(names) / sizeof(*names), ANSWERS = TEXTS - 1, OPEN_MAX = 8, FIRST_FD = 500 };

static char *text[TEXTS];
static struct {
	bool used;
	int text;
	size_t at;
} opened[OPEN_MAX];
static size_t answered;

/* ---- the kernel -------------------------------------------------------------------------- */

/** The next byte of the answers, endlessly. */
static unsigned char answer(void)
{
	const char *answers = text[ANSWERS];
	size_t len = strlen(answers);

	return len ? (unsigned char)answers[answered++ % len] : 0;
}

static bool ends_so(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len >= end_len && !strcmp(path + len - end_len, end);
}

static long open_text(const char *path)
{
	for (int t = FILES; t < ANSWERS; t++) {
		if (!ends_so(path, names[t]))
			continue;
		for (int f = 0; *text[t] && f < OPEN_MAX; f++)
			if (!opened[f].used) {
				opened[f].used = true;
				opened[f].text = t;
				opened[f].at = 0;
				return FIRST_FD + f;
			}
		return *text[t] ? -EMFILE : -ENOENT;
	}
	return -ENOENT;
}

static long read_text(int f, char *to, size_t size)
{
	const char *from = text[opened[f].text] + opened[f].at;
	size_t len = strlen(from);

	/* In pieces of any size. */
	if (len > size)
		len = size;
	if (len > 1 && answer() & 1)
		len = 1 + answer() % len;
	memcpy(to, from, len);
	opened[f].at += len;
	return (long)len;
}

static long ask_nodes(const long *args)
{
	int *node = (int *)args[4];

	if (answer() == '!')
		return -EPERM;
	for (long i = 0; i < args[1]; i++) {
		unsigned char c = answer();

		node[i] = c >= 'a' ? -(int)c : c - '0';
	}
	return 0;
}

/** PAGEMAP_SCAN as the kernel keeps its word: runs in order, within what was asked. */
static long scan(uint64_t *arg)
{
	struct {
		uint64_t start, end, kinds;
	} *run = (void *)(uintptr_t)arg[5];
	uint64_t at = arg[2];
	long count = 0;

	if (answer() == '!')
		return -ENOTTY;
	while (at < arg[3] && count < (long)arg[6]) {
		uint64_t skip = (uint64_t)(answer() & 63) << 12;
		uint64_t take = (uint64_t)(1 + answer()) << 12;

		if (skip >= arg[3] - at)
			break;
		run[count].start = at + skip;
		at = take < arg[3] - at - skip ? at + skip + take : arg[3];
		run[count].end = at;
		run[count++].kinds = 8 | (uint64_t)(answer() & 1) << 6;
	}
	arg[4] = count < (long)arg[6] ? arg[3] : at;
	return count;
}

long __wrap_hdl_sys(long number, const long *args)
{
	int f = (int)args[0] - FIRST_FD;

	switch (number) {
	case SYS_openat:
		return open_text((const char *)args[1]);
	case SYS_read:
		return read_text(f, (char *)args[1], (size_t)args[2]);
	case SYS_pread64:
		for (long i = 0; i < args[2]; i++)
			((unsigned char *)args[1])[i] = answer();
		return answer() == '!' ? answer() % args[2] : args[2];
	case SYS_close:
		CHECK(f >= 0 && f < OPEN_MAX && opened[f].used);
		opened[f].used = false;
		return 0;
	case SYS_ioctl:
		return scan((uint64_t *)args[2]);
	case SYS_move_pages:
		return ask_nodes(args);
	case SYS_get_mempolicy:
		if (args[0])
			*(int *)args[0] = answer() & 7;
		*(unsigned long *)args[1] = answer();
		return answer() == '!' ? -ENOSYS : 0;
	case SYS_prlimit64:
		((uint64_t *)args[3])[0] = (uint64_t)answer() << 24;
		return 0;
	case SYS_prctl:
		return answer() & 3;
	default:
		return __real_hdl_sys(number, args);
	}
}

/* ---- who reads -------------------------------------------------------------------------- */

static void machine_of_a_library(void)
{
	struct hdl_wish wish;
	struct hd_machine machine;
	struct hdl_nodes nodes;
	struct hdl_shares shares;
	unsigned long cpus[16];
	uint64_t pages;
	uint8_t why = HD_WHY_MET;

	CHECK(!wish_from(NULL, &wish));
	CHECK(wish.pages >= HD_PAGES_BASE && wish.pages <= HD_PAGES_1G);
	wish_machine(NULL, &wish, &machine);
	if (!hdl_nodes_read(&wish, &nodes)) {
		CHECK(hdl_mask_count(&nodes.usable));
		hdl_shares_even(&shares, &nodes.usable, true);
		for (uint64_t unit = 0; unit < 16; unit++)
			CHECK(hdl_mask_has(&nodes.usable, hdl_shares_node(&shares, unit)));
		CHECK(hdl_room_check(1 << 30, &nodes, &why) == 0 || why != HD_WHY_MET);
		hdl_room_total(&nodes);
	}
	CHECK(hdl_node_cpus(0, cpus, sizeof(cpus)) <= (int)(sizeof(cpus) * CHAR_BIT * 4096));
	hdl_room_blocks(0, 9);
	hdl_cgroup_hugetlb_room(21);
	hdl_pool_free(21, HDL_NODES_MAX, &pages);
	hdl_pool_has(21, 1);
	hdl_room_mmap_why(1 << 30, -ENOMEM);
}

static void books_of_a_region(void)
{
	struct hdl_region region = {
		.start = (char *)REGION,
		.bytes = 8 << 20,
		.rung = HDL_THP,
		.shift = 21,
		.base_shift = 12,
		.huge = true,
		.sole_node = HDL_NODES_MAX,
	};
	struct hdl_books books;

	hdl_books_open(&region, &books);
	CHECK(books.blocks == 4);
	for (uint64_t b = 0; b < books.blocks; b++)
		CHECK(books.block[b] <= HDL_BLOCK_HUGE);
	hdl_books_nodes(&region, &books);
	hdl_books_close(&books);
}

static void blocks_of_a_process(void)
{
	struct process process = { .pid = 1, .pidfd = -1, .nodes = 2, .node = { 0, 1 } };
	struct blocks blocks;

	hdl_pages_read(&process.pages);
	process.pages.base_shift = 12;
	process.pages.thp_shift = 21;
	if (blocks_read(&process, REGION - 4096, REGION + (8 << 20), &blocks))
		return;
	for (uint64_t b = 0; b < blocks.count; b++)
		CHECK(blocks.block[b].populated <= 512);
	blocks_ask_nodes(&process, &blocks);
	blocks_free(&blocks);
}

static void on_stretch(void *ctx, uint64_t start, uint64_t bytes)
{
	(void)ctx;
	CHECK(bytes >= 4096 && start + bytes > start);
}

static void a_preloaded_program(void)
{
	static struct preload_options once, twice;
	static char printed[PRELOAD_TEXT_MAX];

	maps_each(4096, true, NULL, on_stretch, NULL);
	if (!preload_options_parse(text[HASHDIST_RUN], &once))
		return;
	CHECK((size_t)preload_options_print(&once, printed, sizeof(printed)) < sizeof(printed));
	CHECK(preload_options_parse(printed, &twice));
	CHECK(!memcmp(&once, &twice, sizeof(once)));
}

static void set(const char *name, const char *value)
{
	CHECK(!(*value ? setenv(name, value, 1) : unsetenv(name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t bytes;

	for (int t = 0; t < TEXTS; t++) {
		size_t len = strnlen((const char *)data, size);

		text[t] = strndup((const char *)data, len);
		CHECK(text[t]);
		len += len < size;
		data += len;
		size -= len;
	}
	answered = 0;
	set("HASHDIST", text[HASHDIST]);
	set("HASHDIST_PAGES", text[HASHDIST_PAGES]);
	machine_of_a_library();
	books_of_a_region();
	blocks_of_a_process();
	a_preloaded_program();
	command_field(text[FILES], "VmRSS", &bytes);
	for (int f = 0; f < OPEN_MAX; f++)
		CHECK(!opened[f].used);
	for (int t = 0; t < TEXTS; t++)
		free(text[t]);
	return 0;
}
