/* SPDX-License-Identifier: MIT */
/*
 * place_text.c - what came of it, for people
 *
 *   before    2 GiB in 3 mappings: 0 % on 2M; N0 100 % N1 0 %
 *   after     2 GiB in 3 mappings: 99 % on 2M; N0 50 % N1 50 %
 *   steps     1022 blocks collapsed, 511 moved; longest step 4.2 ms, 3.1 s in all
 *   left      2 blocks: sparse
 *   lasts     advice and policy were set by the process itself, stopped for 0.4 ms
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/place.h"

static void line(const char *what, const char *text)
{
	printf("%-9s %s\n", what, text);
}

static unsigned percent(uint64_t part, uint64_t whole)
{
	/* Not 100 before all of it is. */
	return whole ? (unsigned)((double)part * 100.0 / (double)whole) : 0;
}

static void state_line(const char *what, const struct place_state *state)
{
	char text[1024], bytes[32], page[16];
	int len;

	if (!state->mappings) {
		line(what, "no mapping that could be placed");
		return;
	}
	cli_size(bytes, sizeof(bytes), state->resident);
	if (state->shift)
		cli_page(page, sizeof(page), state->shift);
	else
		snprintf(page, sizeof(page), "huge pages");
	len = snprintf(text, sizeof(text), "%s in %u mapping%s: ", bytes, state->mappings,
		       state->mappings == 1 ? "" : "s");
	if (state->unknown)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "translations unknown");
	else
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%u %% on %s",
				percent(state->huge, state->resident), page);
	if (state->nodes > 1 && !state->nodes_known)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "; nodes unknown");
	for (uint32_t n = 0; state->nodes > 1 && state->nodes_known && n < state->nodes; n++)
		if ((size_t)len < sizeof(text) - 32)
			len += snprintf(text + len, sizeof(text) - (size_t)len, "%s N%u %u %%",
					n ? "" : ";", state->node[n],
					percent(state->node_bytes[n], state->resident));
	line(what, text);
}

static void steps_line(const struct place_tale *tale)
{
	const struct place_result *result = tale->result;
	char text[256];

	if (tale->job->place.place.dry_run)
		return;
	snprintf(
	    text, sizeof(text),
	    "%llu blocks collapsed, %llu moved; %llu steps, the longest %.1f ms, %llu beyond the "
	    "limit; %.1f s in all",
	    (unsigned long long)result->collapsed, (unsigned long long)result->moved,
	    (unsigned long long)result->steps, (double)result->longest_us / 1000.0,
	    (unsigned long long)result->slow_steps, (double)result->wall_us / 1e6);
	line("steps", text);
}

/** Seconds for a dry run's blocks: between an idle and a busy target, as measured. */
static void would_line(const struct place_tale *tale)
{
	const struct place_result *result = tale->result;
	uint32_t busy =
	    tale->job->place.place.busy_percent ? tale->job->place.place.busy_percent : 25;
	double blocks = (double)(result->collapse_wanted + result->move_wanted);
	char text[256];

	if (!tale->job->place.place.dry_run)
		return;
	snprintf(
	    text, sizeof(text),
	    "collapse %llu blocks and move %llu: about %.1f s while it is idle, %.0f s while it is "
	    "busy, %u %% of the time in steps",
	    (unsigned long long)result->collapse_wanted, (unsigned long long)result->move_wanted,
	    blocks * 0.0007 * 100.0 / busy, blocks * 0.010 * 100.0 / busy, busy);
	line("would", text);
}

static const char *refusal_words(enum place_refusal refusal)
{
	static const char *const words[PLACE_REFUSALS] = {
		[PLACE_SPARSE] = "less than half full, and filling them would take memory",
		[PLACE_NO_HUGE_FREE] =
		    "no free huge block; --compact would let the kernel make some",
		[PLACE_SHARED] =
		    "shared with another process since a fork; try again when that ended",
		[PLACE_BUSY] = "in use by the kernel just now; try again",
		[PLACE_REFUSED] =
		    "the kernel does not collapse these: read-only pages, or special ones",
		[PLACE_NODE_FULL] = "the node they should go to has no free huge block",
		[PLACE_SPLIT] = "split on the way",
		[PLACE_RIGHT] = "no right to: CAP_SYS_NICE is needed",
		[PLACE_CPUSET] = "the cpuset forbids that node",
		[PLACE_OTHER] = "the kernel gave another reason",
	};

	return words[refusal];
}

