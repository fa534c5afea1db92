/* SPDX-License-Identifier: MIT */
/*
 * test-hard-kernel.c - a real kernel that withholds something, and children of fork()
 *
 * Huge pages switched off for the process, calls forbidden by a filter, no /proc;
 * what a child finds of a table, and what a core dump would. Each in a child.
 *
 * Not here: that a set-user-ID program ignores the environment. secure_getenv()
 * sees to it, and no test can raise its privileges simply.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hashdist/hashdist.h"
#include "tests/lib/memory.h"

#define MIB ((size_t)1 << 20)
#define THP "/sys/kernel/mm/transparent_hugepage/"

#ifndef PR_SET_THP_DISABLE
#define PR_SET_THP_DISABLE 41
#endif

static bool advice_works(void)
{
	static const char never[] = "[never]";
	char text[64] = "";
	FILE *file = fopen(THP "enabled", "re");

	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return text[0] && !strstr(text, never);
}

/* ---- transparent huge pages off ------------------------------------------------------- */

static void thp_off(void)
{
	struct hd_got got;
	void *start;

	CHECK(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0);
	CHECK(hd_alloc(8 * MIB, NULL, &start, &got) == 0);
	CHECK(got.pages_why == HD_WHY_THP_OFF);
	CHECK(got.page_sizes == 1 && got.page[0].page_bytes == 4096);
	memory_check_table(start, &got);
	CHECK(hd_repair(start, &got) == 0);
	CHECK(got.pages_why == HD_WHY_THP_OFF && got.collapsed == 0);
	/* Allowed again: repair brings it onto huge pages, in place. */
	CHECK(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0) == 0);
	CHECK(hd_repair(start, &got) == 0);
	CHECK(memory_is_filled(start, 8 * MIB, 5));
	if (got.pages_why != HD_WHY_NO_SUPPORT && got.pages_why != HD_WHY_FRAGMENTED) {
		CHECK(got.pages_why == HD_WHY_MET);
		CHECK(got.page[0].page_bytes == 2 * MIB && got.page[0].bytes == 8 * MIB);
		CHECK(got.collapsed == 4);
	}
	CHECK(hd_free(start) == 0);
}

static void a_process_without_huge_pages_is_told_so(void **state)
{
	(void)state;
	if (!advice_works())
		lacks("transparent huge pages by advice", true);
	in_child(thp_off);
}

/* Linux 6.18: off, except for memory that asks for them, as ours does. */
static void thp_off_but_advised(void)
{
	struct hd_got got;
	void *start;

	if (prctl(PR_SET_THP_DISABLE, 1, 2, 0, 0))
		child_lacks("huge pages that can be off except where advised (Linux 6.18)", false);
	CHECK(hd_alloc(8 * MIB, NULL, &start, &got) == 0);
	CHECK(got.pages_why == HD_WHY_MET || got.pages_why == HD_WHY_FRAGMENTED);
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0);
}

static void a_process_with_huge_pages_by_advice_only_gets_them(void **state)
{
	(void)state;
	if (!advice_works())
		lacks("transparent huge pages by advice", true);
	in_child(thp_off_but_advised);
}

/* ---- a filter of system calls --------------------------------------------------------- */

/**
 * The calls of memory policy and collapse answer @error, and so does populating
 * when @populate is set. Filters are per thread, and last.
 */
