/* SPDX-License-Identifier: MIT */
/*
 * mark.h - what the guest tells the plugin, and how
 *
 * A mark is a long nop whose displacement says what is meant; its two values are in rdi and
 * rsi. A processor does nothing for it, nor does the emulator. The plugin sees it when it is
 * translated, so that it costs nothing elsewhere.
 */
#ifndef GITDIFF_MARK_H
#define GITDIFF_MARK_H

enum mark {
	MARK_SYMBOLS, /* address, bytes: the text of /proc/kallsyms, in memory; counting follows */
	MARK_BEGIN,   /* number of the repetition, 0 */
	MARK_END,     /* number of the repetition, wait status of the command */
	MARKS
};

enum {
	MARK_WORD = 0x68646700, /* the displacement, less enum mark */
	MARK_BYTES = 8,         /* 0f 1f 84 00, displacement */
};

/*
 * The jump ends the emulator's block. Until then it may keep the values in registers of its
 * own, where the plugin does not see them, if the next instructions replaced them.
 */
#define MARK(what, first, second)                                                                  \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0\n\tjmp 1f\n1:"                 \
			 :                                                                         \
			 : "i"(MARK_WORD | (what)), "D"(first), "S"(second)                        \
			 : "memory")

#endif
