/* SPDX-License-Identifier: MIT */
/*
 * test-random.c - made-up logs are read back exactly
 *
 * Known tables with figures of any size, under one prefix per log, quoted or not, with
 * other lines between them, wrapped at a column or a space, coloured, with any line end.
 * Whatever was put in must come out, in order, and nothing else.
 *
 *   HASHDIST_SEED=n test-random     does one run again
 */
#include "collect.h"

#include <time.h>

enum { RUNS = 400 };

static uint64_t state_of_random;
static unsigned joined; /* tables that came in more than one line */

static unsigned dice(unsigned n)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return (unsigned)(state_of_random >> 20) % n;
}

static const char *const names[] = {
	"PID",         "Dentry cache",  "Inode-cache",  "Mount-cache",
	"futex",       "IP idents",     "TCP bind",     "tcp_listen_portaddr_hash",
	"MPTCP token", "Table-perturb", "UDP",          "Mountpoint-cache",
	"UDP-Lite",    "stackdepot",    "PV qspinlock", "TCP established",
};
enum { NAMES = sizeof(names) / sizeof(*names) };

static const char *const kinds[] = { "", ", linear", ", vmalloc", ", vmalloc hugepage" };

static const char *const noise[] = {
	"Zone ranges:",
	"clocksource: refined-jiffies: mask: 0xffffffff max_cycles: 0xffffffff",
	"TCP: Hash tables configured (established 8192 bind 8192)",
	"Calibrating delay loop (skipped), value calculated using timer frequency..",
	"stackdepot: allocating hash table via alloc_large_system_hash",
	"ACPI: SRAT: Node 0 PXM 0 [mem 0x00000000-0x0009ffff]",
};

/** How one log looks all through. */
struct look {
	unsigned prefix, quotes, ending, wrap, width;
	bool colour;
};

struct paper {
	char text[1 << 16];
	size_t len;
};

static void put(struct paper *paper, const char *text, size_t len)
{
	assert_true(paper->len + len < sizeof(paper->text));
	memcpy(paper->text + paper->len, text, len);
	paper->len += len;
}

static void put_text(struct paper *paper, const char *text)
{
	put(paper, text, strlen(text));
}

static void put_line(struct paper *paper, const struct look *look, const char *text, size_t len)
{
	static const char *const quotes[] = { "", "> ", ">> ", "> > > ", "\t", "    " };
	static const char *const endings[] = { "\n", "\r\n", " \n", "\r\r\n" };

	put_text(paper, quotes[look->quotes]);
	put(paper, text, len);
	put_text(paper, endings[look->ending]);
}

/** One message in its prefix, wrapped. A line is not broken before @keep. */
static void put_message(struct paper *paper, const struct look *look, double now, const char *text,
			size_t keep)
{
	char line[512], *p = line;
	size_t len, at;

	switch (look->prefix) {
	case 0:
		p += sprintf(p, "[%12.6f] ", now);
		break;
	case 1:
		p += sprintf(p, "[%12.6f][    T0] ", now);
		break;
	case 2:
		p += sprintf(p, "<6>[%12.6f] ", now);
		break;
	case 3:
		p += sprintf(p, "Jul 27 14:41:57 host kernel: [%12.6f] ", now);
		break;
	case 4:
		p += sprintf(p, "2024-01-05T12:03:46.%06d+01:00 host kernel: ", (int)(now * 1e5));
		break;
	case 5:
		p += sprintf(p, "kern  :info  : [%12.6f] ", now);
		break;
	case 6:
		p += sprintf(p, "6,1,%d,-;", (int)(now * 1e6));
		break;
	default:
		p += sprintf(p, "[%12.6f] host kernel: ", now);
		break;
	}
	if (look->colour)
		p += sprintf(p, "\x1b[0m\x1b[33m");
	keep += (size_t)(p - line);
	strcpy(p, text);
	len = strlen(line);
	for (p = line; look->wrap && len > look->width; p += at, len -= at) {
		for (at = look->width; look->wrap == 1 && at > 0 && p[at] != ' '; at--)
			;
		if (at == 0 || (size_t)(p + at - line) < keep)
			break;
		put_line(paper, look, p, at);
		at += look->wrap == 1;
	}
	put_line(paper, look, p, len);
}

