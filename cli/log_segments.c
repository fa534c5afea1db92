/* SPDX-License-Identifier: MIT */
/*
 * log_segments.c - read one large file of many boots with all processors
 *
 * The file is cut into pieces of one size. A piece is read from the first edge in it
 * (klog_edge()) to the first edge of a later one at which a boot begins for sure. When
 * that is not the next piece's, the pieces read over are dropped: a guess that was wrong
 * costs time, never a boot.
 *
 * Threads take pieces in order; the caller's thread takes their results in that order.
 * Few pieces are in work at once, and a piece whose results fill its room waits for its
 * turn, so memory is the same for any file. Files are read, not mapped: one that is cut
 * short meanwhile ends early.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/log_segments.h"

/* The sizes are a matter of speed; tests build with smaller ones. */
#ifndef LOG_SEGMENTS_LEAST
#define LOG_SEGMENTS_LEAST (16u << 20) /* smaller files are not cut; so far two boots are sought */
#endif
#ifndef LOG_SEGMENTS_PIECE
#define LOG_SEGMENTS_PIECE (2u << 20)
#endif
#ifndef LOG_SEGMENTS_ROOM
#define LOG_SEGMENTS_ROOM (256u << 10) /* for a piece's results */
#endif

enum {
	WORKERS_MAX = 8,
	SLOTS_MAX = 2 * WORKERS_MAX,
	READ = 256 << 10,
	WINDOW = 16 << 10, /* edges are sought in this much at first */
	WINDOW_MAX = READ - KLOG_EDGE_BEHIND - KLOG_EDGE_AHEAD,
};
#define NO_EDGE UINT64_MAX

enum state { FREE, FILLING, FULL, DONE };

/** A piece in work. */
struct slot {
	enum state state;
	bool dropped; /* nobody wants it any more */
	int error;
	uint64_t start, end; /* start NO_EDGE: nothing begins in it */
	struct klog_stats stats;
	size_t len;
	char *results; /* each behind its length */
};

struct segments {
	int fd;
	const struct log_segments_job *job;
	uint64_t pieces;
	unsigned workers, slots;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock */
	uint64_t next, head; /* pieces to be taken by a thread, and by the caller */
	uint64_t read_over;  /* those below it were, by the reader of an earlier one */
	bool stop;
	struct slot slot[SLOTS_MAX]; /* but a slot in work is its thread's own */
};

struct worker {
	struct segments *all;
	pthread_t thread;
	struct klog *klog;
	void *own; /* the caller's */
	struct slot *slot;
	bool dropped;
	char buf[READ];
};

/* ---- reading --------------------------------------------------------------------------------- */

