/* SPDX-License-Identifier: MIT */
/*
 * boot_queue.c - a ring of boots between two threads
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>

#include "cli/boot_queue.h"

enum { PLACES = 64 };

struct place {
	const char *file; /* NULL: the end */
	struct klog_boot boot;
};

struct boot_queue {
	boot_queue_take *take;
	void *ctx;
	pthread_t thread;
	bool threaded;
	sem_t empty, full;
	unsigned next_in, next_out;
	struct place place[PLACES];
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
		struct place *place = &queue->place[queue->next_out++ % PLACES];

		wait_for(&queue->full);
		if (!place->file)
			return NULL;
		queue->take(queue->ctx, place->file, &place->boot);
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
	sem_init(&queue->empty, 0, PLACES);
	sem_init(&queue->full, 0, 0);
	queue->threaded = start_thread(queue);
	return queue;
}

void boot_queue_put(struct boot_queue *queue, const char *file, const struct klog_boot *boot)
{
	struct place *place = &queue->place[queue->next_in % PLACES];

	if (!queue->threaded) {
		queue->take(queue->ctx, file, boot);
		return;
	}
	wait_for(&queue->empty);
	place->file = file;
	klog_boot_copy(&place->boot, boot);
	queue->next_in++;
	sem_post(&queue->full);
}

void boot_queue_free(struct boot_queue *queue)
{
	if (!queue)
		return;
	if (queue->threaded) {
		wait_for(&queue->empty);
		queue->place[queue->next_in % PLACES].file = NULL;
		sem_post(&queue->full);
		pthread_join(queue->thread, NULL);
	}
	sem_destroy(&queue->empty);
	sem_destroy(&queue->full);
	free(queue);
}
