/* SPDX-License-Identifier: MIT */
/* test-sources.c - where logs come from, the catalogue, copies */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "expect.h"

/* ---- sources -------------------------------------------------------------------------------- */

static void a_reader_can_be_used_again(void **state)
{
	struct klog_sink sink = { &got, collect_boot, NULL };
	struct klog *log = klog_new(&sink);

	(void)state;
	collect_begin(&got);
	klog_feed(log, FIGURES "\n", sizeof(FIGURES));
	klog_finish(log);
	assert_int_equal(klog_stats(log)->table_lines, 1);
	klog_feed(log, "x hash table entries: y\n", 24);
	klog_finish(log);
	assert_int_equal(klog_stats(log)->table_lines, 0);
	assert_int_equal(klog_stats(log)->damaged, 1);
	assert_int_equal(got.boots, 1);
	klog_free(log);
}

/** What klog_read_fd() says to a file that holds @len bytes of @data. */
static int read_file(const char *data, size_t len)
{
	struct klog_sink sink = { &got, collect_boot, NULL };
	struct klog *log = klog_new(&sink);
	FILE *file = tmpfile();
	int rc;

	collect_begin(&got);
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	rewind(file);
	rc = klog_read_fd(log, fileno(file));
	fclose(file);
	klog_free(log);
	return rc;
}

static void gzip_is_unpacked(void **state)
{
	static const char text[] = "[    0.000000] " FIGURES "\n";
	char packed[512];
	z_stream z = { .next_in = (Bytef *)(uintptr_t)text,
		       .avail_in = sizeof(text) - 1,
		       .next_out = (Bytef *)packed,
		       .avail_out = sizeof(packed) };
	size_t len;

	(void)state;
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	len = z.total_out;
	deflateEnd(&z);
	assert_int_equal(read_file(text, sizeof(text) - 1), 0);
	assert_int_equal(got.boots, 1);
	assert_int_equal(read_file(packed, len), 0);
	assert_int_equal(got.boots, 1);
	assert_int_equal(got.boot[0].table[0].entries, 262144);
	/* cut short, it is damaged; one byte is no gzip yet */
	for (size_t n = 0; n < len; n++)
		assert_int_equal(read_file(packed, n), n < 2 ? 0 : -EBADMSG);
	/* two members in a row; then what is none, which gzip passes over, too */
	memcpy(packed + len, packed, len);
	assert_int_equal(read_file(packed, 2 * len), 0);
	assert_int_equal(got.boot[0].tables, 1);
	memset(packed + len, 0, 32);
	assert_int_equal(read_file(packed, len + 32), 0);
	assert_int_equal(got.boots, 1);
}

static void a_directory_is_refused(void **state)
{
	struct klog_sink sink = { &got, collect_boot, NULL };
	struct klog *log = klog_new(&sink);
	int fd = open("/", O_RDONLY);

	(void)state;
	assert_int_equal(klog_read_fd(log, fd), -EISDIR);
	close(fd);
	assert_int_equal(klog_read_fd(log, -1), -EBADF);
	klog_free(log);
}

/** A program of that name in a directory of its own, the only one of PATH; NULL text: none. */
static int read_journal(const char *text)
{
	struct klog_sink sink = { &got, collect_boot, NULL };
	struct klog *log = klog_new(&sink);
	char dir[] = "/tmp/test-sources-XXXXXX", path[64], before[4096];
	int rc;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/journalctl", dir);
	snprintf(before, sizeof(before), "%s", getenv("PATH"));
	if (text) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		fprintf(file, "#!/bin/sh\n%s\n", text);
		assert_int_equal(fchmod(fileno(file), 0700), 0);
		fclose(file);
	}
	setenv("PATH", dir, 1);
	collect_begin(&got);
	rc = klog_read_journal(log);
	setenv("PATH", before, 1);
	unlink(path);
	rmdir(dir);
	klog_free(log);
	return rc;
}

static void the_journal_is_asked_through_its_program(void **state)
{
	(void)state;
	assert_int_equal(read_journal("[ \"$1 $2 $3 $4 $5\" = '-k -b 0 -o short-monotonic' ] &&\n"
				      "echo '[    0.000000] host kernel: " FIGURES "'"),
			 0);
	assert_int_equal(got.boots, 1);
	assert_int_equal(got.boot[0].table[0].entries, 262144);
	/* complaints are kept from the user */
	assert_int_equal(read_journal("echo no journal >&2; exit 1"), -ENOENT);
	assert_int_equal(read_journal(NULL), -ENOENT);
	assert_int_equal(got.boots, 0);
}

/* ---- the catalogue, copies ------------------------------------------------------------- */

static void a_table_has_its_id_where_the_catalogue_knows_it(void **state)
{
	static const struct {
		const char *name;
		enum hd_table_id id;
	} names[] = {
		{ "PID", HD_TABLE_PID },
		{ "Dentry cache", HD_TABLE_DENTRY },
		{ "Dentry-cache", HD_TABLE_DENTRY },
		{ "Inode-cache", HD_TABLE_INODE },
		{ "VFS: Dquot-cache", HD_TABLE_DQUOT },
		{ "tcp_listen_portaddr_hash", HD_TABLE_TCP_LISTEN },
		{ "UDP", HD_TABLE_UDP },
		{ "UDP-Lite", HD_TABLE_UDP_LITE },
		{ "UDP-Heavy", HD_TABLE_COUNT },
		{ "Frobnicate cache", HD_TABLE_COUNT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char line[128];

		snprintf(line, sizeof(line), "%s hash table entries: 512 (order: 0, 4096 bytes)\n",
			 names[i].name);
		assert_int_equal(only_table(line)->id, names[i].id);
		snprintf(line, sizeof(line), "%s hash\ntable entries: 512 (order: 0, 4096 bytes)\n",
			 names[i].name);
		assert_int_equal(only_table(line)->id, names[i].id);
		snprintf(line, sizeof(line), "[    0.1] foo: %s hash table entries: 512\n",
			 names[i].name);
		assert_int_equal(only_table(line)->id, names[i].id);
	}
}

static struct klog_boot copied;

static void copy_boot(void *ctx, const struct klog_boot *boot)
{
	(void)ctx;
	collect_boot(&got, boot);
	memset(&copied, 0xa5, sizeof(copied));
	klog_boot_copy(&copied, boot);
}

static bool untouched(const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((const unsigned char *)from)[i] != 0xa5)
			return false;
	return true;
}

