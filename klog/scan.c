/* SPDX-License-Identifier: MIT */
/*
 * scan.c - one quick look at a block of text
 *
 * The same thing three times: byte by byte, and 16 or 32 bytes at once where the
 * processor can. scan.h says what is looked for.
 */
#include "scan.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/** All blocks by @scan_64(), which does 64 bytes and looks at the one behind them too. */
#define BLOCKS(scan_64)                                                                            \
	size_t words = (len + 63) / 64, w = 0;                                                     \
                                                                                                   \
	for (; w < words && end - p > 64; w++, p += 64)                                            \
		scan_64(p, &scan->newline[w], &scan->odd[w]);                                      \
	for (; w < words; w++, p += 64) {                                                          \
		char rest[65] = { 0 };                                                             \
                                                                                                   \
		memcpy(rest, p, (size_t)(end - p));                                                \
		scan_64(rest, &scan->newline[w], &scan->odd[w]);                                   \
	}                                                                                          \
	return words

#ifdef __x86_64__

/* Bytes are compared as signed ones, so that those from 128 up are below a blank too. */

static inline __attribute__((always_inline)) void sse2(const char *p, uint64_t *newline,
						       uint64_t *odd)
{
	uint64_t ends = 0, hits = 0;

#define IS(at, what)    _mm_cmpeq_epi8(at, _mm_set1_epi8(what))
#define BELOW(at, what) _mm_cmplt_epi8(at, _mm_set1_epi8(what))
#define PAIR(a, b)      _mm_and_si128(IS(c, a), IS(d, b))
	for (int i = 0; i < 64; i += 16) {
		__m128i c = _mm_loadu_si128((const __m128i_u *)(const void *)(p + i));
		__m128i d = _mm_loadu_si128((const __m128i_u *)(const void *)(p + i + 1));
		__m128i stamp = _mm_and_si128(IS(c, '['), BELOW(d, ':'));
		__m128i words =
		    _mm_or_si128(_mm_or_si128(PAIR('s', 'h'), PAIR('u', 'x')), PAIR('l', ':'));
		__m128i hit = _mm_or_si128(_mm_or_si128(BELOW(c, ' '), stamp), words);

		ends |= (uint64_t)(unsigned)_mm_movemask_epi8(IS(c, '\n')) << i;
		hits |= (uint64_t)(unsigned)_mm_movemask_epi8(hit) << i;
	}
#undef PAIR
#undef BELOW
#undef IS
	*newline = ends;
	*odd = hits;
}

static inline __attribute__((always_inline, target("avx2"))) void
avx2(const char *p, uint64_t *newline, uint64_t *odd)
{
	uint64_t ends = 0, hits = 0;

#define IS(at, what)    _mm256_cmpeq_epi8(at, _mm256_set1_epi8(what))
#define BELOW(at, what) _mm256_cmpgt_epi8(_mm256_set1_epi8(what), at)
#define PAIR(a, b)      _mm256_and_si256(IS(c, a), IS(d, b))
	for (int i = 0; i < 64; i += 32) {
		__m256i c = _mm256_loadu_si256((const __m256i_u *)(const void *)(p + i));
		__m256i d = _mm256_loadu_si256((const __m256i_u *)(const void *)(p + i + 1));
		__m256i stamp = _mm256_and_si256(IS(c, '['), BELOW(d, ':'));
		__m256i words = _mm256_or_si256(_mm256_or_si256(PAIR('s', 'h'), PAIR('u', 'x')),
						PAIR('l', ':'));
		__m256i hit = _mm256_or_si256(_mm256_or_si256(BELOW(c, ' '), stamp), words);

		ends |= (uint64_t)(unsigned)_mm256_movemask_epi8(IS(c, '\n')) << i;
		hits |= (uint64_t)(unsigned)_mm256_movemask_epi8(hit) << i;
	}
#undef PAIR
#undef BELOW
#undef IS
	*newline = ends;
	*odd = hits;
}

static __attribute__((target("avx2"))) size_t scan_avx2(struct scan *scan, const char *p,
							size_t len, const char *end)
{
	BLOCKS(avx2);
}

size_t klog__scan(struct scan *scan, const char *p, size_t len, const char *end)
{
	if (__builtin_cpu_supports("avx2"))
		return scan_avx2(scan, p, len, end);
	BLOCKS(sse2);
}

#else

static inline void bytes(const char *p, uint64_t *newline, uint64_t *odd)
{
	*newline = *odd = 0;
	for (int i = 0; i < 64; i++) {
		signed char c = (signed char)p[i], d = (signed char)p[i + 1];
		bool hit = c < ' ' || (c == '[' && d < ':') || (c == 's' && d == 'h') ||
			   (c == 'u' && d == 'x') || (c == 'l' && d == ':');

		*newline |= (uint64_t)(c == '\n') << i;
		*odd |= (uint64_t)hit << i;
	}
}

size_t klog__scan(struct scan *scan, const char *p, size_t len, const char *end)
{
	BLOCKS(bytes);
}

#endif
