/* SPDX-License-Identifier: MIT */
/*
 * test-params.c - the command line is read as the kernel with these rules reads it
 *
 * The table of hashdist values holds what kernels were seen to do (6.1, 6.12) and
 * what their source says (up to 7.1). Sizes are those of a guest with 2 GiB.
 */
#include "help.h"

static struct hd_params parsed(const char *version, enum hd_arch arch, const char *cmdline)
{
	struct hd_rules rules = rules_of(version, arch);
	struct hd_params params;

	hd_params_parse(&params, &rules, cmdline, strlen(cmdline));
	return params;
}

static struct hd_params on_61(const char *cmdline)
{
	return parsed("6.1.192", HD_ARCH_X86_64, cmdline);
}

static struct hd_params on_70(const char *cmdline)
{
	return parsed("7.0", HD_ARCH_X86_64, cmdline);
}

/* ---- hashdist ---------------------------------------------------------------------- */

enum { KEPT = -1 }; /* the kernel does not take the value: the default stays */

static const struct {
	const char *text;
	int number, word; /* what kernels to 6.19, and from 7.0 on, make of it */
} hashdist_cells[] = {
	{ "hashdist=0", 0, 0 },
	{ "hashdist=1", 1, 1 },
	{ "hashdist=2", 1, KEPT },
	{ "hashdist=7", 1, KEPT },
	{ "hashdist=foo", 0, 0 },
	{ "hashdist=y", 0, 1 },
	{ "hashdist=Y", 0, 1 },
	{ "hashdist=on", 0, 1 },
	{ "hashdist=ON", 0, 1 },
	{ "hashdist=yes", 0, 1 },
	{ "hashdist=t", 0, 1 },
	{ "hashdist=True", 0, 1 },
	{ "hashdist=e", 0, 1 },
	{ "hashdist=enable", 0, 1 },
	{ "hashdist=n", 0, 0 },
	{ "hashdist=N", 0, 0 },
	{ "hashdist=off", 0, 0 },
	{ "hashdist=Off", 0, 0 },
	{ "hashdist=no", 0, 0 },
	{ "hashdist=d", 0, 0 },
	{ "hashdist=disable", 0, 0 },
	{ "hashdist=False", 0, 0 },
	{ "hashdist=bar", 0, KEPT },
	{ "hashdist=x", 0, KEPT },
	{ "hashdist=o", 0, KEPT },
	{ "hashdist=ok", 0, KEPT },
	{ "hashdist=0x10", 1, 0 },
	{ "hashdist=0X10", 1, 0 },
	{ "hashdist=010", 1, 0 },
	{ "hashdist=0x", 0, 0 },
	{ "hashdist=08", 0, 0 },
	{ "hashdist=00", 0, 0 },
	{ "hashdist=-1", 0, KEPT },
	{ "hashdist=+1", 0, KEPT },
	{ "hashdist=", 0, KEPT },
	{ "hashdist", KEPT, KEPT },
	{ "hashdist=1garbage", 1, 1 },
	{ "hashdist=0garbage", 0, 0 },
	{ "hashdist=4294967296", 0, KEPT }, /* an int: the low 32 bits are 0 */
	{ "hashdist=4294967297", 1, KEPT },
	{ "hashdist=18446744073709551616", 0, 1 }, /* wraps; a word starts with its 1 */
};

static void check_cells(const char *version, bool word)
{
	for (size_t i = 0; i < ARRAY_SIZE(hashdist_cells); i++) {
		const char *text = hashdist_cells[i].text;
		int want = word ? hashdist_cells[i].word : hashdist_cells[i].number;
		struct hd_params params = parsed(version, HD_ARCH_X86_64, text);
		bool in_force = params.param[HD_PARAM_HASHDIST].in_force;
		int got = in_force ? (int)params.param[HD_PARAM_HASHDIST].value : KEPT;
		int state = in_force ? HD_PARAM_SET : HD_PARAM_IGNORED;

		/* A word that starts with 4 is no boolean, one with 1 is. */
		if (got != want || params.param[HD_PARAM_HASHDIST].state != state ||
		    params.param[HD_PARAM_HASHDIST].times != 1)
			fail_msg("%s: \"%s\" gives %d, not %d", version, text, got, want);
	}
}

