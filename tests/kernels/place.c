/* SPDX-License-Identifier: MIT */
/*
 * place.c - one table in a guest: what the library says of it, and what the kernel says
 *
 *	place WORD...		words are done in the order given
 *
 * circumstances
 *   cgroup=FILE            join a control group: our number into its cgroup.procs
 *   policy=MODE[:NODES]    bind, interleave, preferred, many, weighted, local
 *   cpu=N  thp-off  as=BYTES more of address space  env=NAME=VALUE
 *   deny=CALL              mbind or move_pages answers EPERM from now on
 *   user                   go on without privileges
 *   fill=NODE:LEAVE        another process takes all of a node but LEAVE bytes
 *   fragment=NODE:LEAVE    and gives most of it back, but no whole 2 MiB
 *   unfill                 they end
 * what is wanted
 *   pages= nodes= prefer= fork= (words of hashdist.h)  flag=NAME  threads=N  set=NODES  name=NAME
 * what is done
 *   alloc=BYTES  table=BUCKET,ENTRIES,LOW,HIGH,SCALE  resize=BYTES  repair  read  free
 *   tight=NODE:BYTES       alloc what is free on a node, less BYTES
 *   write  spin=SECONDS    write all of it; go over it again and again
 *   child  look  reap      a child of fork() that stays; one that looks at the table; end of the first
 *   touch=N                write to N places, far from each other
 *   discard                give the second half back to the kernel, as a quick way to clear it
 *   sh=COMMAND             in a shell, as this user
 *
 * Prints one JSON object: an event for each thing done. Beside what the library filled in
 * stand the books, read here and not by the library: smaps, numa_maps, the frame of each
 * page from pagemap, its flags from kpageflags, its node by the memory blocks of sysfs,
 * and move_pages as a question for every base page. Wants root, or "user" after it began.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hashdist/hashdist.h"

enum { PAGE = 4096, NODES = 64, BLOCK_PAGES = 512, BATCH = 4096, MEMORY_BLOCKS = 1 << 16 };

static struct {
	struct hd_want want;
	unsigned long set;
	char name[80];
	char *start;
	uint64_t bytes;   /* that may be used, as the library said */
	uint64_t written; /* from the start on, our pattern; behind it zeroes */
	pid_t filler[4], child;
	int pagemap, kpageflags;
	uint64_t memory_block; /* bytes */
	int8_t block_node[MEMORY_BLOCKS];
	bool some; /* an event was printed */
} now;

static void die(const char *what, const char *which)
{
	fprintf(stderr, "place: %s %s: %s\n", what, which, strerror(errno));
	exit(2);
}

static uint64_t size_of(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (end == text)
		die("no number:", text);
	return *end == 'G'   ? value << 30
	       : *end == 'M' ? value << 20
	       : *end == 'K' ? value << 10
			     : value;
}

/** "0,2-3" to bits. */
static unsigned long nodes_of(const char *text)
{
	unsigned long bits = 0;
	char *end;

	while (isdigit((unsigned char)*text)) {
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < NODES; first++)
			bits |= 1UL << first;
		text = *end == ',' ? end + 1 : end;
	}
	return bits;
}

static uint64_t file_number(const char *path, const char *key)
{
	char line[512];
	FILE *file = fopen(path, "r");
	uint64_t value = 0;

	if (!file)
		die("cannot open", path);
	while (fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, key);

		if (at) {
			value = strtoull(at + strlen(key), NULL, 10);
			break;
		}
	}
	fclose(file);
	return value;
}

/* ---- the kernel's books, by our own reading -------------------------------------- */

struct books {
	uint64_t rss, huge, hugetlb; /* smaps */
	uint64_t maps, outside;      /* mappings; bytes of them beyond the table */
	char flags[256];             /* VmFlags of the first */
	uint64_t numa[NODES];        /* numa_maps */
	uint64_t present, frame_huge, frame_node[NODES], frame_lost; /* pagemap */
	uint64_t asked[NODES], unanswered;                           /* move_pages */
	int answer;                                                  /* the first odd one */
};

