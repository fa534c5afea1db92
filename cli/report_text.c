/* SPDX-License-Identifier: MIT */
/*
 * report_text.c - one boot for a reader: the table, the machine, the advice
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report.h"

static int print_table(const struct report *report, const char *columns)
{
	uint32_t rows = report->survey->rows;
	struct report_line *line = calloc((size_t)rows + 1, sizeof(*line));
	int status;

	if (!line) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	for (uint32_t r = 0; r < rows; r++)
		line[r] = (struct report_line){ report, &report->survey->row[r] };
	status = cli_table_print(report_columns, columns, line, rows, sizeof(*line));
	free(line);
	return status;
}

/** A sentence that grows. */
struct sentence {
	char text[768];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *s, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->text + s->len, sizeof(s->text) - s->len, format, args);
	va_end(args);
	if (n > 0)
		s->len += (size_t)n;
	if (s->len >= sizeof(s->text))
		s->len = sizeof(s->text) - 1;
}

static void say_linear_map(struct sentence *s, const struct machine *books)
{
	const struct {
		struct machine_count kib;
		const char *page;
	} part[] = { { books->direct_1g_kib, "1G" },
		     { books->direct_2m_kib, "2M" },
		     { books->direct_4m_kib, "4M" },
		     { books->direct_4k_kib, "4K" } };
	uint64_t total = 0;
	const char *between = "; linear map ";

	for (unsigned i = 0; i < 4; i++)
		total += part[i].kib.known ? part[i].kib.value : 0;
	for (unsigned i = 0; i < 4 && total; i++) {
		unsigned tenths;

		if (!part[i].kib.known || !part[i].kib.value)
			continue;
		tenths = (unsigned)(part[i].kib.value * 1000 / total);
		say(s, "%s%u.%u%% %s", between, tenths / 10, tenths % 10, part[i].page);
		between = ", ";
	}
}

static void say_nodes(struct sentence *s, const struct report *report)
{
	const struct ktables_facts *facts = &report->survey->facts;
	uint32_t memory = facts->machine.facts.memory_nodes;
	uint32_t online = facts->machine.facts.online_nodes;

	if (!memory) {
		say(s, ", memory nodes unknown");
		return;
	}
	say(s, ", %u memory node%s", memory, memory == 1 ? "" : "s");
	if (facts->emulated_nodes)
		say(s, " (emulated)");
	if (online > memory)
		say(s, " of %u online", online);
	if (report->books && report->books->memory_only_nodes)
		say(s, ", %u without CPUs", report->books->memory_only_nodes);
}

static const char *release_of(const struct report *report)
{
	if (report->books && report->books->release[0])
		return report->books->release;
	return report->boot && report->boot->version[0] ? report->boot->version
							: "of unknown version";
}

static void print_machine(const struct report *report)
{
	const struct ktables_facts *facts = &report->survey->facts;
	const struct hd_machine *machine = &facts->machine;
	const struct machine *books = report->books;
	uint32_t cpus = machine->facts.possible_cpus;
	struct sentence s = { .len = 0 };
	char text[32];

	say(&s, "%s, Linux %s", hd_arch_name(machine->rules.arch), release_of(report));
	if (books && books->distribution[0])
		say(&s, ", %s", books->distribution);
	if (books && books->mem_total_kib.known)
		say(&s, ", %s", cli_size(text, sizeof(text), books->mem_total_kib.value << 10));
	else if (report->boot && report->boot->has & KLOG_HAS_MEMORY)
		say(&s, ", %s", cli_size(text, sizeof(text), report->boot->total_kib << 10));
	say_nodes(&s, report);
	if (cpus)
		say(&s, ", %u CPU%s", cpus, cpus == 1 ? "" : "s");
	say(&s, ", %s pages",
	    cli_page(text, sizeof(text), (unsigned)machine->rules.value[HD_RULE_PAGE_SHIFT]));
	if (books)
		say_linear_map(&s, books);
	putchar('\n');
	cli_print_wrapped("machine", s.text);
}