static void hashdist_is_a_number_up_to_6_19(void **state)
{
	(void)state;
	check_cells("2.6.32", false);
	check_cells("4.4.0", false);
	check_cells("5.3.1", false);
	check_cells("6.1.192", false);
	check_cells("6.12.117", false);
	check_cells("6.19.9", false);
}

static void hashdist_is_a_word_from_7_0(void **state)
{
	(void)state;
	check_cells("7.0", true);
	check_cells("7.1.5", true);
	check_cells("newest", true);
}

static void a_kernel_without_numa_takes_no_hashdist(void **state)
{
	struct hd_config config;
	struct hd_rules rules;
	struct hd_params params;

	(void)state;
	params = parsed("6.1.170", HD_ARCH_I386, "hashdist=1");
	assert_int_equal(params.param[HD_PARAM_HASHDIST].state, HD_PARAM_IGNORED);
	assert_false(params.param[HD_PARAM_HASHDIST].in_force);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].times, 1);

	hd_config_init(&config);
	config.numa = HD_NO;
	hd_rules_init(&rules, HD_VERSION(7, 1, 0), HD_ARCH_X86_64, &config);
	hd_params_parse(&params, &rules, "hashdist=1", 10);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].state, HD_PARAM_IGNORED);

	/* 32 bits with NUMA: the parameter is there. */
	config.numa = HD_YES;
	hd_rules_init(&rules, HD_VERSION(6, 1, 0), HD_ARCH_I386, &config);
	hd_params_parse(&params, &rules, "hashdist=1", 10);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].state, HD_PARAM_SET);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].value, 1);
}

/* ---- words ---------------------------------------------------------------------------- */

static void the_last_of_several_wins(void **state)
{
	struct hd_params params = on_61("hashdist=1 quiet hashdist=0");

	(void)state;
	assert_int_equal(params.param[HD_PARAM_HASHDIST].value, 0);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].times, 2);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].at, 17);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].len, 10);
	params = on_61("dhash_entries=5 dhash_entries=0x20");
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 32);
}

static void a_bad_repetition_leaves_the_first_in_force(void **state)
{
	struct hd_params params = on_70("hashdist=1 hashdist=bar");

	(void)state;
	assert_true(params.param[HD_PARAM_HASHDIST].in_force);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].value, 1);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].state, HD_PARAM_IGNORED);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].at, 11);
	params = on_61("thash_entries=4096 thash_entries=100k");
	assert_int_equal(params.param[HD_PARAM_THASH_ENTRIES].value, 4096);
	assert_int_equal(params.param[HD_PARAM_THASH_ENTRIES].state, HD_PARAM_IGNORED);
	/* ... but a prefix-reading parameter takes garbage for 0. */
	params = on_61("dhash_entries=4096 dhash_entries=k");
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 0);
}

static void times_stop_at_255(void **state)
{
	char line[300 * 11 + 1] = "";

	(void)state;
	for (int i = 0; i < 300; i++)
		memcpy(line + (size_t)i * 11, "hashdist=0 ", 12);
	assert_int_equal(on_61(line).param[HD_PARAM_HASHDIST].times, 255);
}

