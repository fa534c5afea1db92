/* SPDX-License-Identifier: MIT */
/*
 * boot_queue.c - a ring of boots between two threads
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

#include "cli/boot_queue.h"

/* Handing over costs a system call when the other thread sleeps: many boots at once. */
enum { BATCHES = 4, BATCH = 32 };

struct batch {
	unsigned count;
	bool last;
	const char *file[BATCH];
	struct klog_boot boot[BATCH];
};

struct boot_queue {
	boot_queue_take *take;
	void *ctx;
	pthread_t thread;
	bool threaded;
	sem_t empty, full;
	unsigned next_in, next_out;
	bool filling; /* batch next_in is ours already */
	struct batch batch[BATCHES];
};

static void wait_for(sem_t *sem)
{
	while (sem_wait(sem))
		; /* a signal */
}

static void *taker(void *arg)
{
	struct boot_queue *queue = arg;

	for (;;) {
		struct batch *batch = &queue->batch[queue->next_out++ % BATCHES];

		wait_for(&queue->full);
		for (unsigned b = 0; b < batch->count; b++)
			queue->take(queue->ctx, batch->file[b], &batch->boot[b]);
		if (batch->last)
			return NULL;
		sem_post(&queue->empty);
	}
}

/** Signals are for the thread that was there before. */
static bool start_thread(struct boot_queue *queue)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&queue->thread, NULL, taker, queue);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !error;
}

struct boot_queue *boot_queue_new(boot_queue_take *take, void *ctx)
{
	struct boot_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->take = take;
	queue->ctx = ctx;
	sem_init(&queue->empty, 0, BATCHES);
	sem_init(&queue->full, 0, 0);
	queue->threaded = start_thread(queue);
	return queue;
}

/** The batch being filled; waits for one to be free. */
static struct batch *fill(struct boot_queue *queue)
{
	struct batch *batch = &queue->batch[queue->next_in % BATCHES];

	if (!queue->filling) {
		wait_for(&queue->empty);
		batch->count = 0;
		queue->filling = true;
	}
	return batch;
}

static void hand_over(struct boot_queue *queue, bool last)
{
	fill(queue)->last = last;
	queue->filling = false;
	queue->next_in++;
	sem_post(&queue->full);
}

void boot_queue_put(struct boot_queue *queue, const char *file, const struct klog_boot *boot)
{
	struct batch *batch;

	if (!queue->threaded) {
		queue->take(queue->ctx, file, boot);
		return;
	}
	batch = fill(queue);
	batch->file[batch->count] = file;
	klog_boot_copy(&batch->boot[batch->count++], boot);
	if (batch->count == BATCH)
		hand_over(queue, false);
}

void boot_queue_free(struct boot_queue *queue)
{
	if (!queue)
		return;
	if (queue->threaded) {
		hand_over(queue, true);
		pthread_join(queue->thread, NULL);
	}
	sem_destroy(&queue->empty);
	sem_destroy(&queue->full);
	free(queue);
}
