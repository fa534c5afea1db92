/* SPDX-License-Identifier: MIT */
/*
 * circumstances.c - words that make it hard: limits, policies, nodes that others fill
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/kernels/place/place.h"

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

static void do_fill(const char *text)
{
	filler_start(text, false);
}

static void do_fragment(const char *text)
{
	filler_start(text, true);
}

static void do_unfill(const char *text)
{
	(void)text;
	filler_end();
}

const struct place_word place_circumstances[] = {
	{ "cgroup", do_cgroup },     { "policy", do_policy }, { "cpu", do_cpu },
	{ "thp-off", do_thp_off },   { "as", do_as },         { "env", do_env },
	{ "deny", do_deny },         { "user", do_user },     { "fill", do_fill },
	{ "fragment", do_fragment }, { "unfill", do_unfill }, { NULL, NULL },
};