/** Return: bytes, fewer than @size only at the end of the file; -errno. */
static ssize_t read_at(int fd, char *buf, size_t size, uint64_t at)
{
	size_t got = 0;

	while (got < size) {
		ssize_t n = pread(fd, buf + got, size - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return got ? (ssize_t)got : -errno;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

/** The first edge in a piece; what cannot be read has none. */
static uint64_t edge_in(struct worker *worker, uint64_t piece)
{
	uint64_t from = piece * LOG_SEGMENTS_PIECE, to = from + LOG_SEGMENTS_PIECE;
	size_t window = WINDOW;

	while (from < to) {
		size_t behind = from < KLOG_EDGE_BEHIND ? (size_t)from : KLOG_EDGE_BEHIND, edge;
		size_t size = to - from < window ? (size_t)(to - from) : window;
		ssize_t n = read_at(worker->all->fd, worker->buf, behind + size + KLOG_EDGE_AHEAD,
				    from - behind);
		size_t end = behind + size;

		if (n <= (ssize_t)behind)
			break;
		if (end > (size_t)n)
			end = (size_t)n;
		edge = klog_edge(worker->buf, (size_t)n, behind, end);
		if (edge != KLOG_NO_EDGE)
			return from - behind + edge;
		from += size;
		window = 2 * window < WINDOW_MAX ? 2 * window : WINDOW_MAX;
	}
	return NO_EDGE;
}

/** Has all been called off? */
static bool unwanted(struct worker *worker)
{
	struct segments *all = worker->all;

	pthread_mutex_lock(&all->lock);
	worker->dropped |= all->stop || worker->slot->dropped;
	pthread_mutex_unlock(&all->lock);
	return worker->dropped;
}

/** Feed up to @end, or the end of the file. Return: whether there may be more. */
static bool feed_to(struct worker *worker, uint64_t end)
{
	struct slot *slot = worker->slot;

	while (slot->end < end) {
		size_t size = end - slot->end < READ ? (size_t)(end - slot->end) : READ;
		ssize_t n;

		if (unwanted(worker))
			return false;
		n = read_at(worker->all->fd, worker->buf, size, slot->end);
		if (n < 0)
			slot->error = (int)n;
		if (n <= 0)
			return false;
		klog_feed(worker->klog, worker->buf, (size_t)n);
		slot->end += (uint64_t)n;
	}
	return true;
}

static void read_piece(struct worker *worker, uint64_t piece)
{
	struct segments *all = worker->all;
	struct slot *slot = worker->slot;
	bool more = true;

	slot->start = slot->end = piece ? edge_in(worker, piece) : 0;
	if (slot->start == NO_EDGE)
		return;
	while (more) {
		bool last = ++piece >= all->pieces;
		uint64_t edge = last ? NO_EDGE : edge_in(worker, piece);

		if (edge == NO_EDGE) {
			more =
			    feed_to(worker, last ? UINT64_MAX : (piece + 1) * LOG_SEGMENTS_PIECE);
			continue;
		}
		more = feed_to(worker, edge);
		if (more && klog_at_edge(worker->klog))
			break;
	}
	klog_finish(worker->klog);
	slot->stats = *klog_stats(worker->klog);
}

/* ---- the threads ----------------------------------------------------------------------------- */

/** No room is left: wait until the caller has emptied it. */
static void wait_for_turn(struct worker *worker)
{
	struct segments *all = worker->all;
	struct slot *slot = worker->slot;

	pthread_mutex_lock(&all->lock);
	slot->state = FULL;
	pthread_cond_broadcast(&all->changed);
	while (slot->state == FULL && !all->stop)
		pthread_cond_wait(&all->changed, &all->lock);
	worker->dropped |= all->stop || slot->dropped;
	pthread_mutex_unlock(&all->lock);
}

static void on_boot(void *ctx, const struct klog_boot *boot)
{
	struct worker *worker = ctx;
	struct slot *slot = worker->slot;
	size_t len;

	if (slot->len + sizeof(len) + LOG_SEGMENTS_RESULT_MAX > LOG_SEGMENTS_ROOM &&
	    !worker->dropped)
		wait_for_turn(worker);
	if (worker->dropped)
		return;
	len = worker->all->job->work(worker->own, boot, slot->results + slot->len + sizeof(len));
	if (!len)
		return;
	memcpy(slot->results + slot->len, &len, sizeof(len));
	slot->len += sizeof(len) + len;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct segments *all = worker->all;

	pthread_mutex_lock(&all->lock);
	for (;;) {
		uint64_t piece;

		while (!all->stop && all->next < all->pieces && all->next >= all->head + all->slots)
			pthread_cond_wait(&all->changed, &all->lock);
		if (all->stop || all->next >= all->pieces)
			break;
		piece = all->next++;
		worker->slot = &all->slot[piece % all->slots];
		*worker->slot = (struct slot){ .state = FILLING, .results = worker->slot->results };
		worker->dropped = false;
		if (piece < all->read_over) {
			worker->slot->start = NO_EDGE;
		} else {
			pthread_mutex_unlock(&all->lock);
			read_piece(worker, piece);
			pthread_mutex_lock(&all->lock);
		}
		worker->slot->state = DONE;
		pthread_cond_broadcast(&all->changed);
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

/** Signals are for the thread that was there before. */
static bool start(struct worker *worker)
{
	sigset_t blocked, before;
	int error;

	sigfillset(&blocked);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	error = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !error;
}

/* ---- the caller's thread -------------------------------------------------------------------- */

static void hand_on(const struct segments *all, const struct slot *slot, uint64_t lines)
{
	size_t len;

	for (size_t at = 0; at < slot->len; at += len) {
		memcpy(&len, slot->results + at, sizeof(len));
		at += sizeof(len);
		all->job->take(all->job->ctx, slot->results + at, lines);
	}
}

static void add(struct klog_stats *to, const struct klog_stats *from)
{
	to->bytes += from->bytes;
	to->lines += from->lines;
	to->boots += from->boots;
	to->damaged += from->damaged;
}

/** All before @at was read: pieces that lie there are not worth any more work. */
static void pass_over(struct segments *all, uint64_t at)
{
	all->read_over = at / LOG_SEGMENTS_PIECE;
	for (uint64_t piece = all->head; piece < all->next && piece < all->read_over; piece++)
		all->slot[piece % all->slots].dropped = true;
}

/** The piece at the head, as far as it has come. Sets *@at to its end. Return: is it done? */
static bool take_head(struct segments *all, uint64_t *at, struct klog_stats *stats, int *error)
{
	struct slot *slot = &all->slot[all->head % all->slots];
	bool done, wanted;

	pthread_mutex_lock(&all->lock);
	while (slot->state != FULL && slot->state != DONE)
		pthread_cond_wait(&all->changed, &all->lock);
	done = slot->state == DONE;
	pthread_mutex_unlock(&all->lock);
	wanted = slot->start != NO_EDGE && slot->start >= *at;
	if (wanted)
		hand_on(all, slot, stats->lines);
	if (wanted && done) {
		add(stats, &slot->stats);
		*at = slot->end;
		*error = slot->error;
	}
	pthread_mutex_lock(&all->lock);
	slot->len = 0;
	slot->dropped = !wanted;
	slot->state = done ? FREE : FILLING;
	all->head += done;
	if (done && wanted)
		pass_over(all, *at);
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
	return done;
}

static int take_all(struct segments *all, struct klog_stats *stats)
{
	uint64_t at = 0;
	int error = 0;

	while (all->head < all->pieces && !error)
		take_head(all, &at, stats, &error);
	return error;
}

/* ---- in and out ------------------------------------------------------------------------------ */

static unsigned processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return WORKERS_MAX; /* more than fit into the set */
	return CPU_COUNT(&set) < WORKERS_MAX ? (unsigned)CPU_COUNT(&set) : WORKERS_MAX;
}

static void count(void *ctx, const struct klog_boot *boot)
{
	(void)boot;
	++*(unsigned *)ctx;
}

/** Are there two boots where the first are to be expected? */
static bool several_boots(int fd)
{
	unsigned boots = 0;
	const struct klog_sink sink = { &boots, count, NULL };
	struct klog *klog = klog_new(&sink);
	char *buf = malloc(READ);
	uint64_t at = 0;
	ssize_t n = 1;

	while (klog && buf && boots < 2 && at < LOG_SEGMENTS_LEAST && n > 0) {
		n = read_at(fd, buf, READ, at);
		if (n > 1 && !at && (unsigned char)buf[0] == 0x1f && (unsigned char)buf[1] == 0x8b)
			break; /* gzip */
		if (n > 0)
			klog_feed(klog, buf, (size_t)n);
		at += READ;
	}
	free(buf);
	klog_free(klog);
	return boots >= 2;
}

bool log_segments_fit(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= LOG_SEGMENTS_LEAST &&
	       processors() > 1 && several_boots(fd);
}

static void close_worker(struct segments *all, struct worker *worker)
{
	if (!worker)
		return;
	if (worker->own)
		all->job->close(worker->own);
	klog_free(worker->klog);
	free(worker);
}

static struct worker *open_worker(struct segments *all)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	const struct klog_sink sink = { worker, on_boot, NULL };

	if (!worker)
		return NULL;
	worker->all = all;
	worker->klog = klog_new(&sink);
	worker->own = worker->klog ? all->job->open(all->job->ctx) : NULL;
	if (worker->own && start(worker))
		return worker;
	close_worker(all, worker);
	return NULL;
}

static void stop(struct segments *all, struct worker *const *worker)
{
	pthread_mutex_lock(&all->lock);
	all->stop = true;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
	for (unsigned w = 0; w < all->workers; w++) {
		pthread_join(worker[w]->thread, NULL);
		close_worker(all, worker[w]);
	}
	pthread_cond_destroy(&all->changed);
	pthread_mutex_destroy(&all->lock);
}

int log_segments_read(int fd, const struct log_segments_job *job, struct klog_stats *stats)
{
	struct segments all = { .fd = fd, .job = job };
	struct worker *worker[WORKERS_MAX];
	unsigned wanted = processors();
	struct stat st;
	char *results;
	int error = LOG_SEGMENTS_NO_THREADS;

	*stats = (struct klog_stats){ 0 };
	if (fstat(fd, &st))
		return -errno;
	all.pieces = ((uint64_t)st.st_size + LOG_SEGMENTS_PIECE - 1) / LOG_SEGMENTS_PIECE;
	all.slots = 2 * wanted;
	results = malloc((size_t)all.slots * LOG_SEGMENTS_ROOM);
	if (!results)
		return -ENOMEM;
	for (unsigned s = 0; s < all.slots; s++)
		all.slot[s].results = results + (size_t)s * LOG_SEGMENTS_ROOM;
	pthread_mutex_init(&all.lock, NULL);
	pthread_cond_init(&all.changed, NULL);
	while (all.workers < wanted && (worker[all.workers] = open_worker(&all)))
		all.workers++;
	if (all.workers)
		error = take_all(&all, stats);
	stop(&all, worker);
	free(results);
	return error;
}
