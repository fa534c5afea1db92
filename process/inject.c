/* SPDX-License-Identifier: MIT */
/*
 * inject.c - a system call in another process, by ptrace
 *
 *   seize, interrupt     one thread stops, wherever it is
 *   block its signals    none may arrive between two of our steps
 *   registers            saved, then set to a call at an instruction that
 *                        exists already in its code (the vdso has one): nothing
 *                        is written to memory other threads may be running
 *   single step          the call is made
 *   put back             registers, signals; a call that was interrupted is
 *                        restarted by the kernel, as after any stop
 *
 * Between the steps the target's registers are not its own. If we ended there it
 * would crash; so a process of its own does it, out of reach of the signals that
 * end this one.
 *
 * A process that filters its system calls is left alone: an unexpected one may
 * be its death. So is one that is stopped or traced by somebody else.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/linux/sys.h"
#include "process/inject.h"

/* ---- what differs between architectures ----------------------------------------------- */

#if defined(__x86_64__)
typedef struct user_regs_struct regs_t;
static const unsigned char call_code[] = { 0x0f, 0x05 };

static void set_call(regs_t *regs, uint64_t at, long number, const long args[6])
{
	regs->rip = at;
	regs->rax = (unsigned long)number;
	regs->orig_rax = (unsigned long)-1; /* we are in no call that could be restarted */
	regs->rdi = (unsigned long)args[0];
	regs->rsi = (unsigned long)args[1];
	regs->rdx = (unsigned long)args[2];
	regs->r10 = (unsigned long)args[3];
	regs->r8 = (unsigned long)args[4];
	regs->r9 = (unsigned long)args[5];
}

static long call_result(const regs_t *regs)
{
	return (long)regs->rax;
}

static bool stepped_over(const regs_t *regs, uint64_t at)
{
	return regs->rip == at + sizeof(call_code);
}
#elif defined(__aarch64__)
typedef struct user_regs_struct regs_t;
static const unsigned char call_code[] = { 0x01, 0x00, 0x00, 0xd4 };

static void set_call(regs_t *regs, uint64_t at, long number, const long args[6])
{
	regs->pc = at;
	regs->regs[8] = (unsigned long)number;
	for (int i = 0; i < 6; i++)
		regs->regs[i] = (unsigned long)args[i];
}

static long call_result(const regs_t *regs)
{
	return (long)regs->regs[0];
}

static bool stepped_over(const regs_t *regs, uint64_t at)
{
	return regs->pc == at + sizeof(call_code);
}
#else
#define NO_INJECT
#endif

#ifndef NO_INJECT

struct inject {
	pid_t pid;
	regs_t saved;
	uint64_t signals; /* its mask */
	uint64_t call_at; /* address of a system call instruction */
	struct timespec stopped;
};

enum { STOP_WAIT_MS = 500, CODE_SCAN_MAX = 4 << 20 };

static int get_regs(pid_t pid, regs_t *regs)
{
	struct iovec iov = { regs, sizeof(*regs) };

	return ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov) ? -errno : 0;
}

static int set_regs(pid_t pid, regs_t *regs)
{
	struct iovec iov = { regs, sizeof(*regs) };

	return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &iov) ? -errno : 0;
}

/** Is there anything that speaks against stopping it? */
static int examine(pid_t pid)
{
	char path[32], text[HDL_TEXT_MAX];
	uint64_t value;
	int len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	len = hdl_read_text(path, text, sizeof(text));
	if (len < 0)
		return len == -ENOENT ? -ESRCH : len;
	if (hdl_field(text, "\nTracerPid:", &value) && value)
		return -EPERM;
	if (hdl_field(text, "\nSeccomp:", &value) && value)
		return -ECANCELED;
	if (strstr(text, "\nState:\tT"))
		return -EBUSY;
	return strstr(text, "\nState:\tZ") ? -ESRCH : 0;
}

/** Wait for a stop, at most @ms. Return: 0; -ESRCH: it ended; -ETIMEDOUT. */
static int wait_stop(pid_t pid, unsigned ms)
{
	bool refused = false;

	for (unsigned waited = 0; waited <= ms * 10; waited++) {
		int status;
		pid_t got = waitpid(pid, &status, WNOHANG | __WALL);

		if (got == pid)
			return WIFSTOPPED(status) ? 0 : -ESRCH;
		/* One that is there, with our call in its registers, is not given up for an error. */
		refused = got < 0 && errno != EINTR;
		if (refused && kill(pid, 0) && errno == ESRCH)
			return -ESRCH;
		usleep(100);
	}
	return refused ? -ESRCH : -ETIMEDOUT;
}

