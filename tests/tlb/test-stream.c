/* SPDX-License-Identifier: MIT */
/* test-stream.c - events as words, and words that are none */
#include "help.h"

#include "tlb/stream.h"

static void a_word_gives_back_what_was_put_in(void **state)
{
	const struct hd_tlb_translation translation = { .shift = 21, .global = true };
	uint64_t access = hd_tlb_event(HD_TLB_EVENT_ACCESS, 0x7f0000201fff, 1, translation);
	uint64_t tag = hd_tlb_event(HD_TLB_EVENT_SWITCH, 77 << 12, 0,
				    (struct hd_tlb_translation){ .shift = 0 });

	(void)state;
	assert_true(hd_tlb_is_event(access));
	assert_int_equal(hd_tlb_event_what(access), HD_TLB_EVENT_ACCESS);
	assert_int_equal(hd_tlb_event_kind(access), 1);
	assert_int_equal(hd_tlb_event_address(access), 0x7f0000201000);
	assert_int_equal(hd_tlb_event_translation(access).shift, 21);
	assert_true(hd_tlb_event_translation(access).global);
	assert_int_equal(hd_tlb_event_what(tag), HD_TLB_EVENT_SWITCH);
	assert_int_equal(hd_tlb_event_tag(tag), 77);
}

static void words_of_any_file_are_no_events(void **state)
{
	struct hd_tlb_translation translation = { .shift = 12 };

	(void)state;
	for (int what = 0; what < 8; what++)
		assert_int_equal(hd_tlb_is_event(hd_tlb_event(what, 0, 0, translation)),
				 what <= HD_TLB_EVENT_FLUSH_PAGE);
	for (unsigned shift = 0; shift < 64; shift++) {
		translation.shift = (uint8_t)shift;
		assert_int_equal(
		    hd_tlb_is_event(hd_tlb_event(HD_TLB_EVENT_ACCESS, 0, 0, translation)),
		    shift >= 12 && shift <= 47);
		/* of others it says nothing */
		assert_true(
		    hd_tlb_is_event(hd_tlb_event(HD_TLB_EVENT_FLUSH_ALL, 0, 0, translation)));
	}
}

/* What makes the next access to the same page a walk, and what does not. */
static void each_event_does_what_it_says(void **state)
{
	static const struct {
		int what;
		uint64_t address;
		unsigned walks;
	} steps[] = {
		{ HD_TLB_EVENT_ACCESS, 0x5000, 0 },         { HD_TLB_EVENT_FLUSH_PAGE, 0x9000, 0 },
		{ HD_TLB_EVENT_FLUSH_PAGE, 0x5000, 1 },     { HD_TLB_EVENT_FLUSH_TAG, 0, 1 },
		{ HD_TLB_EVENT_FLUSH_ALL, 0, 1 },           { HD_TLB_EVENT_SWITCH, 3 << 12, 1 },
		{ HD_TLB_EVENT_FLUSH_PAGE + 1, 0x5000, 0 },
	};
	const struct hd_tlb_translation page = { .shift = 12 };
	uint64_t access = hd_tlb_event(HD_TLB_EVENT_ACCESS, 0x5000, HD_TLB_LOAD, page);
	struct model m;

	(void)state;
	model_of(&m, "kaby-lake", 12);
	hd_tlb_replay_event(&m.tlb, access);
	assert_int_equal(model_walks(&m), 1);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t before = model_walks(&m);

		hd_tlb_replay_event(&m.tlb, hd_tlb_event(steps[i].what, steps[i].address, 0, page));
		hd_tlb_replay_event(&m.tlb, access);
		assert_int_equal(model_walks(&m) - before, steps[i].walks);
	}
	model_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_gives_back_what_was_put_in),
		cmocka_unit_test(words_of_any_file_are_no_events),
		cmocka_unit_test(each_event_does_what_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
