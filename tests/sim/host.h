/* SPDX-License-Identifier: MIT */
/*
 * host.h - a host that runs out of memory when told to
 *
 * Linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free.
 */
#ifndef HASHDIST_TESTS_SIM_HOST_H
#define HASHDIST_TESTS_SIM_HOST_H

#include <stdbool.h>

struct host {
	bool on, for_good;
	long left;     /* calls that still succeed */
	long failures; /* since host_allows() */
	long live;     /* blocks in use */
};

extern struct host host;

/** So many calls succeed, then one fails; or all from then on. */
void host_allows(long calls, bool for_good);
/** No call fails. */
void host_is_well(void);

#endif
