/* SPDX-License-Identifier: MIT */
/*
 * marks.c - pairs the marks that page faults leave, whatever order they are read in
 *
 * Each CPU writes its marks in order, but they are read CPU by CPU, and a thread may be on
 * another one by its second mark. So marks are sorted before they are paired, and those of
 * the last moment wait, as others may come that are older.
 */
#include <stdlib.h>
#include <string.h>

#include "command/internal.h"

void command_marks_add(struct command_marks *marks, uint64_t time, uint32_t thread,
		       enum command_mark_kind kind)
{
	if (marks->waiting == marks->room) {
		size_t room = marks->room ? 2 * marks->room : 4096;
		struct command_mark *wider = realloc(marks->mark, room * sizeof(*wider));

		if (!wider)
			return;
		marks->mark = wider;
		marks->room = room;
	}
	marks->mark[marks->waiting++] = (struct command_mark){ time, thread, kind };
}

static int by_time(const void *a, const void *b)
{
	const struct command_mark *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static void take(struct command_marks *marks, const struct command_mark *mark)
{
	struct command_open_fault *fault = &marks->open[mark->thread % COMMAND_OPEN_FAULTS];

	if (mark->kind == COMMAND_FAULT_BEGUN) {
		*fault = (struct command_open_fault){ mark->thread, mark->time, 0, 0 };
		return;
	}
	if (fault->thread != mark->thread)
		return;
	if (mark->kind == COMMAND_THREAD_AWAY) {
		fault->away_since = mark->time;
	} else if (mark->kind == COMMAND_THREAD_BACK && fault->away_since) {
		fault->away += mark->time - fault->away_since;
		fault->away_since = 0;
	} else if (mark->kind == COMMAND_FAULT_DONE) {
		marks->ns += (double)(mark->time - fault->begun - fault->away);
		marks->pairs++;
		fault->thread = 0;
	}
}

void command_marks_settle(struct command_marks *marks, uint64_t until)
{
	size_t done = 0;

	if (!marks->waiting)
		return;
	qsort(marks->mark, marks->waiting, sizeof(*marks->mark), by_time);
	while (done < marks->waiting && marks->mark[done].time < until)
		take(marks, &marks->mark[done++]);
	marks->waiting -= done;
	memmove(marks->mark, marks->mark + done, marks->waiting * sizeof(*marks->mark));
}

void command_marks_free(struct command_marks *marks)
{
	free(marks->mark);
	marks->mark = NULL;
	marks->waiting = marks->room = 0;
}