/** Return: 0 with *@found, which stays 0 if there is none; -errno. */
static int find_code(pid_t pid, uint64_t start, uint64_t end, uint64_t *found)
{
	unsigned char *code;
	uint64_t size = end - start < CODE_SCAN_MAX ? end - start : CODE_SCAN_MAX;
	struct iovec ours, theirs = { (void *)start, size };
	ssize_t len;
	int error = 0;

	code = malloc(size);
	if (!code)
		return -ENOMEM;
	ours = (struct iovec){ code, size };
	len = process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
	if (len < 0)
		error = errno == EFAULT ? 0 : -errno; /* such as [vvar]: cannot be read */
	if (len > 0) {
		const unsigned char *at = memmem(code, (size_t)len, call_code, sizeof(call_code));

		/* Instructions of fixed size stand at whole addresses only. */
		while (at && sizeof(call_code) == 4 && (at - code) % 4)
			at = memmem(at + 1, (size_t)(code + len - at - 1), call_code,
				    sizeof(call_code));
		if (at)
			*found = start + (uint64_t)(at - code);
	}
	free(code);
	return error;
}

/** In the vdso, or else in any code of the process. Return: 0; -ENOEXEC: none; -errno. */
static int find_call(pid_t pid, uint64_t *found)
{
	struct hdl_lines lines;
	char path[32], *line;
	int error = 0;

	*found = 0;
	for (int pass = 0; pass < 2 && !*found && !error; pass++) {
		snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
		error = hdl_lines_open(&lines, path);
		if (error)
			return error;
		while (!*found && !error && (line = hdl_lines_next(&lines))) {
			unsigned long long start, end;
			char access[5];

			if (sscanf(line, "%llx-%llx %4s", &start, &end, access) != 3 ||
			    access[2] != 'x' || (pass == 0 && !strstr(line, "[vdso]")) ||
			    strstr(line, "[vsyscall]"))
				continue;
			error = find_code(pid, start, end, found);
		}
		hdl_lines_close(&lines);
	}
	return error || *found ? error : -ENOEXEC;
}

/** Is it not the kernel but a filter that refuses? It would look for the process first. */
static bool is_filtered(void)
{
	return ptrace(PTRACE_SEIZE, 0, 0, 0) && errno != ESRCH;
}

/** Seize and stop. Return: 0, or -errno with the process as it was. */
static int attach(struct inject *inject)
{
	pid_t pid = inject->pid;
	uint64_t all = UINT64_MAX;
	int error = examine(pid);

	if (!error && is_filtered())
		error = -EOPNOTSUPP;
	if (!error)
		error = find_call(pid, &inject->call_at);
	if (error)
		return error;
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		return -errno;
	clock_gettime(CLOCK_MONOTONIC, &inject->stopped);
	error = ptrace(PTRACE_INTERRUPT, pid, 0, 0) ? -errno : wait_stop(pid, STOP_WAIT_MS);
	if (!error)
		error = get_regs(pid, &inject->saved);
	if (!error && ptrace(PTRACE_GETSIGMASK, pid, sizeof(inject->signals), &inject->signals))
		error = -errno;
	if (!error && ptrace(PTRACE_SETSIGMASK, pid, sizeof(all), &all))
		error = -errno;
	/* Where it has not stopped, it is let go when we end, a moment later. */
	if (error)
		ptrace(PTRACE_DETACH, pid, 0, 0);
	return error;
}

/** Return: 0 with the result, or -errno when the call could not be made. */
static int make_call(struct inject *inject, struct inject_call *call)
{
	regs_t regs = inject->saved;
	int error;

	set_call(&regs, inject->call_at, call->number, call->args);
	error = set_regs(inject->pid, &regs);
	/* A second step may be needed where the first only enters the call. */
	for (int step = 0; !error && step < 3; step++) {
		if (ptrace(PTRACE_SINGLESTEP, inject->pid, 0, 0))
			error = -errno;
		while (!error && (error = wait_stop(inject->pid, 1000)) == -ETIMEDOUT)
			error =
			    0; /* the call takes its time: leaving now would lose the registers */
		if (!error)
			error = get_regs(inject->pid, &regs);
		if (!error && stepped_over(&regs, inject->call_at)) {
			call->result = call_result(&regs);
			return 0;
		}
	}
	return error ? error : -EIO;
}