static void quotes_hold_a_value_or_a_word_together(void **state)
{
	struct hd_params params;

	(void)state;
	assert_int_equal(on_61("hashdist=\"1\"").param[HD_PARAM_HASHDIST].value, 1);
	assert_int_equal(on_61("\"hashdist=1\"").param[HD_PARAM_HASHDIST].value, 1);
	assert_int_equal(on_61("thash_entries=\"64\"").param[HD_PARAM_THASH_ENTRIES].value, 64);
	assert_int_equal(on_61("\"thash_entries=64\"").param[HD_PARAM_THASH_ENTRIES].value, 64);
	/* What stands inside quotes is no word of its own. */
	params = on_61("init=\"sh hashdist=0 x\" dhash_entries=8");
	assert_int_equal(params.param[HD_PARAM_HASHDIST].state, HD_PARAM_ABSENT);
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 8);
	params = on_61("\"init with hashdist=0\" dhash_entries=8");
	assert_int_equal(params.param[HD_PARAM_HASHDIST].state, HD_PARAM_ABSENT);
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 8);
	/* An open quote runs to the end. */
	params = on_61("hashdist=\"1 dhash_entries=8");
	assert_int_equal(params.param[HD_PARAM_HASHDIST].value, 1);
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].state, HD_PARAM_ABSENT);
	/* A quote in the name makes another name of it. */
	params = on_61("\"hashdist\"=1");
	assert_false(params.param[HD_PARAM_HASHDIST].in_force);
}

static void a_closing_quote_is_dropped_only_if_one_was_opened(void **state)
{
	struct hd_params params = on_61("thash_entries=16\"");

	(void)state;
	assert_int_equal(params.param[HD_PARAM_THASH_ENTRIES].state, HD_PARAM_IGNORED);
	params = on_61("dhash_entries=16\""); /* a prefix does not mind */
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 16);
}

static void dashes_and_underscores_are_alike_in_names(void **state)
{
	(void)state;
	assert_int_equal(on_61("dhash-entries=16").param[HD_PARAM_DHASH_ENTRIES].value, 16);
	assert_int_equal(on_61("possible-cpus=16").possible_cpus, 16);
	assert_int_equal(on_61("nr_cpus=3").nr_cpus, 3);
	assert_int_equal(on_61("hash-dist=1").param[HD_PARAM_HASHDIST].state, HD_PARAM_MISSPELT);
}

static void names_are_matched_in_whole_and_by_case(void **state)
{
	struct hd_params params = on_61("xhashdist=0 hashdist.x=0 Hashdist=0 HASHDIST=0");

	(void)state;
	assert_false(params.param[HD_PARAM_HASHDIST].in_force);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].times, 0);
}

static void two_dashes_end_the_kernels_part(void **state)
{
	struct hd_params params = on_61("hashdist=0 -- hashdist=1 nohugevmalloc");

	(void)state;
	assert_int_equal(params.param[HD_PARAM_HASHDIST].value, 0);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].times, 1);
	assert_false(params.nohugevmalloc);
	assert_int_equal(on_61("--x hashdist=1").param[HD_PARAM_HASHDIST].value, 1);
	assert_int_equal(on_61("--=1 hashdist=1").param[HD_PARAM_HASHDIST].value, 1);
}

static void every_kind_of_blank_parts_words(void **state)
{
	struct hd_params params = on_61("  hashdist=0\tdhash_entries=2\nihash_entries=3\r\v\f ");

	(void)state;
	assert_true(params.param[HD_PARAM_HASHDIST].in_force);
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 2);
	assert_int_equal(params.param[HD_PARAM_IHASH_ENTRIES].value, 3);
}

static void a_zero_byte_ends_the_line(void **state)
{
	static const char line[] = "hashdist=0\0 dhash_entries=8";
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
	struct hd_params params;

	(void)state;
	hd_params_parse(&params, &rules, line, sizeof(line) - 1);
	assert_true(params.param[HD_PARAM_HASHDIST].in_force);
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].state, HD_PARAM_ABSENT);
	/* The length does, too: nothing behind it is read. */
	hd_params_parse(&params, &rules, "dhash_entries=123", 15);
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 1);
	hd_params_parse(&params, &rules, NULL, 0);
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].state, HD_PARAM_ABSENT);
}

