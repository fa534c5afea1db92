/* SPDX-License-Identifier: MIT */
/*
 * run_machine.c - what this machine decides of hashdist run, and what will not be had
 *
 * Read once, by the starter, as the command will find it: task policy, cpuset and
 * "huge pages off" are inherited.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "backend/linux/facts.h"
#include "cli/cli.h"
#include "cli/run.h"

/* Who says so, in a line of --explain that is about no range. */
#define START "0-0 0 start"

/** HASHDIST=0 and 1 mean what they mean to the library, unless --nodes was given. */
static bool wants_spread(const struct run_options *opt)
{
	const char *value = getenv("HASHDIST");

	if (opt->nodes != NODES_AUTO)
		return opt->nodes == NODES_SPREAD;
	return !value || strcmp(value, "0");
}

static const char *node_words(enum hd_why why)
{
	switch (why) {
	case HD_WHY_CPUSET:
		return "its cpuset leaves it one memory node";
	case HD_WHY_TASK_POLICY:
		return "its memory policy asks for one memory node";
	case HD_WHY_NO_NODE:
		return "its cpuset and its memory policy have no memory node in common";
	case HD_WHY_UNKNOWN:
		return "which memory nodes there are cannot be read";
	default:
		return "one memory node may take part";
	}
}

/** That a machine has one node is news only to who asked for a spread. */
static void say_one_node(const struct run_options *opt, const struct hdl_nodes *nodes)
{
	enum hd_why why = nodes->prefers_one ? HD_WHY_TASK_POLICY : (enum hd_why)nodes->why;

	if (opt->nodes == NODES_SPREAD)
		cli_error("--nodes spread: CMD is not spread: %s", node_words(why));
	if (opt->nodes == NODES_SPREAD || nodes->guessed || hdl_mask_count(&nodes->memory) > 1)
		run_explain(&opt->preload, (int)opt->preload.pid, START, "not spread: %s: %s",
			    hd_why_name(why), node_words(why));
}

static void choose_nodes(struct run_options *opt)
{
	const struct hdl_wish wish = { .spread = true };
	struct hdl_shares shares = { .nodes = 0 };
	struct hdl_nodes nodes;

	if (!wants_spread(opt))
		return;
	if (!hdl_nodes_read(&wish, &nodes) && !nodes.prefers_one)
		hdl_shares_even(&shares, &nodes.usable, true);
	if (shares.nodes < 2) {
		say_one_node(opt, &nodes);
		return;
	}
	opt->preload.nodes = shares.node;
	opt->preload.weighted = shares.weighted;
}

/** Half of what this program may have at all: a larger block is a reservation of addresses. */
static uint64_t most_bytes(void)
{
	struct sysinfo info;
	uint64_t limit = hdl_cgroup_limit(), all;

	if (sysinfo(&info))
		return UINT64_MAX;
	all = (uint64_t)info.totalram * info.mem_unit;
	return (limit < all ? limit : all) / 2;
}

/** "Off" is inherited by all that a process starts; here it would defeat the purpose. */
static void undo_thp_off(const struct run_options *opt)
{
	if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) <= 0)
		return;
	if (prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0))
		run_explain(&opt->preload, (int)opt->preload.pid, START,
			    "huge pages were switched off for this process, and stay off: %s",
			    strerror(errno));
	else
		run_explain(&opt->preload, (int)opt->preload.pid, START,
			    "huge pages were switched off for this process: on again");
}

static const char *page_words(enum hd_why why)
{
	switch (why) {
	case HD_WHY_THP_NEVER:
		return "the system says \"never\" to transparent huge pages: there will be none";
	case HD_WHY_THP_OFF:
		return "transparent huge pages are off for this process, and it may not switch "
		       "them on: there will be none";
	case HD_WHY_UNKNOWN:
		return "the system's setting of transparent huge pages cannot be read: there will "
		       "be none";
	default:
		return "this kernel has no transparent huge pages, or /sys is not mounted: there "
		       "will be none";
	}
}

/** What will not be had, before it is missed. */
static void say_no_pages(const struct run_options *opt, enum hd_why why)
{
	cli_error("%s", page_words(why));
	if (why == HD_WHY_THP_NEVER)
		cli_hint("try",
			 "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, as root");
	else if (why == HD_WHY_UNKNOWN)
		cli_hint("try", "with /sys mounted");
	run_explain(&opt->preload, (int)opt->preload.pid, START, "%s: %s", hd_why_name(why),
		    page_words(why));
}

void run_ask_machine(struct run_options *opt)
{
	struct hdl_pages pages;
	enum hd_why why;

	opt->preload.pid = (uint64_t)getpid();
	undo_thp_off(opt);
	hdl_pages_read(&pages);
	opt->preload.huge_shift = pages.thp_shift;
	if (!opt->preload.min_bytes)
		opt->preload.min_bytes = 2ULL << (pages.thp_shift ? pages.thp_shift : 21);
	opt->preload.most_bytes = most_bytes();
	why = hdl_thp_why(&pages);
	if (why != HD_WHY_MET)
		say_no_pages(opt, why);
	choose_nodes(opt);
}
