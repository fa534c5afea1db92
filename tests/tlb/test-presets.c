/* SPDX-License-Identifier: MIT */
/* test-presets.c - which processor has which preset, how far it reaches, and what to expect of it */
#include "help.h"

/* Entries for 4K, 2M and 1G of both levels, as the vendors' documents have them. */
static const struct {
	const char *name;
	uint32_t first[3], second[3];
} documents[] = {
	{ "haswell", { 64, 32, 4 }, { 1024, 1024, 0 } },
	{ "broadwell", { 64, 32, 4 }, { 1536, 1536, 16 } },
	{ "kaby-lake", { 64, 32, 4 }, { 1536, 1536, 16 } },
	{ "zen2", { 64, 64, 64 }, { 2048, 2048, 0 } },
	{ "neoverse-n1", { 48, 48, 48 }, { 1280, 1280, 1280 } },
	{ "ice-lake", { 64, 32, 8 }, { 2048, 1024, 1024 } },
	{ "zen3", { 64, 64, 64 }, { 2048, 2048, 0 } },
	{ "neoverse-v1", { 40, 40, 40 }, { 2048, 2048, 2048 } },
	{ "golden-cove", { 96, 32, 8 }, { 2048, 1024, 1024 } },
	{ "zen4", { 72, 72, 72 }, { 3072, 3072, 0 } },
	{ "neoverse-v2", { 48, 48, 48 }, { 2048, 2048, 2048 } },
	{ "zen5", { 96, 96, 96 }, { 4096, 4096, 4096 } },
};

static void entries_are_those_of_the_documents(void **state)
{
	static const unsigned shifts[] = { 12, 21, 30 };
	unsigned i;

	(void)state;
	for (i = 0; hd_tlb_preset(i); i++) {
		const struct hd_tlb_geometry *geometry = hd_tlb_preset(i);

		assert_true(i < sizeof(documents) / sizeof(*documents));
		assert_string_equal(geometry->name, documents[i].name);
		assert_true(hd_tlb_bytes(geometry) > 0);
		assert_true(strlen(geometry->source) > 10);
		for (unsigned s = 0; s < 3; s++) {
			assert_int_equal(hd_tlb_entries(geometry, 1, shifts[s]),
					 documents[i].first[s]);
			assert_int_equal(hd_tlb_entries(geometry, 2, shifts[s]),
					 documents[i].second[s]);
		}
	}
	assert_int_equal(i, sizeof(documents) / sizeof(*documents));
}

static void is_preset(const struct hd_tlb_processor *processor, const char *name)
{
	const struct hd_tlb_geometry *geometry = hd_tlb_preset_for(processor);

	if (!name) {
		assert_null(geometry);
		return;
	}
	assert_non_null(geometry);
	assert_string_equal(geometry->name, name);
}

