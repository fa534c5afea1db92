/* SPDX-License-Identifier: MIT */
/*
 * command.h - runs one command under two settings, in turn, and counts what it cost
 *
 * events.c    which hardware events this machine's processors have
 * names.c     the same by the names that processors' manuals use, with libpfm4
 * counters.c  opens them on a process that has not begun, and reads them when it is over
 * spawn.c     starts the command, held until its counters are there
 * tree.c      which processes belong to it
 * books.c     what the kernel's books say of them
 * watch.c     looks at these while the command runs
 * signals.c   the end of a child, and being told to end
 * faults.c    how long page faults take, by the kernel's marks
 * marks.c     pairs these
 * once.c      one run, from its start to its end
 * rounds.c    run by run, both settings in turn
 * compare.c   ratio, interval, verdict
 * overhead.c  what the measuring itself costs
 *
 * Prints nothing, but for what a setting's own functions say. One thread, and one
 * command at a time: it takes over SIGCHLD and the signals that end a program, and
 * makes this process the parent of what the command leaves behind (subreaper).
 * Functions return 0 or a negative errno. Linux only.
 */
#ifndef HASHDIST_COMMAND_H
#define HASHDIST_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "measure/measure.h"

/* ---- figures ------------------------------------------------------------------------- */

/** What is counted of a run. Times in ns, sizes in bytes, shares from 0 to 1. */
enum command_figure {
	COMMAND_WALL,
	COMMAND_CPU, /* user and system: exact, where the two apart may be by clock tick */
	COMMAND_USER,
	COMMAND_SYSTEM,
	COMMAND_PLACING,    /* of the thread that places, as last looked at */
	COMMAND_FAULT_TIME, /* from the begin of each minor fault to its end; of fault runs only */
	COMMAND_MINOR_FAULTS,
	COMMAND_MAJOR_FAULTS,
	COMMAND_RESIDENT,      /* peak of the process that had most, by the kernel's own mark */
	COMMAND_TREE_RESIDENT, /* peak of all processes at once, as looked at */
	COMMAND_TABLES,        /* page tables of all processes, likewise */
	COMMAND_HUGE,          /* share on huge pages when most was resident */
	COMMAND_HUGE_MEAN,     /* the same over the whole run */
	COMMAND_LOAD_MISSES,   /* the kernel's dTLB-load-misses */
	COMMAND_STORE_MISSES,  /* and dTLB-store-misses */
	COMMAND_WALKS,         /* page walks for data that were completed */
	COMMAND_WALK_CYCLES,   /* that walkers were at work on them */
	COMMAND_CYCLES,
	COMMAND_FIGURES,
	COMMAND_HARDWARE = COMMAND_LOAD_MISSES, /* from here on the processor counts */
	COMMAND_COUNTED = COMMAND_FIGURES - COMMAND_HARDWARE,
};

/** "load_misses"; stable. */
const char *command_figure_key(enum command_figure figure);

/* ---- events.c, names.c --------------------------------------------------------------- */

enum {
	COMMAND_PMUS_MAX = 8,
	COMMAND_EVENTS_MAX = 64,
	COMMAND_NAME_MAX = 192,
};

/** One kind of core's counters; a hybrid processor has several. */
struct command_pmu {
	char name[COMMAND_NAME_MAX];
	uint32_t type; /* as perf_event_open(2) wants it, or 0: the usual one */
	bool several;  /* one of several: the type must be told */
};

struct command_event {
	enum command_figure figure;  /* to which it adds */
	char name[COMMAND_NAME_MAX]; /* "dTLB-load-misses", "skl::DTLB_LOAD_MISSES:..." */
	uint32_t type;
	uint64_t config, config1, config2;
};

struct command_events {
	struct command_event event[COMMAND_EVENTS_MAX];
	uint32_t events;
};

/**
 * Turns a name of the processor's manual into an event of one PMU.
 * Return: false: that PMU has none of that name.
 */
typedef bool (*command_encode)(void *ctx, const struct command_pmu *pmu, const char *name,
			       struct command_event *out);

/** PMUs of cores below @root, which is "/sys" but in tests. Return: how many, 0 none. */
uint32_t command_pmus(const char *root, struct command_pmu *out);
/** dTLB misses and cycles, by the kernel's own table for each PMU. */
void command_select_generic(const struct command_pmu *pmu, uint32_t pmus,
			    struct command_events *out);