static void refused_lines(const struct place_result *result)
{
	const char *what = "left";

	for (int r = 0; r < PLACE_REFUSALS; r++) {
		char text[256];

		if (!result->refused[r])
			continue;
		snprintf(text, sizeof(text), "%llu blocks %s: %s",
			 (unsigned long long)result->refused[r], place_refusal_name(r),
			 refusal_words(r));
		line(what, text);
		what = "";
	}
}

const char *place_obstacle_text(enum place_obstacle obstacle)
{
	static const char *const words[PLACE_OBSTACLES] = {
		[PLACE_THP_NEVER] = "thp-never: the administrator set huge pages to \"never\"; "
				    "--despite-never overrules that",
		[PLACE_THP_OFF] = "thp-off: the process has switched huge pages off for itself",
		[PLACE_NO_COLLAPSE] =
		    "no-support: this kernel cannot collapse (6.1 can), or /sys is not mounted",
		[PLACE_NO_RIGHT] =
		    "no-right: collapse from outside needs CAP_SYS_NICE, and the process "
		    "could not be made to do it itself; run as root",
		[PLACE_FILTERED] = "filtered: a filter (seccomp) forbids this program the calls "
				   "it needs; run it outside of the container",
		[PLACE_ONE_ALLOWED] =
		    "cpuset: its cpuset leaves one node, so there is nothing to spread over",
	};

	return words[obstacle];
}

static void obstacle_lines(const struct place_result *result)
{
	const char *collapse = place_obstacle_text(result->collapse_obstacle);
	const char *spread = place_obstacle_text(result->spread_obstacle);

	if (collapse)
		line("stands", collapse);
	if (spread && spread != collapse)
		line("stands", spread);
}

static const char *keep_words(int error)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		return "tracing it is not allowed (another user, Yama, or a debugger)";
	case -EOPNOTSUPP:
		return "a filter (seccomp) forbids this program to trace it";
	case -ECANCELED:
		return "it filters its system calls, and one it does not expect might kill it";
	case -EBUSY:
		return "it is stopped by job control";
	case -ETIMEDOUT:
		return "it did not stop in time";
	default:
		return strerror(-error);
	}
}

static void lasts_line(const struct place_tale *tale)
{
	const struct place_result *result = tale->result;
	char text[320];

	if (tale->job->place.place.dry_run || tale->job->undo || result->gone ||
	    !tale->before->mappings)
		return;
	if (result->kept_advice || result->kept_policy) {
		snprintf(text, sizeof(text),
			 "%s%s%s set by the process itself, which stood still for %.1f ms%s",
			 result->kept_advice ? "advice" : "",
			 result->kept_advice && result->kept_policy ? " and " : "",
			 result->kept_policy ? "policy" : "", (double)result->keep_stop_us / 1000.0,
			 result->keep_error ? "; not everywhere" : "");
		line("lasts", text);
		return;
	}
	snprintf(text, sizeof(text), "not for long: %s. What undoes it: %sgrowth, fork",
		 tale->job->place.place.once ? "--once was given"
		 : result->keep_error        ? keep_words(result->keep_error)
					     : "nothing was there to keep",
		 tale->before->nodes > 1 ? "NUMA balancing (seconds), " : "");
	line("lasts", text);
}

void place_print_text(const struct place_tale *tale)
{
	char text[320];

	snprintf(text, sizeof(text), "%d %s", (int)tale->process->pid, tale->process->comm);
	line("process", text);
	state_line("before", tale->before);
	if (tale->after && !tale->job->place.place.dry_run)
		state_line("after", tale->after);
	else if (tale->result->gone)
		line("after", "the process has ended");
	would_line(tale);
	steps_line(tale);
	refused_lines(tale->result);
	obstacle_lines(tale->result);
	lasts_line(tale);
	if (tale->record_error) {
		snprintf(text, sizeof(text),
			 "not possible: no record could be kept (%s); --record FILE",
			 strerror(-tale->record_error));
		line("undo", text);
	}
}