static void forbid(int error, bool populate)
{
#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define EQUAL(k, y, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, y, n)
	struct sock_filter code[] = {
		LOAD(nr),
		EQUAL(SYS_mbind, 7, 0),
		EQUAL(SYS_get_mempolicy, 6, 0),
		EQUAL(SYS_set_mempolicy, 5, 0),
		EQUAL(SYS_move_pages, 4, 0),
		EQUAL(SYS_madvise, 0, 4),
		LOAD(args[2]),
		EQUAL(25 /* MADV_COLLAPSE */, 1, 0),
		EQUAL(populate ? 23 : 25 /* MADV_POPULATE_WRITE */, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		child_lacks("filters of system calls (seccomp)", true);
	errno = 0;
	CHECK(syscall(SYS_mbind, 0, 0, 0, 0, 0, 0) == -1 && errno == error);
	CHECK(syscall(SYS_madvise, 0, 0, 25) == -1 && errno == error);
}

static void check_filtered(void)
{
	static const uint8_t nodes[] = { HD_NODES_AUTO, HD_NODES_ONE, HD_NODES_SPREAD };

	for (int i = 0; i < 3; i++) {
		struct hd_want want = { .nodes = nodes[i], .threads = 2 };
		struct hd_got got;
		void *start;

		CHECK(hd_alloc(8 * MIB, &want, &start, &got) == 0);
		memory_check_table(start, &got);
		/* Where one node is all there is nothing was refused that mattered. */
		CHECK(got.nodes_why == HD_WHY_MET || got.nodes_why == HD_WHY_ONE_NODE ||
		      got.nodes_why == HD_WHY_CALL_FORBIDDEN || got.nodes_why == HD_WHY_UNKNOWN);
		CHECK(hd_resize(&start, 12 * MIB, &got) == 0);
		CHECK(memory_is_filled(start, 8 * MIB, 5));
		CHECK(hd_repair(start, &got) == 0);
		CHECK(memory_is_filled(start, 8 * MIB, 5));
		CHECK(hd_free(start) == 0);
	}
}

static void filtered_eperm(void)
{
	forbid(EPERM, false);
	check_filtered();
}

static void filtered_enosys(void)
{
	forbid(ENOSYS, false);
	check_filtered();
}

/* As a kernel before 5.14 answers. */
static void filtered_populate(void)
{
	struct hd_got got;
	void *start;

	forbid(EINVAL, true);
	check_filtered();
	/* A hole in a table in use is filled without a byte of the rest being changed. */
	CHECK(hd_alloc(256 * 1024, NULL, &start, &got) == 0);
	memory_fill(start, 256 * 1024, 6);
	CHECK(madvise(start, 4096, MADV_DONTNEED) == 0);
	CHECK(hd_repair(start, &got) == 0);
	CHECK(got.populated == got.bytes);
	memory_fill(start, 4096, 6);
	CHECK(memory_is_filled(start, 256 * 1024, 6));
	CHECK(hd_free(start) == 0);
}

static void forbidden_calls_are_done_without(void **state)
{
	(void)state;
	in_child(filtered_eperm);
	in_child(filtered_enosys);
	in_child(filtered_populate);
}

/* ---- no /proc -------------------------------------------------------------------------- */

static void without_proc(void)
{
	struct hd_want want = { .pages = HD_PAGES_LARGE };
	struct hd_table_want table = { .bucket_bytes = 64, .entries = 1 << 15 };
	struct hd_got got;
	uint64_t entries, total;
	void *start, *more;

	CHECK(hd_alloc(MIB, NULL, &start, NULL) == 0 && hd_free(start) == 0);
	total = (uint64_t)sysconf(_SC_PHYS_PAGES) * 4096;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", 0, NULL))
		child_lacks("a mount namespace of its own (root)", true);
	CHECK(hd_alloc(4 * MIB, &want, &start, &got) == 0);
	CHECK(got.bytes == 4 * MIB);
	CHECK(got.pages_unknown == 4 * MIB && got.page_sizes == 0);
	CHECK(got.pages_why == HD_WHY_UNKNOWN);
	CHECK(got.step == HD_STEP_VERIFY || got.step == HD_STEP_COLLAPSE);
	CHECK(hd_alloc_table(&table, NULL, &more, &entries, NULL) == 0);
	CHECK(entries == 1 << 15);
	CHECK(hd_free(more) == 0);
	table = (struct hd_table_want){ .bucket_bytes = 64, .scale = 20 };
	CHECK(hd_alloc_table(&table, NULL, &more, &entries, NULL) == 0);
	CHECK(entries >= total >> 21 && entries <= total >> 18); /* an entry for each MiB */
	CHECK(hd_free(more) == 0);
	CHECK(hd_repair(start, &got) == 0);
	CHECK(umount("/proc") == 0);
	CHECK(hd_read_got(start, &got) == 0 && got.pages_unknown == 0);
	memory_check_table(start, &got);
	CHECK(hd_free(start) == 0);
}

static void without_proc_it_works_and_claims_nothing(void **state)
{
	(void)state;
	if (!memory_sanitized()) /* which cannot do without it */
		in_child(without_proc);
}

/* ---- fork ------------------------------------------------------------------------------ */

static char *table;
static uint64_t table_bytes;

static void make_table(uint8_t fork_want, size_t bytes)
{
	struct hd_got got;
	struct hd_want want = { .fork = fork_want };

	CHECK(hd_alloc(bytes, &want, (void **)&table, &got) == 0);
	table_bytes = got.bytes;
	memory_fill(table, table_bytes, 8);
}

static int status_of(void (*body)(void))
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		alarm(60);
		body();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

static void copied(void)
{
	struct hd_got got;

	CHECK(memory_is_filled(table, table_bytes, 8));
	memory_fill(table, table_bytes, 9);
	CHECK(hd_read_got(table, &got) == 0 && got.populated == table_bytes);
	CHECK(hd_resize((void **)&table, 3 * table_bytes, &got) == 0);
	CHECK(memory_is_filled(table, table_bytes, 9));
	CHECK(hd_free(table) == 0);
	CHECK(hd_free(table) == -EINVAL);
}

static void fork_copy(void)
{
	make_table(HD_FORK_COPY, 4 * MIB);
	CHECK(status_of(copied) == 0);
	CHECK(memory_is_filled(table, table_bytes, 8));
	CHECK(hd_free(table) == 0);
}

static void a_copied_table_is_the_childs_own(void **state)
{
	(void)state;
	in_child(fork_copy);
}

static void dropped(void)
{
	struct hd_got got;
	void *other, *moved = table;

	CHECK(!memory_is_mapped(table));
	CHECK(!memory_is_mapped(table + table_bytes - 1));
	CHECK(hd_read_got(table, &got) == -EINVAL);
	CHECK(hd_repair(table, &got) == -EINVAL);
	CHECK(hd_resize(&moved, MIB, &got) == -EINVAL);
	CHECK(hd_free(table) == -EINVAL);
	/* Somebody else's memory lies there now: it must not be unmapped. */
	other = mmap(table, table_bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(other == table);
	memory_fill(other, 4096, 1);
	CHECK(hd_free(table) == -EINVAL);
	CHECK(memory_is_filled(other, 4096, 1));
}

static void touches(void)
{
	((volatile char *)table)[0] = 1;
}

static void fork_drop(void)
{
	struct hd_got got;
	int status;

	make_table(HD_FORK_DROP, 4 * MIB);
	CHECK(status_of(dropped) == 0);
	if (!memory_sanitized()) {
		status = status_of(touches);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	}
	CHECK(memory_is_filled(table, table_bytes, 8));
	/* Still so after it has grown, of both parts. */
	CHECK(hd_resize((void **)&table, 8 * MIB, &got) == 0);
	table_bytes = got.bytes;
	CHECK(status_of(dropped) == 0);
	CHECK(hd_resize((void **)&table, 2 * MIB, &got) == 0);
	table_bytes = got.bytes;
	CHECK(status_of(dropped) == 0);
	CHECK(hd_free(table) == 0);
}

static void a_dropped_table_is_unknown_to_the_child(void **state)
{
	(void)state;
	in_child(fork_drop);
}

static void wiped(void)
{
	struct hd_got got;

	CHECK(memory_is_zero(table, table_bytes));
	CHECK(hd_repair(table, &got) == 0);
	CHECK(got.populated == table_bytes);
	memory_fill(table, table_bytes, 4);
	CHECK(memory_is_filled(table, table_bytes, 4));
	CHECK(hd_free(table) == 0);
}

static void fork_wipe(void)
{
	struct hd_got got;
	struct truth truth;

	make_table(HD_FORK_WIPE, 4 * MIB);
	CHECK(status_of(wiped) == 0);
	CHECK(memory_is_filled(table, table_bytes, 8));
	CHECK(hd_resize((void **)&table, 8 * MIB, &got) == 0);
	CHECK(memory_truth(table, got.bytes, &truth) && truth.wipe);
	table_bytes = got.bytes;
	CHECK(status_of(wiped) == 0);
	CHECK(hd_free(table) == 0);
}

static void a_wiped_table_is_all_zero_in_the_child(void **state)
{
	(void)state;
	in_child(fork_wipe);
}

static void no_dump(void)
{
	struct hd_want want = { .flags = HD_NO_DUMP };
	struct truth truth;
	struct hd_got got;
	void *start;

	CHECK(hd_alloc(3 * MIB, &want, &start, &got) == 0);
	CHECK(memory_truth(start, got.bytes, &truth));
	CHECK(truth.dump_off);
	CHECK(hd_resize(&start, 9 * MIB, &got) == 0);
	CHECK(memory_truth(start, got.bytes, &truth));
	CHECK(truth.dump_off);
	CHECK(hd_free(start) == 0);
	want.flags = 0;
	CHECK(hd_alloc(3 * MIB, &want, &start, &got) == 0);
	CHECK(memory_truth(start, got.bytes, &truth));
	CHECK(!truth.dump_off && !truth.no_fork && !truth.wipe && !truth.locked);
	CHECK(truth.mappings == 1);
	CHECK(hd_free(start) == 0);
}

static void all_of_a_table_is_left_out_of_core_dumps_when_asked(void **state)
{
	(void)state;
	in_child(no_dump);
}

static void named(void)
{
	struct hd_want want = { .name = "transpositions: 1/2" };
	struct truth truth;
	struct hd_got got;
	void *start;

	CHECK(hd_alloc(MIB, &want, &start, &got) == 0);
	CHECK(got.step == HD_STEP_NONE); /* a kernel without names is no failure */
	CHECK(memory_truth(start, got.bytes, &truth));
	CHECK(!truth.name[0] || !strcmp(truth.name, "[anon:transpositions: 1/2]"));
	CHECK(hd_free(start) == 0);
}

static void a_name_is_seen_where_the_kernel_can_show_it(void **state)
{
	(void)state;
	in_child(named);
}

/* Split by a fork, mended by repair. */
static void split_and_mend(void)
{
	struct hd_got got;
	uint32_t collapsed = 0;
	int hold[2];
	pid_t child;

	make_table(HD_FORK_COPY, 16 * MIB);
	CHECK(hd_read_got(table, &got) == 0);
	/* Another program may hold what is needed, for a moment. */
	for (int i = 0; i < 20 && got.page[0].bytes + got.page[0].page_bytes != 18 * MIB; i++) {
		usleep(100000);
		CHECK(hd_repair(table, &got) == 0);
	}
	if (got.page[0].page_bytes != 2 * MIB || got.page[0].bytes != 16 * MIB)
		child_lacks("16 MiB of transparent huge pages", true);
	CHECK(pipe(hold) == 0);
	child = fork();
	if (!child) {
		char byte;

		close(hold[1]);
		_exit(read(hold[0], &byte, 1) != 0);
	}
	for (size_t at = 0; at < 16 * MIB; at += 2 * MIB)
		((volatile char *)table)[at] = ((volatile char *)table)[at];
	CHECK(hd_read_got(table, &got) == 0);
	CHECK(got.page_sizes == 1 && got.page[0].page_bytes == 4096);
	close(hold[0]);
	close(hold[1]);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 20 && collapsed < 8; i++) {
		char text[300];

		usleep(i ? 100000 : 0);
		CHECK(hd_repair(table, &got) == 0);
		collapsed += got.collapsed;
		if (collapsed < 8 && hd_got_text(&got, text, sizeof(text)) > 0)
			printf("mended %u of 8: %s\n", collapsed, text);
	}
	if (got.pages_why == HD_WHY_FRAGMENTED)
		child_lacks("8 free huge blocks", true);
	CHECK(got.page[0].page_bytes == 2 * MIB && got.page[0].bytes == 16 * MIB);
	/* The kernel's own thread may have been first with some, where it took long. */
	CHECK(collapsed >= 1 && collapsed <= 8 && got.pages_why == HD_WHY_MET);
	CHECK(memory_is_filled(table, table_bytes, 8));
	CHECK(hd_free(table) == 0);
}

static void repair_mends_what_fork_has_split(void **state)
{
	(void)state;
	if (!advice_works())
		lacks("transparent huge pages by advice", true);
	in_child(split_and_mend);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_without_huge_pages_is_told_so),
		cmocka_unit_test(a_process_with_huge_pages_by_advice_only_gets_them),
		cmocka_unit_test(forbidden_calls_are_done_without),
		cmocka_unit_test(without_proc_it_works_and_claims_nothing),
		cmocka_unit_test(a_copied_table_is_the_childs_own),
		cmocka_unit_test(a_dropped_table_is_unknown_to_the_child),
		cmocka_unit_test(a_wiped_table_is_all_zero_in_the_child),
		cmocka_unit_test(all_of_a_table_is_left_out_of_core_dumps_when_asked),
		cmocka_unit_test(a_name_is_seen_where_the_kernel_can_show_it),
		cmocka_unit_test(repair_mends_what_fork_has_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
