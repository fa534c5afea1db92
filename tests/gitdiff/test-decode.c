/* SPDX-License-Identifier: MIT */
/*
 * test-decode.c - instructions that the plugin has to recognise, as an assembler writes them
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "decode.h"

#include "bench/gitdiff/guest/mark.h"

#define DECODE(...)                                                                                \
	decode((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R12 = 12, R13 };

static void assert_address(struct decoded got, int base, int index, int scale, int displacement)
{
	assert_int_equal(got.what, DECODED_INVLPG);
	assert_true(got.operand.known);
	assert_int_equal(got.operand.base, base);
	assert_int_equal(got.operand.index, index);
	if (index != DECODED_NO_REGISTER)
		assert_int_equal(got.operand.scale, scale);
	assert_int_equal(got.operand.displacement, displacement);
}

static void a_write_of_cr3_names_its_register(void **state)
{
	(void)state;
	assert_int_equal(DECODE(0x0f, 0x22, 0xdf).what, DECODED_CR3); /* mov %rdi,%cr3 */
	assert_int_equal(DECODE(0x0f, 0x22, 0xdf).operand.base, RDI);
	assert_int_equal(DECODE(0x41, 0x0f, 0x22, 0xdc).what, DECODED_CR3); /* mov %r12,%cr3 */
	assert_int_equal(DECODE(0x41, 0x0f, 0x22, 0xdc).operand.base, R12);
}

static void other_control_registers_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(DECODE(0x0f, 0x22, 0xe0).what, DECODED_CR4);         /* mov %rax,%cr4 */
	assert_int_equal(DECODE(0x0f, 0x22, 0xc0).what, DECODED_OTHER);       /* mov %rax,%cr0 */
	assert_int_equal(DECODE(0x44, 0x0f, 0x22, 0xc0).what, DECODED_OTHER); /* mov %rax,%cr8 */
	assert_int_equal(DECODE(0x44, 0x0f, 0x22, 0xd8).what,
			 DECODED_OTHER);                                /* %cr11: there is none */
	assert_int_equal(DECODE(0x0f, 0x20, 0xd8).what, DECODED_OTHER); /* mov %cr3,%rax */
}

static void invlpg_of_every_form_of_address(void **state)
{
	const int none = DECODED_NO_REGISTER;

	(void)state;
	assert_address(DECODE(0x0f, 0x01, 0x3f), RDI, none, 0, 0);         /* (%rdi) */
	assert_address(DECODE(0x41, 0x0f, 0x01, 0x38), R8, none, 0, 0);    /* (%r8) */
	assert_address(DECODE(0x0f, 0x01, 0x7d, 0xf0), RBP, none, 0, -16); /* -16(%rbp) */
	assert_address(DECODE(0x0f, 0x01, 0xb8 | RSI, 0, 0x10, 0, 0), RSI, none, 0, 4096);
	assert_address(DECODE(0x0f, 0x01, 0x3c, 0x24), RSP, none, 0, 0);       /* (%rsp) */
	assert_address(DECODE(0x41, 0x0f, 0x01, 0x3c, 0x24), R12, none, 0, 0); /* (%r12) */
	assert_address(DECODE(0x0f, 0x01, 0x3c, 0xc8), RAX, RCX, 3, 0);        /* (%rax,%rcx,8) */
	/* 64(%r13,%r9,2) */
	assert_address(DECODE(0x43, 0x0f, 0x01, 0x7c, 0x4d, 0x40), R13, R9, 1, 64);
	/* 4096(,%r12,4): r12 is an index where rsp cannot be */
	assert_address(DECODE(0x42, 0x0f, 0x01, 0x3c, 0xa5, 0, 0x10, 0, 0), none, R12, 2, 4096);
	/* an absolute address: sign-extended */
	assert_address(DECODE(0x0f, 0x01, 0x3c, 0x25, 0, 0, 0, 0x80), none, none, 0, INT32_MIN);
}