static void detach(struct inject *inject)
{
	ptrace(PTRACE_SETSIGMASK, inject->pid, sizeof(inject->signals), &inject->signals);
	set_regs(inject->pid, &inject->saved);
	ptrace(PTRACE_DETACH, inject->pid, 0, 0);
}

/* ---- the process that does it ------------------------------------------------------------ */

/** What it tells us, in memory both see. */
struct report {
	int error;
	uint64_t stopped_us;
	const void *data;
	size_t bytes;
	unsigned count;
	struct inject_call call[];
};

/** A page of the target with the data in it. Return: its address, 0: none to be had. */
static long lend_page(struct inject *inject, const struct report *report)
{
	struct inject_call map = { .number = SYS_mmap,
				   .args = { 0, (long)report->bytes, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } };
	struct iovec ours = { (void *)report->data, report->bytes }, theirs;

	if (make_call(inject, &map) || (map.result < 0 && map.result > -4096))
		return 0;
	theirs = (struct iovec){ (void *)map.result, report->bytes };
	if (process_vm_writev(inject->pid, &ours, 1, &theirs, 1, 0) != (ssize_t)report->bytes)
		return 0;
	return map.result;
}

static int make_all(struct inject *inject, struct report *report)
{
	long page = report->bytes ? lend_page(inject, report) : 0;
	struct inject_call unmap = { .number = SYS_munmap, .args = { page, (long)report->bytes } };
	int error = 0;

	if (report->bytes && !page)
		return -ENOMEM;
	for (unsigned i = 0; !error && i < report->count; i++) {
		struct inject_call call = report->call[i];

		for (int a = 0; a < 6; a++)
			if (call.args[a] == INJECT_DATA)
				call.args[a] = page;
		error = make_call(inject, &call);
		if (!error)
			report->call[i].result = call.result;
	}
	if (page && error != -ESRCH)
		make_call(inject, &unmap);
	return error;
}

static void work(pid_t pid, struct report *report)
{
	struct inject inject = { .pid = pid };
	struct timespec now;
	int error = attach(&inject);

	if (!error) {
		/* Also where it seems to have ended: if it has not, it must not go on with our call. */
		error = make_all(&inject, report);
		detach(&inject);
		clock_gettime(CLOCK_MONOTONIC, &now);
		report->stopped_us = (uint64_t)((now.tv_sec - inject.stopped.tv_sec) * 1000000 +
						(now.tv_nsec - inject.stopped.tv_nsec) / 1000);
	}
	report->error = error;
}

static int run_apart(pid_t pid, struct report *report)
{
	sigset_t all, old;
	pid_t child;
	int status;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	child = fork();
	if (child == 0) {
		setsid();
		work(pid, report);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (child < 0)
		return -EAGAIN;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -ECHILD;
	return status ? -EIO : report->error;
}

int inject_calls(pid_t pid, struct inject_call *calls, unsigned count, const void *data,
		 size_t bytes, uint64_t *stopped_us)
{
	size_t size = sizeof(struct report) + count * sizeof(*calls);
	struct report *report =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int error;

	if (report == MAP_FAILED)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++)
		calls[i].result = -ECANCELED;
	report->data = data;
	report->bytes = bytes;
	report->count = count;
	memcpy(report->call, calls, count * sizeof(*calls));
	error = run_apart(pid, report);
	memcpy(calls, report->call, count * sizeof(*calls));
	if (stopped_us)
		*stopped_us = report->stopped_us;
	munmap(report, size);
	return error;
}

#else

int inject_calls(pid_t pid, struct inject_call *calls, unsigned count, const void *data,
		 size_t bytes, uint64_t *stopped_us)
{
	(void)pid;
	(void)data;
	(void)bytes;
	(void)stopped_us;
	for (unsigned i = 0; i < count; i++)
		calls[i].result = -ECANCELED;
	return -ENOSYS;
}

#endif
