/* SPDX-License-Identifier: MIT */
/* door.c - see door.h. The kernel is reached by the real hdl_sys() alone. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "backend/linux/sys.h"
#include "tests/linux/door.h"

enum { CALLS_MAX = 8192, FILES_MAX = 256, RANGES_MAX = 512, FDS_MAX = 64 };
enum { MARK = 0x5a, PRETEND_FD = 1 << 20, SPIN_LIMIT = 2000, INTERRUPTS = 50 };

long __real_hdl_sys(long number, const long *args);
void *__real_hdl_malloc(size_t bytes);
void __real_hdl_mfree(void *memory);
int __real_hdl_thread(pthread_t *thread, void *(*run)(void *), void *ctx);
long __wrap_hdl_sys(long number, const long *args);
void *__wrap_hdl_malloc(size_t bytes);
void __wrap_hdl_mfree(void *memory);
int __wrap_hdl_thread(pthread_t *thread, void *(*run)(void *), void *ctx);

struct range {
	uintptr_t start, end;
	bool excused; /* its munmap() was failed */
};

struct file {
	char path[160];
	char *bytes; /* NULL: there is none */
	size_t len;
};

static struct {
	pthread_mutex_t lock;
	bool armed, only_pretend, spun;
	uint32_t calls, fail_at, injected, repeated;
	int fail_with;
	bool onward, failing;
	enum door_kind fail_kind;
	int ill[DOOR_KINDS];
	bool hit[DOOR_KINDS];
	uint8_t kind[CALLS_MAX];
	struct range range[RANGES_MAX];
	uint32_t ranges;
	bool foreign; /* something was unmapped that is not in the books */
	char *taken;  /* another thread's memory, filled with its mark */
	size_t taken_bytes;
	long blocks, fds;
	struct file file[FILES_MAX];
	uint32_t files;
	struct {
		bool open;
		uint32_t file;
		size_t at;
	} fd[FDS_MAX];
	door_kernel *kernel;
	door_witness *witness;
	uint32_t noise;
	char said[160];
} door = { .lock = PTHREAD_MUTEX_INITIALIZER };

static const struct {
	const char *name;
	int faults[12];
} kinds[DOOR_KINDS] = {
	[DOOR_OPEN] = { "openat", { -ENOENT, -EACCES, -EMFILE, -ENOMEM } },
	[DOOR_READ] = { "read",
			{ -EIO, -EINTR, -ENOMEM, DOOR_ONE_BYTE, DOOR_NOTHING, DOOR_NOISE,
			  DOOR_TEXT_NOISE } },
	[DOOR_CLOSE] = { "close", { -EIO, -EINTR } },
	[DOOR_MMAP] = { "mmap", { -ENOMEM, -EAGAIN, -EPERM, -EINVAL } },
	[DOOR_MUNMAP] = { "munmap", { -ENOMEM, -EINVAL } },
	[DOOR_MPROTECT] = { "mprotect", { -ENOMEM, -EACCES } },
	[DOOR_MREMAP] = { "mremap",
			  { -ENOMEM, -EFAULT, -EINVAL, -EAGAIN, -ENOSYS, -EPERM, DOOR_TARGET_GONE,
			    DOOR_TARGET_TAKEN } },
	[DOOR_ADVICE] = { "madvise huge", { -EINVAL, -ENOMEM, -EPERM } },
	[DOOR_OPTION] = { "madvise fork/dump", { -EINVAL, -ENOMEM, -EPERM, -EAGAIN } },
	[DOOR_POPULATE] = { "madvise populate",
			    { -EINVAL, -ENOMEM, -EFAULT, -EINTR, -EAGAIN, -EPERM, -EHWPOISON } },
	[DOOR_COLLAPSE] = { "madvise collapse", { -EINVAL, -ENOMEM, -EAGAIN, -EBUSY, -EPERM } },
	[DOOR_SCAN] = { "ioctl scan", { -ENOTTY, -EINTR, -EFAULT, -ENOMEM, -EPERM } },
	[DOOR_MBIND] = { "mbind", { -EPERM, -ENOSYS, -EINVAL, -ENOMEM, -EIO } },
	[DOOR_GET_POLICY] = { "get_mempolicy", { -EPERM, -ENOSYS, -EINVAL } },
	[DOOR_ASK_NODES] = { "move_pages, asking", { -EPERM, -ENOSYS, -ENOMEM, -EACCES, -ENODEV } },
	[DOOR_MOVE_PAGES] = { "move_pages",
			      { -EPERM, -ENOSYS, -ENOMEM, -EACCES, -ENODEV, -EINVAL } },
	[DOOR_THP_DISABLE] = { "prctl THP", { -EINVAL, -EPERM } },
	[DOOR_NAME] = { "prctl name", { -EINVAL, -ENOMEM, -EPERM } },
	[DOOR_MLOCK] = { "mlock", { -ENOMEM, -EPERM, -EAGAIN } },
	[DOOR_RLIMIT] = { "prlimit", { -EPERM, -EINVAL, -ENOSYS } },
	[DOOR_GETCPU] = { "getcpu", { -ENOSYS, -EFAULT } },
	[DOOR_AFFINITY] = { "sched_setaffinity", { -EINVAL, -EPERM } },
	[DOOR_MALLOC] = { "malloc", { -ENOMEM } },
	[DOOR_THREAD] = { "thread", { -EAGAIN, -EPERM } },
	[DOOR_OTHER] = { "other", { -ENOSYS, -EPERM } },
};