static void a_word_with_a_typing_error_is_noticed(void **state)
{
	static const struct {
		const char *text;
		enum hd_param param;
	} words[] = {
		{ "hashdits=1", HD_PARAM_HASHDIST },
		{ "hasdist=1", HD_PARAM_HASHDIST },
		{ "hash_dist=1", HD_PARAM_HASHDIST },
		{ "HASHDIST=1", HD_PARAM_HASHDIST },
		{ "dhash_entires=1", HD_PARAM_DHASH_ENTRIES },
		{ "ihashentries=1", HD_PARAM_IHASH_ENTRIES },
		{ "mphash_entry=1", HD_PARAM_MPHASH_ENTRIES }, /* three letters off */
		{ "thash_entrie=1", HD_PARAM_THASH_ENTRIES },
		{ "dhash_entriesss=1", HD_PARAM_DHASH_ENTRIES },
		{ "dhash_entriessss=1", HD_PARAM_NONE },
		{ "dhash_entri=1", HD_PARAM_DHASH_ENTRIES },
		{ "dhash_entr=1", HD_PARAM_NONE },
		{ "xhashdistx=1", HD_PARAM_HASHDIST },
		{ "hashdistance=1", HD_PARAM_NONE },
		{ "crashkernel=1", HD_PARAM_NONE },
		{ "hugepages=1", HD_PARAM_NONE },
		{ "hash=1", HD_PARAM_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct hd_params params = on_61(words[i].text);

		for (int p = 0; p < HD_PARAM_COUNT; p++) {
			int want = p == (int)words[i].param ? HD_PARAM_MISSPELT : HD_PARAM_ABSENT;

			if (params.param[p].state != want || params.param[p].in_force)
				fail_msg("%s: %s is %d", words[i].text, hd_param_name(p),
					 params.param[p].state);
			if (want == HD_PARAM_MISSPELT)
				assert_int_equal(params.param[p].len, strlen(words[i].text));
		}
	}
}

static void the_right_spelling_outdoes_a_misspelt_word(void **state)
{
	struct hd_params params = on_61("hashdits=1 hashdist=0 hasdist=1");

	(void)state;
	assert_int_equal(params.param[HD_PARAM_HASHDIST].state, HD_PARAM_SET);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].value, 0);
	assert_int_equal(params.param[HD_PARAM_HASHDIST].at, 11);
}

static void words_that_change_the_machine_are_seen(void **state)
{
	struct hd_params params = on_61("nohugevmalloc numa=off possible_cpus=16 nr_cpus=0x8");

	(void)state;
	assert_true(params.nohugevmalloc);
	assert_true(params.numa_off);
	assert_false(params.numa_fake);
	assert_int_equal(params.possible_cpus, 16);
	assert_int_equal(params.nr_cpus, 8);
	params = on_61("nohugevmalloc=0 numa=fake=4");
	assert_true(params.nohugevmalloc); /* any value is ignored */
	assert_true(params.numa_fake);
	assert_false(params.numa_off);
	params = on_61("nohugeiomap nohugevmallocs numa=noacpi numa possible_cpus=x nr_cpus=");
	assert_false(params.nohugevmalloc);
	assert_false(params.numa_fake);
	assert_int_equal(params.possible_cpus, 0);
	assert_int_equal(params.nr_cpus, 0);
}

/* ---- entries --------------------------------------------------------------------------- */

static void filesystem_tables_take_a_number_prefix_up_to_6_19(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} cells[] = {
		{ "1", 1 },         { "100000", 100000 },
		{ "0x1000", 4096 }, { "010", 8 },
		{ "garbage", 0 },   { "100k", 100 },
		{ "", 0 },          { "-1", 0 },
		{ "+1", 0 },        { "08", 0 },
		{ "0xg", 0 },       { "0x", 0 },
		{ "1 ", 1 },        { "0xFFffFFff", 0xffffffff },
	};

	(void)state;
	for (int p = HD_PARAM_DHASH_ENTRIES; p <= HD_PARAM_MPHASH_ENTRIES; p++)
		for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
			char line[64];
			struct hd_params params;

			snprintf(line, sizeof(line), "%s=%s", hd_param_name(p), cells[i].text);
			params = on_61(line);
			if (params.param[p].state != HD_PARAM_SET ||
			    params.param[p].value != cells[i].value)
				fail_msg("%s: %llu", line,
					 (unsigned long long)params.param[p].value);
			/* From 7.0 all of it must be a number. */
			params = on_70(line);
			if (params.param[p].in_force)
				assert_int_equal(params.param[p].value,
						 strtoull(cells[i].text, NULL, 0));
		}
}

