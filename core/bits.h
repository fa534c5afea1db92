/* SPDX-License-Identifier: MIT */
/* bits.h - powers of two */
#ifndef HASHDIST_CORE_BITS_H
#define HASHDIST_CORE_BITS_H

#include <stdint.h>

/** floor(log2 @n); 0 for 0. */
static inline unsigned log2_floor(uint64_t n)
{
#ifdef __GNUC__
	return n ? 63u - (unsigned)__builtin_clzll(n) : 0;
#else
	unsigned log = 0;

	while (n >>= 1)
		log++;
	return log;
#endif
}

/** The smallest power of two that is not below @n, at most 2^63. */
static inline uint64_t power_of_two_up(uint64_t n)
{
	unsigned log = log2_floor(n);

	if (n <= 1)
		return 1;
	if (n == 1ULL << log)
		return n;
	return log >= 63 ? 1ULL << 63 : 1ULL << (log + 1);
}

#endif