const char *door_kind_name(enum door_kind kind)
{
	return kinds[kind].name;
}

const int *door_faults_of(enum door_kind kind)
{
	return kinds[kind].faults;
}

static enum door_kind madvise_kind(long advice)
{
	switch (advice) {
	case MADV_POPULATE_WRITE:
		return DOOR_POPULATE;
	case MADV_COLLAPSE:
		return DOOR_COLLAPSE;
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
		return DOOR_ADVICE;
	default:
		return DOOR_OPTION;
	}
}

static enum door_kind kind_of(long number, const long *args)
{
	static const struct {
		long number;
		enum door_kind kind;
	} plain[] = {
		{ SYS_openat, DOOR_OPEN },   { SYS_read, DOOR_READ },
		{ SYS_close, DOOR_CLOSE },   { SYS_mmap, DOOR_MMAP },
		{ SYS_munmap, DOOR_MUNMAP }, { SYS_mprotect, DOOR_MPROTECT },
		{ SYS_mremap, DOOR_MREMAP }, { SYS_ioctl, DOOR_SCAN },
		{ SYS_mbind, DOOR_MBIND },   { SYS_get_mempolicy, DOOR_GET_POLICY },
		{ SYS_mlock, DOOR_MLOCK },   { SYS_prlimit64, DOOR_RLIMIT },
		{ SYS_getcpu, DOOR_GETCPU }, { SYS_sched_setaffinity, DOOR_AFFINITY },
	};

	if (number == SYS_madvise)
		return madvise_kind(args[2]);
	if (number == SYS_move_pages)
		return args[3] ? DOOR_MOVE_PAGES : DOOR_ASK_NODES;
	if (number == SYS_prctl)
		return args[0] == PR_GET_THP_DISABLE ? DOOR_THP_DISABLE : DOOR_NAME;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (plain[i].number == number)
			return plain[i].kind;
	return DOOR_OTHER;
}

/* ---- books; all with the lock held ------------------------------------------------ */

static void add_range(uintptr_t start, uintptr_t end, bool excused)
{
	if (start >= end)
		return;
	if (door.ranges == RANGES_MAX)
		abort();
	door.range[door.ranges++] = (struct range){ start, end, excused };
}

/** Take [start, end) out. Return: the bytes of it that were there. */
static uint64_t take_range(uintptr_t start, uintptr_t end)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < door.ranges;) {
		struct range *r = &door.range[i], was = *r;

		if (was.end <= start || was.start >= end) {
			i++;
			continue;
		}
		*r = door.range[--door.ranges];
		add_range(was.start, start < was.start ? was.start : start, was.excused);
		add_range(end > was.end ? was.end : end, was.end, was.excused);
		found += (was.end < end ? was.end : end) - (was.start > start ? was.start : start);
		i = 0;
	}
	return found;
}