/** Walks and walk cycles: of each figure the first name that a PMU has. */
void command_select_named(const struct command_pmu *pmu, uint32_t pmus, command_encode encode,
			  void *ctx, struct command_events *out);
/** All that this machine's processors have, as far as is known before they are opened. */
const struct command_events *command_select(void);
/** Were names compiled in? Else walks are unknown everywhere. */
bool command_has_names(void);

/* ---- counters.c ---------------------------------------------------------------------- */

/** Why the processor counts something, or not. */
struct command_hardware {
	int error[COMMAND_COUNTED]; /* of perf_event_open(2), negative; 0: counted, or no event */
	bool has_event[COMMAND_COUNTED];
	bool counted[COMMAND_COUNTED];
	char name[COMMAND_COUNTED][COMMAND_NAME_MAX]; /* of the first event of each */
	uint32_t pmus[COMMAND_COUNTED];               /* that are summed */
	bool user_only;                               /* the kernel's part is not ours to count */
	int paranoid; /* /proc/sys/kernel/perf_event_paranoid; INT32_MIN unknown */
	bool guest;   /* this kernel runs in a virtual machine */
	bool has_pmu; /* this kernel drives one */
};

/**
 * command_scale() - a count of a counter that had to share its place with others
 * @enabled, @running: ns it should have counted, and did
 * Return: the estimate for the whole time; below 0: it never had a turn.
 */
double command_scale(uint64_t value, uint64_t enabled, uint64_t running);

/* ---- settings ------------------------------------------------------------------------ */

/** A way to start the command; its functions run in the process that becomes it. */
struct command_setting {
	/** Before it is counted. Return: 0, or an exit status after having said why. */
	int (*ready)(void *arg, char **argv);
	/** Becomes the command. Return: only when it failed, a negative errno. */
	int (*become)(void *arg, char **argv);
	void *arg;
};

/** Nothing is changed. */
extern const struct command_setting command_as_is;

/* ---- once.c -------------------------------------------------------------------------- */

enum {
	COMMAND_NOT_EXECUTABLE = 126, /* exit statuses, as of a shell */
	COMMAND_NOT_FOUND = 127,
};

struct command_want {
	char **argv; /* of the command; NULL-terminated */
	struct command_setting setting[2];
	uint32_t runs;        /* of each setting; not 0 */
	uint32_t warmups;     /* of each setting, ahead of them and not counted */
	uint32_t fault_runs;  /* of each, after all others, in which page faults are timed */
	uint32_t interval_ms; /* longest pause between two looks at the books; 0: no looks */
	const char *prepare;  /* for sh -c, before each run; NULL none */
	const char *input;    /* standard input of each run; NULL: /dev/null */
	bool show_output;     /* else it goes to /dev/null, and so do messages */
	bool ignore_failure;
	bool no_counters; /* of hardware: for overhead.c and tests */
	bool time_faults; /* in a run by itself; rounds see to it */
	/* Called before each run: the round from 1, 0 warming up, the setting; may be NULL. */
	void (*progress)(void *arg, uint32_t round, int setting);
	void *arg;
};

/** Of a run in which page faults are timed. */
struct command_fault_time {
	int error;       /* they could not be: negative errno of perf_event_open(2) */
	bool user_only;  /* those that the kernel caused on the command's account are left out */
	uint64_t faults; /* minor ones, timed or not */
	double share;    /* of them was timed, and is scaled; 1 all */
	double ns;       /* below 0: unknown */
};

/** One run. */
struct command_once {
	int ready_status;              /* of setting.ready; else 0 */
	int exec_error;                /* the command could not be executed: negative errno */
	int wait_status;               /* as of waitpid(2) */
	int signal;                    /* we were told to end, and the run was ended; 0 */
	double value[COMMAND_FIGURES]; /* below 0: unknown */
	double share;                  /* of the time the least counted event counted; 1 all */
	uint32_t looks;                /* at the books, that found something */
	double look_ns;                /* CPU time they took */
	uint32_t left;                 /* processes that outlive the command */
	struct command_hardware hardware;
	struct command_fault_time faults; /* if they were to be timed */
};

/** Did the command run, and end with status 0? */
bool command_fine(const struct command_once *once);

/**
 * command_once() - run the command once, under one of its settings
 * Return: 0, whatever came of the command; -errno: it could not even be tried.
 */
