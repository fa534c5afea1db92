/* SPDX-License-Identifier: MIT */
/*
 * faults.c - how long page faults take, by the kernel's own marks
 *
 * The kernel counts a fault twice: as one when it begins to handle it, and as a minor one
 * when it has. Both counts are had as events with a time and a thread, so a fault's time is
 * that from one to the other, less what the thread was off its CPU in between, which is
 * marked, too; that of a major fault, which waits for a disk, has no second mark of the
 * kind. What is outside of the marks is the way into the kernel and back; what is inside
 * and not the kernel's is writing down the first mark. Memory that is populated by a call,
 * not touched, causes no fault, and has no marks.
 *
 * Each CPU has its own ring of marks. One that is full loses marks; how many faults there
 * were is counted all the same, and the time of those whose marks are there is scaled.
 *
 * Source: perf_event_open(2); do_user_addr_fault() and mm_account_fault(), Linux 5.9 on;
 * before, each architecture's fault handler had both marks itself.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "command/internal.h"

enum { BEGUN = COMMAND_FAULT_BEGUN, DONE = COMMAND_FAULT_DONE, EVENTS };

enum {
	RING_MOST = 2 << 20, /* bytes, of one CPU */
	RING_LEAST = 128 << 10,
	RINGS_MOST = 64 << 20, /* of all */
	UNSETTLED_NS = 2000000,
	PAUSE_MS = 20,
};

/** As the kernel writes it: attr.sample_type of open_mark(). */
struct sample {
	struct perf_event_header header;
	uint64_t id;
	uint32_t process, thread;
	uint64_t time;
};

/** Likewise, by attr.sample_id_all: a thread leaves a CPU, or comes back. */
struct switched {
	struct perf_event_header header;
	uint32_t process, thread;
	uint64_t time;
	uint64_t id;
};

struct ring {
	int fd[EVENTS]; /* -1: none */
	uint64_t id[EVENTS];
	struct perf_event_mmap_page *page; /* NULL: none */
};

struct command_faults {
	struct ring *ring;
	struct pollfd *poll; /* of each ring, and of @over */
	uint32_t rings;
	size_t bytes; /* of each ring's marks */
	bool user_only;
	int over; /* an eventfd(2): wakes the reader */
	atomic_bool is_over;
	pthread_t reader;

	struct command_marks marks;
};

/* ---- rings ------------------------------------------------------------------------------ */

/** Return: a file, or a negative errno. */
static int open_mark(int kind, pid_t pid, int cpu, size_t bytes, bool user_only)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = kind == BEGUN ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.sample_period = 1,
		.sample_id_all = 1,
		.context_switch = kind == BEGUN,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)bytes / 4,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_hv = 1,
		.exclude_kernel = user_only,
	};
	long fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/** Both marks of one CPU into one ring. Return: 0, or a negative errno. */
static int open_ring(struct command_faults *faults, struct ring *ring, pid_t pid, int cpu)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at;

	for (int kind = BEGUN; kind < EVENTS; kind++) {
		ring->fd[kind] = open_mark(kind, pid, cpu, faults->bytes, faults->user_only);
		if (ring->fd[kind] < 0)
			return ring->fd[kind];
		if (ioctl(ring->fd[kind], PERF_EVENT_IOC_ID, &ring->id[kind]))
			return -errno;
	}
	at = mmap(NULL, page + faults->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd[BEGUN],
		  0);
	if (at == MAP_FAILED) /* or -EPERM, which is something else of the calls above */
		return -ENOBUFS;
	ring->page = at;
	if (ioctl(ring->fd[DONE], PERF_EVENT_IOC_SET_OUTPUT, ring->fd[BEGUN]))
		return -errno;
	return 0;
}

static void close_ring(struct command_faults *faults, struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + faults->bytes);
	for (int kind = BEGUN; kind < EVENTS; kind++)
		if (ring->fd[kind] >= 0)
			close(ring->fd[kind]);
	*ring = (struct ring){ .fd = { -1, -1 } };
}

static void close_rings(struct command_faults *faults)
{
	while (faults->rings)
		close_ring(faults, &faults->ring[--faults->rings]);
}

/** A ring for each CPU that is there. Return: 0, or a negative errno. */
static int open_rings(struct command_faults *faults, pid_t pid, uint32_t cpus)
{
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		struct ring *ring = &faults->ring[faults->rings];
		int error;

		*ring = (struct ring){ .fd = { -1, -1 } };
		error = open_ring(faults, ring, pid, (int)cpu);
		if (error)
			close_ring(faults, ring);
		else
			faults->rings++;
		if (error && error != -ENODEV) /* that CPU is off */
			return error;
	}
	return faults->rings ? 0 : -ENODEV;
}

/** Less where less is allowed: rings of half the size, and without the kernel's own faults. */
static int open_as_allowed(struct command_faults *faults, pid_t pid, uint32_t cpus)
{
	int error;

	faults->bytes = RING_MOST;
	while (faults->bytes > RING_LEAST && faults->bytes * cpus > RINGS_MOST)
		faults->bytes /= 2;
	while ((error = open_rings(faults, pid, cpus))) {
		close_rings(faults);
		if (error == -ENOBUFS && faults->bytes > RING_LEAST)
			faults->bytes /= 2;
		else if (!faults->user_only && (error == -EACCES || error == -EPERM))
			faults->user_only = true;
		else
			break;
	}
	return error;
}