static uintptr_t page_end(long start, long bytes)
{
	return ((uintptr_t)start + (uintptr_t)bytes + 4095) & ~(uintptr_t)4095;
}

static void note_unmapped(const long *args, bool failed)
{
	uintptr_t start = (uintptr_t)args[0], end = page_end(args[0], args[1]);

	if (take_range(start, end) != end - start)
		door.foreign = true;
	if (failed)
		add_range(start, end, true);
}

static void note(enum door_kind kind, const long *args, long result)
{
	uintptr_t start, end;

	if (kind == DOOR_OPEN && result >= 0)
		door.fds++;
	else if (kind == DOOR_CLOSE)
		door.fds--;
	else if (kind == DOOR_MUNMAP)
		note_unmapped(args, result < 0);
	if (kind == DOOR_MMAP && (result >= 0 || result < -4095)) {
		start = (uintptr_t)result;
		end = page_end(result, args[1]);
		if (args[3] & MAP_FIXED && take_range(start, end) != end - start)
			door.foreign = true;
		add_range(start, end, false);
	}
	if (kind == DOOR_MREMAP && (result >= 0 || result < -4095)) {
		start = (uintptr_t)args[0];
		end = page_end(args[0], args[1]);
		if (take_range(start, end) != end - start)
			door.foreign = true;
		start = (uintptr_t)result;
		end = page_end(result, args[2]);
		if (take_range(start, end) != end - start)
			door.foreign = true; /* laid over something that is not ours */
		add_range(start, end, false);
	}
}

uint64_t door_mapped(void)
{
	uint64_t sum = 0;

	pthread_mutex_lock(&door.lock);
	for (uint32_t i = 0; i < door.ranges; i++)
		sum += door.range[i].end - door.range[i].start;
	pthread_mutex_unlock(&door.lock);
	return sum;
}

/** Is another thread's memory as it left it? It is given back. */
static bool taken_is_whole(void)
{
	unsigned char resident;
	bool whole = true;

	for (size_t i = 0; i < door.taken_bytes && whole; i += 4096)
		whole = !mincore(door.taken + i, 4096, &resident) && door.taken[i] == MARK;
	if (door.taken)
		munmap(door.taken, door.taken_bytes);
	door.taken = NULL;
	door.taken_bytes = 0;
	return whole;
}