static void a_strict_number_is_a_number_to_its_end(void **state)
{
	static const struct {
		const char *text;
		int64_t value; /* -1: not taken */
	} cells[] = {
		{ "1024", 1024 }, { "+1024", 1024 }, { "0x400", 1024 }, { "02000", 1024 },
		{ "0", 0 },       { "100k", -1 },    { "abc", -1 },     { "", -1 },
		{ "-1", -1 },     { "++1", -1 },     { "+", -1 },       { "0x", -1 },
		{ "08", -1 },     { "1.", -1 },
	};
	static const struct {
		enum hd_param param;
		const char *version;
	} readers[] = {
		{ HD_PARAM_THASH_ENTRIES, "3.10.65" }, { HD_PARAM_THASH_ENTRIES, "6.1.192" },
		{ HD_PARAM_THASH_ENTRIES, "7.0" },     { HD_PARAM_UHASH_ENTRIES, "6.1.192" },
		{ HD_PARAM_UHASH_ENTRIES, "7.0" },     { HD_PARAM_DHASH_ENTRIES, "7.0" },
		{ HD_PARAM_IHASH_ENTRIES, "7.0" },     { HD_PARAM_MHASH_ENTRIES, "7.1.5" },
		{ HD_PARAM_MPHASH_ENTRIES, "newest" },
	};

	(void)state;
	for (size_t r = 0; r < ARRAY_SIZE(readers); r++)
		for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
			enum hd_param p = readers[r].param;
			struct hd_params params;
			char line[64];

			snprintf(line, sizeof(line), "%s=%s", hd_param_name(p), cells[i].text);
			params = parsed(readers[r].version, HD_ARCH_X86_64, line);
			if (params.param[p].in_force != (cells[i].value >= 0))
				fail_msg("%s on %s", line, readers[r].version);
			if (cells[i].value >= 0)
				assert_int_equal(params.param[p].value, cells[i].value);
			assert_int_equal(params.param[p].state,
					 cells[i].value >= 0 ? HD_PARAM_SET : HD_PARAM_IGNORED);
		}
}

static void network_tables_took_a_prefix_before_3_10(void **state)
{
	struct hd_params params =
	    parsed("2.6.32", HD_ARCH_X86_64, "thash_entries=100k rhash_entries=64x");

	(void)state;
	assert_int_equal(params.param[HD_PARAM_THASH_ENTRIES].value, 100);
	assert_int_equal(params.param[HD_PARAM_RHASH_ENTRIES].value, 64);
}

static void udp_is_raised_to_its_minimum_when_read(void **state)
{
	struct hd_rules rules = rules_of("6.1", HD_ARCH_X86_64);
	struct hd_params params;

	(void)state;
	assert_int_equal(on_61("uhash_entries=1").param[HD_PARAM_UHASH_ENTRIES].value, 256);
	assert_int_equal(on_61("uhash_entries=255").param[HD_PARAM_UHASH_ENTRIES].value, 256);
	assert_int_equal(on_61("uhash_entries=257").param[HD_PARAM_UHASH_ENTRIES].value, 257);
	assert_int_equal(on_61("uhash_entries=0").param[HD_PARAM_UHASH_ENTRIES].value, 0);
	hd_rules_set(&rules, HD_RULE_BASE_SMALL, 1, HD_ORIGIN_GIVEN);
	hd_params_parse(&params, &rules, "uhash_entries=1", 15);
	assert_int_equal(params.param[HD_PARAM_UHASH_ENTRIES].value, 128);
}

