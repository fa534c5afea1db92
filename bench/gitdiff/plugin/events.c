/* SPDX-License-Identifier: MIT */
/*
 * events.c - does to the TLBs what the instruction does to the processor's
 *
 * Source: Intel SDM volume 3, 4.10.4.1 "Operations that invalidate TLBs and paging-structure
 * caches", 4.7 "Page-fault exceptions" for the error code.
 */
#include "events.h"

#include <string.h>

#include "guest.h"
#include "models.h"
#include "record.h"
#include "tlb/stream.h"

enum { RSP = 4 };
enum {
	FAULT_PRESENT = 1 << 0,
	FAULT_WRITE = 1 << 1,
	FAULT_USER = 1 << 2,
	FAULT_INSTRUCTION = 1 << 4
};
enum { CR3_TAG = 0xfff };

static const uint64_t CR3_NO_FLUSH = UINT64_C(1) << 63;

struct events events;

void events_reset(void)
{
	memset(&events, 0, sizeof(events));
}

static void flush_page(unsigned cpu, uint64_t address)
{
	events.page_flushes++;
	models_flush_page(cpu, address);
	record_event(cpu, HD_TLB_EVENT_FLUSH_PAGE, address);
}

static void flush_all(unsigned cpu)
{
	events.whole_flushes++;
	models_flush_all(cpu);
	record_event(cpu, HD_TLB_EVENT_FLUSH_ALL, 0);
}

static void write_cr3(unsigned cpu, uint64_t value)
{
	bool tagged = guest_control(cpu, GUEST_CR4) & GUEST_CR4_PCIDE;
	unsigned tag = tagged ? value & CR3_TAG : 0;

	events.cr3_writes++;
	models_switch(cpu, tag);
	record_event(cpu, HD_TLB_EVENT_SWITCH, (uint64_t)tag << HD_TLB_BASE_SHIFT);
	if (tagged && value & CR3_NO_FLUSH)
		return;
	events.cr3_flushes++;
	models_flush_tag(cpu);
	record_event(cpu, HD_TLB_EVENT_FLUSH_TAG, 0);
}

static void write_cr4(unsigned cpu, uint64_t value)
{
	if ((value ^ guest_control(cpu, GUEST_CR4)) & (GUEST_CR4_PGE | GUEST_CR4_PCIDE))
		flush_all(cpu);
}

static void invlpg(unsigned cpu, const struct decoded_operand *operand)
{
	uint64_t address = (uint64_t)operand->displacement; /* sign-extended */

	if (!operand->known) {
		events.unknown_operands++;
		flush_all(cpu);
		return;
	}
	if (operand->base != DECODED_NO_REGISTER)
		address += guest_register(cpu, (unsigned)operand->base);
	if (operand->index != DECODED_NO_REGISTER)
		address += guest_register(cpu, (unsigned)operand->index) << operand->scale;
	flush_page(cpu, address);
}

void events_instruction(unsigned cpu, const struct decoded *instruction)
{
	const struct decoded_operand *operand = &instruction->operand;

	switch (instruction->what) {
	case DECODED_CR3:
		write_cr3(cpu, guest_register(cpu, (unsigned)operand->base));
		break;
	case DECODED_CR4:
		write_cr4(cpu, guest_register(cpu, (unsigned)operand->base));
		break;
	case DECODED_INVLPG:
		invlpg(cpu, operand);
		break;
	case DECODED_INVPCID: /* this emulator has none */
		events.invpcids++;
		flush_all(cpu);
		break;
	case DECODED_MARK:
	case DECODED_OTHER:
		break;
	}
}

void events_page_fault(unsigned cpu)
{
	uint64_t code = 0;
	enum fault_kind kind;

	/* The processor has pushed it last. */
	if (!guest_read(cpu, guest_register(cpu, RSP), &code, sizeof(code)))
		return;
	kind = code & FAULT_INSTRUCTION ? FAULT_FETCH
	       : code & FAULT_WRITE     ? FAULT_STORE
					: FAULT_LOAD;
	events.faults[kind][code & FAULT_USER ? COUNT_USER : COUNT_KERNEL][code & FAULT_PRESENT]++;
	/* A fault drops what translated the address, as invlpg does. */
	models_flush_page(cpu, guest_control(cpu, GUEST_CR2));
	record_event(cpu, HD_TLB_EVENT_FLUSH_PAGE, guest_control(cpu, GUEST_CR2));
}