/** mremap() unmaps its target before it finds that it cannot go on. */
static long fail_late(int what, const long *args)
{
	uintptr_t target = (uintptr_t)args[4], end = page_end(args[4], args[2]);

	munmap((void *)target, end - target);
	if (take_range(target, end) != end - target)
		door.foreign = true;
	if (what == DOOR_TARGET_TAKEN && !door.taken) {
		door.taken_bytes = end - target;
		door.taken = mmap((void *)target, door.taken_bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (door.taken != (void *)target)
			abort();
		memset(door.taken, MARK, door.taken_bytes);
	}
	return -ENOMEM;
}

const char *door_leak(void)
{
	const char *what = NULL;
	uint64_t lost = 0;

	pthread_mutex_lock(&door.lock);
	for (uint32_t i = 0; i < door.ranges; i++) {
		struct range *r = &door.range[i];

		if (!r->excused)
			lost += r->end - r->start;
		munmap((void *)r->start, r->end - r->start);
	}
	door.ranges = 0;
	if (!taken_is_whole())
		door.foreign = true;
	snprintf(door.said, sizeof(door.said), "%llu bytes mapped, %ld descriptors, %ld blocks%s",
		 (unsigned long long)lost, door.fds, door.blocks,
		 door.foreign ? ", and what was not ours was unmapped or written to" : "");
	if (lost || door.fds || door.blocks || door.foreign)
		what = door.said;
	door.fds = door.blocks = 0;
	door.foreign = false;
	pthread_mutex_unlock(&door.lock);
	return what;
}

/* ---- faults ------------------------------------------------------------------------- */

void door_reset(void)
{
	pthread_mutex_lock(&door.lock);
	for (uint32_t i = 0; i < door.files; i++)
		free(door.file[i].bytes);
	door.files = 0;
	door.armed = door.only_pretend = false;
	door.kernel = NULL;
	door.witness = NULL;
	memset(door.ill, 0, sizeof(door.ill));
	memset(door.hit, 0, sizeof(door.hit));
	door.fail_at = UINT32_MAX;
	door.failing = false;
	pthread_mutex_unlock(&door.lock);
}

void door_arm(void)
{
	door.calls = door.injected = door.repeated = 0;
	door.spun = door.failing = false;
	memset(door.hit, 0, sizeof(door.hit));
	door.armed = true;
}

void door_disarm(void)
{
	door.armed = false;
}

uint32_t door_calls(void)
{
	return door.calls < CALLS_MAX ? door.calls : CALLS_MAX;
}

enum door_kind door_kind_of(uint32_t call)
{
	return door.kind[call];
}

void door_fail(uint32_t call, int what, bool onward)
{
	door.fail_at = call;
	door.fail_with = what;
	door.onward = onward;
}

void door_ill(enum door_kind kind, int error)
{
	door.ill[kind] = error;
}

uint32_t door_injected(void)
{
	return door.injected;
}

bool door_was_hit(enum door_kind kind)
{
	return door.hit[kind];
}

bool door_spun(void)
{
	return door.spun;
}

/** The fault that meets this call, or 0. With the lock held. */
static int fault_for(enum door_kind kind)
{
	bool meets = false;

	if (door.armed) {
		if (door.calls < CALLS_MAX)
			door.kind[door.calls] = (uint8_t)kind;
		if (door.calls == door.fail_at) {
			door.fail_kind = kind;
			door.failing = meets = true;
		} else if (door.failing && door.onward && kind == door.fail_kind) {
			meets = true;
		}
		door.calls++;
	}
	if (!meets)
		return door.ill[kind];
	/* Signals end some day; nothing else is promised to. */
	if (door.fail_with == -EINTR && door.repeated >= INTERRUPTS)
		return 0;
	if (++door.repeated > SPIN_LIMIT && door.fail_with < 0) {
		door.spun = true;
		return 0;
	}
	door.injected++;
	door.hit[kind] = true;
	return door.fail_with;
}

static long damage(int what, char *to, size_t size, long got)
{
	static const char figures[] = "0123456789 \n-,:N=kB[]/max0";

	if (got <= 0 || what == DOOR_NOTHING)
		return 0;
	if (what == DOOR_ONE_BYTE)
		return 1;
	for (long i = 0; i < got && (size_t)i < size; i++) {
		door.noise = door.noise * 1664525 + 1013904223;
		to[i] = (char)(door.noise >> 24);
		if (what == DOOR_TEXT_NOISE)
			to[i] = figures[(door.noise >> 16) % (sizeof(figures) - 1)];
	}
	return got;
}

/* ---- pretend files ------------------------------------------------------------------- */

static struct file *find_file(const char *path)
{
	for (uint32_t i = 0; i < door.files; i++)
		if (!strcmp(door.file[i].path, path))
			return &door.file[i];
	return NULL;
}

void door_file_bytes(const char *path, const void *bytes, size_t len)
{
	struct file *file;

	pthread_mutex_lock(&door.lock);
	file = find_file(path);
	if (!file) {
		if (door.files == FILES_MAX)
			abort();
		file = &door.file[door.files++];
		file->bytes = NULL;
		snprintf(file->path, sizeof(file->path), "%s", path);
	}
	free(file->bytes);
	file->bytes = bytes ? malloc(len + 1) : NULL;
	file->len = len;
	if (file->bytes)
		memcpy(file->bytes, bytes, len);
	pthread_mutex_unlock(&door.lock);
}

void door_file(const char *path, const char *text)
{
	door_file_bytes(path, text, text ? strlen(text) : 0);
}

void door_only_pretend(void)
{
	door.only_pretend = true;
}

static bool real_allowed(const char *path)
{
	if (!door.only_pretend)
		return true;
	if (!strncmp(path, "/proc/self/", 11))
		return !strcmp(path + 11, "pagemap") || !strcmp(path + 11, "smaps");
	return strncmp(path, "/proc/", 6) && strncmp(path, "/sys/", 5);
}

static bool answer_open(const char *path, long *result)
{
	struct file *file = find_file(path);

	if (!file && real_allowed(path))
		return false;
	*result = -ENOENT;
	if (!file || !file->bytes)
		return true;
	for (int i = 0; i < FDS_MAX; i++)
		if (!door.fd[i].open) {
			door.fd[i].open = true;
			door.fd[i].file = (uint32_t)(file - door.file);
			door.fd[i].at = 0;
			*result = PRETEND_FD + i;
			return true;
		}
	*result = -EMFILE;
	return true;
}

static long answer_read(int slot, char *to, size_t size)
{
	const struct file *file = &door.file[door.fd[slot].file];
	size_t left = file->len - door.fd[slot].at;

	size = size < left ? size : left;
	size = size < 1000 ? size : 1000; /* as files of /proc do, in parts */
	if (size)
		memcpy(to, file->bytes + door.fd[slot].at, size);
	door.fd[slot].at += size;
	return (long)size;
}

static bool answer(long number, const long *args, enum door_kind kind, long *result)
{
	if (kind == DOOR_OPEN && answer_open((const char *)args[1], result))
		return true;
	if ((kind == DOOR_READ || kind == DOOR_CLOSE) && args[0] >= PRETEND_FD) {
		int slot = (int)args[0] - PRETEND_FD;

		*result = 0;
		if (kind == DOOR_CLOSE)
			door.fd[slot].open = false;
		else
			*result = answer_read(slot, (char *)args[1], (size_t)args[2]);
		return true;
	}
	return door.kernel && door.kernel(number, args, kind, result);
}

void door_set_kernel(door_kernel *kernel, door_witness *witness)
{
	door.kernel = kernel;
	door.witness = witness;
}

/* ---- the door itself ------------------------------------------------------------------ */

long __wrap_hdl_sys(long number, const long *args)
{
	enum door_kind kind = kind_of(number, args);
	long changed[6];
	bool answered = false;
	long result = 0;
	int fault;

	pthread_mutex_lock(&door.lock);
	fault = fault_for(kind);
	if (fault == DOOR_ONE_BYTE && args[2] > 1) {
		memcpy(changed, args, sizeof(changed));
		changed[2] = 1;
		args = changed;
	}
	/* A close() that fails has closed all the same. */
	if (fault > 0 && kind == DOOR_MREMAP)
		fault = (int)fail_late(fault, args);
	if (fault < 0 && kind != DOOR_CLOSE)
		result = fault;
	else
		answered = answer(number, args, kind, &result);
	if (!answered && (fault >= 0 || kind == DOOR_CLOSE)) {
		pthread_mutex_unlock(&door.lock);
		result = __real_hdl_sys(number, args);
		pthread_mutex_lock(&door.lock);
		if (door.witness)
			door.witness(number, args, kind, result);
	}
	if (fault > 0 && kind == DOOR_READ)
		result = damage(fault, (char *)args[1], (size_t)args[2], result);
	note(kind, args, result);
	pthread_mutex_unlock(&door.lock);
	return fault < 0 ? fault : result;
}

void *__wrap_hdl_malloc(size_t bytes)
{
	void *memory;
	int fault;

	pthread_mutex_lock(&door.lock);
	fault = fault_for(DOOR_MALLOC);
	memory = fault ? NULL : __real_hdl_malloc(bytes);
	door.blocks += memory != NULL;
	pthread_mutex_unlock(&door.lock);
	return memory;
}

void __wrap_hdl_mfree(void *memory)
{
	pthread_mutex_lock(&door.lock);
	door.blocks -= memory != NULL;
	pthread_mutex_unlock(&door.lock);
	__real_hdl_mfree(memory);
}

int __wrap_hdl_thread(pthread_t *thread, void *(*run)(void *), void *ctx)
{
	int fault;

	pthread_mutex_lock(&door.lock);
	fault = fault_for(DOOR_THREAD);
	pthread_mutex_unlock(&door.lock);
	return fault ? fault : __real_hdl_thread(thread, run, ctx);
}
