/* SPDX-License-Identifier: MIT */
/*
 * test-advice.c - from verdicts to the few things worth saying
 *
 * Surveys are made by hand: only verdicts, parameters and whether the log is
 * complete are looked at.
 */
#include "help.h"

static struct ktables_survey survey;
static struct ktables_advice advice[KTABLES_ADVICE_MAX + 1];

static void survey_init(void)
{
	memset(&survey, 0, sizeof(survey));
	survey.log_seen = survey.log_complete = true;
}

static void add_row(void)
{
	assert_true(survey.rows < KTABLES_ROWS_MAX);
	survey.rows++;
}

/** One more verdict of the last row. */
static void add_verdict(enum hd_verdict_code code, enum hd_param param, uint64_t now, uint64_t then)
{
	struct hd_judgement *judgement = &survey.row[survey.rows - 1].judgement;

	assert_true(judgement->count < HD_VERDICTS_MAX);
	judgement->verdict[judgement->count++] =
	    (struct hd_verdict){ .code = code, .param = param, .now = now, .then = then };
}

static void add_table(enum hd_verdict_code code, enum hd_param param, uint64_t now, uint64_t then)
{
	add_row();
	add_verdict(code, param, now, then);
}

static void set_cmdline(const char *release, const char *cmdline)
{
	struct hd_machine *machine = &survey.facts.machine;

	hd_rules_init(&machine->rules, hd_version_parse(release, strlen(release)), HD_ARCH_X86_64,
		      NULL);
	hd_params_parse(&machine->params, &machine->rules, cmdline, strlen(cmdline));
}

static uint32_t advise(void)
{
	memset(advice, 0xa5, sizeof(advice));
	return ktables_advise(&survey, advice, KTABLES_ADVICE_MAX);
}

static void nothing_wrong_is_nothing_to_say(void **state)
{
	(void)state;
	survey_init();
	assert_int_equal(advise(), 0);
	add_row();
	add_row();
	set_cmdline("6.1.0", "root=/dev/vda hashdist=1 quiet");
	assert_int_equal(advise(), 0);
}

static void tables_that_hashdist_mends_share_one_advice(void **state)
{
	(void)state;
	survey_init();
	add_row();
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 256, 1);
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 2048, 4); /* gains most */
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 16, 1);
	assert_int_equal(advise(), 1);
	assert_int_equal(advice[0].kind, KTABLES_ADVICE_TABLE);
	assert_int_equal(advice[0].tables, 3);
	assert_int_equal(advice[0].row, 2);
	assert_int_equal(advice[0].verdict.code, HD_V_SMALL_PAGES);
	assert_int_equal(advice[0].verdict.now, 2048);
	assert_int_equal(advice[0].verdict.then, 4);
}

/** Large figures that hardly change are no gain, downwards or upwards. */
static void a_gain_is_the_difference(void **state)
{
	(void)state;
	survey_init();
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 1000, 900);
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 256, 1);
	add_table(HD_V_HALVED, HD_PARAM_NONE, 900, 1000);
	add_table(HD_V_HALVED, HD_PARAM_NONE, 1, 256);
	assert_int_equal(advise(), 2);
	assert_int_equal(advice[0].row, 1);
	assert_int_equal(advice[1].row, 3);
}

static void of_equal_gains_the_first_is_told(void **state)
{
	(void)state;
	survey_init();
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 513, 2);
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 512, 1);
	assert_int_equal(advise(), 1);
	assert_int_equal(advice[0].row, 0);
	assert_int_equal(advice[0].tables, 2);
}

/** The same parameter for another reason is another thing to say. */
static void different_verdicts_do_not_share(void **state)
{
	(void)state;
	survey_init();
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 256, 1);
	add_table(HD_V_ONE_NODE, HD_PARAM_HASHDIST, 256, 1);
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 128, 1);
	add_table(HD_V_SMALL_PAGES, HD_PARAM_NONE, 256, 0);
	assert_int_equal(advise(), 3);
	assert_int_equal(advice[0].verdict.code, HD_V_SMALL_PAGES);
	assert_int_equal(advice[0].tables, 2);
	assert_int_equal(advice[1].verdict.code, HD_V_ONE_NODE);
	assert_int_equal(advice[2].verdict.param, HD_PARAM_NONE);
}

static void tables_that_nothing_mends_share_as_well(void **state)
{
	(void)state;
	survey_init();
	add_table(HD_V_LOPSIDED, HD_PARAM_NONE, 0, 0);
	add_table(HD_V_LOPSIDED, HD_PARAM_NONE, 0, 0);
	add_table(HD_V_HALVED, HD_PARAM_NONE, 131072, 262144);
	add_table(HD_V_HALVED, HD_PARAM_NONE, 65536, 524288);
	assert_int_equal(advise(), 2);
	assert_int_equal(advice[0].tables, 2);
	assert_int_equal(advice[0].row, 0);
	assert_int_equal(advice[1].tables, 2);
	assert_int_equal(advice[1].row, 3); /* more is gained upwards, too */
}