static void processors_find_their_preset(void **state)
{
	static const struct {
		const char *vendor, *preset;
		uint32_t family, model;
	} known[] = {
		{ "GenuineIntel", "haswell", 6, 0x3f },
		{ "GenuineIntel", "broadwell", 6, 0x4f },
		{ "GenuineIntel", "kaby-lake", 6, 0x55 },
		{ "GenuineIntel", "kaby-lake", 6, 0x9e },
		{ "GenuineIntel", "ice-lake", 6, 0x6a },
		{ "GenuineIntel", "golden-cove", 6, 0x8f },
		{ "AuthenticAMD", "zen2", 0x17, 0x31 },
		{ "AuthenticAMD", "zen3", 0x19, 0x01 },
		{ "AuthenticAMD", "zen3", 0x19, 0x21 },
		{ "AuthenticAMD", "zen4", 0x19, 0x11 },
		{ "AuthenticAMD", "zen4", 0x19, 0x61 },
		{ "AuthenticAMD", "zen5", 0x1a, 0x02 },
		{ "AuthenticAMD", NULL, 0x17, 0x01 },
		{ "GenuineIntel", NULL, 6, 0x0f },
		{ "GenuineIntel", NULL, 0x19, 0x01 },
		{ "HygonGenuine", NULL, 0x18, 0x00 },
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		is_preset(&(struct hd_tlb_processor){ .vendor = known[i].vendor,
						      .family = known[i].family,
						      .model = known[i].model },
			  known[i].preset);
	is_preset(&(struct hd_tlb_processor){ .implementer = 0x41, .part = 0xd0c }, "neoverse-n1");
	is_preset(&(struct hd_tlb_processor){ .implementer = 0x41, .part = 0xd40 }, "neoverse-v1");
	is_preset(&(struct hd_tlb_processor){ .implementer = 0x42, .part = 0xd40 }, NULL);
	is_preset(&(struct hd_tlb_processor){ .vendor = NULL }, NULL);
}

static void other_names_are_known(void **state)
{
	(void)state;
	assert_ptr_equal(hd_tlb_preset_named("skylake"), hd_tlb_preset_named("kaby-lake"));
	assert_ptr_equal(hd_tlb_preset_named("sapphire-rapids"),
			 hd_tlb_preset_named("golden-cove"));
	assert_null(hd_tlb_preset_named("kaby"));
	assert_null(hd_tlb_preset_named("kaby-lake2"));
	assert_null(hd_tlb_preset_named(""));
}

static uint32_t expected(const char *preset, uint64_t bytes, uint64_t large, unsigned large_shift)
{
	const struct hd_tlb_geometry *geometry = hd_tlb_preset_named(preset);
	size_t memory_bytes = hd_tlb_bytes(geometry);
	void *memory = malloc(memory_bytes);
	uint32_t walks = UINT32_MAX;

	assert_non_null(memory);
	assert_int_equal(
	    hd_tlb_expect(geometry, NULL,
			  &(struct hd_tlb_table){ bytes, large, (uint8_t)large_shift, 12 }, 0,
			  memory, memory_bytes, &walks),
	    0);
	free(memory);
	return walks;
}

static void near(uint32_t ppm, uint32_t want, uint32_t tolerance)
{
	assert_in_range(ppm, want > tolerance ? want - tolerance : 0, want + tolerance);
}

/* Random buckets: what the second level holds of the table is found there, the rest is not. */
static void an_8_mebibyte_table_on_4k_walks_at_a_quarter_of_its_lookups(void **state)
{
	(void)state;
	near(expected("kaby-lake", 8 << 20, 0, 21), 250000, 15000);
	near(expected("haswell", 8 << 20, 0, 21), 500000, 25000);
	assert_int_equal(expected("kaby-lake", 8 << 20, 8 << 20, 21), 0);
	assert_int_equal(expected("zen5", 8 << 20, 0, 21), 0);
}

static void large_tables_walk_nearly_always_on_4k_and_as_reach_goes_on_2m(void **state)
{
	(void)state;
	near(expected("kaby-lake", 64ull << 30, 0, 21), 999900, 300);
	near(expected("kaby-lake", 6ull << 30, 6ull << 30, 21), 500000, 25000);
	assert_int_equal(expected("kaby-lake", 2ull << 30, 2ull << 30, 21), 0);
	near(expected("zen5", 1ull << 40, 1ull << 40, 30), 0, 0);
}

/* Small translations do not only miss, they push the large ones out of the level both share. */
static void a_table_half_on_4k_walks_at_more_than_half_of_its_lookups(void **state)
{
	(void)state;
	assert_int_equal(expected("kaby-lake", 2ull << 30, 2ull << 30, 21), 0);
	assert_in_range(expected("kaby-lake", 4ull << 30, 2ull << 30, 21), 600000, 800000);
}

static void what_cannot_be_expected_is_refused(void **state)
{
	const struct hd_tlb_geometry *geometry = hd_tlb_preset(0);
	uint64_t memory[4];
	uint32_t walks;

	(void)state;
	assert_int_equal(hd_tlb_expect(geometry, NULL, &(struct hd_tlb_table){ 0, 0, 21, 12 }, 0,
				       memory, 0, &walks),
			 HD_TLB_EINVAL);
	assert_int_equal(hd_tlb_expect(geometry, NULL, &(struct hd_tlb_table){ 4096, 8192, 21, 12 },
				       0, memory, 0, &walks),
			 HD_TLB_EINVAL);
	assert_int_equal(hd_tlb_expect(geometry, NULL, &(struct hd_tlb_table){ 4096, 0, 21, 12 }, 0,
				       memory, sizeof(memory), &walks),
			 HD_TLB_ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_those_of_the_documents),
		cmocka_unit_test(processors_find_their_preset),
		cmocka_unit_test(other_names_are_known),
		cmocka_unit_test(an_8_mebibyte_table_on_4k_walks_at_a_quarter_of_its_lookups),
		cmocka_unit_test(large_tables_walk_nearly_always_on_4k_and_as_reach_goes_on_2m),
		cmocka_unit_test(a_table_half_on_4k_walks_at_more_than_half_of_its_lookups),
		cmocka_unit_test(what_cannot_be_expected_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
