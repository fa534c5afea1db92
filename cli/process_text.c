/* SPDX-License-Identifier: MIT */
/*
 * process_text.c - what a reader wants to know beside the table of a process
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/process_view.h"

enum hd_verdict_code process_verdict(const struct process *process)
{
	enum hd_verdict_code worst = HD_OK;
	bool judged = false;

	for (uint32_t m = 0; m < process->mappings; m++) {
		const struct process_mapping *mapping = &process->mapping[m];

		judged |= process_placeable(mapping) && mapping->verdict != HD_V_UNKNOWN;
		if (mapping->verdict > worst)
			worst = mapping->verdict;
	}
	return worst == HD_V_UNKNOWN && judged ? HD_OK : worst;
}

static const char *thp_words(unsigned thp)
{
	switch (thp) {
	case HDL_THP_ALWAYS:
		return "always";
	case HDL_THP_MADVISE:
		return "where advised";
	case HDL_THP_NEVER:
		return "never";
	case HDL_THP_UNKNOWN:
		return "not to be read";
	default:
		return "none in this kernel";
	}
}

static void print_machine(const struct process *process)
{
	char text[256], huge[16], base[16];

	snprintf(text, sizeof(text),
		 "%u memory node%s, %s pages; huge pages of %s: %s; of shared memory: %s",
		 process->nodes, process->nodes == 1 ? "" : "s",
		 cli_page(base, sizeof(base), process->pages.base_shift),
		 process->pages.thp_shift ? cli_page(huge, sizeof(huge), process->pages.thp_shift)
					  : "?",
		 thp_words(process->pages.thp), thp_words(process->thp_shmem));
	cli_print_wrapped("machine", text);
}

void process_print_summary(const struct process *process)
{
	char text[512], comm[64], resident[32], tables[32], gain[32];

	snprintf(text, sizeof(text),
		 "%d %s: %" PRIu64
		 " mapping%s, %u of them in the table; %s resident, %s on base pages where huge "
		 "ones would fit, page tables %s",
		 (int)process->pid, process_comm(process, comm), process->seen,
		 process->seen == 1 ? "" : "s", process->mappings,
		 cli_size(resident, sizeof(resident), process->resident),
		 process_gain_known(process) ? cli_size(gain, sizeof(gain), process_gain(process))
					     : "?",
		 cli_size(tables, sizeof(tables), process->page_tables));
	cli_print_wrapped("process", text);
	print_machine(process);
}

const char *process_hinder_text(enum process_hinder hinder)
{
	switch (hinder) {
	case HINDER_THP_NEVER:
		return "the system's setting forbids huge pages for this memory, or the kernel has "
		       "none; "
		       "an administrator can write madvise into "
		       "/sys/kernel/mm/transparent_hugepage/enabled, for shared memory advise into "
		       "shmem_enabled beside it or mount with huge=advise";
	case HINDER_THP_OFF:
		return "huge pages are off for this process (PR_SET_THP_DISABLE, which children "
		       "inherit); the program, or what starts it, must leave them on";
	case HINDER_NOT_ADVISED:
		return "the system gives huge pages where a program asks, and nothing asked for "
		       "all "
		       "of it; madvise(MADV_HUGEPAGE) in the program does, or the setting always";
	case HINDER_REFUSED:
		return "the program or its allocator advised against huge pages "
		       "(MADV_NOHUGEPAGE); look for a setting of theirs";
	case HINDER_TOO_SMALL:
		return "holds no whole, aligned huge page";
	case HINDER_PINNED:
		return "the process has pinned pages for a device (VmPin); such pages stay where "
		       "and what they are";
	case HINDER_SHARED:
		return "pages are shared with a child or parent since a fork; they can be moved "
		       "only by root, and split when one of the two writes";
	case HINDER_POLICY:
		return "its memory policy keeps it on one node (numactl, mbind, set_mempolicy); "
		       "start it with another to spread it";
	case HINDER_CPUSET:
		return "its cpuset leaves it one memory node; cpuset.mems of its control group "
		       "says "
		       "which";
	case HINDER_NODE_FULL:
		return "a node that has less than its share has no room for the rest; memory must "
		       "be freed there first";
	case HINDER_KIND:
		return "files, stacks, executable memory and devices are shown, but not judged";
	case HINDER_SPARSE:
		return "less than half of it has memory; huge pages may take more memory than it "
		       "uses now";
	default:
		return "";
	}
}

void process_print_hinders(uint32_t hinders)
{
	const char *head = "hinders";

	for (uint32_t bit = 1; bit < HINDER_ALL; bit <<= 1) {
		char text[512];

		if (!(hinders & bit))
			continue;
		snprintf(text, sizeof(text), "%s: %s",
			 process_hinder_name((enum process_hinder)bit),
			 process_hinder_text((enum process_hinder)bit));
		cli_print_wrapped(head, text);
		head = "";
	}
}

static void print_book(const struct process *process, const char *book, int error, const char *lost)
{
	char comm[64];

	cli_error("%d %s: %s: %s; not shown: %s", (int)process->pid, process_comm(process, comm),
		  book, strerror(-error), lost);
	if (error == -ENOENT || error == -ENOSYS)
		cli_hint("try", "a kernel with %s", book);
	else
		cli_hint("try", "run as root, outside of a container");
}

void process_print_blind(const struct process *process)
{
	char comm[64];

	if (process->cut) {
		cli_error("%d %s: not all details were read within the time limit; ? marks what "
			  "is missing",
			  (int)process->pid, process_comm(process, comm));
		cli_hint("try", "a larger --budget");
	}
	if (process->smaps_error)
		print_book(process, "smaps", process->smaps_error, "sharing, advice, swap");
	if (process->numa_error)
		print_book(process, "numa_maps", process->numa_error,
			   "memory policies, and shares of nodes that are not sampled");
}
