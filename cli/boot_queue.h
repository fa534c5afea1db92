/* SPDX-License-Identifier: MIT */
/*
 * boot_queue.h - read logs in one thread, judge and print boots in another
 *
 * Boots come out one by one, in the order they went in. The queue has a fixed
 * number of places; who puts waits while all are taken.
 */
#ifndef HASHDIST_CLI_BOOT_QUEUE_H
#define HASHDIST_CLI_BOOT_QUEUE_H

#include "klog/klog.h"

struct boot_queue;

/** @boot is valid during the call only. */
typedef void boot_queue_take(void *ctx, const char *file, const struct klog_boot *boot);

/** Return: a queue; NULL when out of memory. Without a thread, @take is called at once. */
struct boot_queue *boot_queue_new(boot_queue_take *take, void *ctx);
/** @file is kept until @take was called with it. */
void boot_queue_put(struct boot_queue *queue, const char *file, const struct klog_boot *boot);
/** Waits until every boot was taken; what @take wrote is then visible to the caller. */
void boot_queue_free(struct boot_queue *queue);

#endif
