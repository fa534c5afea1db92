/* SPDX-License-Identifier: MIT */
/*
 * manners.c - what a program could notice of a thread and of hooks in it
 *
 *   manners WHAT   exit status 0: noticed nothing; a line says what otherwise
 *
 * Each begins with enough memory that the preloaded library has started its thread,
 * and waits until it has. Without the library they pass as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE ((size_t)16 << 20)

static void *(*volatile get)(size_t) = malloc;

static int fail(const char *what)
{
	fprintf(stderr, "noticed: %s: %s\n", what, strerror(errno));
	return 1;
}

static int threads(void)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "re");
	int count = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Threads: %d", &count) == 1)
			break;
	if (file)
		fclose(file);
	return count;
}

/** Something large, and time for a thread to come up. */
static char *large(void)
{
	char *block = get(LARGE);

	if (!block)
		exit(8);
	memset(block, 1, LARGE);
	for (int i = 0; i < 30; i++)
		usleep(10000);
	return block;
}

static int numbers(void)
{
	large();
	if (syscall(SYS_close_range, 3, ~0U, 0))
		return fail("close_range");
	for (int i = 0; i < 100; i++) {
		int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		if (fd != 3)
			return fail("a descriptor's number was taken");
		close(fd);
		free(get(LARGE));
		usleep(3000);
	}
	return 0;
}

/** The reading end sees the end of a pipe as soon as we have closed the other. */
static int pipe_end(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return fail("pipe");
	large();
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return read(ends[0], &byte, 1) == 0 ? 0 : fail("a pipe's end is held open");
}

static volatile sig_atomic_t hits, foreign;

static void on_signal(int number)
{
	(void)number;
	hits++;
	if (getpid() != (pid_t)syscall(SYS_gettid))
		foreign = 1;
}

static int signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGCHLD, &act, NULL);
	large();
	for (int i = 0; i < 200; i++) {
		kill(getpid(), i % 2 ? SIGUSR1 : SIGCHLD);
		usleep(500);
	}
	if (foreign)
		return fail("a signal went to another thread");
	return hits == 200 ? 0 : fail("signals were lost");
}

/** All threads change their user with setuid(), or memory would be shared with root. */
static int users(void)
{
	char path[300], text[4096];
	ssize_t len;
	int fd;

	large();
	if (getuid() == 0 && setuid(65534))
		return fail("setuid");
	for (int id = getpid(); id < getpid() + 50; id++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/status", id);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[len > 0 ? len : 0] = '\0';
		if (strstr(text, "Uid:\t0\t"))
			return fail("a thread is root still");
	}
	return 0;
}

static void *last(void *unused)
{
	usleep(400000);
	return unused;
}

/** The process ends with its last thread, though the first went before. */
static int thread_exit(void)
{
	pthread_t thread;

	large();
	if (pthread_create(&thread, NULL, last, NULL))
		return fail("pthread_create");
	pthread_exit(NULL);
}

static int errors(void)
{
	large();
	for (int i = 0; i < 100; i++) {
		errno = 4711;
		free(get(LARGE));
		munmap(
		    mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		    LARGE);
		if (errno != 4711)
			return fail("errno was changed");
	}
	errno = 0;
	return get(~(size_t)0 / 2) == NULL && errno == ENOMEM ? 0 : fail("errno of malloc");
}

static int forks(void)
{
	char *block = large();

	for (int i = 0; i < 20; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			char *mine = get(LARGE);

			memset(mine, 2, LARGE);
			free(mine);
			_exit(block[LARGE / 2] == 1 ? 33 : 34);
		}
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 33)
			return fail("a child ended otherwise");
	}
	errno = 0;
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : fail("a child too many");
}

/** vfork() shares our memory with the child: nothing of its own may stay in it. */
static int vforks(void)
{
	for (volatile int i = 0; i < 20; i++) {
		pid_t child = vfork();
		int status;

		if (child == 0) {
			free(get(LARGE));
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		if (waitpid(child, &status, 0) != child || status)
			return fail("a child ended otherwise");
	}
	large();
	return 0;
}

static int daemonizes(void)
{
	int ends[2];
	char byte = 1;
	pid_t child;

	large();
	if (pipe(ends))
		return fail("pipe");
	child = fork();
	if (child == 0) {
		if (daemon(0, 0))
			_exit(1);
		large();
		byte = open("/dev/null", O_RDONLY | O_CLOEXEC) == 5 ? 0 : 2;
		_exit(write(ends[1], &byte, 1) != 1);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		return fail("the daemon died");
	return byte ? fail("the daemon's descriptors") : waitpid(child, NULL, 0) != child;
}

/** A sandbox that ends the process at any call that large blocks would cause. */
static int locks_in(void)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_nanosleep, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]),
				     (struct sock_filter *)(size_t)code };

	large();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return fail("prctl");
	/* Joined, it makes no more calls, but may be counted for a moment. */
	for (int i = 0; i < 200 && threads() != 1; i++)
		usleep(5000);
	if (threads() != 1)
		return fail("a thread is there still");
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter))
		return fail("seccomp");
	for (int i = 0; i < 50; i++) {
		char *block = get(LARGE);

		memset(block, 1, LARGE);
		free(block);
	}
	return 0;
}

static int no_threads_left(void)
{
	struct rlimit none = { 0, 0 };

	/* Root is not bound by it. */
	if (getuid() == 0 && setuid(65534))
		return fail("setuid");
	setrlimit(RLIMIT_NPROC, &none);
	large();
	return threads() == 1 ? 0 : fail("a thread in spite of the limit");
}

static int small_is_alone(void)
{
	for (int i = 0; i < 200000; i++)
		free(get(200));
	usleep(50000);
	return threads() == 1 ? 0 : fail("a thread in a small program");
}

/** setns(2) and the like want a directory of their own. */
static int directories(void)
{
	large();
	if (chdir("/"))
		return fail("chdir");
	return getuid() || !unshare(CLONE_NEWNS) ? 0 : fail("unshare");
}

static const struct {
	const char *name;
	int (*run)(void);
} all[] = {
	{ "numbers", numbers },
	{ "pipe-end", pipe_end },
	{ "signals", signals },
	{ "users", users },
	{ "thread-exit", thread_exit },
	{ "errors", errors },
	{ "forks", forks },
	{ "vforks", vforks },
	{ "daemonizes", daemonizes },
	{ "locks-in", locks_in },
	{ "no-threads-left", no_threads_left },
	{ "small-is-alone", small_is_alone },
	{ "directories", directories },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, argv[1]))
			return all[i].run();
	return 2;
}
