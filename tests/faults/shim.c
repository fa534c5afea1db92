/* SPDX-License-Identifier: MIT */
/*
 * shim.c - preloaded into the tool: fails an allocation, cuts reads and writes short
 *
 * FAULT_BOOK names a file of one struct book, which the test has made: what is to be
 * done stands in it, and what was done. The tool's forks share it, so one fault hits one
 * of them; what the tool executes is left alone, for the variables are taken out of the
 * environment before main() runs.
 *
 * Allocations are counted from main() on, all of them: those of the C library, of
 * libjansson, libsmartcols and zlib, too, for the dynamic linker gives all of them
 * these functions. When main() returns, blocks that nobody has freed are counted, less the
 * buffers of the standard streams, which the C library keeps.
 *
 * Reads and writes that the C library makes for its own streams are not reached.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* tests/faults/faults.py has the same layout: eight words. */
struct book {
	_Atomic uint64_t nth;    /* this allocation fails, counted from 1; 0: none */
	_Atomic uint64_t after;  /* and if this is not 0, all that follow */
	_Atomic uint64_t most;   /* reads and writes take no more bytes at once; 0: as they are */
	_Atomic uint64_t calls;  /* allocations so far */
	_Atomic uint64_t failed; /* of them */
	_Atomic uint64_t cut;    /* reads and writes that were cut short */
	_Atomic uint64_t live;   /* blocks that were left when main() returned */
	_Atomic uint64_t first;  /* the oldest of them: which allocation it was */
};

static struct book *book;
static atomic_bool counting;

/* ---- blocks ------------------------------------------------------------------------------ */

enum { SLOTS = 1 << 18 };

static struct {
	void *block; /* GONE: was one */
	uint64_t call;
} slot[SLOTS];

#define GONE ((void *)1)

static atomic_flag busy = ATOMIC_FLAG_INIT;
static bool overflow;

static void lock(void)
{
	while (atomic_flag_test_and_set(&busy))
		;
}

static void unlock(void)
{
	atomic_flag_clear(&busy);
}

static size_t slot_of(const void *block)
{
	return ((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u >> 46;
}

static void remember(void *block, uint64_t call)
{
	size_t at = slot_of(block), tries = 0;

	lock();
	while (slot[at].block && slot[at].block != GONE && ++tries < SLOTS)
		at = (at + 1) % SLOTS;
	if (tries < SLOTS) {
		slot[at].block = block;
		slot[at].call = call;
	} else {
		overflow = true;
	}
	unlock();
}

/** Return: which allocation it was, 0: none that was counted. */
static uint64_t forget(const void *block)
{
	size_t at = slot_of(block);
	uint64_t call = 0;

	lock();
	for (size_t tries = 0; slot[at].block && tries < SLOTS; tries++, at = (at + 1) % SLOTS)
		if (slot[at].block == block) {
			slot[at].block = GONE;
			call = slot[at].call;
			break;
		}
	unlock();
	return call;
}

/* Buffers of the standard streams are the C library's; it never frees them. */
static void tally(void)
{
	uint64_t live = overflow, first = 0;

	forget(stdin->_IO_buf_base);
	forget(stdout->_IO_buf_base);
	forget(stderr->_IO_buf_base);
	for (size_t at = 0; at < SLOTS; at++)
		if (slot[at].block && slot[at].block != GONE) {
			live++;
			if (!first || slot[at].call < first)
				first = slot[at].call;
		}
	book->live = live;
	book->first = first;
}

/* ---- the allocator ----------------------------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/** Return: the number of this allocation, 0: not counted; *@fails tells whether it fails. */
static uint64_t count(bool *fails)
{
	uint64_t call, nth;

	*fails = false;
	if (!counting)
		return 0;
	call = ++book->calls;
	nth = book->nth;
	*fails = nth && (book->after ? call >= nth : call == nth);
	if (*fails) {
		book->failed++;
		errno = ENOMEM;
	}
	return call;
}

/* The C library's own, which it keeps: of the environment, of threads. */
static _Thread_local bool kept __attribute__((tls_model("initial-exec")));

static void *counted(void *block, uint64_t call)
{
	if (block && call && !kept)
		remember(block, call);
	return block;
}

void *malloc(size_t size)
{
	bool fails;
	uint64_t call = count(&fails);

	return fails ? NULL : counted(__libc_malloc(size), call);
}

void *calloc(size_t elements, size_t size)
{
	bool fails;
	uint64_t call = count(&fails);

	return fails ? NULL : counted(__libc_calloc(elements, size), call);
}

void *realloc(void *block, size_t size)
{
	bool fails;
	uint64_t call = count(&fails), before;
	void *moved;

	if (fails)
		return NULL;
	before = block ? forget(block) : 0;
	moved = __libc_realloc(block, size);
	if (!moved && size && before)
		remember(block, before);
	return counted(moved, call);
}

void *reallocarray(void *block, size_t elements, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(elements, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, bytes);
}

void *memalign(size_t alignment, size_t size);

void *memalign(size_t alignment, size_t size)
{
	bool fails;
	uint64_t call = count(&fails);

	return fails ? NULL : counted(__libc_memalign(alignment, size), call);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	int before = errno;
	void *block = memalign(alignment, size);

	errno = before;
	if (!block)
		return ENOMEM;
	*out = block;
	return 0;
}

void free(void *block)
{
	if (block && book)
		forget(block);
	__libc_free(block);
}

int setenv(const char *name, const char *value, int replace)
{
	int (*real)(const char *, const char *, int), error;

	*(void **)&real = dlsym(RTLD_NEXT, "setenv");
	kept = true;
	error = real(name, value, replace);
	kept = false;
	return error;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
		   void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), error;

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	kept = true;
	error = real(thread, attributes, start, arg);
	kept = false;
	return error;
}

/* ---- reads and writes ---------------------------------------------------------------------- */

static size_t at_most(size_t size)
{
	uint64_t most = counting ? book->most : 0;

	if (!most || size <= most)
		return size;
	book->cut++;
	return most;
}

/* /dev/kmsg gives whole records or EINVAL. */
ssize_t read(int fd, void *to, size_t size)
{
	ssize_t got = syscall(SYS_read, fd, to, at_most(size));

	return got < 0 && errno == EINVAL && book && book->most ? syscall(SYS_read, fd, to, size)
								: got;
}

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	return syscall(SYS_pread64, fd, to, at_most(size), at);
}

ssize_t write(int fd, const void *from, size_t size)
{
	return syscall(SYS_write, fd, from, at_most(size));
}

/* ---- main() ---------------------------------------------------------------------------------- */

static int (*real_main)(int, char **, char **);

static void open_book(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED
			   : mmap(NULL, sizeof(*book), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED) {
		perror(path);
		_exit(99);
	}
	close(fd);
	book = map;
}

/* What a trace shows where main() begins: a call that does nothing. */
static void mark(void)
{
	syscall(SYS_close, -77);
}

static int main_counted(int argc, char **argv, char **envp)
{
	const char *path = getenv("FAULT_BOOK");
	int status;

	if (!path)
		return real_main(argc, argv, envp);
	open_book(path);
	unsetenv("FAULT_BOOK");
	unsetenv("LD_PRELOAD");
	mark();
	counting = true;
	status = real_main(argc, argv, envp);
	counting = false;
	tally();
	return status;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*end)(void), void *stack);

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*end)(void), void *stack)
{
	__typeof__(__libc_start_main) *real = NULL;

	*(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
	real_main = main;
	return real(main_counted, argc, argv, init, fini, end, stack);
}
