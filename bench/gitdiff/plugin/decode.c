/* SPDX-License-Identifier: MIT */
/*
 * decode.c - prefixes, opcode, ModRM; the rest only of what is wanted
 */
#include "decode.h"

#include "../guest/mark.h"

enum { REX_B = 1, REX_X = 2, REX_R = 4, REX = 0x40 };
enum { MODE_REGISTER = 3, RM_SIB = 4, RM_RIP = 5, NO_INDEX = 4, TWO_BYTES = 0x0f };

struct opcode {
	const uint8_t *modrm; /* what follows the opcode */
	size_t left;          /* bytes from there */
	uint8_t map, code;    /* map: 0, 0x0f, or 0x38 for 0f 38 */
	uint8_t rex;
	bool operand_size, segment, short_address; /* these prefixes were there */
};

static bool is_legacy_prefix(struct opcode *op, uint8_t byte)
{
	switch (byte) {
	case 0x66:
		op->operand_size = true;
		return true;
	case 0x67:
		op->short_address = true;
		return true;
	case 0x64: /* fs, gs: the others mean nothing in 64-bit mode */
	case 0x65:
		op->segment = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

/* False: the bytes end before an opcode and one more byte. */
static bool split(struct opcode *op, const uint8_t *bytes, size_t count)
{
	const uint8_t *end = bytes + count;

	*op = (struct opcode){ 0 };
	while (bytes < end && is_legacy_prefix(op, *bytes))
		bytes++;
	if (bytes < end && (*bytes & 0xf0) == REX)
		op->rex = *bytes++;
	if (bytes < end && *bytes == TWO_BYTES) {
		op->map = *bytes++;
		if (bytes < end && *bytes == 0x38)
			op->map = *bytes++;
	}
	if (end - bytes < 2)
		return false;
	op->code = *bytes++;
	op->modrm = bytes;
	op->left = (size_t)(end - bytes);
	return true;
}

static unsigned mode_of(const struct opcode *op)
{
	return *op->modrm >> 6;
}

static unsigned reg_of(const struct opcode *op)
{
	return *op->modrm >> 3 & 7;
}

static unsigned rm_of(const struct opcode *op)
{
	return *op->modrm & 7;
}

static struct decoded_operand register_operand(const struct opcode *op)
{
	return (struct decoded_operand){
		.base = (int8_t)(rm_of(op) | (op->rex & REX_B ? 8 : 0)),
		.index = DECODED_NO_REGISTER,
		.known = true,
	};
}

static int32_t little_endian(const uint8_t *at, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint32_t)at[i] << 8 * i;
	return bytes == 1 ? (int8_t)value : (int32_t)value;
}

static size_t displacement_bytes(const struct opcode *op)
{
	return mode_of(op) == 1 ? 1 : mode_of(op) == 2 ? 4 : 0;
}

/* Base and index of the byte after ModRM. Returns the bytes of displacement behind it. */
static size_t take_sib(const struct opcode *op, uint8_t sib, struct decoded_operand *out)
{
	unsigned base = sib & 7, index = (sib >> 3 & 7) | (op->rex & REX_X ? 8 : 0);

	out->scale = sib >> 6;
	out->index = index == NO_INDEX ? DECODED_NO_REGISTER : (int8_t)index;
	if (mode_of(op) == 0 && base == RM_RIP) { /* means here: no base */
		out->base = DECODED_NO_REGISTER;
		return 4;
	}
	out->base = (int8_t)(base | (op->rex & REX_B ? 8 : 0));
	return displacement_bytes(op);
}

static struct decoded_operand memory_operand(const struct opcode *op)
{
	struct decoded_operand out = register_operand(op);
	const uint8_t *at = op->modrm + 1, *end = op->modrm + op->left;
	size_t displacement = displacement_bytes(op);

	out.known = false;
	if (op->segment || op->short_address || (mode_of(op) == 0 && rm_of(op) == RM_RIP))
		return out;
	if (rm_of(op) == RM_SIB) {
		if (at == end)
			return out;
		displacement = take_sib(op, *at++, &out);
	}
	if ((size_t)(end - at) < displacement)
		return out;
	out.displacement = little_endian(at, displacement);
	out.known = true;
	return out;
}

static bool is_mark(const uint8_t *bytes, size_t count, unsigned *mark)
{
	if (count != MARK_BYTES || bytes[0] != 0x0f || bytes[1] != 0x1f || bytes[2] != 0x84 ||
	    bytes[3])
		return false;
	*mark = (unsigned)little_endian(bytes + 4, 4) - MARK_WORD;
	return *mark < MARKS;
}

static enum decoded_what control_register(const struct opcode *op)
{
	if (op->rex & REX_R) /* cr8 and beyond */
		return DECODED_OTHER;
	return reg_of(op) == 3 ? DECODED_CR3 : reg_of(op) == 4 ? DECODED_CR4 : DECODED_OTHER;
}

struct decoded decode(const uint8_t *bytes, size_t count)
{
	struct decoded out = { .what = DECODED_OTHER };
	struct opcode op;

	if (is_mark(bytes, count, &out.value)) {
		out.what = DECODED_MARK;
		return out;
	}
	out.value = 0;
	if (!split(&op, bytes, count))
		return out;
	if (op.map == TWO_BYTES && op.code == 0x22) {
		out.what = control_register(&op);
		out.operand = register_operand(&op);
	} else if (op.map == TWO_BYTES && op.code == 0x01 && reg_of(&op) == 7 &&
		   mode_of(&op) != MODE_REGISTER) {
		out.what = DECODED_INVLPG;
		out.operand = memory_operand(&op);
	} else if (op.map == 0x38 && op.code == 0x82 && op.operand_size) {
		out.what = DECODED_INVPCID;
	}
	return out;
}
