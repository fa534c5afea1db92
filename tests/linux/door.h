/* SPDX-License-Identifier: MIT */
/*
 * door.h - the backend's three ways out, under a test's hand
 *
 * Linked with --wrap, every system call, allocation and thread start of the
 * backend comes by here. In this order a call may be
 *
 *   failed     the call number that a test names, once or from there on
 *   answered   by a pretend file or a pretend kernel (world.h)
 *   passed on  to the real kernel
 *
 * The door keeps the books that tell a leak: descriptors, mapped ranges, blocks
 * of malloc. It also notes when something is unmapped that was never ours.
 */
#ifndef TESTS_LINUX_DOOR_H
#define TESTS_LINUX_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum door_kind {
	DOOR_OPEN,
	DOOR_READ,
	DOOR_CLOSE,
	DOOR_MMAP,
	DOOR_MUNMAP,
	DOOR_MPROTECT,
	DOOR_MREMAP,
	DOOR_ADVICE, /* huge pages or not */
	DOOR_OPTION, /* fork and dump advice */
	DOOR_POPULATE,
	DOOR_COLLAPSE,
	DOOR_SCAN, /* PAGEMAP_SCAN */
	DOOR_MBIND,
	DOOR_GET_POLICY,
	DOOR_ASK_NODES, /* move_pages(2) as a question */
	DOOR_MOVE_PAGES,
	DOOR_THP_DISABLE,
	DOOR_NAME,
	DOOR_MLOCK,
	DOOR_RLIMIT,
	DOOR_GETCPU,
	DOOR_AFFINITY,
	DOOR_MALLOC,
	DOOR_THREAD,
	DOOR_OTHER,
	DOOR_KINDS,
};

/** What may happen besides an errno: to a read(), and to mremap() onto a fixed address. */
enum door_damage {
	DOOR_ONE_BYTE = 1, /* is returned at a time */
	DOOR_NOTHING,      /* the file ends here */
	DOOR_NOISE,        /* bytes of no meaning, in the right number */
	DOOR_TEXT_NOISE,   /* figures, separators and line ends of no meaning */
	DOOR_TARGET_GONE,  /* ENOMEM, and the target has been unmapped */
	DOOR_TARGET_TAKEN, /* the same, and another thread has mapped something there since */
};

const char *door_kind_name(enum door_kind kind);
/** The errnos (negative) and damages (positive) that fit a call; 0 ends them. */
const int *door_faults_of(enum door_kind kind);

/** Forget faults, pretend files, ills and counts; books must be clean. */
void door_reset(void);
/** Count calls from here on: the next is number 0. */
void door_arm(void);
void door_disarm(void);
uint32_t door_calls(void);
enum door_kind door_kind_of(uint32_t call);
/** Fail call @call with @what; @onward: also every later call of its kind. */
void door_fail(uint32_t call, int what, bool onward);
/** Every call of this kind fails from now on; 0: no longer. */
void door_ill(enum door_kind kind, int error);
uint32_t door_injected(void);
/** A call of this kind went wrong, since door_arm(). */
bool door_was_hit(enum door_kind kind);
/** An operation repeated a failing call without end. */
bool door_spun(void);

/** What is wrong with the books (or with what another thread has mapped), or NULL. Ranges whose munmap() was failed are given back. */
const char *door_leak(void);
uint64_t door_mapped(void); /* bytes */

/* ---- pretend files ---------------------------------------------------------------- */

/** @text NULL: there is no such file. Copied. */
void door_file(const char *path, const char *text);
void door_file_bytes(const char *path, const void *bytes, size_t len);
/** No file of /proc/ and /sys/ exists but the pretend ones (and self/pagemap, smaps, maps). */
void door_only_pretend(void);

/* ---- a pretend kernel ---------------------------------------------------------------- */

/** Asked before the real kernel. Return: true when it has answered in *@result. */
typedef bool door_kernel(long number, const long *args, enum door_kind kind, long *result);
/** Told of every call that the real kernel has served. */
typedef void door_witness(long number, const long *args, enum door_kind kind, long result);
void door_set_kernel(door_kernel *kernel, door_witness *witness);

#endif