int command_once(const struct command_want *want, int setting, struct command_once *out);

/* ---- rounds.c ------------------------------------------------------------------------ */

enum command_end {
	COMMAND_DONE,
	COMMAND_FAILED,      /* a run failed, and that was not to be ignored */
	COMMAND_NOT_READY,   /* a setting could not be made; it has said why */
	COMMAND_NOT_STARTED, /* the command could not be executed */
	COMMAND_PREPARE_FAILED,
	COMMAND_INTERRUPTED, /* by a signal to us */
};

struct command_result {
	enum command_end end;
	int setting;    /* 0 A, 1 B: of the run that ended it */
	uint32_t round; /* from 1; 0 warming up */
	struct command_once last;
	uint32_t runs;        /* rounds in which both settings have run */
	uint32_t failures[2]; /* ignored ones */
	double *sample;       /* through command_sample() */
	uint32_t room;        /* rounds it has room for */
	double share;         /* the least of all runs */
	uint32_t least_looks[2];
	double look_share[2]; /* CPU time of looks to a run's time, the most of all runs */
	uint32_t left;        /* processes left behind, in all */
	struct command_hardware hardware;
	uint32_t fault_runs;              /* rounds in which page faults were timed under both */
	struct command_fault_time faults; /* why not; the least share of all */
};

/** Rounds that have a value of @figure: from 0 on. */
uint32_t command_samples(const struct command_result *result, enum command_figure figure);
/** What @figure came to in a round below command_samples(); below 0: unknown. */
double command_sample(const struct command_result *result, int setting, enum command_figure figure,
		      uint32_t round);

/**
 * command_rounds() - both settings in turn, A B, B A, A B, ...
 *
 * Then the rounds in which page faults are timed, which nothing else is taken of.
 * Who goes first alternates, so that neither has the other's caches for its own. Ends
 * at the first run that fails, unless that is to be ignored, with all rounds up to
 * there in @out. Free it, also after an error.
 * Return: 0, out->end tells how it ended; -errno: the measuring itself failed.
 */
int command_rounds(const struct command_want *want, struct command_result *out);
void command_free(struct command_result *result);

/* ---- compare.c ----------------------------------------------------------------------- */

enum command_verdict {
	COMMAND_UNKNOWN,   /* not measured under both settings */
	COMMAND_TOO_FEW,   /* runs, to tell at the confidence that is wanted */
	COMMAND_NO_CHANGE, /* seen: the interval holds 1, or of differences 0 */
	COMMAND_SAME,      /* the whole interval lies within a thousandth of 1 */
	COMMAND_LESS,      /* of B */
	COMMAND_MORE,
	COMMAND_VERDICTS,
};

/** "no difference seen" */
const char *command_verdict_name(enum command_verdict verdict);

struct command_comparison {
	enum command_verdict verdict;
	uint32_t pairs;
	double confidence; /* of the interval; 0: there is none */
	bool ratio_known;  /* no run had 0 */
	double ratio;      /* B to A */
	double low, high;  /* the interval, if there is one */
	double difference; /* B less A, and its interval */
	double difference_low, difference_high;
};

#define COMMAND_CONFIDENCE 0.95
enum { COMMAND_PAIRS_LEAST = 6 }; /* for that confidence */

/**
 * command_rank() - which of @pairs ratios, by size, bound an interval of COMMAND_CONFIDENCE
 * @confidence: that of the interval, exactly; at least what was asked for
 * Return: the how manieth from either end, 1 the outermost; 0: none has that confidence.
 */
uint32_t command_rank(uint32_t pairs, double *confidence);
/**
 * command_compare() - @pairs values of A and B from the same rounds, below 0: unknown
 * Return: 0 or -ENOMEM.
 */
int command_compare(const double *a, const double *b, uint32_t pairs,
		    struct command_comparison *out);

/* ---- overhead.c ---------------------------------------------------------------------- */

/** Of the program true(1), in ns, medians. */
struct command_overhead {
	uint32_t runs;    /* 0: it could not be told */
	double bare_ns;   /* forked, executed and waited for, by the shortest way */
	double inside_ns; /* its time as we measure it */
	double all_ns;    /* the same with all that is done before and after */
};

/** Takes a fraction of a second. Return: 0; -EINTR: we were told to end; -errno. */
int command_overhead(const struct command_want *want, struct command_overhead *out);

#endif