static void read_memory_blocks(void)
{
	char path[64];
	FILE *file = fopen("/sys/devices/system/memory/block_size_bytes", "r");

	memset(now.block_node, -1, sizeof(now.block_node));
	if (!file || fscanf(file, "%" SCNx64, &now.memory_block) != 1)
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
				now.block_node[block] = (int8_t)node;
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
	if (pread(now.kpageflags, flags, sizeof(flags), (off_t)(frame[0] * sizeof(*flags))) !=
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

		if (pread(now.pagemap, frame, count * sizeof(*frame),
			  (off_t)((first + at) * sizeof(*frame))) < 0)
			die("cannot read", "pagemap");
		for (uint64_t i = 0; i < count; i++) {
			bool present = frame[i] >> 63;
			int node;

			frame[i] = present ? frame[i] & ((1ULL << 55) - 1) : 0;
			books->present += present ? PAGE : 0;
			if (!present)
				continue;
			node = frame[i] ? now.block_node[frame[i] * PAGE / now.memory_block] : -1;
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

/* ---- JSON --------------------------------------------------------------------------- */

static void print_text(const char *key, const char *text)
{
	printf("\"%s\":\"", key);
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	printf("\"");
}

static void print_nodes(const char *key, const uint64_t *bytes)
{
	const char *comma = "";

	printf("\"%s\":{", key);
	for (int node = 0; node < NODES; node++) {
		if (!bytes[node])
			continue;
		printf("%s\"%d\":%" PRIu64, comma, node, bytes[node]);
		comma = ",";
	}
	printf("}");
}

static void print_got(const char *key, const struct hd_got *got)
{
	printf(",\"%s\":{\"bytes\":%" PRIu64 ",\"entries\":%" PRIu64 ",\"populated\":%" PRIu64
	       ",\"unit\":%" PRIu64 ",\"pages\":{",
	       key, got->bytes, got->entries, got->populated, got->unit);
	for (uint32_t i = 0; i < got->page_sizes; i++)
		printf("%s\"%" PRIu64 "\":%" PRIu64, i ? "," : "", got->page[i].page_bytes,
		       got->page[i].bytes);
	printf("},\"nodes\":{");
	for (uint32_t i = 0; i < got->nodes; i++)
		printf("%s\"%u\":%" PRIu64, i ? "," : "", got->node[i].node, got->node[i].bytes);
	printf("},\"aimed\":[");
	for (uint32_t i = 0, some = 0; i < got->nodes; i++)
		if (got->node[i].aimed)
			printf("%s%u", some++ ? "," : "", got->node[i].node);
	printf("],\"pages_unknown\":%" PRIu64 ",\"nodes_unknown\":%" PRIu64
	       ",\"spread\":%u,\"halvings\":%u,\"collapsed\":%u,\"moved\":%u,\"locked\":%u,",
	       got->pages_unknown, got->nodes_unknown, got->spread, got->halvings, got->collapsed,
	       got->moved, got->locked);
	print_text("pages_why", hd_why_name(got->pages_why));
	printf(",");
	print_text("nodes_why", hd_why_name(got->nodes_why));
	printf(",\"why_node\":%u,", got->why_node);
	print_text("step", hd_step_name(got->step));
	printf(",\"error\":%d}", got->error);
}

static void print_books(void)
{
	struct books books = { 0 };

	/* What the kernel is moving just now is not present; what was never there stays so. */
	for (int tries = 0; tries < 5; tries++) {
		memset(&books, 0, sizeof(books));
		read_frames(&books);
		if (books.present == now.bytes)
			break;
		usleep(100000);
	}
	read_smaps(&books);
	read_numa_maps(&books);
	ask_nodes(&books);
	printf(",\"books\":{\"rss\":%" PRIu64 ",\"huge\":%" PRIu64 ",\"hugetlb\":%" PRIu64
	       ",\"maps\":%" PRIu64 ",\"outside\":%" PRIu64 ",\"present\":%" PRIu64
	       ",\"frame_huge\":%" PRIu64 ",\"frame_lost\":%" PRIu64 ",\"unanswered\":%" PRIu64
	       ",\"answer\":%d,",
	       books.rss, books.huge, books.hugetlb, books.maps, books.outside, books.present,
	       books.frame_huge, books.frame_lost, books.unanswered, books.answer);
	print_text("flags", books.flags);
	printf(",");
	print_nodes("numa_maps", books.numa);
	printf(",");
	print_nodes("frames", books.frame_node);
	printf(",");
	print_nodes("move_pages", books.asked);
	printf("}");
}

/* ---- contents ------------------------------------------------------------------------ */

static uint64_t pattern(uint64_t word)
{
	return (word + 1) * 0x9e3779b97f4a7c15ULL;
}

/** Offset of the first byte that is not what it should be, or -1. */
static int64_t wrong_at(const char *start, uint64_t bytes, uint64_t written)
{
	const uint64_t *word = (const uint64_t *)start;

	for (uint64_t i = 0; i < bytes / sizeof(*word); i++)
		if (word[i] != (i < written / sizeof(*word) ? pattern(i) : 0))
			return (int64_t)(i * sizeof(*word));
	return -1;
}

static uint64_t faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

static void begin_event(const char *word, int rc)
{
	printf("%s\n{", now.some ? "," : "");
	now.some = true;
	print_text("do", word);
	printf(",\"rc\":%d", rc);
}

static void end_event(void)
{
	printf("}");
	fflush(stdout);
}

static uint64_t vm_kib(void)
{
	return file_number("/proc/self/status", "VmSize:");
}

/** What the library said, and if there is a table, all that can be seen of it. */
static void event(const char *word, int rc, const struct hd_got *got, uint64_t asked)
{
	struct hd_got read;
	char text[512];

	begin_event(word, rc);
	printf(",\"asked\":%" PRIu64, asked);
	if (now.start)
		print_books();
	print_got("got", got);
	printf(",\"text_length\":%d,", hd_got_text(got, text, sizeof(text)));
	print_text("text", text);
	if (now.start) {
		uint64_t before;

		if (!hd_read_got(now.start, &read))
			print_got("read", &read);
		before = faults();
		printf(",\"wrong_at\":%" PRId64, wrong_at(now.start, now.bytes, now.written));
		printf(",\"late_faults\":%" PRIu64, faults() - before);
		printf(",\"aligned\":%d", __builtin_ctzll((uintptr_t)now.start | 1ULL << 62));
	}
	end_event();
}

/* ---- circumstances ---------------------------------------------------------------------- */

static void do_cgroup(const char *path)
{
	char text[16];
	int fd = open(path, O_WRONLY), len = snprintf(text, sizeof(text), "%d", getpid());

	if (fd < 0 || write(fd, text, (size_t)len) != len)
		die("cannot join", path);
	close(fd);
}

static void do_policy(const char *text)
{
	static const char *const modes[] = { "default", "preferred", "bind",    "interleave",
					     "local",   "many",      "weighted" };
	size_t len = strcspn(text, ":");
	unsigned long bits = text[len] ? nodes_of(text + len + 1) : 0;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strlen(modes[i]) == len && !strncmp(text, modes[i], len)) {
			if (syscall(SYS_set_mempolicy, i, bits ? &bits : NULL,
				    bits ? NODES + 1 : 0))
				die("set_mempolicy", text);
			return;
		}
	errno = EINVAL;
	die("policy", text);
}

static void do_cpu(const char *text)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(atoi(text), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cpu", text);
}

static void do_thp_off(const char *text)
{
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		die("PR_SET_THP_DISABLE", text);
}

static void do_as(const char *text)
{
	rlim_t limit = (vm_kib() << 10) + size_of(text);

	if (setrlimit(RLIMIT_AS, &(struct rlimit){ limit, limit }))
		die("RLIMIT_AS", text);
}

static void do_env(const char *text)
{
	char *copy = strdup(text);

	if (putenv(copy))
		die("putenv", text);
}

static void do_deny(const char *text)
{
	uint32_t call = !strcmp(text, "mbind") ? SYS_mbind : SYS_move_pages;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("seccomp", text);
}

/** Our own view of frames stays open. */
static void do_user(const char *text)
{
	if (setgid(65534) || setuid(65534) || prctl(PR_SET_DUMPABLE, 1))
		die("user", text);
}

static uint64_t node_free(int node)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	return file_number(path, "MemFree:") << 10;
}

/** A page that lies in a pipe too cannot be moved. Return: whether it does. */
static bool pin(char *page)
{
	enum { PIPE_BYTES = 1 << 20 };
	static int ends[2], room;
	struct iovec piece = { page, PAGE };

	if (!room && (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) < 0))
		die("pipe", "");
	room = room ? room - 1 : PIPE_BYTES / PAGE - 1;
	return vmsplice(ends[1], &piece, 1, SPLICE_F_NONBLOCK) == PAGE;
}

