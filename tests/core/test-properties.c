/* SPDX-License-Identifier: MIT */
/*
 * test-properties.c - what holds for every machine and every request
 *
 * Random machines (64 KiB to 64 TiB; pages of 4K, 16K and 64K; 32 and 64 bits;
 * every era) and random requests. Each round has a seed of its own, and a round
 * that fails prints it: given as HASHDIST_SEED, it is the first to run.
 */
#include <time.h>

#include "help.h"

enum { ROUNDS = 60000, SECONDS = 2 };

static uint64_t round_seed;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail_msg("HASHDIST_SEED=%llu test-properties: line %d: %s",                \
				 (unsigned long long)round_seed, __LINE__, #condition);            \
	} while (0)

static const char *const versions[] = {
	"2.6.11", "2.6.20", "2.6.32", "3.10", "4.4",  "4.12",  "4.13",    "4.19",
	"5.2",    "5.3",    "5.10",   "5.13", "5.18", "6.1",   "6.1.192", "6.12.117",
	"6.16",   "6.18",   "6.19",   "7.0",  "7.1",  "7.1.5",
};

/** Evenly over the orders of magnitude from 2^@from to 2^@to. */
static uint64_t magnitude(uint64_t *random, unsigned from, unsigned to)
{
	uint64_t top = 1ULL << (from + random_below(random, to - from));

	return top + random_below(random, top);
}

static struct hd_machine random_machine(uint64_t *random)
{
	static const enum hd_arch arches[] = { HD_ARCH_X86_64, HD_ARCH_ARM64, HD_ARCH_PPC64,
					       HD_ARCH_I386,   HD_ARCH_ARM,   HD_ARCH_S390X };
	struct hd_machine m = { .rules =
				    rules_of(versions[random_below(random, ARRAY_SIZE(versions))],
					     arches[random_below(random, ARRAY_SIZE(arches))]) };

	hd_rules_set(&m.rules, HD_RULE_PAGE_SHIFT, 12 + 2 * (int32_t)random_below(random, 3),
		     HD_ORIGIN_GIVEN);
	give_memory(&m, magnitude(random, 16, 46));
	if (m.rules.value[HD_RULE_WORD_BYTES] == 4)
		m.facts.pages.all += random_below(random, m.facts.pages.all + 1);
	m.facts.possible_cpus = 1 + (uint32_t)random_below(random, 600);
	give_nodes(&m, 1 + (uint32_t)random_below(random, 8), 1);
	m.hashdist = random_below(random, 2);
	m.params.nohugevmalloc = !random_below(random, 8);
	return m;
}

static struct hd_request random_request(uint64_t *random)
{
	static const uint64_t buckets[] = { 1,  4,  8,  12, 16,  24,  32,  40,   56,
					    64, 72, 80, 96, 128, 144, 256, 4096, 100000 };
	struct hd_request r = { .bucket_bytes = buckets[random_below(random, ARRAY_SIZE(buckets))],
				.scale = (uint8_t)(10 + random_below(random, 14)),
				.when = (enum hd_when)random_below(random, HD_WHEN_LATE + 1) };

	if (!random_below(random, 3))
		r.entries = magnitude(random, 0, 40);
	if (!random_below(random, 3))
		r.low = magnitude(random, 0, 20);
	if (!random_below(random, 3))
		r.high = magnitude(random, 0, 40);
	if (!random_below(random, 8))
		r.small_shift = (uint8_t)(1 + random_below(random, 12));
	return r;
}

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static uint64_t floor_power(uint64_t n)
{
	uint64_t power = 1;

	while (n >>= 1)
		power <<= 1;
	return power;
}

/* ---- the properties ------------------------------------------------------------------ */