static void each_entries_parameter_is_a_matter_of_its_own(void **state)
{
	(void)state;
	survey_init();
	add_table(HD_V_UNDER_HUGE, HD_PARAM_DHASH_ENTRIES, 512, 2);
	add_table(HD_V_UNDER_HUGE, HD_PARAM_IHASH_ENTRIES, 512, 2);
	add_table(HD_V_TOO_SMALL, HD_PARAM_THASH_ENTRIES, 4, 1); /* established */
	add_table(HD_V_TOO_SMALL, HD_PARAM_THASH_ENTRIES, 4, 1); /* bind: another size */
	assert_int_equal(advise(), 4);
	for (uint32_t a = 0; a < 4; a++) {
		assert_int_equal(advice[a].tables, 1);
		assert_int_equal(advice[a].row, a);
	}
	assert_int_equal(advice[1].verdict.param, HD_PARAM_IHASH_ENTRIES);
}

static void all_verdicts_of_a_table_are_told(void **state)
{
	(void)state;
	survey_init();
	add_table(HD_V_ONE_NODE, HD_PARAM_NONE, 0, 0);
	add_verdict(HD_V_UNDER_HUGE, HD_PARAM_DHASH_ENTRIES, 2048, 4);
	add_verdict(HD_V_TOO_SMALL, HD_PARAM_DHASH_ENTRIES, 9000000, 1048576);
	assert_int_equal(advise(), 3);
	assert_int_equal(advice[0].row, 0);
	assert_int_equal(advice[2].row, 0);
	assert_int_equal(advice[2].verdict.code, HD_V_TOO_SMALL);
}

static void not_knowing_is_no_advice(void **state)
{
	(void)state;
	survey_init();
	add_table(HD_V_UNKNOWN, HD_PARAM_NONE, 0, 0);
	add_table(HD_V_UNKNOWN, HD_PARAM_NONE, 0, 0);
	add_verdict(HD_V_TOO_SMALL, HD_PARAM_DHASH_ENTRIES, 9000000, 1048576);
	assert_int_equal(advise(), 1);
	assert_int_equal(advice[0].verdict.code, HD_V_TOO_SMALL);
	assert_int_equal(advice[0].row, 1);
}

static const struct ktables_advice *about(enum hd_param param, uint32_t count)
{
	for (uint32_t a = 0; a < count; a++)
		if (advice[a].verdict.param == param)
			return &advice[a];
	return NULL;
}

static void check_word(const char *cmdline, enum hd_param param, enum ktables_advice_kind kind,
		       const char *word)
{
	const struct ktables_advice *got = about(param, advise());

	if (!got || got->kind != kind || got->len != strlen(word) ||
	    strncmp(cmdline + got->at, word, got->len) != 0)
		fail_msg("%s: %s", cmdline, word);
}

static void an_ignored_parameter_is_pointed_at(void **state)
{
	const char *cmdline =
	    "root=/dev/vda uhash_entries=abc  hashdist=2 \"thash_entries=1 k\" ro";

	(void)state;
	survey_init();
	set_cmdline("7.1.0", cmdline);
	assert_int_equal(advise(), 3);
	check_word(cmdline, HD_PARAM_UHASH_ENTRIES, KTABLES_ADVICE_IGNORED, "uhash_entries=abc");
	check_word(cmdline, HD_PARAM_HASHDIST, KTABLES_ADVICE_IGNORED, "hashdist=2");
	check_word(cmdline, HD_PARAM_THASH_ENTRIES, KTABLES_ADVICE_IGNORED,
		   "\"thash_entries=1 k\"");
	set_cmdline("6.1.0", "hashdist=2"); /* this kernel takes it */
	assert_int_equal(advise(), 0);
}

static void the_last_of_several_words_is_pointed_at(void **state)
{
	const char *cmdline = "hashdist=0 quiet hashdist";

	(void)state;
	survey_init();
	set_cmdline("6.1.0", cmdline);
	assert_int_equal(advise(), 1);
	assert_int_equal(advice[0].at, 17);
	check_word(cmdline, HD_PARAM_HASHDIST, KTABLES_ADVICE_IGNORED, "hashdist");
}

static void a_misspelt_parameter_is_pointed_at(void **state)
{
	const char *cmdline = "ro hashdits=0 dhash_entires=1000000 mitigations=off";

	(void)state;
	survey_init();
	set_cmdline("6.1.0", cmdline);
	assert_int_equal(advise(), 2);
	check_word(cmdline, HD_PARAM_HASHDIST, KTABLES_ADVICE_MISSPELT, "hashdits=0");
	check_word(cmdline, HD_PARAM_DHASH_ENTRIES, KTABLES_ADVICE_MISSPELT,
		   "dhash_entires=1000000");
}