static void one_run(struct collected *got, uint64_t seed)
{
	static struct paper paper;
	struct klog_table want[NAMES];
	struct look look;
	unsigned tables = 0, first;
	double now = 0;

	state_of_random = seed * 0x9e3779b97f4a7c15u + 1;
	dice(2);
	paper.len = 0;
	look = (struct look){ .prefix = dice(8),
			      .quotes = dice(6),
			      .ending = dice(4),
			      .wrap = dice(3),
			      .width = 60 + dice(60),
			      .colour = dice(4) == 0 };
	/* a terminal adds no space, and breaks where it likes */
	if (look.wrap == 2 && look.ending == 2)
		look.ending = 0;
	if (dice(2))
		put_message(&paper, &look, now, "Linux version 6.1.0 (a@b) (gcc) #1 SMP", 200);
	first = dice(NAMES);
	for (unsigned i = 0; i < NAMES; i++) {
		struct klog_table *t = &want[tables];
		unsigned kind = dice(4);
		char text[256];

		now += dice(1000) / 1e4;
		while (dice(3) == 0)
			put_message(&paper, &look, now, noise[dice(6)], 500);
		if (dice(5) == 0)
			continue;
		strcpy(t->name, names[(first + i) % NAMES]);
		t->entries = 1ull << dice(40);
		t->bytes = t->entries * (1 + dice(100));
		t->order = (int)dice(30) - 8;
		t->mapping = (uint8_t)kind;
		sprintf(text, "%s hash table entries: %llu (order: %d, %llu bytes%s)", t->name,
			(unsigned long long)t->entries, t->order, (unsigned long long)t->bytes,
			kinds[kind]);
		put_message(&paper, &look, now, text, strlen(t->name) + 5);
		tables++;
	}
	collect_bytes(got, paper.text, paper.len, 1 + dice(300));
	if (tables && (got->boots != 1 || got->boot[0].tables != tables || got->damaged))
		fail_msg("%u boots, %u tables of %u, %u damaged\nagain: HASHDIST_SEED=%llu\n%.*s",
			 got->boots, got->boots ? got->boot[0].tables : 0, tables, got->damaged,
			 (unsigned long long)seed, (int)paper.len, paper.text);
	for (unsigned i = 0; i < tables; i++) {
		const struct klog_table *a = &want[i], *b = &got->boot[0].table[i];

		joined += b->mended;
		if (strcmp(a->name, b->name) != 0 || a->entries != b->entries ||
		    a->bytes != b->bytes || a->order != b->order || a->mapping != b->mapping)
			fail_msg("'%s' %llu order %d bytes %llu mapping %d was read as '%s' %llu "
				 "order %d bytes %llu mapping %d\nagain: HASHDIST_SEED=%llu\n%.*s",
				 a->name, (unsigned long long)a->entries, a->order,
				 (unsigned long long)a->bytes, a->mapping, b->name,
				 (unsigned long long)b->entries, b->order,
				 (unsigned long long)b->bytes, b->mapping, (unsigned long long)seed,
				 (int)paper.len, paper.text);
	}
}

static void made_up_logs_are_read_back_exactly(void **state)
{
	const char *given = getenv("HASHDIST_SEED");
	struct collected got = { 0 };
	uint64_t seed;

	(void)state;
	if (given) {
		one_run(&got, strtoull(given, NULL, 0));
	} else {
		seed = (uint64_t)time(NULL) * 1000;
		print_message("seeds %llu to %llu; HASHDIST_SEED=n does one again\n",
			      (unsigned long long)seed, (unsigned long long)seed + RUNS - 1);
		for (unsigned i = 0; i < RUNS; i++)
			one_run(&got, seed + i);
		assert_true(joined > RUNS);
	}
	collect_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(made_up_logs_are_read_back_exactly) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
