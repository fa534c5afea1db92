/* SPDX-License-Identifier: MIT */
/*
 * internal.h - between the files of this room
 */
#ifndef HASHDIST_COMMAND_INTERNAL_H
#define HASHDIST_COMMAND_INTERNAL_H

#include <pthread.h>
#include <sys/resource.h>

#include "command/command.h"

/* ---- names.c ------------------------------------------------------------------------- */

/** Return: false: there are no names, and command_encode_name() knows none. */
bool command_names_begin(void);
/** A command_encode; pmu->name is libpfm4's. Between begin and end. */
bool command_encode_name(void *ctx, const struct command_pmu *pmu, const char *name,
			 struct command_event *out);
void command_names_end(void);

/* ---- counters.c ---------------------------------------------------------------------- */

struct command_counters {
	struct command_events events;
	int fd[COMMAND_EVENTS_MAX]; /* -1: not open */
};

/**
 * command_open() - counters on a process that has not yet executed its program
 * @counters: which events; the files are filled in
 *
 * They start when it does, and count its children, too. A figure is counted if all its
 * events could be opened; what could not is in @hardware.
 */
void command_open(struct command_counters *counters, pid_t pid, struct command_hardware *hardware);
/** Reads into value[COMMAND_FIGURES]. Return: the least share of the time an event counted. */
double command_read(struct command_counters *counters, double *value);
void command_close(struct command_counters *counters);

/* ---- marks.c ------------------------------------------------------------------------- */

enum command_mark_kind {
	COMMAND_FAULT_BEGUN,
	COMMAND_FAULT_DONE,
	COMMAND_THREAD_AWAY, /* from its CPU */
	COMMAND_THREAD_BACK,
};

struct command_mark {
	uint64_t time; /* ns */
	uint32_t thread;
	enum command_mark_kind kind;
};

/** A fault that is being handled. */
struct command_open_fault {
	uint32_t thread;                  /* 0: none is */
	uint64_t begun, away_since, away; /* ns; away_since 0: it is on a CPU */
};

enum { COMMAND_OPEN_FAULTS = 1 << 14 }; /* by the last bits of their threads' numbers */

/** Begins as zeros. */
struct command_marks {
	struct command_mark *mark; /* those that wait */
	size_t waiting, room;
	struct command_open_fault open[COMMAND_OPEN_FAULTS];
	double ns;      /* of all faults that have both marks, on a CPU */
	uint64_t pairs; /* such faults */
};

/** In any order. Without memory it is lost. */
void command_marks_add(struct command_marks *marks, uint64_t time, uint32_t thread,
		       enum command_mark_kind kind);
/** Pairs those older than @until: no mark before that comes any more. */
void command_marks_settle(struct command_marks *marks, uint64_t until);
void command_marks_free(struct command_marks *marks);

/* ---- faults.c ------------------------------------------------------------------------ */

struct command_faults;

/**
 * command_faults_begin() - time the page faults of a process that has not yet executed its
 * program, and of all that it starts, from then on
 * Return: 0; -EACCES, -EPERM, -ENOSYS: no right to, or no such thing; another negative errno.
 */
int command_faults_begin(pid_t pid, struct command_faults **out);
/** Ends it, frees @faults, and tells what came of it. */
void command_faults_end(struct command_faults *faults, struct command_fault_time *out);
/** Would it begin? Return: as of command_faults_begin(). */
int command_faults_possible(void);

/* ---- spawn.c ------------------------------------------------------------------------- */

/** Of a child up to the moment it becomes the command: what is not the command's. */
struct command_before {
	double now_ns;
	struct rusage self, children;
};

struct command_child {
	pid_t pid;
	int go;     /* we write: it may */
	int report; /* it writes: how far it came */
	int ready_status;
	int exec_error;
	struct command_before before;
};

/**
 * command_spawn() - a child that is ready to become the command, and waits
 * Return: 0, also when child->ready_status tells that it was not ready and is gone; -errno.
 */
int command_spawn(const struct command_want *want, int setting, struct command_child *child);
/**
 * command_go() - let it; returns when it has become the command, or could not
 * Return: 0, also when child->exec_error tells that it could not; -errno.
 */
int command_go(struct command_child *child);
/** Ends a child that was not let go, and waits for it. */
void command_abandon(struct command_child *child);

/* ---- signals.c ----------------------------------------------------------------------- */

/** Blocks what we wait for; as often as it is given back. */
void command_signals_take(void);
void command_signals_give_back(void);
/** Return: the next one: SIGCHLD, or one that tells us to end. */
int command_signals_wait(void);
/** For a child: what it would have found without us. */
void command_signals_as_before(void);

/* ---- tree.c -------------------------------------------------------------------------- */

/** Processes by number. */
struct command_pids {
	pid_t *pid;
	uint32_t count, room;
	bool blind; /* this kernel does not list children: only ours are there */
};

/**
 * command_tree() - all processes below this one, but for @except and theirs
 * Keeps @out's memory for the next time; free(out->pid) in the end. Return: 0 or -ENOMEM.
 */
int command_tree(const struct command_pids *except, struct command_pids *out);

/* ---- books.c ------------------------------------------------------------------------- */

struct command_books {
	struct command_pids tree;
	pid_t command;
	const struct command_pids *except;
	uint32_t looks;
	double look_ns;       /* CPU time that all looks took */
	double last_ns;       /* when the last one began */
	double resident_most; /* of all processes at once; these below 0: not seen */
	double tables_most;
	double huge_then;  /* bytes on huge pages at that moment */
	double high_water; /* most that one process had at any time */
	double placing_ns;
	double huge_time, resident_time; /* bytes times ns since the last look, summed */
};

void command_books_begin(struct command_books *books, pid_t command,
			 const struct command_pids *except);
/** Looks at all processes. Return: ns of CPU time it took. */
double command_books_look(struct command_books *books);
void command_books_end(struct command_books *books);
/**
 * command_field() - a line "NAME: 123 kB" of a book, in bytes
 * Return: false: there is none, or it is no such line.
 */
bool command_field(const char *text, const char *name, uint64_t *bytes);

/* ---- watch.c ------------------------------------------------------------------------- */

struct command_watch {
	struct command_books books;
	double interval_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool over, started;
};

/** Begins to look, if looks are wanted. Without a thread there are none. */
void command_watch_begin(struct command_watch *watch, const struct command_want *want,
			 pid_t command, const struct command_pids *except);
/** The last look has ended when it returns. */
void command_watch_end(struct command_watch *watch);

#endif
