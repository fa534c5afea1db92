/* SPDX-License-Identifier: MIT */
/*
 * test-fixtures.c - every recorded log against what its index says of it
 *
 * The number of tables is checked twice: against the index, and against a count made
 * here in the simplest way: take out all line ends with the quotes behind them, and all
 * spaces, and count "hashtableentries".
 *
 * Where the reader is right to differ, the exception says why. An exception that is no
 * longer needed is an error too.
 */
#include "collect.h"

#include <errno.h>

enum field { TABLES, BOOTS, DAMAGED, VERSION, ARCH, NODES, TOTAL, MAPPING };

struct exception {
	const char *id;
	enum field field;
	const char *got; /* what the reader says instead */
	const char *why;
};

static const struct exception exceptions[] = {
#include "exceptions.h"
};

static bool used[sizeof(exceptions) / sizeof(*exceptions)];
static unsigned wrong;

/** Say that @id differs, unless that is expected. */
static void differs(const char *id, enum field field, const char *got, const char *want)
{
	static const char *const names[] = { "TABLES", "BOOTS", "DAMAGED", "VERSION",
					     "ARCH",   "NODES", "TOTAL",   "MAPPING" };

	for (size_t i = 0; i < sizeof(exceptions) / sizeof(*exceptions); i++)
		if (strcmp(exceptions[i].id, id) == 0 && exceptions[i].field == field &&
		    strcmp(exceptions[i].got, got) == 0) {
			used[i] = true;
			return;
		}
	print_error("%s: %s is '%s', want '%s'\n", id, names[field], got, want);
	wrong++;
}

static void check(const char *id, enum field field, const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		differs(id, field, got, want);
}

static void check_number(const char *id, enum field field, uint64_t got, uint64_t want)
{
	char a[24], b[24];

	snprintf(a, sizeof(a), "%llu", (unsigned long long)got);
	snprintf(b, sizeof(b), "%llu", (unsigned long long)want);
	check(id, field, a, b);
}

static const char *arch_name(enum hd_arch arch)
{
	static const char *const names[HD_ARCH_COUNT] = {
		[HD_ARCH_UNKNOWN] = "?",
		[HD_ARCH_X86_64] = "x86_64",
		[HD_ARCH_I386] = "i386",
		[HD_ARCH_ARM64] = "arm64",
		[HD_ARCH_ARM] = "arm",
		[HD_ARCH_PPC64] = "ppc64",
		[HD_ARCH_PPC] = "ppc",
		[HD_ARCH_S390X] = "s390x",
		[HD_ARCH_RISCV64] = "riscv64",
		[HD_ARCH_RISCV32] = "riscv32",
		[HD_ARCH_LOONGARCH64] = "loongarch64",
		/* the index knows one word for both widths of these */
		[HD_ARCH_MIPS64] = "mips",
		[HD_ARCH_MIPS] = "mips",
		[HD_ARCH_IA64] = "ia64",
		[HD_ARCH_ALPHA] = "alpha",
		[HD_ARCH_SPARC64] = "sparc64",
		[HD_ARCH_SPARC] = "sparc",
		[HD_ARCH_PARISC64] = "parisc",
		[HD_ARCH_PARISC] = "parisc",
		[HD_ARCH_M68K] = "m68k",
		[HD_ARCH_SH] = "sh",
		[HD_ARCH_OPENRISC] = "openrisc",
		[HD_ARCH_MICROBLAZE] = "microblaze",
	};

	return names[arch] ? names[arch] : "?";
}

static char *slurp(const char *dir, const char *name, size_t *len)
{
	char path[4096];
	FILE *file;
	char *text = malloc(1 << 20);

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	assert_non_null(text);
	*len = fread(text, 1, (1 << 20) - 1, file);
	text[*len] = '\0';
	fclose(file);
	return text;
}

/** Anchors in @text when nothing but letters counts. */
static unsigned count_anchors(const char *text, size_t len)
{
	char *bare = malloc(len + 1), *w = bare, *hit;
	const char *p = text, *end = text + len;
	unsigned n = 0;

	assert_non_null(bare);
	while (p < end) {
		if (*p == '=' && (p[1] == '\n' || p[1] == '\r')) {
			p++;
		} else if (*p == '\n') {
			for (p++; p < end && (*p == '>' || *p == ' '); p++)
				;
		} else if (*p == ' ' || *p == '\r' || *p == '\0' || (unsigned char)*p >= 0x80) {
			p++;
		} else {
			*w++ = *p++;
		}
	}
	*w = '\0';
	for (hit = bare; (hit = strstr(hit, "hashtableentries")); hit++)
		n++;
	free(bare);
	return n;
}

