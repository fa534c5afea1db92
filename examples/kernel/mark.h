/* SPDX-License-Identifier: MIT */
/*
 * mark.h - says to a counter outside where the lookups begin and end
 *
 * A long nop whose displacement is the message, its values in rdi and rsi. A processor does
 * nothing for it, nor does an emulator; a plugin of the emulator sees it when it is translated.
 * The jump ends the emulator's block, so that the values are in the registers by then.
 */
#ifndef EXAMPLE_KERNEL_MARK_H
#define EXAMPLE_KERNEL_MARK_H

enum mark {
	MARK_SYMBOLS, /* address, bytes: a text in the form of /proc/kallsyms; counting follows */
	MARK_BEGIN,   /* number of the repetition, 0 */
	MARK_END,     /* number of the repetition, 0 fine or 1 */
};

enum { MARK_WORD = 0x68646700 };

#define MARK(what, first, second)                                                                  \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0\n\tjmp 1f\n1:"                 \
			 :                                                                         \
			 : "i"(MARK_WORD | (what)), "D"(first), "S"(second)                        \
			 : "memory")

#endif
