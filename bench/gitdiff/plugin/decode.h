/* SPDX-License-Identifier: MIT */
/*
 * decode.h - the few instructions that matter to a TLB, and marks, from their bytes
 *
 * Source: Intel SDM volume 2: 2.1 on ModRM and SIB, and the instructions' own pages. 64-bit
 * mode only.
 */
#ifndef GITDIFF_DECODE_H
#define GITDIFF_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decoded_what {
	DECODED_OTHER,
	DECODED_MARK,   /* value: enum mark */
	DECODED_CR3,    /* mov to it; operand.base is the register */
	DECODED_CR4,    /* the same */
	DECODED_INVLPG, /* operand is the address */
	DECODED_INVPCID,
};

enum { DECODED_NO_REGISTER = -1 };

/** base + (index << scale) + displacement, registers as instructions number them: rcx is 1. */
struct decoded_operand {
	int8_t base, index; /* or DECODED_NO_REGISTER */
	uint8_t scale;
	int32_t displacement;
	bool known; /* false: relative to a segment or to rip, or the bytes end before it does */
};

struct decoded {
	enum decoded_what what;
	unsigned value;
	struct decoded_operand operand;
};

struct decoded decode(const uint8_t *bytes, size_t count);

#endif
