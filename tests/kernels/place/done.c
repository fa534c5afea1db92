/* SPDX-License-Identifier: MIT */
/*
 * done.c - words that have something done to the table
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/kernels/place/place.h"

static void started(const char *word, int rc, void *start, const struct hd_got *got, uint64_t asked)
{
	if (!rc) {
		now.start = start;
		now.bytes = got->bytes;
		now.written = 0;
	}
	event(word, rc, got, asked);
}

static void do_alloc(const char *text)
{
	struct hd_got got;
	char word[64];
	void *start = NULL;
	int rc;

	memset(&got, 0xa5, sizeof(got));
	rc = hd_alloc(size_of(text), &now.want, &start, &got);
	if (rc && start)
		die("start was set by a failed", "hd_alloc");
	snprintf(word, sizeof(word), "alloc=%s", text);
	started(word, rc, start, &got, size_of(text));
}

static void do_tight(const char *text)
{
	const char *less = strchr(text, ':');
	char bytes[32];

	if (!less)
		die("tight", text);
	snprintf(bytes, sizeof(bytes), "%" PRIu64, node_free(atoi(text)) - size_of(less + 1));
	do_alloc(bytes);
}

static void do_table(const char *text)
{
	struct hd_table_want table = { 0 };
	uint64_t entries = 0, field[5] = { 0 };
	struct hd_got got;
	char word[64];
	void *start = NULL;
	int rc;

	snprintf(word, sizeof(word), "table=%s", text);
	for (int i = 0; i < 5 && text; i++, text = text ? text + 1 : NULL) {
		field[i] = size_of(text);
		text = strchr(text, ',');
	}
	table.bucket_bytes = field[0];
	table.entries = field[1];
	table.low = field[2];
	table.high = field[3];
	table.scale = (uint32_t)field[4];
	memset(&got, 0xa5, sizeof(got));
	rc = hd_alloc_table(&table, &now.want, &start, &entries, &got);
	if (!rc && entries != got.entries)
		die("entries differ from what got says", word);
	started(word, rc, start, &got, rc ? 0 : entries * table.bucket_bytes);
}

static void do_resize(const char *text)
{
	struct hd_got got;
	char word[64];
	void *start = now.start;
	int rc;

	memset(&got, 0xa5, sizeof(got));
	rc = hd_resize(&start, size_of(text), &got);
	now.start = start;
	if (!rc) {
		now.bytes = got.bytes;
		now.written = now.written < now.bytes ? now.written : now.bytes;
	}
	snprintf(word, sizeof(word), "resize=%s", text);
	event(word, rc, &got, size_of(text));
}

static void do_repair(const char *text)
{
	struct hd_got got;
	int rc;

	(void)text;
	memset(&got, 0xa5, sizeof(got));
	rc = hd_repair(now.start, &got);
	event("repair", rc, &got, now.bytes);
}

static void do_read(const char *text)
{
	struct hd_got got;
	int rc;

	(void)text;
	memset(&got, 0xa5, sizeof(got));
	rc = hd_read_got(now.start, &got);
	event("read", rc, &got, now.bytes);
}

static void do_free(const char *text)
{
	uint64_t before = vm_kib();
	char *was = now.start;
	int rc = hd_free(was);

	(void)text;
	begin_event("free", rc);
	printf(",\"given_back_kib\":%" PRId64 ",\"again\":%d", (int64_t)(before - vm_kib()),
	       was ? hd_free(was) : -EINVAL);
	now.start = NULL;
	end_event();
}

static void do_write(const char *text)
{
	uint64_t *word = (uint64_t *)now.start, before = faults();

	(void)text;
	for (uint64_t i = 0; i < now.bytes / sizeof(*word); i++)
		word[i] = pattern(i);
	now.written = now.bytes;
	begin_event("write", 0);
	printf(",\"late_faults\":%" PRIu64, faults() - before);
	end_event();
}

static void do_spin(const char *text)
{
	time_t end = time(NULL) + atoi(text);

	while (time(NULL) < end)
		if (wrong_at(now.start, now.bytes, now.written) >= 0)
			break;
}

static void do_touch(const char *text)
{
	uint64_t count = size_of(text), step = now.bytes / count / PAGE * PAGE;

	for (uint64_t i = 0; i < count; i++) {
		volatile uint64_t *word = (volatile uint64_t *)(now.start + i * step);

		*word = *word;
	}
}

static void do_discard(const char *text)
{
	if (madvise(now.start + now.bytes / 2, now.bytes / 2, MADV_DONTNEED))
		die("discard", text);
	now.written = now.written < now.bytes / 2 ? now.written : now.bytes / 2;
}

static void do_child(const char *text)
{
	(void)text;
	fflush(stdout);
	now.child = fork();
	if (!now.child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static void do_reap(const char *text)
{
	(void)text;
	kill(now.child, SIGKILL);
	waitpid(now.child, NULL, 0);
	now.child = 0;
}

/** What a child finds: "kept", "zero", "other", "fault"; and whether it may free it. */
static void do_look(const char *text)
{
	static const char *const found[] = { "kept", "zero", "other" };
	int status = 0, rc;
	pid_t pid;

	(void)text;
	fflush(stdout);
	for (int what = 0; what < 2; what++) {
		pid = fork();
		if (!pid && what)
			_exit(-hd_free(now.start));
		if (!pid)
			_exit(wrong_at(now.start, now.bytes, now.written) < 0 ? 0
			      : wrong_at(now.start, now.bytes, 0) < 0         ? 1
									      : 2);
		waitpid(pid, &status, 0);
		rc = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		if (!what)
			begin_event("look", 0);
		if (what)
			printf(",\"free\":%d", -rc);
		else
			printf(",\"found\":\"%s\"", rc < 0 || rc > 2 ? "fault" : found[rc]);
	}
	end_event();
}

static void do_sh(const char *text)
{
	fflush(stdout);
	if (system(text))
		die("failed:", text);
}

void done_end(void)
{
	if (now.child)
		do_reap("");
	if (now.start)
		do_free("");
}

const struct place_word place_done[] = {
	{ "alloc", do_alloc },   { "table", do_table },     { "resize", do_resize },
	{ "repair", do_repair }, { "read", do_read },       { "free", do_free },
	{ "write", do_write },   { "spin", do_spin },       { "child", do_child },
	{ "reap", do_reap },     { "look", do_look },       { "touch", do_touch },
	{ "sh", do_sh },         { "discard", do_discard }, { "tight", do_tight },
	{ NULL, NULL },
};
