/* SPDX-License-Identifier: MIT */
/*
 * bundle.h - several files in one input: texts with a NUL byte between them
 */
#ifndef FUZZ_BUNDLE_H
#define FUZZ_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond))                                                                       \
			abort();                                                                   \
	} while (0)

/** A directory of our own, made once, in memory where that can be; removed at exit. */
const char *bundle_directory(void);

/**
 * bundle_write() - each text of the input into the file of its place
 * @names: paths below bundle_directory(); directories are made. Texts beyond the last are left out,
 *         and files beyond the last text are removed.
 */
void bundle_write(const uint8_t *data, size_t size, const char *const *names, size_t count);

#endif
