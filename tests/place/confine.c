/* SPDX-License-Identifier: MIT */
/*
 * confine.c - start a command as a container would
 *
 *   confine WORD... -- CMD [ARG...]       words are done in the order given
 *
 *   seccomp      the calls that Docker's default profile does not give to a container, of
 *                those that this project makes or might make, answer EPERM
 *   old          process_madvise() answers ENOSYS, as from a profile older than the call
 *   no-ptrace    ptrace() alone answers EPERM
 *   user-ns      a new user namespace, in which we are root
 *   mount-ns     a new mount namespace, nothing of it seen outside
 *   sys-ro       /sys read-only there
 *   no-sys       /sys empty there
 *   hidepid      another /proc there, in which other users' processes are hidden
 *   user=N       user and group N, no other groups
 *   no-caps      no capability, nor any way to one
 *   no-new-privs
 *
 * Exit status 77 and a line with what is lacking where one of them is not allowed here.
 * Source of the list: "Seccomp security profiles for Docker", docs.docker.com.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void need(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
	exit(77);
}

static void need_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	need(fd < 0 || write(fd, text, strlen(text)) < 0, path);
	close(fd);
}

/* ---- system calls -------------------------------------------------------------------------- */

static const long container[] = {
	SYS_mbind,
	SYS_get_mempolicy,
	SYS_set_mempolicy,
	SYS_migrate_pages,
	SYS_move_pages,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_perf_event_open,
	SYS_unshare,
	SYS_setns,
	SYS_mount,
#ifdef SYS_process_madvise
	SYS_process_madvise,
#endif
#ifdef SYS_pidfd_getfd
	SYS_pidfd_getfd,
#endif
};

#ifdef SYS_process_madvise
static const long late[] = { SYS_process_madvise };
#else
static const long late[] = { 440 };
#endif
static const long tracing[] = { SYS_ptrace };

/** Each of @calls answers @error; what has another number is let through. */
static void filter(const long *calls, unsigned count, unsigned error)
{
	enum { MOST = 32 };
	struct sock_filter code[MOST + 3];
	struct sock_fprog program = { .filter = code };
	unsigned short at = 0;

	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < count && i < MOST; i++) {
		/* Over the ones behind it and the permission. */
		code[at++] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], (uint8_t)(count - i), 0);
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
	program.len = at;
	/* Without privileges this is the condition; a container sets it, too. */
	need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "seccomp");
}

static void do_seccomp(const char *value)
{
	(void)value;
	filter(container, sizeof(container) / sizeof(container[0]), EPERM);
}

static void do_old(const char *value)
{
	(void)value;
	filter(late, 1, ENOSYS);
}

static void do_no_ptrace(const char *value)
{
	(void)value;
	filter(tracing, 1, EPERM);
}

/* ---- namespaces ------------------------------------------------------------------------------ */

static void do_user_ns(const char *value)
{
	char map[64];
	unsigned uid = geteuid(), gid = getegid();

	(void)value;
	need(unshare(CLONE_NEWUSER), "a user namespace");
	need_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	need_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	need_file("/proc/self/gid_map", map);
}

static void do_mount_ns(const char *value)
{
	(void)value;
	need(unshare(CLONE_NEWNS), "a mount namespace");
	need(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), "a private root");
}

static void do_sys_ro(const char *value)
{
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

	(void)value;
	need(mount("/sys", "/sys", NULL, MS_BIND | MS_REC, NULL), "/sys");
	need(mount("none", "/sys", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | flags, NULL),
	     "/sys read-only");
}

static void do_no_sys(const char *value)
{
	(void)value;
	need(mount("none", "/sys", "tmpfs", 0, NULL), "an empty /sys");
}

/** A mount of its own from Linux 5.8 on; before, the option would be the whole system's. */
static void do_hidepid(const char *value)
{
	(void)value;
	need(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=invisible"),
	     "/proc with hidepid");
}

/* ---- rights ------------------------------------------------------------------------------------ */

static void do_user(const char *value)
{
	unsigned id = (unsigned)strtoul(value, NULL, 10);

	need(setgroups(0, NULL) || setgid(id) || setuid(id), "another user");
	/* As after any exec: its own processes may look at it. */
	need(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable");
}

static void do_no_caps(const char *value)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	(void)value;
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (geteuid() == 0)
			need(prctl(PR_CAPBSET_DROP, cap, 0, 0, 0), "fewer capabilities");
	need(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "no ambient capability");
	need(syscall(SYS_capset, &head, none) != 0, "no capability");
}

static void do_no_new_privs(const char *value)
{
	(void)value;
	need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
}

/* ---- words --------------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	void (*call)(const char *value);
} words[] = {
	{ "seccomp", do_seccomp },
	{ "old", do_old },
	{ "no-ptrace", do_no_ptrace },
	{ "user-ns", do_user_ns },
	{ "mount-ns", do_mount_ns },
	{ "sys-ro", do_sys_ro },
	{ "no-sys", do_no_sys },
	{ "hidepid", do_hidepid },
	{ "user", do_user },
	{ "no-caps", do_no_caps },
	{ "no-new-privs", do_no_new_privs },
};

static int do_word(const char *word)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == len && !strncmp(words[i].word, word, len)) {
			words[i].call(word + len + (word[len] == '='));
			return 0;
		}
	return -1;
}

int main(int argc, char **argv)
{
	int at = 1;

	for (; at < argc && strcmp(argv[at], "--"); at++)
		if (do_word(argv[at])) {
			fprintf(stderr, "confine: no word %s\n", argv[at]);
			return 2;
		}
	if (at + 1 >= argc)
		return 2;
	execvp(argv[at + 1], argv + at + 1);
	need(1, argv[at + 1]);
	return 1;
}
