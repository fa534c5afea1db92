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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_gives_back_what_was_put_in),
		cmocka_unit_test(words_of_any_file_are_no_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
