/* SPDX-License-Identifier: MIT */
/*
 * test-tables.c - the catalogue: which kernel has which table, in what form
 *
 * Bucket sizes are those of kernels' type information and of public logs; the
 * lines at the end are what a guest with 2 GiB printed.
 */
#include "help.h"

static int request_on(const char *version, enum hd_arch arch, enum hd_table_id id,
		      struct hd_request *out)
{
	struct hd_machine m = machine_of(version, arch, 2 * GIB, 1, "");

	m.facts.pv_spinlocks = true;
	return hd_table_request(&m, id, id == HD_TABLE_TCP_BIND ? 16384 : 0, out);
}

static bool exists_on(const char *version, enum hd_table_id id)
{
	struct hd_request request;
	int error = request_on(version, HD_ARCH_X86_64, id, &request);

	assert_true(error == 0 || error == HD_ENOENT);
	return error == 0;
}

/* ---- since, until -------------------------------------------------------------------- */

static void tables_come_with_their_release_and_go(void **state)
{
	static const struct {
		enum hd_table_id id;
		const char *version;
		bool there;
	} cells[] = {
		{ HD_TABLE_PID, "2.6.11", true },
		{ HD_TABLE_PID, "4.14.300", true },
		{ HD_TABLE_PID, "4.15", false },
		{ HD_TABLE_PV_QSPINLOCK, "4.1.52", false },
		{ HD_TABLE_PV_QSPINLOCK, "4.2", true },
		{ HD_TABLE_PV_QSPINLOCK, "7.1.5", true },
		{ HD_TABLE_STACKDEPOT, "5.19.17", false },
		{ HD_TABLE_STACKDEPOT, "6.0", true },
		{ HD_TABLE_STACKDEPOT, "7.1.5", true },
		{ HD_TABLE_DENTRY, "2.6.11", true },
		{ HD_TABLE_DENTRY, "7.1.5", true },
		{ HD_TABLE_INODE, "2.6.11", true },
		{ HD_TABLE_INODE, "7.1.5", true },
		{ HD_TABLE_MOUNT, "3.10.65", false },
		{ HD_TABLE_MOUNT, "3.12.74", false },
		{ HD_TABLE_MOUNT, "3.13", true },
		{ HD_TABLE_MOUNT, "4.4", true },
		{ HD_TABLE_MOUNT, "7.1.5", true },
		{ HD_TABLE_MOUNTPOINT, "3.10.65", false },
		{ HD_TABLE_MOUNTPOINT, "3.12.74", false },
		{ HD_TABLE_MOUNTPOINT, "3.13", true },
		{ HD_TABLE_MOUNTPOINT, "4.4", true },
		{ HD_TABLE_POSIXTIMERS, "6.14", false },
		{ HD_TABLE_POSIXTIMERS, "6.15", true },
		{ HD_TABLE_POSIXTIMERS, "7.1.5", true },
		{ HD_TABLE_FUTEX, "3.10.65", false },
		{ HD_TABLE_FUTEX, "3.13.11", false },
		{ HD_TABLE_FUTEX, "3.14", true },
		{ HD_TABLE_FUTEX, "4.4", true },
		{ HD_TABLE_FUTEX, "6.15", true },
		{ HD_TABLE_FUTEX, "6.16", false },
		{ HD_TABLE_DQUOT, "6.1", false }, /* printed, but not allocated this way */
		{ HD_TABLE_IP_ROUTE, "2.6.11", true },
		{ HD_TABLE_IP_ROUTE, "3.5.7", true },
		{ HD_TABLE_IP_ROUTE, "3.6", false },
		{ HD_TABLE_IP_IDENTS, "5.12.0", false },
		{ HD_TABLE_IP_IDENTS, "5.12.9", true },
		{ HD_TABLE_IP_IDENTS, "5.13", true },
		{ HD_TABLE_IP_IDENTS, "5.10.13", false },
		{ HD_TABLE_IP_IDENTS, "5.10.245", true },
		{ HD_TABLE_IP_IDENTS, "5.4.214", true },
		{ HD_TABLE_IP_IDENTS, "5.4.0", false },
		{ HD_TABLE_IP_IDENTS, "5.11.22", false },
		{ HD_TABLE_TCP_LISTEN, "4.15.18", false },
		{ HD_TABLE_TCP_LISTEN, "4.16", true },
		{ HD_TABLE_TCP_LISTEN, "4.19", true },
		{ HD_TABLE_TCP_LISTEN, "7.1.5", true },
		{ HD_TABLE_TABLE_PERTURB, "5.17.15", false },
		{ HD_TABLE_TABLE_PERTURB, "5.19", true },
		{ HD_TABLE_TABLE_PERTURB, "5.15.100", true },
		{ HD_TABLE_TABLE_PERTURB, "5.15.0", false },
		{ HD_TABLE_TCP_ESTABLISHED, "2.6.11", true },
		{ HD_TABLE_TCP_ESTABLISHED, "7.1.5", true },
		{ HD_TABLE_TCP_BIND, "2.6.11", true },
		{ HD_TABLE_TCP_BIND, "7.1.5", true },
		{ HD_TABLE_MPTCP_TOKEN, "5.8.18", false },
		{ HD_TABLE_MPTCP_TOKEN, "5.9", true },
		{ HD_TABLE_UDP, "2.6.20", false },
		{ HD_TABLE_UDP, "2.6.32", false },
		{ HD_TABLE_UDP, "2.6.33", true },
		{ HD_TABLE_UDP_LITE, "2.6.32", false },
		{ HD_TABLE_UDP_LITE, "2.6.33", true },
		{ HD_TABLE_UDP, "3.10.65", true },
		{ HD_TABLE_UDP, "7.1.5", true },
		{ HD_TABLE_UDP_LITE, "7.0.9", true },
		{ HD_TABLE_UDP_LITE, "7.1", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		if (exists_on(cells[i].version, cells[i].id) != cells[i].there)
			fail_msg("%s on %s", hd_table_info(cells[i].id)->name, cells[i].version);
}

/* First releases of the branches that took a table over. */
static void stable_branches_have_their_first_release(void **state)
{
	static const struct {
		enum hd_table_id id;
		const char *before, *at;
	} cells[] = {
		{ HD_TABLE_IP_IDENTS, "5.4.122", "5.4.123" },
		{ HD_TABLE_IP_IDENTS, "5.10.40", "5.10.41" },
		{ HD_TABLE_IP_IDENTS, "5.12.7", "5.12.8" },
		{ HD_TABLE_IP_IDENTS, "4.14.234", "4.14.235" },
		{ HD_TABLE_IP_IDENTS, "4.19.192", "4.19.193" },
		{ HD_TABLE_TABLE_PERTURB, "5.15.47", "5.15.48" },
		{ HD_TABLE_TABLE_PERTURB, "5.18.5", "5.18.6" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		if (exists_on(cells[i].before, cells[i].id) || !exists_on(cells[i].at, cells[i].id))
			fail_msg("%s at %s", hd_table_info(cells[i].id)->name, cells[i].at);
}

/* ---- buckets ---------------------------------------------------------------------------- */

static uint64_t bucket_on(const char *version, enum hd_arch arch, const struct hd_config *config,
			  enum hd_table_id id)
{
	struct hd_machine m = machine_of(version, arch, 2 * GIB, 1, "");
	struct hd_request request;

	if (config)
		hd_rules_init(&m.rules, version_of(version), arch, config);
	m.facts.pv_spinlocks = true;
	if (hd_table_request(&m, id, 16384, &request))
		fail_msg("%s has no %s", version, hd_table_info(id)->name);
	return request.bucket_bytes;
}

static void buckets_of_ordinary_kernels(void **state)
{
	static const struct {
		enum hd_table_id id;
		const char *version;
		uint64_t wide, narrow; /* 64 bits, 32 bits; 0: not known */
	} cells[] = {
		{ HD_TABLE_PID, "4.14", 8, 4 },
		{ HD_TABLE_PV_QSPINLOCK, "6.1", 16, 0 },
		{ HD_TABLE_STACKDEPOT, "6.6", 8, 4 },
		{ HD_TABLE_STACKDEPOT, "6.8", 16, 8 },
		{ HD_TABLE_DENTRY, "2.6.11", 8, 4 },
		{ HD_TABLE_DENTRY, "7.1", 8, 4 },
		{ HD_TABLE_INODE, "7.1", 8, 4 },
		{ HD_TABLE_MOUNT, "7.1", 8, 4 },
		{ HD_TABLE_MOUNTPOINT, "7.1", 8, 4 },
		{ HD_TABLE_POSIXTIMERS, "7.1", 16, 8 },
		{ HD_TABLE_FUTEX, "6.15", 64, 64 },
		{ HD_TABLE_IP_ROUTE, "2.6.32", 8, 4 },
		{ HD_TABLE_IP_IDENTS, "6.1", 8, 8 },
		{ HD_TABLE_TCP_LISTEN, "5.18", 16, 12 },
		{ HD_TABLE_TCP_LISTEN, "5.19", 16, 8 },
		{ HD_TABLE_TABLE_PERTURB, "6.1", 4, 4 },
		{ HD_TABLE_TCP_ESTABLISHED, "2.6.20", 16, 0 },
		{ HD_TABLE_TCP_ESTABLISHED, "3.10.65", 16, 8 },
		{ HD_TABLE_TCP_ESTABLISHED, "3.13", 8, 4 },
		{ HD_TABLE_TCP_BIND, "6.0.19", 16, 8 },
		{ HD_TABLE_TCP_BIND, "6.1", 32, 16 },
		{ HD_TABLE_MPTCP_TOKEN, "6.1", 24, 16 },
		{ HD_TABLE_UDP, "6.12", 32, 32 },
		{ HD_TABLE_UDP, "6.13", 64, 56 },
		{ HD_TABLE_UDP_LITE, "6.12", 32, 32 },
		{ HD_TABLE_UDP_LITE, "6.13", 64, 56 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		uint64_t wide = bucket_on(cells[i].version, HD_ARCH_X86_64, NULL, cells[i].id);
		uint64_t narrow = bucket_on(cells[i].version, HD_ARCH_I386, NULL, cells[i].id);

		if (wide != cells[i].wide || (cells[i].narrow && narrow != cells[i].narrow))
			fail_msg("%s on %s: %llu, %llu", hd_table_info(cells[i].id)->name,
				 cells[i].version, (unsigned long long)wide,
				 (unsigned long long)narrow);
	}
}

static void buckets_grow_with_their_locks(void **state)
{
	static const struct {
		enum hd_table_id id;
		const char *version;
		uint64_t plain, debug, lockdep, rt; /* 0: not known */
	} cells[] = {
		{ HD_TABLE_TCP_BIND, "6.0.19", 16, 32, 72, 40 },
		{ HD_TABLE_TCP_BIND, "6.1", 32, 64, 144, 80 },
		{ HD_TABLE_TCP_LISTEN, "5.19", 16, 32, 72, 40 },
		{ HD_TABLE_TCP_LISTEN, "5.18", 16, 40, 80, 0 },
		{ HD_TABLE_TCP_LISTEN, "5.10.245", 16, 40, 80, 0 },
		{ HD_TABLE_UDP, "6.12", 32, 96, 160, 96 },
		{ HD_TABLE_UDP, "6.13", 64, 160, 256, 160 },
		{ HD_TABLE_UDP_LITE, "6.13", 64, 160, 256, 160 },
		{ HD_TABLE_MPTCP_TOKEN, "6.1", 24, 48, 88, 56 },
		{ HD_TABLE_POSIXTIMERS, "6.15", 16, 32, 72, 40 },
		{ HD_TABLE_FUTEX, "6.15", 64, 64, 128, 64 },
		{ HD_TABLE_DENTRY, "6.1", 8, 8, 8, 8 },
		{ HD_TABLE_TABLE_PERTURB, "6.1", 4, 4, 4, 4 },
		{ HD_TABLE_IP_IDENTS, "6.1", 8, 8, 8, 8 },
		{ HD_TABLE_TCP_ESTABLISHED, "6.1", 8, 8, 8, 8 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		for (int form = 0; form < 4; form++) {
			const uint64_t want[] = { cells[i].plain, cells[i].debug, cells[i].lockdep,
						  cells[i].rt };
			struct hd_config config;
			uint64_t got;

			hd_config_init(&config);
			config.smp = HD_YES;
			config.debug_spinlock = form == 1 || form == 2;
			config.debug_lock = form == 2;
			config.preempt_rt = form == 3;
			got = bucket_on(cells[i].version, HD_ARCH_X86_64, &config, cells[i].id);
			if (want[form] && got != want[form])
				fail_msg("%s on %s, form %d: %llu",
					 hd_table_info(cells[i].id)->name, cells[i].version, form,
					 (unsigned long long)got);
		}
}

static void small_kernels_have_small_tables(void **state)
{
	struct hd_config config;
	struct hd_machine m = machine_of("6.13", HD_ARCH_X86_64, 2 * GIB, 1, "");
	struct hd_request request;

	(void)state;
	hd_config_init(&config);
	config.base_small = HD_YES;
	hd_rules_init(&m.rules, HD_VERSION(6, 15, 0), HD_ARCH_X86_64, &config);
	assert_int_equal(hd_table_request(&m, HD_TABLE_FUTEX, 0, &request), 0);
	assert_int_equal(request.entries, 16);
	assert_int_equal(hd_table_request(&m, HD_TABLE_POSIXTIMERS, 0, &request), 0);
	assert_int_equal(request.entries, 512);
	assert_int_equal(hd_table_request(&m, HD_TABLE_UDP, 0, &request), 0);
	assert_int_equal(request.low, 128);
	assert_int_equal(request.bucket_bytes, 32); /* no third slot */
	/* It needs no processors for that. */
	m.facts.possible_cpus = 0;
	assert_int_equal(hd_table_request(&m, HD_TABLE_FUTEX, 0, &request), 0);
}

static void one_processor_needs_no_locks(void **state)
{
	struct hd_config config;

	(void)state;
	hd_config_init(&config);
	config.smp = HD_NO;
	assert_int_equal(bucket_on("6.1", HD_ARCH_X86_64, &config, HD_TABLE_FUTEX), 24);
	assert_int_equal(bucket_on("6.1", HD_ARCH_I386, &config, HD_TABLE_FUTEX), 12);
	assert_int_equal(bucket_on("6.1", HD_ARCH_X86_64, &config, HD_TABLE_TCP_BIND), 16);
	assert_int_equal(bucket_on("6.1", HD_ARCH_X86_64, &config, HD_TABLE_TCP_LISTEN), 8);
	assert_int_equal(bucket_on("6.1", HD_ARCH_X86_64, &config, HD_TABLE_UDP), 32);
}

static void futex_buckets_fill_cache_lines(void **state)
{
	(void)state;
	assert_int_equal(bucket_on("4.4", HD_ARCH_PPC64, NULL, HD_TABLE_FUTEX), 128);
	assert_int_equal(bucket_on("6.1", HD_ARCH_S390X, NULL, HD_TABLE_FUTEX), 256);
	assert_int_equal(bucket_on("4.13", HD_ARCH_ARM64, NULL, HD_TABLE_FUTEX), 128);
	assert_int_equal(bucket_on("4.19", HD_ARCH_ARM64, NULL, HD_TABLE_FUTEX), 64);
}

/* ---- scales, limits, counts ------------------------------------------------------------- */

static void each_table_has_its_scale_and_limits(void **state)
{
	static const struct {
		enum hd_table_id id;
		const char *version;
		uint8_t scale;
		uint64_t low, high;
		enum hd_when when;
	} cells[] = {
		{ HD_TABLE_PID, "4.14", 18, 0, 4096, HD_WHEN_EARLY },
		{ HD_TABLE_STACKDEPOT, "6.1", 14, 4096, 1 << 20, HD_WHEN_EARLY },
		{ HD_TABLE_STACKDEPOT, "6.8", 14, 4096, 1 << 20, HD_WHEN_EARLY },
		{ HD_TABLE_DENTRY, "6.1.0", 13, 0, 0, HD_WHEN_EARLY_UNLESS },
		{ HD_TABLE_DENTRY, "6.1.192", 13, 2, 0, HD_WHEN_EARLY_UNLESS },
		{ HD_TABLE_DENTRY, "7.1", 13, 2, 0, HD_WHEN_EARLY_UNLESS },
		{ HD_TABLE_INODE, "6.1", 14, 0, 0, HD_WHEN_EARLY_UNLESS },
		{ HD_TABLE_INODE, "7.1", 14, 0, 0, HD_WHEN_EARLY_UNLESS },
		{ HD_TABLE_MOUNT, "6.1", 19, 0, 0, HD_WHEN_LATE },
		{ HD_TABLE_MOUNTPOINT, "6.1", 19, 0, 0, HD_WHEN_LATE },
		{ HD_TABLE_IP_ROUTE, "2.6.20", 15, 0, 0, HD_WHEN_LATE },
		{ HD_TABLE_IP_ROUTE, "2.6.32", 15, 0, 524288, HD_WHEN_LATE },
		{ HD_TABLE_IP_IDENTS, "6.1", 16, 2048, 262144, HD_WHEN_LATE },
		{ HD_TABLE_TCP_LISTEN, "4.19", 21, 0, 65536, HD_WHEN_LATE },
		{ HD_TABLE_TCP_LISTEN, "6.1", 21, 0, 65536, HD_WHEN_LATE },
		{ HD_TABLE_TABLE_PERTURB, "6.1", 0, 65536, 65536, HD_WHEN_LATE },
		{ HD_TABLE_TCP_ESTABLISHED, "2.6.32", 13, 0, 524288, HD_WHEN_LATE },
		{ HD_TABLE_TCP_ESTABLISHED, "3.10.65", 17, 0, 524288, HD_WHEN_LATE },
		{ HD_TABLE_TCP_ESTABLISHED, "6.1", 17, 0, 524288, HD_WHEN_LATE },
		{ HD_TABLE_TCP_BIND, "6.0.19", 17, 0, 65536, HD_WHEN_LATE },
		{ HD_TABLE_TCP_BIND, "6.1", 17, 0, 65536, HD_WHEN_LATE },
		{ HD_TABLE_MPTCP_TOKEN, "6.1", 20, 0, 65536, HD_WHEN_LATE },
		{ HD_TABLE_UDP, "6.1", 21, 256, 65536, HD_WHEN_LATE },
		{ HD_TABLE_UDP, "6.13", 21, 256, 65536, HD_WHEN_LATE },
		{ HD_TABLE_UDP_LITE, "6.12", 21, 256, 65536, HD_WHEN_LATE },
		{ HD_TABLE_UDP_LITE, "6.13", 21, 256, 65536, HD_WHEN_LATE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct hd_request r;

		if (request_on(cells[i].version, HD_ARCH_X86_64, cells[i].id, &r) ||
		    r.scale != cells[i].scale || r.low != cells[i].low || r.high != cells[i].high ||
		    r.when != cells[i].when)
			fail_msg("%s on %s: scale %u, %llu to %llu, when %d",
				 hd_table_info(cells[i].id)->name, cells[i].version, r.scale,
				 (unsigned long long)r.low, (unsigned long long)r.high, r.when);
		assert_string_equal(r.name, hd_table_info(cells[i].id)->name);
	}
}

static void old_network_tables_go_by_512_mib(void **state)
{
	struct hd_machine small = machine_of("2.6.32", HD_ARCH_X86_64, 511 * MIB, 1, "");
	struct hd_machine large = machine_of("2.6.32", HD_ARCH_X86_64, 512 * MIB, 1, "");
	struct hd_request r;

	(void)state;
	assert_int_equal(hd_table_request(&small, HD_TABLE_TCP_ESTABLISHED, 0, &r), 0);
	assert_int_equal(r.scale, 15);
	assert_int_equal(hd_table_request(&large, HD_TABLE_TCP_ESTABLISHED, 0, &r), 0);
	assert_int_equal(r.scale, 13);
	assert_int_equal(hd_table_request(&small, HD_TABLE_IP_ROUTE, 0, &r), 0);
	assert_int_equal(r.scale, 17);
	assert_int_equal(hd_table_request(&large, HD_TABLE_IP_ROUTE, 0, &r), 0);
	assert_int_equal(r.scale, 15);
	small = machine_of("2.6.20", HD_ARCH_X86_64, 511 * MIB, 1, "");
	assert_int_equal(hd_table_request(&small, HD_TABLE_IP_ROUTE, 0, &r), 0);
	assert_int_equal(r.scale, 17);
	/* PID has a minimum of its own. */
	small = machine_of("4.14", HD_ARCH_X86_64, MIB, 1, "");
	assert_int_equal(entries_of(&small, HD_TABLE_PID), 16);
}

static void processors_count_where_memory_does_not(void **state)
{
	static const struct {
		uint32_t cpus;
		uint64_t futex, timers, locks;
	} cells[] = {
		{ 1, 256, 512, 256 },       { 2, 512, 1024, 256 },
		{ 3, 1024, 2048, 256 },     { 8, 2048, 4096, 256 },
		{ 16, 4096, 8192, 256 },    { 64, 16384, 32768, 256 },
		{ 65, 32768, 65536, 256 },  { 96, 32768, 65536, 256 }, /* 384, down */
		{ 128, 32768, 65536, 512 }, { 4096, 1048576, 2097152, 16384 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		struct hd_machine m = machine_of("6.15", HD_ARCH_X86_64, 64 * GIB, 1, "");

		m.facts.possible_cpus = cells[i].cpus;
		m.facts.pv_spinlocks = true;
		assert_int_equal(entries_of(&m, HD_TABLE_FUTEX), cells[i].futex);
		assert_int_equal(entries_of(&m, HD_TABLE_POSIXTIMERS), cells[i].timers);
		assert_int_equal(entries_of(&m, HD_TABLE_PV_QSPINLOCK), cells[i].locks);
		assert_true(predicted(&m, HD_TABLE_PV_QSPINLOCK).early);
	}
}

static void what_hangs_on_an_unknown_figure_is_not_guessed(void **state)
{
	struct hd_machine m = machine_of("6.15", HD_ARCH_X86_64, 64 * GIB, 1, "");
	struct hd_request r;
	struct hd_table t;

	(void)state;
	m.facts.pv_spinlocks = true;
	m.facts.possible_cpus = 0;
	assert_int_equal(hd_table_request(&m, HD_TABLE_FUTEX, 0, &r), HD_ENOENT);
	assert_int_equal(hd_table_request(&m, HD_TABLE_POSIXTIMERS, 0, &r), HD_ENOENT);
	assert_int_equal(hd_table_request(&m, HD_TABLE_PV_QSPINLOCK, 0, &r), HD_ENOENT);
	assert_int_equal(hd_table_request(&m, HD_TABLE_TCP_BIND, 0, &r), HD_ENOENT);
	assert_int_equal(hd_predict(&m, HD_TABLE_FUTEX, 0, &t), HD_ENOENT);
	assert_int_equal(hd_predict(&m, HD_TABLE_COUNT, 0, &t), HD_ENOENT);
	m.facts.pv_spinlocks = false;
	m.facts.possible_cpus = 2;
	assert_int_equal(hd_table_request(&m, HD_TABLE_PV_QSPINLOCK, 0, &r), HD_ENOENT);
}

static void bind_follows_established(void **state)
{
	struct hd_machine m = machine_of("6.1.192", HD_ARCH_X86_64, 2 * GIB, 1, "");
	struct hd_request r;
	struct hd_table t;

	(void)state;
	assert_int_equal(hd_table_request(&m, HD_TABLE_TCP_BIND, 524288, &r), 0);
	assert_int_equal(r.entries, 524288);
	assert_int_equal(hd_predict(&m, HD_TABLE_TCP_BIND, 524288, &t), 0);
	assert_int_equal(t.entries, 65536);
	assert_int_equal(hd_predict(&m, HD_TABLE_TCP_BIND, 1, &t), 0);
	assert_int_equal(t.entries, 1);
}

static void thash_entries_lifts_the_limit_of_established_alone(void **state)
{
	struct hd_machine m =
	    machine_of("6.1.192", HD_ARCH_X86_64, 8 * GIB, 1, "thash_entries=4194304");

	(void)state;
	assert_int_equal(entries_of(&m, HD_TABLE_TCP_ESTABLISHED), 4194304);
	assert_int_equal(entries_of(&m, HD_TABLE_TCP_LISTEN), 65536);
	assert_int_equal(entries_of(&m, HD_TABLE_TCP_BIND), 65536);
	boot_with(&m, "");
	give_memory(&m, 16 * TIB);
	assert_int_equal(entries_of(&m, HD_TABLE_TCP_ESTABLISHED), 524288);
	/* A route cache's parameter did the same. */
	m = machine_of("2.6.32", HD_ARCH_X86_64, 16 * GIB, 1, "rhash_entries=4194304");
	m.hashdist = true;
	assert_int_equal(entries_of(&m, HD_TABLE_IP_ROUTE), 4194304);
	boot_with(&m, "");
	assert_int_equal(entries_of(&m, HD_TABLE_IP_ROUTE), 524288);
}

/* A lockdep kernel's log, the bytes that it printed. */
static void lockdep_tables_outgrow_the_largest_order(void **state)
{
	struct hd_machine m = machine_of("6.6", HD_ARCH_X86_64, 64 * GIB, 1, "");
	struct hd_config config;

	(void)state;
	hd_config_init(&config);
	config.debug_spinlock = HD_YES;
	config.debug_lock = HD_YES;
	hd_rules_init(&m.rules, HD_VERSION(6, 6, 0), HD_ARCH_X86_64, &config);
	assert_int_equal(predicted(&m, HD_TABLE_TCP_BIND).bytes, 9437184);
	assert_int_equal(predicted(&m, HD_TABLE_TCP_BIND).mapping, HD_MAP_VMALLOC_HUGE);
	give_memory(&m, 16 * GIB);
	assert_int_equal(predicted(&m, HD_TABLE_TCP_LISTEN).bytes, 589824);
	assert_int_equal(predicted(&m, HD_TABLE_UDP).bytes, 1310720);
}

/* ---- names ------------------------------------------------------------------------------- */

static void every_table_is_found_by_its_printed_name(void **state)
{
	static const struct {
		const char *name;
		enum hd_table_id id;
	} others[] = {
		{ "Dentry-cache", HD_TABLE_DENTRY },
		{ "Inode cache", HD_TABLE_INODE },
		{ "VFS: Dquot-cache", HD_TABLE_DQUOT },
		{ "", HD_TABLE_COUNT },
		{ "Dentry cache ", HD_TABLE_COUNT },
		{ "dentry", HD_TABLE_COUNT },
		{ "TCP", HD_TABLE_COUNT },
	};

	(void)state;
	for (int id = 0; id < HD_TABLE_COUNT; id++) {
		const struct hd_table_info *info = hd_table_info(id);

		assert_non_null(info);
		assert_int_equal(info->id, id);
		assert_int_equal(hd_table_by_name(info->name, strlen(info->name)), id);
		assert_true(info->key && *info->key && info->filled_by && *info->filled_by);
		for (int other = 0; other < id; other++)
			assert_string_not_equal(info->key, hd_table_info(other)->key);
		assert_int_not_equal(info->param, HD_PARAM_HASHDIST);
		/* Two are arrays, not hashes of objects. */
		assert_int_equal(info->hashed,
				 id != HD_TABLE_IP_IDENTS && id != HD_TABLE_TABLE_PERTURB);
	}
	assert_null(hd_table_info(HD_TABLE_COUNT));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(hd_table_by_name(others[i].name, strlen(others[i].name)),
				 others[i].id);
}

/* ---- verbatim ------------------------------------------------------------------------------ */

/*
 *   6.1.192, x86-64, 2 processors
 *   node 0  |########|  2 GiB: 515808 pages count
 */
static void the_lines_of_a_guest_with_2_gib_to_the_letter(void **state)
{
	static const char *const lines[] = {
		"Dentry cache hash table entries: 262144 (order: 9, 2097152 bytes, linear)",
		"Inode-cache hash table entries: 131072 (order: 8, 1048576 bytes, linear)",
		"Mount-cache hash table entries: 4096 (order: 3, 32768 bytes, linear)",
		"Mountpoint-cache hash table entries: 4096 (order: 3, 32768 bytes, linear)",
		"futex hash table entries: 512 (order: 3, 32768 bytes, linear)",
		"IP idents hash table entries: 32768 (order: 6, 262144 bytes, linear)",
		"tcp_listen_portaddr_hash hash table entries: 1024 (order: 2, 16384 bytes, linear)",
		"Table-perturb hash table entries: 65536 (order: 6, 262144 bytes, linear)",
		"TCP established hash table entries: 16384 (order: 5, 131072 bytes, linear)",
		"TCP bind hash table entries: 16384 (order: 7, 524288 bytes, linear)",
		"MPTCP token hash table entries: 2048 (order: 4, 49152 bytes, linear)",
		"UDP hash table entries: 1024 (order: 3, 32768 bytes, linear)",
		"UDP-Lite hash table entries: 1024 (order: 3, 32768 bytes, linear)",
	};
	struct hd_machine m = machine_of("6.1.192", HD_ARCH_X86_64, 2 * GIB, 1, "");
	size_t at = 0;

	(void)state;
	m.facts.pages.kernel = m.facts.pages.all = 515808;
	for (int id = 0; id < HD_TABLE_COUNT; id++) {
		struct hd_table t;
		char line[160];
		int error;

		if (id == HD_TABLE_STACKDEPOT) /* only where a debugging aid asks for it */
			continue;
		error = hd_predict(&m, id, established_for(&m, id), &t);
		if (error == HD_ENOENT)
			continue;
		assert_int_equal(error, 0);
		assert_true(at < ARRAY_SIZE(lines));
		assert_true(
		    hd_table_line(&m.rules, hd_table_info(id)->name, &t, line, sizeof(line)) > 0);
		assert_string_equal(line, lines[at++]);
		assert_null(t.start);
	}
	assert_int_equal(at, ARRAY_SIZE(lines));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_come_with_their_release_and_go),
		cmocka_unit_test(stable_branches_have_their_first_release),
		cmocka_unit_test(buckets_of_ordinary_kernels),
		cmocka_unit_test(buckets_grow_with_their_locks),
		cmocka_unit_test(small_kernels_have_small_tables),
		cmocka_unit_test(one_processor_needs_no_locks),
		cmocka_unit_test(futex_buckets_fill_cache_lines),
		cmocka_unit_test(each_table_has_its_scale_and_limits),
		cmocka_unit_test(old_network_tables_go_by_512_mib),
		cmocka_unit_test(processors_count_where_memory_does_not),
		cmocka_unit_test(what_hangs_on_an_unknown_figure_is_not_guessed),
		cmocka_unit_test(bind_follows_established),
		cmocka_unit_test(thash_entries_lifts_the_limit_of_established_alone),
		cmocka_unit_test(lockdep_tables_outgrow_the_largest_order),
		cmocka_unit_test(every_table_is_found_by_its_printed_name),
		cmocka_unit_test(the_lines_of_a_guest_with_2_gib_to_the_letter),
	};

	return cmocka_run_group_tests_name("core: tables", tests, NULL, NULL);
}
