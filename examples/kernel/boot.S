/* SPDX-License-Identifier: MIT */
/*
 * boot.S - from the loader's 32 bits to C in 64
 *
 * The loader (QEMU's -kernel) finds the note, loads the file where its headers say, and jumps to
 * start32 in protected mode without paging, the address of its start information in ebx.
 *
 * One set of page tables for the first steps: 4 GiB of memory by 2 MiB pages, at address 0 (this
 * code runs there), at the linear map, and its first GiB at the kernel's own address.
 */
#define KERNEL_BASE    0xffffffff80000000
#define PHYS(symbol)   ((symbol) - KERNEL_BASE)
#define LINEAR_SLOT    273 /* of LINEAR_BASE in the top table */
#define KERNEL_SLOT    511 /* of KERNEL_BASE, there and... */
#define KERNEL_SLOT_2  510 /* ...in the table below */
#define TABLE          0x003 /* present, writable */
#define LARGE          0x083
#define CR0_PE_PG      0x80000001
#define CR4_PAE        0x20
#define EFER           0xc0000080
#define EFER_LME_NXE   0x900

	.section .note.pvh, "a", @note
	.long 4, 8, 18 /* of name, of value; XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.quad PHYS(start32)

	.section .text.start, "ax"
	.code32
	.globl start32
start32:
	cld
	cli
	movl %ebx, %ebp

	movl $PHYS(directories), %edi /* 2048 translations, one behind the other */
	movl $LARGE, %eax
	movl $2048, %ecx
1:	movl %eax, (%edi)
	addl $0x200000, %eax
	addl $8, %edi
	loop 1b

	movl $PHYS(low), %edi
	movl $(PHYS(directories) + TABLE), %eax
	movl $4, %ecx
2:	movl %eax, (%edi)
	addl $0x1000, %eax
	addl $8, %edi
	loop 2b

	movl $(PHYS(directories) + TABLE), PHYS(high) + 8 * KERNEL_SLOT_2
	movl $(PHYS(low) + TABLE), PHYS(top)
	movl $(PHYS(low) + TABLE), PHYS(top) + 8 * LINEAR_SLOT
	movl $(PHYS(high) + TABLE), PHYS(top) + 8 * KERNEL_SLOT

	movl %cr4, %eax
	orl $CR4_PAE, %eax
	movl %eax, %cr4
	movl $PHYS(top), %eax
	movl %eax, %cr3
	movl $EFER, %ecx
	rdmsr
	orl $EFER_LME_NXE, %eax
	wrmsr
	movl %cr0, %eax
	orl $CR0_PE_PG, %eax
	movl %eax, %cr0
	lgdt PHYS(gdt_low)
	ljmp $8, $PHYS(start64)

	.code64
start64:
	movl $16, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movq $stack_end, %rsp
	lgdt gdt_high /* the address below will not be mapped for long */
	movl %ebp, %edi /* the start information */
	xorl %ebp, %ebp
	movq $kernel_main, %rax
	call *%rax

	.section .rodata
	.balign 8
gdt:	.quad 0
	.quad 0x00af9b000000ffff /* code, 64 bits */
	.quad 0x00cf93000000ffff /* data */
gdt_low:
	.word gdt_low - gdt - 1
	.long PHYS(gdt)
gdt_high:
	.word gdt_low - gdt - 1
	.quad gdt

	.bss
	.balign 4096
top:	.skip 4096
low:	.skip 4096
high:	.skip 4096
directories:
	.skip 4 * 4096
stack:	.skip 32768
stack_end:

	.section .note.GNU-stack, "", @progbits