static void a_copy_has_all_that_counts_and_no_more(void **state)
{
	static const char text[] =
	    "[    0.000000] Linux version 6.1.0 (a@b) #1 SMP\n"
	    "[    0.000000] Command line: root=/dev/vda1 quiet\n"
	    "[    0.000000]   node   2: [mem 0x1000-0x1fff]\n"
	    "[    0.000000] On node 1 totalpages: 9\n"
	    "[    0.000000] Initmem setup node 4 as memoryless\n"
	    "[    0.000000] Unknown kernel command line parameters \"foo\", will be passed to "
	    "user space.\n"
	    "[    0.000000] PID hash table entries: 4096 (order: 3, 32768 bytes, linear)\n"
	    "[    0.000000] " FIGURES "\n";
	struct klog_sink sink = { NULL, copy_boot, NULL };
	struct klog *log = klog_new(&sink);
	const struct klog_boot *a, *b = &copied;

	(void)state;
	assert_non_null(log);
	collect(&got, ""); /* makes room */
	klog_feed(log, text, sizeof(text) - 1);
	klog_finish(log);
	klog_free(log);
	a = got.boot;
	assert_int_equal(got.boots, 1);
	assert_int_equal(a->node_max, 5);
	assert_int_equal(a->nodes_beyond, 0);
	assert_memory_equal(a, b, offsetof(struct klog_boot, version));
	assert_string_equal(a->version, b->version);
	assert_string_equal(a->banner, b->banner);
	assert_string_equal(a->refused, "foo");
	assert_string_equal(b->refused, "foo");
	assert_string_equal(a->cmdline, b->cmdline);
	assert_memory_equal(a->node_bytes, b->node_bytes, 5 * sizeof(*b->node_bytes));
	assert_memory_equal(a->node_pages, b->node_pages, 5 * sizeof(*b->node_pages));
	assert_memory_equal(a->initmem_node, b->initmem_node, 5);
	assert_int_equal(b->node_pages[1], 9);
	assert_int_equal(b->initmem_node[4], 2);
	same_tables(a, b);
	assert_int_equal(b->table[1].id, HD_TABLE_DENTRY);
	/* the rest was not written */
	assert_true(untouched(b->banner + strlen(b->banner) + 1,
			      sizeof(b->banner) - strlen(b->banner) - 1));
	assert_true(untouched(b->cmdline + strlen(b->cmdline) + 1,
			      sizeof(b->cmdline) - strlen(b->cmdline) - 1));
	assert_true(untouched(b->node_bytes + 5, sizeof(b->node_bytes) - 5 * sizeof(uint64_t)));
	assert_true(untouched(b->node_pages + 5, sizeof(b->node_pages) - 5 * sizeof(uint64_t)));
	assert_true(untouched(b->initmem_node + 5, sizeof(b->initmem_node) - 5));
	assert_true(untouched(b->table + 2, sizeof(b->table) - 2 * sizeof(*b->table)));
}

/*
 * Most lines are passed by after a quick look. What is hidden in such a line must be found
 * wherever it stands: on a border of what is looked at together, or at the very end.
 */
static void what_is_hidden_in_a_line_is_found_at_any_place(void **state)
{
	static const char *const hidden[] = {
		FIGURES,           "[    0.000000] " FIGURES, "dentry\r" FIGURES,
		"\x1b[1m" FIGURES, "host kernel: " FIGURES,   "x Linux version 6.1.0 (a@b) #1 SMP",
	};
	char *text = malloc(1 << 16);

	(void)state;
	assert_non_null(text);
	for (size_t h = 0; h < sizeof(hidden) / sizeof(*hidden); h++)
		for (size_t before = 0; before < 140; before++) {
			const bool first = strncmp(hidden[h], "host", 4) == 0;
			/* near a multiple of all block sizes, and near the end of the text */
			size_t at = 16384 - 70 + before, len = 0;

			for (int lines = 0; len + 60 < at; lines++)
				len += (size_t)sprintf(
				    text + len, "[    0.%06d] pci 0000:00:1f.0: BAR 0\n", lines);
			len += (size_t)sprintf(text + len, "[    0.5%05zu] %*s", before,
					       first ? 0 : (int)(before % 70), "");
			len +=
			    (size_t)sprintf(text + len, "%s%s\n", first ? "" : "quux: ", hidden[h]);
			collect_bytes(&got, text, len, len);
			assert_int_equal(got.boots, 1);
			assert_int_equal(got.boot[0].tables, h < 5);
			assert_int_equal(got.damaged, 0);
		}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_can_be_used_again),
		cmocka_unit_test(gzip_is_unpacked),
		cmocka_unit_test(a_directory_is_refused),
		cmocka_unit_test(the_journal_is_asked_through_its_program),
		cmocka_unit_test(a_table_has_its_id_where_the_catalogue_knows_it),
		cmocka_unit_test(a_copy_has_all_that_counts_and_no_more),
		cmocka_unit_test(what_is_hidden_in_a_line_is_found_at_any_place),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