static void a_number_too_large_wraps_or_is_refused(void **state)
{
	struct hd_params params;

	(void)state;
	params = on_61("dhash_entries=18446744073709551621 thash_entries=18446744073709551621");
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 5);
	assert_int_equal(params.param[HD_PARAM_THASH_ENTRIES].state, HD_PARAM_IGNORED);
	params = on_61("dhash_entries=18446744073709551615 thash_entries=0xffffffffffffffff");
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, UINT64_MAX);
	assert_int_equal(params.param[HD_PARAM_THASH_ENTRIES].value, UINT64_MAX);
	params = on_61("dhash_entries=0x10000000000000000");
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 0);
	/* A long has 32 bits there. */
	params = parsed("6.1.170", HD_ARCH_I386,
			"dhash_entries=4294967301 thash_entries=4294967301 "
			"ihash_entries=4294967295 uhash_entries=4294967295");
	assert_int_equal(params.param[HD_PARAM_DHASH_ENTRIES].value, 5);
	assert_int_equal(params.param[HD_PARAM_THASH_ENTRIES].state, HD_PARAM_IGNORED);
	assert_int_equal(params.param[HD_PARAM_IHASH_ENTRIES].value, UINT32_MAX);
	assert_int_equal(params.param[HD_PARAM_UHASH_ENTRIES].value, UINT32_MAX);
}

/* What guests with 2 GiB made of it: 515808 pages on 6.1, about 503700 on 6.12. */
static void given_entries_make_the_tables_that_guests_had(void **state)
{
	static const struct {
		const char *cmdline;
		enum hd_table_id id;
		uint64_t entries, bytes;
		enum hd_mapping mapping;
	} cells[] = {
		{ "dhash_entries=1", HD_TABLE_DENTRY, 2, 16, HD_MAP_LINEAR },
		{ "dhash_entries=100000", HD_TABLE_DENTRY, 131072, 1 << 20, HD_MAP_LINEAR },
		{ "dhash_entries=999999999", HD_TABLE_DENTRY, 8388608, 64 << 20, HD_MAP_LINEAR },
		{ "ihash_entries=1", HD_TABLE_INODE, 1, 8, HD_MAP_LINEAR },
		{ "ihash_entries=0x1000", HD_TABLE_INODE, 4096, 32768, HD_MAP_LINEAR },
		{ "ihash_entries=99999999999", HD_TABLE_INODE, 8388608, 64 << 20, HD_MAP_LINEAR },
		{ "mphash_entries=010", HD_TABLE_MOUNTPOINT, 8, 64, HD_MAP_LINEAR },
		{ "mphash_entries=3", HD_TABLE_MOUNTPOINT, 4, 32, HD_MAP_LINEAR },
		{ "mhash_entries=garbage", HD_TABLE_MOUNT, 4096, 32768, HD_MAP_LINEAR },
		{ "mhash_entries=1048576", HD_TABLE_MOUNT, 1048576, 8 << 20, HD_MAP_VMALLOC_HUGE },
		{ "thash_entries=1", HD_TABLE_TCP_ESTABLISHED, 1, 8, HD_MAP_LINEAR },
		{ "thash_entries=1", HD_TABLE_TCP_BIND, 1, 32, HD_MAP_LINEAR },
		{ "thash_entries=1", HD_TABLE_TCP_LISTEN, 1, 16, HD_MAP_LINEAR },
		{ "thash_entries=100000", HD_TABLE_TCP_ESTABLISHED, 131072, 1 << 20,
		  HD_MAP_LINEAR },
		{ "thash_entries=100000", HD_TABLE_TCP_LISTEN, 65536, 1 << 20, HD_MAP_LINEAR },
		{ "thash_entries=100000", HD_TABLE_TCP_BIND, 65536, 2 << 20, HD_MAP_LINEAR },
		{ "thash_entries=4194304", HD_TABLE_TCP_ESTABLISHED, 4194304, 32 << 20,
		  HD_MAP_VMALLOC_HUGE },
		{ "thash_entries=abc", HD_TABLE_TCP_ESTABLISHED, 16384, 131072, HD_MAP_LINEAR },
		{ "uhash_entries=1", HD_TABLE_UDP, 256, 8192, HD_MAP_LINEAR },
		{ "uhash_entries=100", HD_TABLE_UDP_LITE, 256, 8192, HD_MAP_LINEAR },
		{ "uhash_entries=100000", HD_TABLE_UDP, 65536, 2 << 20, HD_MAP_LINEAR },
		{ "uhash_entries=abc", HD_TABLE_UDP, 1024, 32768, HD_MAP_LINEAR },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		static const char *const versions[] = { "6.1.192", "6.12.117" };

		for (size_t v = 0; v < ARRAY_SIZE(versions); v++) {
			struct hd_machine m =
			    machine_of(versions[v], HD_ARCH_X86_64, 2 * GIB, 1, cells[i].cmdline);
			struct hd_table t;

			m.facts.pages.kernel = m.facts.pages.all = v ? 503700 : 515808;
			t = predicted(&m, cells[i].id);
			if (t.entries != cells[i].entries || t.bytes != cells[i].bytes ||
			    t.mapping != cells[i].mapping)
				fail_msg("%s %s: %llu entries, %llu bytes, %s", versions[v],
					 cells[i].cmdline, (unsigned long long)t.entries,
					 (unsigned long long)t.bytes, hd_mapping_name(t.mapping));
		}
	}
}

