/* SPDX-License-Identifier: MIT */
/* quiet.h - what a verb prints, kept from the fuzzer's own output */
#ifndef FUZZ_QUIET_H
#define FUZZ_QUIET_H

#include <stddef.h>

/** Standard output goes to /dev/null from here on, standard error into memory. */
void quiet_begin(void);
/** Both are again what they were. Return: what was said on standard error; free() it. */
char *quiet_end(size_t *len);

#endif
