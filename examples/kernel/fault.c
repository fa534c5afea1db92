/* SPDX-License-Identifier: MIT */
/*
 * fault.c - the end of a kernel that touches what it must not
 *
 * One handler for all of the processor's exceptions. It says which address was used last in vain,
 * which is the reason if it was a page fault, and never goes back: so a plain function will do.
 */
#include "kernel.h"

enum {
	EXCEPTIONS = 32,
	CODE = 8,      /* the segment of boot.S */
	GATE = 0x8e00, /* an interrupt gate, present */
};

static struct gate {
	uint16_t low, segment, type, middle;
	uint32_t high, reserved;
} gates[EXCEPTIONS];

static _Noreturn void on_fault(void)
{
	uint64_t address;

	__asm__ volatile("mov %%cr2, %0" : "=r"(address));
	print("panic: a fault, last address %lx\n", address);
	power_off();
}

void fault_init(void)
{
	uint64_t handler = (uint64_t)on_fault;
	struct {
		uint16_t limit;
		uint64_t start;
	} __attribute__((packed)) table = { sizeof(gates) - 1, (uint64_t)gates };

	for (unsigned i = 0; i < EXCEPTIONS; i++)
		gates[i] = (struct gate){ .low = (uint16_t)handler,
					  .segment = CODE,
					  .type = GATE,
					  .middle = (uint16_t)(handler >> 16),
					  .high = (uint32_t)(handler >> 32) };
	__asm__ volatile("lidt %0" : : "m"(table));
}