static void print_hashdist(const struct ktables_facts *facts)
{
	struct sentence s = { .len = 0 };

	say(&s, "%s", facts->machine.hashdist ? "on" : "off");
	if (!facts->has_version || !facts->has_nodes)
		say(&s, " (not sure: the %s unknown)",
		    facts->has_version ? "memory nodes are" : "kernel version is");
	else
		say(&s, ": %s", report_reason(facts->reason));
	cli_print_wrapped("hashdist", s.text);
}

static void print_advice(const struct report *report)
{
	char text[768];
	const char *head = "advice";

	for (uint32_t a = 0; a < report->advices; a++) {
		if (report->advice[a].kind == KTABLES_ADVICE_LOG_LOST)
			continue;
		report_advice_text(report, &report->advice[a], text, sizeof(text));
		cli_print_wrapped(head, text);
		head = "";
	}
	if (!*head)
		return;
	if (report->survey->rows)
		cli_print_wrapped(head, "none: every table that can be judged is where it belongs");
}

/** Is what this book tells missed by anything on the page? */
static bool matters(const struct report *report, const struct machine_blind *blind)
{
	const char *path = blind->path;
	bool usual = blind->error == ENOENT || blind->error == EACCES || blind->error == EPERM;

	if (usual && (!strcmp(path, "/proc/slabinfo") || !strncmp(path, "/boot/", 6)))
		return false;
	if (strcmp(path, "/proc/vmallocinfo"))
		return true;
	for (uint32_t r = 0; r < report->survey->rows; r++)
		if (report->survey->row[r].mapping != HD_MAP_LINEAR)
			return true;
	return false;
}

/** One message for a mount that lacks, not one for each file. */
static bool proc_is_missing(const struct machine *books)
{
	unsigned missing = 0;

	for (uint32_t b = 0; b < books->blinds; b++)
		missing +=
		    books->blind[b].error == ENOENT && !strncmp(books->blind[b].path, "/proc/", 6);
	return books->live && missing > 4;
}

/** What could not be seen, and what would show it; to stderr, so that stdout stays the report. */
static void print_blind(const struct report *report)
{
	if (report->log_note) {
		cli_error("%s", report->log_note);
		if (report->log_remedy)
			cli_hint("try", "%s", report->log_remedy);
	}
	if (report->books && proc_is_missing(report->books)) {
		cli_error("/proc: not mounted; not shown: all that is read there");
		cli_hint("try", "mount -t proc proc /proc");
		return;
	}
	for (uint32_t b = 0; report->books && b < report->books->blinds; b++) {
		const struct machine_blind *blind = &report->books->blind[b];

		if (!matters(report, blind))
			continue;
		cli_error("%s: %s; not shown: %s", blind->path, strerror(blind->error),
			  blind->lost);
		if (blind->remedy)
			cli_hint("try", "%s", blind->remedy);
	}
}

static bool any_computed(const struct ktables_survey *survey)
{
	for (uint32_t r = 0; r < survey->rows; r++)
		if (survey->row[r].source != KTABLES_FROM_LOG)
			return true;
	return false;
}

static const char *default_columns(const struct report *report)
{
	bool computed = any_computed(report->survey);

	if (report->walks && report->walks->processor)
		return computed ? REPORT_COLUMNS("WALKS,") ",SOURCE" : REPORT_COLUMNS("WALKS,");
	return computed ? REPORT_COLUMNS("") ",SOURCE" : REPORT_COLUMNS("");
}

int report_print_text(const struct report *report, const char *columns)
{
	int status;

	if (columns)
		status = print_table(report, columns);
	else
		status = print_table(report, default_columns(report));

	if (status)
		return status;
	if (!columns) {
		print_machine(report);
		print_hashdist(&report->survey->facts);
		if (report->walks)
			walks_print_note(report->walks);
		print_advice(report);
	}
	fflush(stdout);
	print_blind(report);
	return ktables_wants_attention(report->survey) ? CLI_VERDICT : CLI_OK;
}