/* ---- names, hostile text ---------------------------------------------------------------- */

static void every_parameter_has_its_name(void **state)
{
	(void)state;
	for (int p = 0; p < HD_PARAM_COUNT; p++) {
		char line[64];
		struct hd_params params;

		snprintf(line, sizeof(line), "%s=1024", hd_param_name(p));
		params = parsed(p == HD_PARAM_RHASH_ENTRIES ? "2.6.32" : "6.1.192", HD_ARCH_X86_64,
				line);
		for (int q = 0; q < HD_PARAM_COUNT; q++)
			assert_int_equal(params.param[q].in_force, p == q);
	}
	assert_null(hd_param_name(HD_PARAM_NONE));
}

static void a_parameter_comes_and_goes_with_its_table(void **state)
{
	static const struct {
		const char *before, *from, *line;
		enum hd_param param;
	} borders[] = {
		{ "3.12.20", "3.13.0", "mhash_entries=64", HD_PARAM_MHASH_ENTRIES },
		{ "3.12.20", "3.13.0", "mphash_entries=64", HD_PARAM_MPHASH_ENTRIES },
		{ "2.6.28", "2.6.29", "uhash_entries=512", HD_PARAM_UHASH_ENTRIES },
		{ "3.6.0", "3.5.7", "rhash_entries=64", HD_PARAM_RHASH_ENTRIES },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(borders); i++) {
		enum hd_param p = borders[i].param;
		struct hd_params without =
		    parsed(borders[i].before, HD_ARCH_X86_64, borders[i].line);
		struct hd_params with = parsed(borders[i].from, HD_ARCH_X86_64, borders[i].line);

		assert_int_equal(without.param[p].state, HD_PARAM_IGNORED);
		assert_false(without.param[p].in_force);
		assert_int_equal(with.param[p].state, HD_PARAM_SET);
	}
}

