/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - starts the command, held until its counters are there
 *
 * A child is forked, given its standard files and its setting, and waits. So
 * whoever counts can take hold of it before it is the command. What it has used up to
 * then it tells as its last act, to be taken off: page faults and time of a process are
 * counted from its birth, across execve().
 *
 * Two channels that close by themselves tell all else: the one for its reports when the
 * command has begun, the one it waits at when we are gone.
 *
 * The command is in our process group: a terminal stops and interrupts both.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/internal.h"

enum report { READY, NOT_READY, BEGINS, NOT_BEGUN };

/** What a child writes, whole or not at all: less than a pipe takes at once. */
struct message {
	enum report report;
	int status; /* of NOT_READY an exit status, of NOT_BEGUN a negative errno */
	struct command_before before; /* of BEGINS */
};

static bool tell(int fd, const struct message *message)
{
	return write(fd, message, sizeof(*message)) == (ssize_t)sizeof(*message);
}

/** Return: false when the child has closed its end. */
static bool receive(int fd, struct message *message)
{
	ssize_t n;

	do
		n = read(fd, message, sizeof(*message));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*message);
}

static int become_as_is(void *arg, char **argv)
{
	(void)arg;
	execvp(argv[0], argv);
	return -errno;
}

const struct command_setting command_as_is = { .become = become_as_is };

/* ---- the child ----------------------------------------------------------------------- */

static bool put(const char *path, int flags, int to)
{
	int fd = open(path, flags | O_CLOEXEC);
	bool fine = fd >= 0 && dup2(fd, to) == to;

	if (fd >= 0 && fd != to)
		close(fd);
	return fine;
}

static int standard_files(const struct command_want *want)
{
	if (!put(want->input ? want->input : "/dev/null", O_RDONLY, STDIN_FILENO))
		return -errno;
	if (want->show_output) /* ours is for the figures alone */
		return dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? -errno : 0;
	if (!put("/dev/null", O_WRONLY, STDOUT_FILENO) ||
	    !put("/dev/null", O_WRONLY, STDERR_FILENO))
		return -errno;
	return 0;
}

static void child_begins(int go, int report)
{
	struct message message = { .report = BEGINS };
	char unused;
	ssize_t n;

	do
		n = read(go, &unused, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1); /* nobody counts: not to be run */
	getrusage(RUSAGE_SELF, &message.before.self);
	getrusage(RUSAGE_CHILDREN, &message.before.children);
	message.before.now_ns = measure_now_ns();
	if (!tell(report, &message))
		_exit(1);
}

__attribute__((noreturn)) static void child(const struct command_want *want, int which, int go,
					    int report)
{
	const struct command_setting *setting = &want->setting[which];
	struct message message = { .report = NOT_BEGUN, .status = standard_files(want) };

	command_signals_as_before();
	if (message.status) {
		tell(report, &message);
		_exit(1);
	}
	message = (struct message){ .report = NOT_READY };
	if (setting->ready)
		message.status = setting->ready(setting->arg, want->argv);
	if (!message.status)
		message.report = READY;
	if (!tell(report, &message) || message.status)
		_exit(1);
	child_begins(go, report);
	message = (struct message){ .report = NOT_BEGUN };
	message.status = setting->become(setting->arg, want->argv);
	tell(report, &message);
	_exit(1);
}

/* ---- us ------------------------------------------------------------------------------ */

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void command_abandon(struct command_child *child)
{
	if (child->pid <= 0)
		return;
	kill(child->pid, SIGKILL);
	close(child->go);
	close(child->report);
	reap(child->pid);
	child->pid = 0;
}

/**
 * All four ends close when something else is executed. Of the first one only a socket
 * lets us find out that the child is gone without a signal.
 * Return: 0 or -errno.
 */
static int open_ends(int go[2], int report[2])
{
	int error;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return -errno;
	if (!pipe2(report, O_CLOEXEC))
		return 0;
	error = -errno;
	close(go[0]);
	close(go[1]);
	return error;
}

/** What became of a child that sent @message, or nothing, instead of what was due. */
static int gone(struct command_child *child, const struct message *message, bool sent)
{
	command_abandon(child);
	if (!sent)
		return -EIO;
	if (message->report == NOT_READY)
		child->ready_status = message->status;
	else
		child->exec_error = message->status;
	return 0;
}

int command_spawn(const struct command_want *want, int setting, struct command_child *out)
{
	struct message message;
	int go[2], report[2], error = open_ends(go, report);
	bool sent;

	*out = (struct command_child){ .pid = 0 };
	if (error)
		return error;
	out->pid = fork();
	if (out->pid == 0) {
		close(go[1]);
		close(report[0]);
		child(want, setting, go[0], report[1]);
	}
	error = out->pid < 0 ? -errno : 0;
	close(go[0]);
	close(report[1]);
	out->go = go[1];
	out->report = report[0];
	if (error) {
		close(out->go);
		close(out->report);
		return error;
	}
	sent = receive(out->report, &message);
	return sent && message.report == READY ? 0 : gone(out, &message, sent);
}

int command_go(struct command_child *child)
{
	struct message message;
	bool sent;

	if (send(child->go, "", 1, MSG_NOSIGNAL) != 1 || !receive(child->report, &message) ||
	    message.report != BEGINS) {
		command_abandon(child);
		return -EIO;
	}
	child->before = message.before;
	/* Nothing more comes, unless it could not become the command. */
	sent = receive(child->report, &message);
	if (sent)
		return gone(child, &message, true);
	close(child->go);
	close(child->report);
	return 0;
}
