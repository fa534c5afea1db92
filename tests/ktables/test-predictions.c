/* SPDX-License-Identifier: MIT */
/*
 * test-predictions.c - what core/ computes from a log's facts is what that kernel printed
 *
 * Every recorded boot log: version, architecture, pages, nodes and command line
 * are taken from the log, its table lines only for the size of a page and of a
 * pointer. The dentry and inode tables computed from that must equal the lines
 * printed: entries, size, order and mapping.
 *
 * A log that cannot be predicted is listed below with its reason, and a reason
 * that no longer holds is a failure too.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ktables/ktables.h"

/** Logs whose kernel is not what its version says: the rule that mends it, and why. */
static const struct {
	const char *id, *rule, *reason;
} given[] = {
	{ "x86_64-5.14-192g-n2-145b", "huge-vmalloc=node-share",
	  "SUSE's 5.14 has huge vmalloc on x86-64, as 5.18 has" },
};

/** Logs that lack a fact, or whose lines are not to be had from the facts. */
static struct {
	const char *id, *reason;
	unsigned used;
} exceptions[] = {
	{ "i386-2.6-126m-n1-582d", "2.6.5: before alloc_large_system_hash()", 0 },
	{ "sh-2.4-16m-n1-3b5e", "2.4.5: before alloc_large_system_hash()", 0 },
	{ "ia64-2.6-8g-n16-5cfd", "head cut: no version", 0 },
	{ "x86_64-5.19-1011g-n8-0ca7", "head cut: no version", 0 },
	{ "x86_64-unk-16g-n4-f3af", "head cut: no version", 0 },
	{ "x86_64-unk-8g-n4-27ec", "head cut: no version", 0 },
	{ "x86_64-unk-8g-n4-3446", "head cut: no version", 0 },
	{ "ppc64-4.6-32768g-nu-1e8e", "one quoted table line and nothing else", 0 },
	{ "sparc64-unk-7168g-nu-940e", "quoted table lines and nothing else", 0 },
	{ "unk-unk-unk-n16-ba74", "quoted table lines and nothing else", 0 },
	{ "x86_64-unk-2200g-nu-8bfe", "quoted table lines and nothing else", 0 },
	{ "x86_64-unk-unk-nu-8aba", "quoted table lines and nothing else", 0 },
	{ "x86_64-unk-unk-nu-be00", "quoted table lines and nothing else", 0 },
	{ "x86_64-unk-unk-nu-c3f7", "quoted table lines and nothing else", 0 },
	{ "ppc-6.18-1g-n1-74f5",
	  "all 256 MiB of highmem stand among the reserved memory of its Memory: line", 0 },
};

struct tally {
	unsigned logs, tables, exact, within, facts_missing, excepted, wrong;
};

static struct klog_boot boot;
static bool have;

static void keep_first(void *ctx, const struct klog_boot *got)
{
	(void)ctx;
	if (!have)
		boot = *got;
	have = true;
}

static unsigned *exception_for(const char *id)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (!strcmp(exceptions[i].id, id))
			return &exceptions[i].used;
	return NULL;
}

static bool same(const struct hd_rules *rules, const struct klog_table *line,
		 const struct hd_table *table, bool mapping_known)
{
	bool kinds = mapping_known && rules->value[HD_RULE_KIND_WORDS] != HD_WORDS_NONE;

	if (line->entries != table->entries)
		return false;
	if (line->has_bytes && line->bytes != table->bytes)
		return false;
	if (line->mapping != HD_MAP_UNKNOWN && kinds && line->mapping != table->mapping)
		return false;
	return !line->has_order || line->order == (int)hd_order(rules, table->bytes) ||
	       table->bytes < 1ULL << rules->value[HD_RULE_PAGE_SHIFT];
}