/** Nearly all of it goes back, but one frame in 64 stays where it is: pinned before others go. */
static void thin_out(char *memory, uint64_t bytes)
{
	enum { KEEP = 64 };
	uint64_t frame[BLOCK_PAGES], pages = bytes / PAGE;
	bool *kept = calloc(pages, sizeof(*kept));

	now.pagemap = open("/proc/self/pagemap", O_RDONLY);
	for (uint64_t at = 0; at < pages; at++) {
		if (at % BLOCK_PAGES == 0 &&
		    pread(now.pagemap, frame, sizeof(frame),
			  (off_t)(((uintptr_t)memory / PAGE + at) * sizeof(*frame))) < 0)
			die("cannot read", "pagemap");
		if (frame[at % BLOCK_PAGES] % KEEP == 0)
			kept[at] = pin(memory + at * PAGE);
	}
	for (uint64_t at = 0, end; at < pages; at = end + 1) {
		for (end = at; end < pages && !kept[end]; end++)
			;
		if (end > at)
			madvise(memory + at * PAGE, (end - at) * PAGE, MADV_DONTNEED);
	}
	free(kept);
}

/** What is left of whole blocks on this node: until many in a row are not to be had. */
static char *take_huge(int node, uint64_t *size)
{
	uint64_t room = node_free(node), block = BLOCK_PAGES * (uint64_t)PAGE, frame;
	unsigned long bits = 1UL << node;
	char *memory = mmap(NULL, room + block, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int missed = 0; /* in a row */

	memory += -(uintptr_t)memory & (block - 1);
	if (syscall(SYS_mbind, memory, room, 2 /* MPOL_BIND */, &bits, NODES + 1, 0))
		die("filler", "mbind");
	madvise(memory, room, MADV_HUGEPAGE);
	for (uint64_t at = 0; at + block <= room && missed < 16; at += block) {
		memory[at] = 1;
		if (pread(now.pagemap, &frame, sizeof(frame),
			  (off_t)(((uintptr_t)memory + at + PAGE) / PAGE * sizeof(frame))) !=
		    sizeof(frame))
			die("cannot read", "pagemap");
		missed = frame >> 63 ? 0 : missed + 1;
	}
	*size = room;
	return memory;
}

/** Base pages until so much of the node is left. Return: their bytes. */
static uint64_t take_base(int node, uint64_t leave, char **start)
{
	enum { STEP = 1 << 20 };
	unsigned long bits = 1UL << node;
	uint64_t room = node_free(node), bytes = 0, here;
	char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	madvise(memory, room, MADV_NOHUGEPAGE);
	if (memory == MAP_FAILED ||
	    syscall(SYS_mbind, memory, room, 2 /* MPOL_BIND */, &bits, NODES + 1, 0))
		die("filler", "mbind");
	while ((here = node_free(node)) > leave + STEP && bytes < room) {
		uint64_t end = bytes + (here - leave) / 2 / PAGE * PAGE;

		for (; bytes < end && bytes < room; bytes += PAGE)
			memory[bytes] = 1;
	}
	*start = memory;
	return bytes;
}

/** The kernel compacts while we work: once more, if whole blocks are left that we could take. */
static void shatter(int node, uint64_t leave)
{
	uint64_t least = node_free(node) / 2, size;
	char *memory;

	for (int tries = 0; tries < 5; tries++) {
		uint64_t bytes = take_base(node, leave, &memory);

		thin_out(memory, bytes);
		memory = take_huge(node, &size);
		if (node_free(node) >= least)
			return;
		munmap(memory, size);
	}
	errno = ENOMEM;
	die("cannot be fragmented:", "a node");
}

static void filler(int node, uint64_t leave, bool fragment, int ready)
{
	char *memory;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fragment)
		shatter(node, leave);
	else
		take_base(node, leave, &memory);
	if (write(ready, "", 1) != 1)
		exit(2);
	for (;;)
		pause();
}

