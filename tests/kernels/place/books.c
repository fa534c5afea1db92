/* SPDX-License-Identifier: MIT */
/*
 * books.c - what the kernel's books say of the table, by our own reading
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "tests/kernels/place/place.h"

enum { BATCH = 4096, MEMORY_BLOCKS = 1 << 16 };

static int pagemap, kpageflags;
static uint64_t memory_block; /* bytes */
static int8_t block_node[MEMORY_BLOCKS];

static void read_memory_blocks(void)
{
	char path[64];
	FILE *file = fopen("/sys/devices/system/memory/block_size_bytes", "r");

	memset(block_node, -1, sizeof(block_node));
	if (!file || fscanf(file, "%" SCNx64, &memory_block) != 1)
		die("cannot read", "block_size_bytes");
	fclose(file);
	for (int node = 0; node < NODES; node++) {
		struct dirent *entry;
		DIR *dir;

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", node);
		dir = opendir(path);
		while (dir && (entry = readdir(dir))) {
			unsigned block;
			char rest;

			if (sscanf(entry->d_name, "memory%u%c", &block, &rest) == 1 &&
			    block < MEMORY_BLOCKS)
				block_node[block] = (int8_t)node;
		}
		if (dir)
			closedir(dir);
	}
}

static void read_smaps(struct books *books)
{
	uint64_t start = (uintptr_t)now.start, end = start + now.bytes, from = 0, to = 0;
	char line[1024];
	bool ours = false;
	FILE *file = fopen("/proc/self/smaps", "r");

	if (!file)
		die("cannot open", "smaps");
	while (fgets(line, sizeof(line), file)) {
		uint64_t kib = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2) {
			ours = from < end && to > start;
			books->maps += ours;
			if (ours)
				books->outside +=
				    (from < start ? start - from : 0) + (to > end ? to - end : 0);
		} else if (ours && sscanf(line, "Rss: %" SCNu64, &kib) == 1) {
			books->rss += kib << 10;
		} else if (ours && sscanf(line, "AnonHugePages: %" SCNu64, &kib) == 1) {
			books->huge += kib << 10;
		} else if (ours && sscanf(line, "Private_Hugetlb: %" SCNu64, &kib) == 1) {
			books->hugetlb += kib << 10;
		} else if (ours && books->maps == 1) {
			sscanf(line, "VmFlags: %255[a-z ]", books->flags);
		}
	}
	fclose(file);
}

static void read_numa_maps(struct books *books)
{
	uint64_t start = (uintptr_t)now.start;
	char line[2048];
	FILE *file = fopen("/proc/self/numa_maps", "r");

	while (file && fgets(line, sizeof(line), file)) {
		uint64_t from = strtoull(line, NULL, 16), kib = 4;
		const char *size = strstr(line, "kernelpagesize_kB=");

		if (from < start || from >= start + now.bytes)
			continue;
		if (size)
			kib = strtoull(size + strlen("kernelpagesize_kB="), NULL, 10);
		for (const char *at = strstr(line, " N"); at; at = strstr(at + 1, " N")) {
			unsigned node;
			uint64_t pages;

			if (sscanf(at, " N%u=%" SCNu64, &node, &pages) == 2 && node < NODES)
				books->numa[node] += pages * (kib << 10);
		}
	}
	if (file)
		fclose(file);
}

/** One block of the table's addresses: is it one huge page, aligned and whole, in frames? */
static bool is_one_frame(const uint64_t *frame)
{
	enum { HEAD = 15, TAIL = 16, HUGETLB = 17, THP = 22 };
	uint64_t flags[BLOCK_PAGES];

	if (!frame[0] || frame[0] % BLOCK_PAGES)
		return false;
	for (uint64_t i = 0; i < BLOCK_PAGES; i++)
		if (frame[i] != frame[0] + i)
			return false;
	if (pread(kpageflags, flags, sizeof(flags), (off_t)(frame[0] * sizeof(*flags))) !=
	    sizeof(flags))
		die("cannot read", "kpageflags");
	if (flags[0] >> HUGETLB & 1)
		return true;
	for (uint64_t i = 0; i < BLOCK_PAGES; i++)
		if (!(flags[i] >> THP & 1) || !(flags[i] >> (i ? TAIL : HEAD) & 1))
			return false;
	return true;
}

static void read_frames(struct books *books)
{
	uint64_t pages = now.bytes / PAGE, first = (uintptr_t)now.start / PAGE;

	for (uint64_t at = 0, count; at < pages; at += count) {
		uint64_t frame[BLOCK_PAGES] = { 0 };

		count = BLOCK_PAGES - (first + at) % BLOCK_PAGES;
		count = count < pages - at ? count : pages - at;

		if (pread(pagemap, frame, count * sizeof(*frame),
			  (off_t)((first + at) * sizeof(*frame))) < 0)
			die("cannot read", "pagemap");
		for (uint64_t i = 0; i < count; i++) {
			bool present = frame[i] >> 63;
			int node;

			frame[i] = present ? frame[i] & ((1ULL << 55) - 1) : 0;
			books->present += present ? PAGE : 0;
			if (!present)
				continue;
			node = frame[i] ? block_node[frame[i] * PAGE / memory_block] : -1;
			if (node < 0)
				books->frame_lost += PAGE;
			else
				books->frame_node[node] += PAGE;
		}
		if (count == BLOCK_PAGES && is_one_frame(frame))
			books->frame_huge += BLOCK_PAGES * PAGE;
	}
}

static void ask_nodes(struct books *books)
{
	static void *page[BATCH];
	static int node[BATCH];

	for (uint64_t at = 0; at < now.bytes; at += BATCH * (uint64_t)PAGE) {
		uint64_t count = (now.bytes - at) / PAGE;
		long error;

		count = count < BATCH ? count : BATCH;
		for (uint64_t i = 0; i < count; i++)
			page[i] = now.start + at + i * PAGE;
		error = syscall(SYS_move_pages, 0, count, page, NULL, node, 0) ? -errno : 0;
		for (uint64_t i = 0; i < count; i++) {
			int answer = error ? (int)error : node[i];

			if (answer >= 0 && answer < NODES)
				books->asked[answer] += PAGE;
			else
				books->unanswered += PAGE;
			if (answer < 0 && !books->answer)
				books->answer = answer;
		}
	}
}

void books_open(void)
{
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	kpageflags = open("/proc/kpageflags", O_RDONLY);
	if (pagemap < 0 || kpageflags < 0)
		die("cannot open", "pagemap or kpageflags");
	read_memory_blocks();
}

void books_read(struct books *books)
{
	/* What the kernel is moving just now is not present; what was never there stays so. */
	for (int tries = 0; tries < 5; tries++) {
		memset(books, 0, sizeof(*books));
		read_frames(books);
		if (books->present == now.bytes)
			break;
		usleep(100000);
	}
	read_smaps(books);
	read_numa_maps(books);
	ask_nodes(books);
}