static void judge_table(const char *id, const struct ktables_facts *facts,
			const struct klog_table *line, struct tally *tally)
{
	enum hd_table_id table = hd_table_by_name(line->name, strlen(line->name));
	unsigned *exception = exception_for(id);
	const struct hd_rules *rules = &facts->machine.rules;
	struct ktables_range want;
	char text[128];

	if (table != HD_TABLE_DENTRY && table != HD_TABLE_INODE)
		return;
	tally->tables++;
	if (ktables_predict(facts, table, 0, &want)) {
		tally->facts_missing++;
		if (!exception)
			print_message("%s: %s: facts are missing: version %d arch %d pages %d "
				      "nodes %d, and the log is not listed\n",
				      id, line->name, facts->has_version, facts->has_arch,
				      facts->has_pages, facts->has_nodes);
		tally->wrong += !exception;
		if (exception)
			++*exception;
		return;
	}
	if (want.exact && same(rules, line, &want.low, want.mapping_known)) {
		tally->exact++;
		return;
	}
	if (!want.exact && (same(rules, line, &want.low, want.mapping_known) ||
			    same(rules, line, &want.high, want.mapping_known))) {
		tally->within++;
		return;
	}
	if (exception) {
		tally->excepted++;
		++*exception;
		return;
	}
	tally->wrong++;
	hd_table_line(rules, line->name, &want.low, text, sizeof(text));
	print_message(
	    "%s: printed %s entries: %llu (%llu bytes, %s)\n  computed %s%s, from %llu "
	    "pages +-%llu, %u memory nodes, hashdist %d, arch %s\n",
	    id, line->name, (unsigned long long)line->entries, (unsigned long long)line->bytes,
	    hd_mapping_name(line->mapping), text, want.exact ? "" : " (or more)",
	    (unsigned long long)facts->machine.facts.pages.kernel,
	    (unsigned long long)facts->machine.facts.pages.slack, facts->machine.facts.memory_nodes,
	    facts->machine.hashdist, hd_arch_name(rules->arch));
}

static void judge_log(const char *directory, const char *name, struct tally *tally)
{
	const struct klog_sink sink = { NULL, keep_first, NULL };
	struct klog *log = klog_new(&sink);
	char path[4096], id[256];
	const char *rule[1];
	struct ktables_given rules = { rule, 0 };
	struct ktables_facts facts;
	int fd;

	assert_non_null(log);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(id, sizeof(id), "%.*s", (int)(strlen(name) - 4), name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	have = false;
	assert_int_equal(klog_read_fd(log, fd), 0);
	close(fd);
	klog_free(log);
	assert_true(have);
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (!strcmp(given[i].id, id))
			rule[rules.rules++] = given[i].rule;
	ktables_infer(&boot, NULL, &rules, KTABLES_DETECT_NOTHING, &facts);
	tally->logs++;
	for (uint32_t t = 0; t < boot.tables; t++)
		judge_table(id, &facts, &boot.table[t], tally);
}

static void dentry_and_inode_of_every_log_are_predicted(void **state)
{
	const char *directory = getenv("HASHDIST_BOOT_LOGS");
	struct tally tally = { 0 };
	struct dirent **entry;
	int count;

	(void)state;
	assert_non_null(directory);
	count = scandir(directory, &entry, NULL, alphasort);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		const char *name = entry[i]->d_name;
		size_t len = strlen(name);

		if (len > 4 && !strcmp(name + len - 4, ".log"))
			judge_log(directory, name, &tally);
		free(entry[i]);
	}
	free(entry);
	print_message(
	    "%u logs, %u dentry and inode lines: %u exact, %u within the stated range, %u "
	    "without enough facts, %u listed exceptions, %u wrong\n",
	    tally.logs, tally.tables, tally.exact, tally.within, tally.facts_missing,
	    tally.excepted, tally.wrong);
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		if (exceptions[i].used)
			continue;
		print_message("%s: listed (%s), but predicted\n", exceptions[i].id,
			      exceptions[i].reason);
		tally.wrong++;
	}
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.logs > 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dentry_and_inode_of_every_log_are_predicted),
	};

	return cmocka_run_group_tests_name("predictions", tests, NULL, NULL);
}