static void sizing_keeps_its_limits(uint64_t *random)
{
	struct hd_machine m = random_machine(random);
	struct hd_request r = random_request(random);
	struct hd_sizing s;
	uint64_t limited;

	CHECK(hd_table_size(&m.rules, &m.facts.pages, &r, &s) == 0);
	CHECK(power_of_two(s.entries));
	CHECK(power_of_two(s.power));
	CHECK(s.entries <= s.cap || (s.cap == 0 && s.entries == 1));
	CHECK(!m.rules.value[HD_RULE_CLAMP_2G] || s.entries <= 1ULL << 31);
	CHECK(r.high ? s.cap <= r.high
		     : s.cap <= (m.facts.pages.all << m.rules.value[HD_RULE_PAGE_SHIFT]) / 16 /
				    r.bucket_bytes);
	/* The steps follow from each other. */
	limited = s.power;
	CHECK(s.raised == (m.rules.value[HD_RULE_LOW_LIMIT] && s.power < r.low));
	if (s.raised)
		limited = r.low;
	CHECK(s.capped == (limited > s.cap));
	if (s.capped)
		limited = s.cap;
	CHECK(s.entries == floor_power(limited));
	CHECK(s.power >= s.derived);
	CHECK(r.entries == 0 || s.derived == r.entries);
	CHECK(r.entries == 0 || s.power / 2 < r.entries || m.rules.value[HD_RULE_NEXT_POWER]);
	CHECK(s.scale >= r.scale && s.scale <= r.scale + 5u);
	CHECK(s.scale == r.scale ||
	      (!r.entries && !r.high && m.rules.value[HD_RULE_WORD_BYTES] == 8));
}

/*
 * More memory never gives fewer entries, as long as the adaptive scale is the
 * same. Each step of it may halve the table; it does not up to a scale of 20,
 * where the MiB that goes over the step is worth an entry, and rounding up makes
 * good what the scale takes. Beyond that, Mount (19 + 2 and more) does shrink in
 * a sliver just above 256 GiB and each further step.
 */
static void more_memory_never_gives_fewer_entries(uint64_t *random)
{
	struct hd_machine less = random_machine(random), more = less;
	struct hd_request r = random_request(random);
	struct hd_sizing a, b;
	uint64_t extra = magnitude(random, 0, 30);

	/* Often next to a step. */
	if (!random_below(random, 3)) {
		uint64_t step = (64 * GIB << 2 * random_below(random, 5)) >>
				less.rules.value[HD_RULE_PAGE_SHIFT];

		less.facts.pages.kernel = less.facts.pages.all = step - random_below(random, 1000);
		extra = random_below(random, 2000);
	}
	more.facts.pages.kernel = less.facts.pages.kernel + extra;
	more.facts.pages.all = less.facts.pages.all + extra;
	CHECK(hd_table_size(&less.rules, &less.facts.pages, &r, &a) == 0);
	CHECK(hd_table_size(&more.rules, &more.facts.pages, &r, &b) == 0);
	CHECK(b.scale >= a.scale);
	if (b.scale == a.scale || b.scale <= 20)
		CHECK(a.entries <= b.entries);
	CHECK(a.entries <= b.entries << (b.scale - a.scale));
}

static void a_sliver_above_256_gib_shrinks_mount_tables(void **state)
{
	struct hd_machine m = machine_of("6.1", HD_ARCH_X86_64, 256 * GIB, 2, "");

	(void)state;
	assert_int_equal(entries_of(&m, HD_TABLE_MOUNT), 262144);
	give_memory(&m, 256 * GIB + MIB);
	assert_int_equal(entries_of(&m, HD_TABLE_MOUNT), 131072);
	assert_int_equal(entries_of(&m, HD_TABLE_DENTRY), 16777216);
	give_memory(&m, 256 * GIB + 2 * MIB);
	assert_int_equal(entries_of(&m, HD_TABLE_MOUNT), 262144);
}

/* Memory that has room for blocks of up to so many bytes, and counts them. */
struct room {
	uint64_t bytes;
	unsigned blocks, asked;
};

static char block;

static void *from_room(struct room *room, uint64_t bytes)
{
	room->asked++;
	if (bytes > room->bytes)
		return NULL;
	room->blocks++;
	return &block;
}

static void *early(void *ctx, uint64_t bytes, bool zero)
{
	(void)zero;
	return from_room(ctx, bytes);
}

