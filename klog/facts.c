/* SPDX-License-Identifier: MIT */
/*
 * facts.c - the figures of all lines that are no table's: who reads which line
 *
 * One reader per kind of line. Each reads all it wants before it stores anything, and
 * answers MORE when the line stops too early, so that unwrap.c may find its rest. A figure
 * that is missing or torn stays unknown; none is guessed.
 *
 *   facts_text.c     banner, command line
 *   facts_memory.c   zonelists, "Memory:", reservations
 *   facts_cpus.c     processors
 *   facts_nodes.c    nodes and their ranges
 *
 * Source: logs from 2.4 to 7.0; wordings of mm/page_alloc.c, mm/mm_init.c, mm/percpu.c,
 * kernel/smp.c, init/main.c and the architectures' setup code.
 */
#include "facts.h"

/* ---- hints ------------------------------------------------------------------------------------- */

static enum taken hint(struct klog *log, uint32_t bit)
{
	klog__boot_touch(log);
	log->boot.hints |= bit;
	return TAKEN;
}

/** "760MB LOWMEM available.", "lowmem  : 0xc0000000 - 0xf7800000" */
static enum taken lowmem(struct klog *log, struct line *line)
{
	const char *p = line->figures, *e = line->end;
	int n = 0;

	if (klog__is_digit(*line->text))
		return hint(log, KLOG_HINT_LOWMEM | KLOG_HINT_X86);
	for (; p < e && klog__is_hex(*p); p++)
		n++;
	return hint(log, n > 8 ? KLOG_HINT_RISCV : KLOG_HINT_LOWMEM);
}

static enum taken booting(struct klog *log, struct line *line)
{
	klog__boot_line(log, line);
	/* with the CPU's identity behind it: arm64; a plain number: arm, and arm64 up to 4.14 */
	if (line->word == W_BOOTING_ARM64 && AFTER(line->figures, line->end, " [0x"))
		log->boot.hints |= KLOG_HINT_ARM64_CPU;
	return TAKEN;
}

static enum taken hypervisor(struct klog *log, struct line *line)
{
	struct klog_boot *boot = &log->boot;
	bool bare = STARTS(line->figures, line->end, "bare hardware");
	bool kvm = STARTS(line->figures, line->end, "KVM");

	klog__boot_touch(log);
	boot->pv_guest |= !bare;
	boot->kvm_guest |= kvm;
	return TAKEN;
}