static void an_address_that_cannot_be_known_says_so(void **state)
{
	(void)state;
	assert_false(DECODE(0x65, 0x0f, 0x01, 0x3f).operand.known);       /* %gs:(%rdi) */
	assert_false(DECODE(0x67, 0x0f, 0x01, 0x3f).operand.known);       /* (%edi) */
	assert_false(DECODE(0x0f, 0x01, 0x3d, 1, 0, 0, 0).operand.known); /* 1(%rip) */
	assert_false(DECODE(0x0f, 0x01, 0x3c).operand.known);             /* cut */
	assert_false(DECODE(0x0f, 0x01, 0xbf, 0, 0x10, 0).operand.known); /* cut */
	assert_int_equal(DECODE(0x65, 0x0f, 0x01, 0x3f).what, DECODED_INVLPG);
	assert_int_equal(DECODE(0x0f, 0x01, 0x3c).what, DECODED_INVLPG);
}

static void what_shares_the_opcode_of_invlpg_is_another(void **state)
{
	(void)state;
	assert_int_equal(DECODE(0x0f, 0x01, 0xf8).what, DECODED_OTHER); /* swapgs */
	assert_int_equal(DECODE(0x0f, 0x01, 0x17).what, DECODED_OTHER); /* lgdt (%rdi) */
}

static void invpcid_with_its_prefix_only(void **state)
{
	(void)state;
	assert_int_equal(DECODE(0x66, 0x0f, 0x38, 0x82, 0x06).what, DECODED_INVPCID);
	assert_int_equal(DECODE(0x0f, 0x38, 0x82, 0x06).what, DECODED_OTHER);
	/* The same bytes of the map below are a jump. */
	assert_int_equal(DECODE(0x0f, 0x82, 1, 0, 0, 0).what, DECODED_OTHER);
}

static void marks_carry_their_number(void **state)
{
	(void)state;
	for (unsigned mark = 0; mark < MARKS; mark++) {
		struct decoded got =
		    DECODE(0x0f, 0x1f, 0x84, 0x00, (uint8_t)(MARK_WORD + mark),
			   MARK_WORD >> 8 & 0xff, MARK_WORD >> 16 & 0xff, MARK_WORD >> 24);

		assert_int_equal(got.what, DECODED_MARK);
		assert_int_equal(got.value, mark);
	}
}

static void long_nops_of_compilers_are_no_marks(void **state)
{
	(void)state;
	assert_int_equal(DECODE(0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0).what, DECODED_OTHER);
	assert_int_equal(DECODE(0x0f, 0x1f, 0x84, 0, MARKS, 0x47, 0x64, 0x68).what, DECODED_OTHER);
	assert_int_equal(DECODE(0x0f, 0x1f, 0x44, 0, 0).what, DECODED_OTHER);
}

/* Every piece of an instruction, at the end of a block of memory: a sanitizer sees one byte more. */
static void no_byte_is_read_beyond_the_end(void **state)
{
	static const uint8_t whole[] = { 0x66, 0x43, 0x0f, 0x01, 0x7c, 0x4d, 0x40 };

	(void)state;
	for (size_t count = 1; count <= sizeof(whole); count++) {
		uint8_t *piece = malloc(count);

		assert_non_null(piece);
		memcpy(piece, whole, count);
		assert_int_equal(decode(piece, count).what,
				 count > 4 ? DECODED_INVLPG : DECODED_OTHER);
		free(piece);
	}
	assert_int_equal(decode(whole, 0).what, DECODED_OTHER);
	assert_int_equal(DECODE(0x66, 0x66, 0x66).what, DECODED_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_of_cr3_names_its_register),
		cmocka_unit_test(other_control_registers_are_told_apart),
		cmocka_unit_test(invlpg_of_every_form_of_address),
		cmocka_unit_test(an_address_that_cannot_be_known_says_so),
		cmocka_unit_test(what_shares_the_opcode_of_invlpg_is_another),
		cmocka_unit_test(invpcid_with_its_prefix_only),
		cmocka_unit_test(marks_carry_their_number),
		cmocka_unit_test(long_nops_of_compilers_are_no_marks),
		cmocka_unit_test(no_byte_is_read_beyond_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