/* ---- marks ------------------------------------------------------------------------------ */

/** Of a ring, around whose end it may lie. */
static void copy_out(const char *data, size_t bytes, uint64_t at, void *out, size_t len)
{
	size_t first = bytes - (size_t)(at % bytes);

	first = first < len ? first : len;
	memcpy(out, data + at % bytes, first);
	memcpy((char *)out + first, data, len - first);
}

/** One record at @at, whose header is known. */
static void read_record(struct command_faults *faults, const struct ring *ring, const char *data,
			uint64_t at, const struct perf_event_header *header)
{
	struct switched switched;
	struct sample sample;

	if (header->type == PERF_RECORD_SAMPLE && header->size == sizeof(sample)) {
		copy_out(data, faults->bytes, at, &sample, sizeof(sample));
		command_marks_add(&faults->marks, sample.time, sample.thread,
				  sample.id == ring->id[BEGUN] ? COMMAND_FAULT_BEGUN
							       : COMMAND_FAULT_DONE);
	} else if (header->type == PERF_RECORD_SWITCH && header->size == sizeof(switched)) {
		copy_out(data, faults->bytes, at, &switched, sizeof(switched));
		command_marks_add(&faults->marks, switched.time, switched.thread,
				  header->misc & PERF_RECORD_MISC_SWITCH_OUT ? COMMAND_THREAD_AWAY
									     : COMMAND_THREAD_BACK);
	}
}

static void read_ring(struct command_faults *faults, const struct ring *ring)
{
	const char *data = (const char *)ring->page + ring->page->data_offset;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	struct perf_event_header header;

	while (tail + sizeof(header) <= head) {
		copy_out(data, faults->bytes, tail, &header, sizeof(header));
		read_record(faults, ring, data, tail, &header);
		tail = header.size ? tail + header.size : head;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static void read_all(struct command_faults *faults, bool last)
{
	struct timespec now;
	uint64_t begins;

	clock_gettime(CLOCK_MONOTONIC, &now);
	begins = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	for (uint32_t r = 0; r < faults->rings; r++)
		read_ring(faults, &faults->ring[r]);
	command_marks_settle(&faults->marks, last ? UINT64_MAX : begins - UNSETTLED_NS);
}

static void *read_on(void *arg)
{
	struct command_faults *faults = arg;

	while (!faults->is_over) {
		poll(faults->poll, faults->rings + 1, PAUSE_MS);
		read_all(faults, false);
	}
	return NULL;
}

/* ---- from begin to end -------------------------------------------------------------------- */

static void give_back(struct command_faults *faults)
{
	close_rings(faults);
	if (faults->over >= 0)
		close(faults->over);
	free(faults->ring);
	free(faults->poll);
	command_marks_free(&faults->marks);
	free(faults);
}

static int start_reader(struct command_faults *faults)
{
	for (uint32_t r = 0; r < faults->rings; r++)
		faults->poll[r] = (struct pollfd){ faults->ring[r].fd[BEGUN], POLLIN, 0 };
	faults->poll[faults->rings] = (struct pollfd){ faults->over, POLLIN, 0 };
	return -pthread_create(&faults->reader, NULL, read_on, faults);
}

int command_faults_begin(pid_t pid, struct command_faults **out)
{
	struct command_faults *faults = calloc(1, sizeof(*faults));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int error = -ENOMEM;

	*out = NULL;
	if (!faults)
		return error;
	cpus = cpus > 0 ? cpus : 1;
	faults->over = eventfd(0, EFD_CLOEXEC);
	faults->ring = calloc((size_t)cpus, sizeof(*faults->ring));
	faults->poll = calloc((size_t)cpus + 1, sizeof(*faults->poll));
	if (faults->ring && faults->poll)
		error = faults->over < 0 ? -errno : open_as_allowed(faults, pid, (uint32_t)cpus);
	if (!error)
		error = start_reader(faults);
	if (error)
		give_back(faults);
	else
		*out = faults;
	return error;
}

/** How many faults there were, timed or not. */
static uint64_t count_faults(const struct command_faults *faults)
{
	uint64_t sum = 0, count;

	for (uint32_t r = 0; r < faults->rings; r++)
		if (read(faults->ring[r].fd[DONE], &count, sizeof(count)) == (ssize_t)sizeof(count))
			sum += count;
	return sum;
}

void command_faults_end(struct command_faults *faults, struct command_fault_time *out)
{
	const uint64_t one = 1;
	uint64_t counted = count_faults(faults);

	faults->is_over = true;
	while (write(faults->over, &one, sizeof(one)) < 0 && errno == EINTR)
		; /* any other error costs the reader's pause */
	pthread_join(faults->reader, NULL);
	read_all(faults, true);
	*out = (struct command_fault_time){
		.user_only = faults->user_only,
		.faults = counted > faults->marks.pairs ? counted : faults->marks.pairs,
		.share = 1,
	};
	if (out->faults)
		out->share = (double)faults->marks.pairs / (double)out->faults;
	out->ns = out->share > 0 ? faults->marks.ns / out->share : -1;
	give_back(faults);
}

int command_faults_possible(void)
{
	struct command_faults *faults;
	struct command_fault_time unused;
	int error = command_faults_begin(getpid(), &faults);

	if (!error)
		command_faults_end(faults, &unused);
	return error;
}