/** Read one line that is no table's. */
enum taken klog__fact(struct klog *log, struct line *line, bool last)
{
	switch (line->word) {
	case W_BANNER:
		return klog__banner(log, line, last);
	case W_CMDLINE:
	case W_KERNEL_CMDLINE:
		return klog__cmdline(log, line, last);
	case W_REFUSED:
		return klog__refused(log, line, last);
	case W_BOOT_START:
	case W_BOOTING_ARM64:
		return booting(log, line);
	case W_E820_MAP:
		klog__boot_line(log, line);
		return hint(log, KLOG_HINT_E820);
	case W_E820:
		return hint(log, KLOG_HINT_E820);
	case W_ZONELISTS:
		return klog__zonelists(log, line, last);
	case W_MEMORY:
		return klog__memory(log, line, last);
	case W_PERCPU:
		return klog__percpu(log, line);
	case W_ALLOWING:
	case W_ALLOWING_SUM:
		return klog__allowing(log, line);
	case W_SETUP_PERCPU:
		return klog__setup_percpu(log, line, last);
	case W_SLUB:
		return klog__slub(log, line, last);
	case W_RCU_CPUS:
		return klog__rcu_cpus(log, line, last);
	case W_BROUGHT_UP:
		return klog__brought_up(log, line);
	case W_NODE_RANGE:
		return klog__early_range(log, line, last);
	case W_NODE_MAP:
		log->node_map_number = log->number;
		return TAKEN;
	case W_NODE_PFNS:
		return klog__pfn_range(log, line);
	case W_NODE_TOTAL:
		return klog__node_total(log, line);
	case W_INITMEM:
	case W_MEMORYLESS:
	case W_NO_START_PFN:
		return klog__initmem(log, line, last);
	case W_HIGHMEM_ZONE:
		return klog__highmem_zone(log, line);
	case W_DMA32_ZONE:
		return hint(log, KLOG_HINT_DMA32);
	case W_MEMMAP:
		return klog__memmap(log, line);
	case W_HASH_MMU:
		return hint(log, KLOG_HINT_HASH_MMU);
	case W_LOWMEM:
		return lowmem(log, line);
	case W_MIPS_CPU:
		return hint(log, KLOG_HINT_MIPS);
	case W_RISCV:
		return hint(log, KLOG_HINT_RISCV);
	case W_S390_HOST:
		return hint(log, KLOG_HINT_S390);
	case W_PROMLIB:
		return hint(log, KLOG_HINT_SPARC);
	case W_PARISC_PAGES:
		return hint(log, KLOG_HINT_PARISC);
	case W_SMP_TOTAL:
		/* arm64 alone leaves the BogoMIPS out */
		return line->end > line->text && line->end[-1] == '.' &&
			       !memchr(line->text, '(', (size_t)(line->end - line->text))
			   ? hint(log, KLOG_HINT_ARM64_CPU)
			   : TAKEN;
	case W_ARM_CPU:
		return hint(log, KLOG_HINT_ARM_CPU);
	case W_AARCH64_CPU:
		return hint(log, KLOG_HINT_ARM64_CPU);
	case W_TOP_OF_RAM:
		return hint(log, KLOG_HINT_TOP_OF_RAM);
	case W_FAKING_NODE:
		return klog__faking(log, line);
	case W_NO_NUMA:
		klog__boot_touch(log);
		log->boot.numa_not_found = true;
		return TAKEN;
	case W_CRASHKERNEL:
	case W_RESERVING:
		return klog__crashkernel(log, line);
	case W_SWIOTLB:
		return klog__swiotlb(log, line);
	case W_KFENCE:
		return klog__kfence(log, line);
	case W_CMA:
		return klog__cma(log, line);
	case W_HYPERVISOR:
	case W_PARAVIRT:
		return hypervisor(log, line);
	default:
		return TAKEN;
	}
}

/* ---- the boot as a whole --------------------------------------------------------------------------- */

/** Forget the boot's figures, and no more bytes than it may have written. */
void klog__fact_reset(struct klog *log)
{
	struct klog_boot *boot = &log->boot;
	const uint32_t nodes = boot->node_max;

	memset(boot, 0, offsetof(struct klog_boot, version));
	boot->version[0] = boot->banner[0] = boot->refused[0] = boot->cmdline[0] = '\0';
	memset(boot->node_bytes, 0, nodes * sizeof(*boot->node_bytes));
	memset(boot->node_pages, 0, nodes * sizeof(*boot->node_pages));
	memset(boot->initmem_node, 0, nodes);
	log->high_nodes = KLOG_NODES_MAX - 1;
	log->node_map_number = 0;
	log->node_pfns = false;
}

/** What can be told only when the whole boot is known. */
void klog__fact_close(struct klog *log)
{
	struct klog_boot *boot = &log->boot;
	uint32_t from_ranges = 0, from_initmem = 0, from_totals = 0;

	boot->arch = klog__arch(boot);
	for (uint32_t i = 0; i < boot->node_max; i++) {
		from_ranges += boot->node_bytes[i] != 0;
		from_totals += boot->node_pages[i] != 0;
		from_initmem += boot->initmem_node[i] == 1;
		boot->memoryless_nodes += boot->initmem_node[i] == 2;
	}
	boot->nodes_with_memory = from_ranges    ? from_ranges
				  : from_initmem ? from_initmem
						 : from_totals;
	if (boot->nodes_with_memory)
		boot->nodes_with_memory += boot->nodes_beyond;
	/* page frames: bytes where the frame is known to be 4 KiB, else pages */
	if (log->node_pfns && boot->arch != HD_ARCH_X86_64 && boot->arch != HD_ARCH_I386 &&
	    boot->arch != HD_ARCH_ARM && boot->arch != HD_ARCH_S390X) {
		for (uint32_t i = 0; i < boot->node_max; i++) {
			if (!(boot->has & KLOG_HAS_NODE_TOTALS))
				boot->node_pages[i] = boot->node_bytes[i] >> 12;
			boot->node_bytes[i] = 0;
		}
		boot->has &= ~(uint32_t)KLOG_HAS_NODE_RANGES;
		boot->has |= KLOG_HAS_NODE_TOTALS;
	}
}