static void a_lost_log_is_told_last(void **state)
{
	uint32_t count;

	(void)state;
	survey_init();
	survey.log_complete = false;
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 256, 1);
	set_cmdline("6.1.0", "hashdits=0");
	count = advise();
	assert_int_equal(count, 3);
	assert_int_equal(advice[0].kind, KTABLES_ADVICE_TABLE);
	assert_int_equal(advice[1].kind, KTABLES_ADVICE_MISSPELT);
	assert_int_equal(advice[2].kind, KTABLES_ADVICE_LOG_LOST);
	survey.log_seen = false;
	assert_int_equal(advise(), 3);
}

/** Nine different things to say, and room for fewer. */
static void no_more_is_written_than_there_is_room_for(void **state)
{
	struct ktables_advice untouched;

	(void)state;
	survey_init();
	survey.log_complete = false;
	set_cmdline("7.1.0", "hashdist=2 uhash_entries=abc dhash_entires=1");
	for (int t = 0; t < 4; t++)
		add_table(HD_V_UNDER_HUGE, HD_PARAM_DHASH_ENTRIES, 512, 2);
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 256, 1);
	memset(&untouched, 0xa5, sizeof(untouched));
	for (uint32_t max = 0; max <= 9; max++) {
		memset(advice, 0xa5, sizeof(advice));
		assert_int_equal(ktables_advise(&survey, advice, max), max);
		assert_memory_equal(&advice[max], &untouched, sizeof(untouched));
	}
	assert_int_equal(advise(), 9);
}

static void a_full_list_still_counts_tables_that_share(void **state)
{
	(void)state;
	survey_init();
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 256, 1);
	add_table(HD_V_ONE_NODE, HD_PARAM_HASHDIST, 256, 1);
	add_table(HD_V_SMALL_PAGES, HD_PARAM_HASHDIST, 512, 1);
	assert_int_equal(ktables_advise(&survey, advice, 1), 1);
	assert_int_equal(advice[0].tables, 2);
	assert_int_equal(advice[0].row, 2);
}

static void a_full_survey_does_not_overflow(void **state)
{
	(void)state;
	survey_init();
	for (int t = 0; t < KTABLES_ROWS_MAX; t++)
		for (int v = 0; v < HD_VERDICTS_MAX; v++) {
			if (!v)
				add_row();
			add_verdict(HD_V_TOO_SMALL, HD_PARAM_UHASH_ENTRIES, 9, 1);
		}
	assert_int_equal(advise(), KTABLES_ADVICE_MAX);
	assert_int_equal(*(unsigned char *)&advice[KTABLES_ADVICE_MAX], 0xa5);
}

/*
 * 4.19, one node, all of it together:
 *
 *   Dentry cache  262144  2 MiB, on 512 pages
 *   Inode-cache   131072  1 MiB, on 256
 *   Mount-cache     4096  32 KiB, on 8
 */
static void one_node_on_4_19_has_one_thing_to_hear(void **state)
{
	static struct klog_boot boot;

	(void)state;
	boot_init(&boot, "4.19.0", HD_ARCH_X86_64);
	boot_zonelists(&boot, 1, 1, 515921);
	boot_table(&boot, "Mount-cache", 4096, 3, 32 * KIB, HD_MAP_UNKNOWN);
	boot_table(&boot, "Dentry cache", 262144, 9, 2 * MIB, HD_MAP_UNKNOWN);
	boot_table(&boot, "Inode-cache", 131072, 8, MIB, HD_MAP_UNKNOWN);
	assert_int_equal(ktables_survey(&survey, &boot, NULL, NULL), 0);
	assert_int_equal(advise(), 1);
	assert_int_equal(advice[0].verdict.code, HD_V_SMALL_PAGES);
	assert_int_equal(advice[0].verdict.param, HD_PARAM_HASHDIST);
	assert_int_equal(advice[0].verdict.value, 0);
	assert_int_equal(advice[0].tables, 3);
	assert_string_equal(survey.row[advice[0].row].name, "Dentry cache");
	ktables_survey_fini(&survey);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_wrong_is_nothing_to_say),
		cmocka_unit_test(tables_that_hashdist_mends_share_one_advice),
		cmocka_unit_test(a_gain_is_the_difference),
		cmocka_unit_test(of_equal_gains_the_first_is_told),
		cmocka_unit_test(different_verdicts_do_not_share),
		cmocka_unit_test(tables_that_nothing_mends_share_as_well),
		cmocka_unit_test(each_entries_parameter_is_a_matter_of_its_own),
		cmocka_unit_test(all_verdicts_of_a_table_are_told),
		cmocka_unit_test(not_knowing_is_no_advice),
		cmocka_unit_test(an_ignored_parameter_is_pointed_at),
		cmocka_unit_test(the_last_of_several_words_is_pointed_at),
		cmocka_unit_test(a_misspelt_parameter_is_pointed_at),
		cmocka_unit_test(a_lost_log_is_told_last),
		cmocka_unit_test(no_more_is_written_than_there_is_room_for),
		cmocka_unit_test(a_full_list_still_counts_tables_that_share),
		cmocka_unit_test(a_full_survey_does_not_overflow),
		cmocka_unit_test(one_node_on_4_19_has_one_thing_to_hear),
	};

	return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}