static void *contiguous(void *ctx, uint64_t bytes, unsigned order, bool zero)
{
	(void)order;
	(void)zero;
	return from_room(ctx, bytes);
}

static void *scattered(void *ctx, uint64_t bytes, unsigned shift, unsigned *got_shift, bool zero)
{
	(void)zero;
	*got_shift = shift;
	return from_room(ctx, bytes);
}

static void halving_takes_the_first_size_that_fits(uint64_t *random)
{
	struct hd_machine m = random_machine(random);
	struct hd_request r = random_request(random);
	struct room room = { .bytes = magnitude(random, 6, 40) };
	struct hd_providers providers = { &room, early, contiguous, scattered };
	uint64_t page = 1ULL << m.rules.value[HD_RULE_PAGE_SHIFT];
	uint64_t top = page << m.rules.value[HD_RULE_TOP_ORDER], limit = room.bytes;
	struct hd_table t = { .entries = 0 };
	struct hd_sizing s;
	int error = hd_table_alloc(&m, &r, &providers, &t);
	bool goes_early =
	    r.when == HD_WHEN_EARLY || (r.when == HD_WHEN_EARLY_UNLESS && !m.hashdist);

	CHECK(hd_table_size(&m.rules, &m.facts.pages, &r, &s) == 0);
	if (!goes_early && !m.hashdist && !m.rules.value[HD_RULE_FALLBACK_VMALLOC] && top < limit)
		limit = top;
	if (error) {
		uint64_t least = s.entries;

		CHECK(error == HD_ENOMEM);
		CHECK(room.blocks == 0 && t.entries == 0);
		while (least * r.bucket_bytes > page && least > 2)
			least >>= 1;
		CHECK(least * r.bucket_bytes > limit);
		return;
	}
	CHECK(room.blocks == 1 && room.asked <= t.halvings + 1);
	CHECK(t.start == &block);
	CHECK(t.bytes == t.entries * r.bucket_bytes);
	CHECK(t.bytes <= limit);
	CHECK(t.entries == s.entries >> t.halvings && t.sizing.entries == s.entries);
	CHECK(power_of_two(t.entries));
	CHECK(t.halvings == 0 || t.bytes * 2 > limit);
	CHECK(t.halvings == 0 || t.bytes * 2 > page);
	CHECK(t.early == goes_early);
	CHECK((t.shift == 0) == (t.mapping == HD_MAP_LINEAR));
	CHECK(t.mapping != HD_MAP_LINEAR || t.early || t.bytes <= top);
	CHECK(t.mapping != HD_MAP_LINEAR || t.early || !m.hashdist);
	CHECK(t.mapping == HD_MAP_LINEAR || m.hashdist || t.bytes > top);
	CHECK(t.mapping != HD_MAP_VMALLOC_HUGE || t.bytes >> t.shift);
	CHECK(t.mapping != HD_MAP_VMALLOC_HUGE || !m.params.nohugevmalloc);
}

static void order_is_the_least_that_holds_the_bytes(uint64_t *random)
{
	struct hd_machine m = random_machine(random);
	unsigned shift = (unsigned)m.rules.value[HD_RULE_PAGE_SHIFT];
	uint64_t bytes = magnitude(random, 0, 62);
	unsigned order = hd_order(&m.rules, bytes);

	CHECK(shift + order < 64);
	CHECK(1ULL << (shift + order) >= bytes);
	CHECK(order == 0 || 1ULL << (shift + order - 1) < bytes);
	CHECK(hd_translations(bytes, shift) <= 1ULL << order);
	CHECK(hd_translations(bytes, shift) << shift >= bytes);
	CHECK((hd_translations(bytes, shift) - 1) << shift < bytes);
}

