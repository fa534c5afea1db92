/* SPDX-License-Identifier: MIT */
/*
 * guest.c - registers by their numbers in the GDB protocol, memory through the page tables
 */
#include "guest.h"

#include "qemu.h"

enum { GDB_CR0 = 27, PAGE_BYTES = 4096 };

static uint64_t read_register(unsigned cpu, int number)
{
	static struct glib_bytes *bytes;
	uint64_t value = 0;

	if (!bytes)
		bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, 0);
	x86_cpu_gdb_read_register(qemu_get_cpu((int)cpu), bytes, number);
	for (unsigned i = 0; i < bytes->len && i < sizeof(value); i++)
		value |= (uint64_t)bytes->data[i] << 8 * i;
	return value;
}

uint64_t guest_register(unsigned cpu, unsigned number)
{
	/* GDB: rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8... */
	static const uint8_t gdb[8] = { 0, 2, 3, 1, 7, 6, 4, 5 };

	return read_register(cpu, number < 8 ? gdb[number] : (int)number);
}

uint64_t guest_control(unsigned cpu, enum guest_control which)
{
	/* GDB: cr0, cr2, cr3, cr4 */
	return read_register(cpu, GDB_CR0 + (int)which - 1);
}

static bool read_entry(void *context, uint64_t physical, uint64_t *entry)
{
	(void)context;
	cpu_physical_memory_rw(physical, entry, sizeof(*entry), false);
	return true;
}

bool guest_translate(unsigned cpu, uint64_t address, struct walk_result *out)
{
	uint64_t cr4 = guest_control(cpu, GUEST_CR4);
	struct walk_root root = {
		.cr3 = guest_control(cpu, GUEST_CR3),
		.five_levels = cr4 & GUEST_CR4_LA57,
		.global = cr4 & GUEST_CR4_PGE,
	};

	return walk_tables(&root, read_entry, NULL, address, out);
}

bool guest_read(unsigned cpu, uint64_t address, void *out, size_t bytes)
{
	struct walk_result at;
	uint8_t *to = out;

	while (bytes) {
		size_t part = PAGE_BYTES - address % PAGE_BYTES;

		if (part > bytes)
			part = bytes;
		if (!guest_translate(cpu, address, &at))
			return false;
		cpu_physical_memory_rw(at.physical, to, part, false);
		address += part;
		to += part;
		bytes -= part;
	}
	return true;
}