static void fill(const char *text, bool fragment)
{
	int ready[2], node = atoi(text), which = 0;
	const char *leave = strchr(text, ':');
	char byte;

	fflush(stdout);
	while (now.filler[which])
		which++;
	if (!leave || pipe(ready))
		die("fill", text);
	now.filler[which] = fork();
	if (!now.filler[which]) {
		close(ready[0]);
		filler(node, size_of(leave + 1), fragment, ready[1]);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("the filler did not fill", text);
	close(ready[0]);
}

static void do_fill(const char *text)
{
	fill(text, false);
}

static void do_fragment(const char *text)
{
	fill(text, true);
}

/** They must still be there: what the library did may not have had them killed. */
static void do_unfill(const char *text)
{
	int lost = 0, status;

	(void)text;
	if (!now.filler[0])
		return;
	for (int i = 0; i < 4 && now.filler[i]; i++) {
		lost += waitpid(now.filler[i], &status, WNOHANG) != 0;
		kill(now.filler[i], SIGKILL);
		waitpid(now.filler[i], &status, 0);
		now.filler[i] = 0;
	}
	begin_event("unfill", lost ? -ESRCH : 0);
	end_event();
}

/* ---- what is wanted ---------------------------------------------------------------------- */

static uint8_t choice(const char *text, const char *const *words)
{
	for (uint8_t i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	errno = EINVAL;
	die("not a word for this:", text);
	return 0;
}

static void do_pages(const char *text)
{
	now.want.pages =
	    choice(text, (const char *[]){ "auto", "base", "large", "hugetlb", "1g", NULL });
}

static void do_nodes(const char *text)
{
	now.want.nodes = choice(text, (const char *[]){ "auto", "one", "spread", NULL });
}

static void do_prefer(const char *text)
{
	now.want.prefer = choice(text, (const char *[]){ "large", "spread", NULL });
}

static void do_fork(const char *text)
{
	now.want.fork = choice(text, (const char *[]){ "copy", "drop", "wipe", NULL });
}

static void do_flag(const char *text)
{
	now.want.flags |= 1U << choice(text, (const char *[]){ "memory-only", "ignore-policy",
							       "no-dump", "lock", "exact", NULL });
}

static void do_threads(const char *text)
{
	now.want.threads = (uint32_t)atoi(text);
}

static void do_set(const char *text)
{
	now.set = nodes_of(text);
	now.want.node_set = &now.set;
	now.want.node_set_bits = NODES;
}

static void do_name(const char *text)
{
	snprintf(now.name, sizeof(now.name), "%s", text);
	now.want.name = now.name;
}

/* ---- what is done ------------------------------------------------------------------------ */

static void started(const char *word, int rc, void *start, const struct hd_got *got, uint64_t asked)
{
	if (!rc) {
		now.start = start;
		now.bytes = got->bytes;
		now.written = 0;
	}
	event(word, rc, got, asked);
}

static void do_alloc(const char *text)
{
	struct hd_got got;
	char word[64];
	void *start = NULL;
	int rc;

	memset(&got, 0xa5, sizeof(got));
	rc = hd_alloc(size_of(text), &now.want, &start, &got);
	if (rc && start)
		die("start was set by a failed", "hd_alloc");
	snprintf(word, sizeof(word), "alloc=%s", text);
	started(word, rc, start, &got, size_of(text));
}

static void do_tight(const char *text)
{
	const char *less = strchr(text, ':');
	char bytes[32];

	if (!less)
		die("tight", text);
	snprintf(bytes, sizeof(bytes), "%" PRIu64, node_free(atoi(text)) - size_of(less + 1));
	do_alloc(bytes);
}

static void do_table(const char *text)
{
	struct hd_table_want table = { 0 };
	uint64_t entries = 0, field[5] = { 0 };
	struct hd_got got;
	char word[64];
	void *start = NULL;
	int rc;

	snprintf(word, sizeof(word), "table=%s", text);
	for (int i = 0; i < 5 && text; i++, text = text ? text + 1 : NULL) {
		field[i] = size_of(text);
		text = strchr(text, ',');
	}
	table.bucket_bytes = field[0];
	table.entries = field[1];
	table.low = field[2];
	table.high = field[3];
	table.scale = (uint32_t)field[4];
	memset(&got, 0xa5, sizeof(got));
	rc = hd_alloc_table(&table, &now.want, &start, &entries, &got);
	if (!rc && entries != got.entries)
		die("entries differ from what got says", word);
	started(word, rc, start, &got, rc ? 0 : entries * table.bucket_bytes);
}

static void do_resize(const char *text)
{
	struct hd_got got;
	char word[64];
	void *start = now.start;
	int rc;

	memset(&got, 0xa5, sizeof(got));
	rc = hd_resize(&start, size_of(text), &got);
	now.start = start;
	if (!rc) {
		now.bytes = got.bytes;
		now.written = now.written < now.bytes ? now.written : now.bytes;
	}
	snprintf(word, sizeof(word), "resize=%s", text);
	event(word, rc, &got, size_of(text));
}

static void do_repair(const char *text)
{
	struct hd_got got;
	int rc;

	(void)text;
	memset(&got, 0xa5, sizeof(got));
	rc = hd_repair(now.start, &got);
	event("repair", rc, &got, now.bytes);
}

static void do_read(const char *text)
{
	struct hd_got got;
	int rc;

	(void)text;
	memset(&got, 0xa5, sizeof(got));
	rc = hd_read_got(now.start, &got);
	event("read", rc, &got, now.bytes);
}

static void do_free(const char *text)
{
	uint64_t before = vm_kib();
	char *was = now.start;
	int rc = hd_free(was);

	(void)text;
	begin_event("free", rc);
	printf(",\"given_back_kib\":%" PRId64 ",\"again\":%d", (int64_t)(before - vm_kib()),
	       was ? hd_free(was) : -EINVAL);
	now.start = NULL;
	end_event();
}

static void do_write(const char *text)
{
	uint64_t *word = (uint64_t *)now.start, before = faults();

	(void)text;
	for (uint64_t i = 0; i < now.bytes / sizeof(*word); i++)
		word[i] = pattern(i);
	now.written = now.bytes;
	begin_event("write", 0);
	printf(",\"late_faults\":%" PRIu64, faults() - before);
	end_event();
}

static void do_spin(const char *text)
{
	time_t end = time(NULL) + atoi(text);

	while (time(NULL) < end)
		if (wrong_at(now.start, now.bytes, now.written) >= 0)
			break;
}

static void do_touch(const char *text)
{
	uint64_t count = size_of(text), step = now.bytes / count / PAGE * PAGE;

	for (uint64_t i = 0; i < count; i++) {
		volatile uint64_t *word = (volatile uint64_t *)(now.start + i * step);

		*word = *word;
	}
}

static void do_discard(const char *text)
{
	if (madvise(now.start + now.bytes / 2, now.bytes / 2, MADV_DONTNEED))
		die("discard", text);
	now.written = now.written < now.bytes / 2 ? now.written : now.bytes / 2;
}

static void do_child(const char *text)
{
	(void)text;
	fflush(stdout);
	now.child = fork();
	if (!now.child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static void do_reap(const char *text)
{
	(void)text;
	kill(now.child, SIGKILL);
	waitpid(now.child, NULL, 0);
	now.child = 0;
}

/** What a child finds: "kept", "zero", "other", "fault"; and whether it may free it. */
static void do_look(const char *text)
{
	static const char *const found[] = { "kept", "zero", "other" };
	int status = 0, rc;
	pid_t pid;

	(void)text;
	fflush(stdout);
	for (int what = 0; what < 2; what++) {
		pid = fork();
		if (!pid && what)
			_exit(-hd_free(now.start));
		if (!pid)
			_exit(wrong_at(now.start, now.bytes, now.written) < 0 ? 0
			      : wrong_at(now.start, now.bytes, 0) < 0         ? 1
									      : 2);
		waitpid(pid, &status, 0);
		rc = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		if (!what)
			begin_event("look", 0);
		if (what)
			printf(",\"free\":%d", -rc);
		else
			printf(",\"found\":\"%s\"", rc < 0 || rc > 2 ? "fault" : found[rc]);
	}
	end_event();
}

static void do_sh(const char *text)
{
	fflush(stdout);
	if (system(text))
		die("failed:", text);
}

/* ---- words ---------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	void (*call)(const char *text);
} words[] = {
	{ "cgroup", do_cgroup },     { "policy", do_policy },   { "cpu", do_cpu },
	{ "thp-off", do_thp_off },   { "as", do_as },           { "env", do_env },
	{ "deny", do_deny },         { "user", do_user },       { "fill", do_fill },
	{ "fragment", do_fragment }, { "unfill", do_unfill },   { "pages", do_pages },
	{ "nodes", do_nodes },       { "prefer", do_prefer },   { "fork", do_fork },
	{ "flag", do_flag },         { "threads", do_threads }, { "set", do_set },
	{ "name", do_name },         { "alloc", do_alloc },     { "table", do_table },
	{ "resize", do_resize },     { "repair", do_repair },   { "read", do_read },
	{ "free", do_free },         { "write", do_write },     { "spin", do_spin },
	{ "child", do_child },       { "reap", do_reap },       { "look", do_look },
	{ "touch", do_touch },       { "sh", do_sh },           { "discard", do_discard },
	{ "tight", do_tight },
};

static void do_word(const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == len && !strncmp(word, words[i].word, len)) {
			words[i].call(word[len] ? word + len + 1 : "");
			return;
		}
	errno = EINVAL;
	die("unknown word", word);
}

int main(int argc, char **argv)
{
	now.pagemap = open("/proc/self/pagemap", O_RDONLY);
	now.kpageflags = open("/proc/kpageflags", O_RDONLY);
	if (now.pagemap < 0 || now.kpageflags < 0)
		die("cannot open", "pagemap or kpageflags");
	read_memory_blocks();
	printf("{\"events\":[");
	for (int i = 1; i < argc; i++)
		do_word(argv[i]);
	if (now.child)
		do_reap("");
	if (now.start)
		do_free("");
	do_unfill("");
	printf("\n]}\n");
	return 0;
}