/** Column @n of a tab separated @line, in place. */
static char *column(char *line, int n)
{
	char *p = line;

	while (n-- > 0 && p)
		p = strchr(p, '\t') ? strchr(p, '\t') + 1 : NULL;
	return p;
}

static void one_log(struct collected *got, const char *dir, char *field[])
{
	static const char *const mappings[] = { "unstated", "linear", "vmalloc",
						"vmalloc hugepage" };
	const char *id = field[0], *version = field[1], *arch = field[2], *nodes = field[4];
	const char *total = field[5], *mapping = field[6], *from = field[10];
	const struct klog_table *dentry = NULL;
	const struct klog_boot *b = got->boot;
	uint32_t tables = 0, damaged = 0;
	char name[128];
	size_t len;
	char *text;

	snprintf(name, sizeof(name), "%s.log", id);
	text = slurp(dir, name, &len);
	collect_bytes(got, text, len, 1u << 16);
	check_number(id, BOOTS, got->boots, 1);
	for (unsigned i = 0; i < got->boots; i++) {
		b = &got->boot[i];
		tables += b->tables;
		damaged += b->damaged;
		if (!dentry)
			dentry = table_named(b, "Dentry cache");
		if (!dentry)
			dentry = table_named(b, "Dentry-cache"); /* 2.4 */
	}
	b = got->boot;
	assert_int_equal(damaged, got->damaged);
	if (tables + damaged != count_anchors(text, len)) {
		print_error("%s: %u tables and %u damaged, but %u anchors\n", id, tables, damaged,
			    count_anchors(text, len));
		wrong++;
	}
	check_number(id, TABLES, tables, strtoul(strstr(from, "tables=") + 7, NULL, 10));
	check_number(id, DAMAGED, damaged, 0);
	check(id, VERSION, b->version[0] ? b->version : "?", version);
	check(id, ARCH, arch_name(b->arch), strcmp(arch, "ppc64le") == 0 ? "ppc64" : arch);
	/* other sources of the index are not figures of the log */
	if (strstr(from, "nodes-from=ranges") || strstr(from, "nodes-from=initmem") ||
	    strstr(from, "nodes-from=totalpages"))
		check_number(id, NODES, b->nodes_with_memory, strtoul(nodes, NULL, 10));
	if (strcmp(total, "?") != 0)
		check_number(id, TOTAL, b->total_kib >> 10, strtoull(total, NULL, 10));
	check(id, MAPPING, dentry ? mappings[dentry->mapping] : "absent", mapping);
	/* cut into small pieces it must be the same */
	{
		struct collected again = { 0 };

		collect_bytes(&again, text, len, 7);
		assert_int_equal(again.boots, got->boots);
		for (unsigned i = 0; i < got->boots; i++)
			same_tables(&again.boot[i], &got->boot[i]);
		assert_memory_equal(&again.stats, &got->stats, sizeof(got->stats));
		collect_free(&again);
	}
	free(text);
}

static void every_recorded_log_reads_as_its_index_says(void **state)
{
	const char *dir = getenv("HASHDIST_BOOT_LOGS");
	struct collected got = { 0 };
	char *index, *line, *next;
	unsigned logs = 0;
	size_t len;

	(void)state;
	if (!dir) {
		print_message("HASHDIST_BOOT_LOGS is not set\n");
		skip();
	}
	index = slurp(dir, "index.tsv", &len);
	for (line = strchr(index, '\n') + 1; line && *line; line = next) {
		char *field[11];

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		for (int i = 0; i < 11; i++) {
			field[i] = column(line, i);
			assert_non_null(field[i]);
		}
		for (int i = 1; i < 11; i++)
			field[i][-1] = '\0';
		one_log(&got, dir, field);
		logs++;
	}
	assert_true(logs > 100);
	for (size_t i = 0; i < sizeof(used); i++)
		if (!used[i]) {
			print_error("%s: exception is not needed (%s)\n", exceptions[i].id,
				    exceptions[i].why);
			wrong++;
		}
	free(index);
	collect_free(&got);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_recorded_log_reads_as_its_index_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