/** A hostile line: pieces of real words, blanks, quotes and any byte at all. */
static size_t hostile(uint64_t *random, char *out, size_t size)
{
	static const char *const pieces[] = {
		"hashdist",
		"dhash_entries",
		"thash_entries",
		"uhash-entries",
		"=",
		"==",
		"\"",
		"\"\"",
		" ",
		"--",
		" -- ",
		"0x",
		"+",
		"-",
		"1",
		"4096",
		"numa=fake=",
		"nr_cpus=",
		"on",
		"o",
		"\t",
	};
	size_t len = 0;

	while (len < size && random_below(random, 24)) {
		const char *piece = pieces[random_below(random, ARRAY_SIZE(pieces))];
		size_t n = strlen(piece);

		if (!random_below(random, 3)) {
			out[len++] = (char)random_next(random);
			continue;
		}
		n = n < size - len ? n : size - len;
		memcpy(out + len, piece, n);
		len += n;
	}
	return len;
}

static void hostile_text_does_no_harm(void **state)
{
	static const char *const versions[] = { "2.6.11", "2.6.32", "6.1", "7.1" };
	uint64_t random = seed_of("test-params", 20190705);

	(void)state;
	for (int round = 0; round < 40000; round++) {
		struct hd_rules rules =
		    rules_of(versions[round % 4], round & 4 ? HD_ARCH_X86_64 : HD_ARCH_I386);
		struct hd_params params;
		char text[128], *exact;
		size_t len = hostile(&random, text, sizeof(text));

		exact = malloc(len ? len : 1); /* not a byte more, so that sanitizers see */
		assert_non_null(exact);
		memcpy(exact, text, len);
		hd_params_parse(&params, &rules, exact, len);
		for (int p = 0; p < HD_PARAM_COUNT; p++) {
			assert_true((size_t)params.param[p].at + params.param[p].len <= len);
			assert_in_range(params.param[p].state, HD_PARAM_ABSENT, HD_PARAM_MISSPELT);
			if (params.param[p].in_force)
				assert_in_range(params.param[p].times, 1, 255);
			else
				assert_int_not_equal(params.param[p].state, HD_PARAM_SET);
		}
		if (params.param[HD_PARAM_HASHDIST].in_force)
			assert_in_range(params.param[HD_PARAM_HASHDIST].value, 0, 1);
		free(exact);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashdist_is_a_number_up_to_6_19),
		cmocka_unit_test(hashdist_is_a_word_from_7_0),
		cmocka_unit_test(a_kernel_without_numa_takes_no_hashdist),
		cmocka_unit_test(the_last_of_several_wins),
		cmocka_unit_test(a_bad_repetition_leaves_the_first_in_force),
		cmocka_unit_test(times_stop_at_255),
		cmocka_unit_test(quotes_hold_a_value_or_a_word_together),
		cmocka_unit_test(a_closing_quote_is_dropped_only_if_one_was_opened),
		cmocka_unit_test(dashes_and_underscores_are_alike_in_names),
		cmocka_unit_test(names_are_matched_in_whole_and_by_case),
		cmocka_unit_test(two_dashes_end_the_kernels_part),
		cmocka_unit_test(every_kind_of_blank_parts_words),
		cmocka_unit_test(a_zero_byte_ends_the_line),
		cmocka_unit_test(a_word_with_a_typing_error_is_noticed),
		cmocka_unit_test(the_right_spelling_outdoes_a_misspelt_word),
		cmocka_unit_test(words_that_change_the_machine_are_seen),
		cmocka_unit_test(filesystem_tables_take_a_number_prefix_up_to_6_19),
		cmocka_unit_test(a_strict_number_is_a_number_to_its_end),
		cmocka_unit_test(network_tables_took_a_prefix_before_3_10),
		cmocka_unit_test(udp_is_raised_to_its_minimum_when_read),
		cmocka_unit_test(a_number_too_large_wraps_or_is_refused),
		cmocka_unit_test(given_entries_make_the_tables_that_guests_had),
		cmocka_unit_test(every_parameter_has_its_name),
		cmocka_unit_test(a_parameter_comes_and_goes_with_its_table),
		cmocka_unit_test(hostile_text_does_no_harm),
	};

	return cmocka_run_group_tests_name("core: parameters", tests, NULL, NULL);
}