static void the_line_says_what_the_table_is(uint64_t *random)
{
	struct hd_machine m = random_machine(random);
	enum hd_table_id id = (enum hd_table_id)random_below(random, HD_TABLE_COUNT);
	unsigned long long entries = 0, bytes = 0;
	struct hd_table t;
	char line[160], *at;
	int order = 0, len, up;

	if (hd_predict(&m, id, 4096, &t))
		return;
	CHECK(t.start == NULL && power_of_two(t.entries));
	len = hd_table_line(&m.rules, hd_table_info(id)->name, &t, line, sizeof(line));
	CHECK(len > 0 && (size_t)len == strlen(line));
	at = strstr(line, " hash table entries: ");
	CHECK(at != NULL && hd_table_by_name(line, (size_t)(at - line)) == id);
	CHECK(sscanf(at, " hash table entries: %llu (order: %d, %llu bytes", &entries, &order,
		     &bytes) == 3);
	CHECK(entries == t.entries && bytes == t.bytes);
	/* Whichever way it is rounded, the two differ by one at most, below a page by more. */
	up = (int)hd_order(&m.rules, t.bytes);
	CHECK(m.rules.value[HD_RULE_ORDER_PRINT] == HD_ORDER_CEIL ? order == up
	      : power_of_two(t.bytes) && up                       ? order == up
								  : order <= up);
	CHECK(!m.rules.value[HD_RULE_KIND_WORDS] == !strstr(line, "bytes,"));
}

/* Any 64-bit numbers: an answer or an error, never a wrong product. */
static void numbers_up_to_the_last_bit_are_survived(uint64_t *random)
{
	struct hd_machine m = random_machine(random);
	struct hd_request r = random_request(random);
	struct hd_sizing s;
	int error;

	r.bucket_bytes = random_next(random) >> random_below(random, 64);
	r.entries = random_next(random) >> random_below(random, 64);
	r.high = random_next(random) >> random_below(random, 64);
	r.low = random_next(random) >> random_below(random, 64);
	r.scale = (uint8_t)random_next(random);
	r.small_shift = (uint8_t)random_next(random);
	m.facts.pages.kernel = random_next(random) >> random_below(random, 64);
	m.facts.pages.all = random_next(random) >> random_below(random, 64);
	m.facts.pages.reserved = random_next(random) >> random_below(random, 64);
	error = hd_table_size(&m.rules, &m.facts.pages, &r, &s);
	CHECK(error == 0 || error == HD_EINVAL || error == HD_ERANGE);
	if (r.bucket_bytes == 0 || r.scale > 63 || r.small_shift > 63)
		CHECK(error == HD_EINVAL);
	else
		CHECK(error != HD_EINVAL);
	if (error == 0) {
		CHECK(power_of_two(s.entries));
		CHECK(s.entries <= (UINT64_MAX >> 1) / r.bucket_bytes);
		CHECK(s.entries <= s.cap || s.entries == 1);
	}
	if (error == HD_ERANGE)
		CHECK(s.entries > (UINT64_MAX >> 1) / r.bucket_bytes);
	CHECK(hd_order(&m.rules, r.entries) < 64);
}

/* ---- the run ---------------------------------------------------------------------------- */

static void hold_for_every_machine(void **state)
{
	static void (*const properties[])(uint64_t *) = {
		sizing_keeps_its_limits,
		more_memory_never_gives_fewer_entries,
		halving_takes_the_first_size_that_fits,
		order_is_the_least_that_holds_the_bytes,
		the_line_says_what_the_table_is,
		numbers_up_to_the_last_bit_are_survived,
	};
	clock_t end = clock() + SECONDS * CLOCKS_PER_SEC;
	uint64_t seed = seed_of("test-properties", (uint64_t)time(NULL));
	unsigned rounds = 0;

	(void)state;
	while (rounds < ROUNDS && clock() < end) {
		round_seed = seed + rounds++;
		for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
			/* Neighbouring seeds are mixed apart; never 0. */
			uint64_t random = (round_seed * 0x9e3779b97f4a7c15ULL) | 1;

			random_next(&random);
			properties[i](&random);
		}
	}
	print_message("%u rounds\n", rounds);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold_for_every_machine),
		cmocka_unit_test(a_sliver_above_256_gib_shrinks_mount_tables),
	};

	return cmocka_run_group_tests_name("core: properties", tests, NULL, NULL);
}
