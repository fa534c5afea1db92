/* SPDX-License-Identifier: MIT */
/*
 * test-events.c - which events are chosen of pretended PMUs, and how counts add up
 */
#include <linux/perf_event.h>
#include <sys/stat.h>

#include "tests/command/help.h"

enum { DTLB_READ_MISS = 0x10003, DTLB_WRITE_MISS = 0x10103 };

/* ---- a pretended /sys ------------------------------------------------------------------ */

static char root[64];

static void put(const char *pmu, const char *file, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/bus", root);
	mkdir(path, 0700);
	strcat(path, "/event_source");
	mkdir(path, 0700);
	strcat(path, "/devices");
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s", root, pmu);
	mkdir(path, 0700);
	strcat(path, "/");
	strcat(path, file);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static int new_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/hashdist-events-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char line[128];

	(void)state;
	snprintf(line, sizeof(line), "rm -r %s", root);
	return system(line);
}

static void no_pmu_is_none(void **state)
{
	struct command_pmu pmu[COMMAND_PMUS_MAX];

	(void)state;
	assert_int_equal(command_pmus(root, pmu), 0);
	put("software", "type", "1\n");
	put("uncore_imc_0", "type", "14\n");
	put("uncore_imc_0", "cpumask", "0\n");
	assert_int_equal(command_pmus(root, pmu), 0);
}

static void the_ordinary_machine_has_one(void **state)
{
	struct command_pmu pmu[COMMAND_PMUS_MAX];

	(void)state;
	put("cpu", "type", "4\n");
	put("uncore_imc_0", "type", "14\n");
	assert_int_equal(command_pmus(root, pmu), 1);
	assert_string_equal(pmu[0].name, "cpu");
	assert_int_equal(pmu[0].type, 4);
	assert_false(pmu[0].several);
}

static void a_hybrid_machine_has_one_for_each_kind_of_core(void **state)
{
	struct command_pmu pmu[COMMAND_PMUS_MAX];

	(void)state;
	put("cpu_core", "type", "4\n");
	put("cpu_core", "cpus", "0-15\n");
	put("cpu_atom", "type", "10\n");
	put("cpu_atom", "cpus", "16-23\n");
	put("broken", "cpus", "0\n"); /* without a type */
	assert_int_equal(command_pmus(root, pmu), 2);
	assert_string_equal(pmu[0].name, "cpu_core");
	assert_string_equal(pmu[1].name, "cpu_atom");
	assert_int_equal(pmu[1].type, 10);
	assert_true(pmu[0].several && pmu[1].several);
}

static void an_arm_machine_has_one_of_its_own_name(void **state)
{
	struct command_pmu pmu[COMMAND_PMUS_MAX];

	(void)state;
	put("armv8_pmuv3_0", "type", "8\n");
	put("armv8_pmuv3_0", "cpus", "0-79\n");
	assert_int_equal(command_pmus(root, pmu), 1);
	assert_string_equal(pmu[0].name, "armv8_pmuv3_0");
	assert_false(pmu[0].several);
}

/* ---- events of the kernel's table --------------------------------------------------------- */

static const struct command_event *event_of(const struct command_events *events,
					    enum command_figure figure, uint32_t nth)
{
	for (uint32_t e = 0; e < events->events; e++)
		if (events->event[e].figure == figure && !nth--)
			return &events->event[e];
	return NULL;
}

static void one_pmu_needs_no_type(void **state)
{
	const struct command_pmu pmu = { .name = "cpu", .type = 4 };
	struct command_events events = { .events = 0 };
	const struct command_event *event;

	(void)state;
	command_select_generic(&pmu, 1, &events);
	assert_int_equal(events.events, 3);
	event = event_of(&events, COMMAND_LOAD_MISSES, 0);
	assert_int_equal(event->type, PERF_TYPE_HW_CACHE);
	assert_int_equal(event->config, DTLB_READ_MISS);
	event = event_of(&events, COMMAND_STORE_MISSES, 0);
	assert_int_equal(event->config, DTLB_WRITE_MISS);
	event = event_of(&events, COMMAND_CYCLES, 0);
	assert_int_equal(event->type, PERF_TYPE_HARDWARE);
	assert_int_equal(event->config, PERF_COUNT_HW_CPU_CYCLES);
}

static void of_several_pmus_each_is_told(void **state)
{
	const struct command_pmu pmu[] = { { "cpu_core", 4, true }, { "cpu_atom", 10, true } };
	struct command_events events = { .events = 0 };

	(void)state;
	command_select_generic(pmu, 2, &events);
	assert_int_equal(events.events, 6);
	assert_true(event_of(&events, COMMAND_LOAD_MISSES, 0)->config ==
		    (DTLB_READ_MISS | UINT64_C(4) << 32));
	assert_true(event_of(&events, COMMAND_LOAD_MISSES, 1)->config ==
		    (DTLB_READ_MISS | UINT64_C(10) << 32));
}

static void without_a_pmu_the_kernel_is_asked_all_the_same(void **state)
{
	struct command_events events = { .events = 0 };

	(void)state;
	command_select_generic(NULL, 0, &events);
	assert_int_equal(events.events, 3);
}

/* ---- events with names -------------------------------------------------------------------- */

/** Names that pretended PMUs know. */
struct dictionary {
	const char *const *name; /* ends with NULL */
	const char *only_pmu;    /* NULL: all */
};

static bool look_up(void *ctx, const struct command_pmu *pmu, const char *name,
		    struct command_event *out)
{
	const struct dictionary *dictionary = ctx;

	if (dictionary->only_pmu && strcmp(pmu->name, dictionary->only_pmu) != 0)
		return false;
	for (int n = 0; dictionary->name[n]; n++)
		if (!strcmp(dictionary->name[n], name)) {
			snprintf(out->name, sizeof(out->name), "%.32s::%.128s", pmu->name, name);
			out->config = (uint64_t)n;
			return true;
		}
	return false;
}

static struct command_events select_of(const char *const *names, const char *only, uint32_t pmus)
{
	const struct command_pmu pmu[] = { { "big", 1, true }, { "little", 2, true } };
	struct dictionary dictionary = { names, only };
	struct command_events events = { .events = 0 };

	command_select_named(pmu, pmus, look_up, &dictionary, &events);
	return events;
}

static void walks_of_loads_and_stores_are_two_events_of_one_figure(void **state)
{
	static const char *const names[] = { "DTLB_LOAD_MISSES:WALK_COMPLETED",
					     "DTLB_STORE_MISSES:WALK_COMPLETED", NULL };
	struct command_events events = select_of(names, NULL, 1);

	(void)state;
	assert_int_equal(events.events, 2);
	assert_int_equal(events.event[0].figure, COMMAND_WALKS);
	assert_int_equal(events.event[1].figure, COMMAND_WALKS);
}

static void a_sum_that_lacks_a_part_is_not_chosen(void **state)
{
	static const char *const names[] = { "DTLB_LOAD_MISSES:WALK_COMPLETED", NULL };

	(void)state;
	assert_int_equal(select_of(names, NULL, 1).events, 0);
}

static void the_first_meaning_that_a_processor_has_is_chosen(void **state)
{
	static const char *const names[] = { "DTLB_LOAD_MISSES:WALK_PENDING",
					     "DTLB_STORE_MISSES:WALK_PENDING",
					     "DTLB_LOAD_MISSES:WALK_DURATION",
					     "DTLB_STORE_MISSES:WALK_DURATION", NULL };
	struct command_events events = select_of(names, NULL, 1);

	(void)state;
	assert_int_equal(events.events, 2);
	assert_string_equal(events.event[0].name, "big::DTLB_LOAD_MISSES:WALK_PENDING");
	events = select_of(names + 2, NULL, 1);
	assert_int_equal(events.events, 2);
	assert_string_equal(events.event[0].name, "big::DTLB_LOAD_MISSES:WALK_DURATION");
}

static void each_kind_of_core_is_asked_for_itself(void **state)
{
	static const char *const names[] = { "DTLB_WALK", NULL };

	(void)state;
	assert_int_equal(select_of(names, NULL, 2).events, 2);
	assert_int_equal(select_of(names, "little", 2).events, 1);
}

/* Codes as the vendors' manuals print them: event 0x08 umask 0x0e is 0xe08. */
static void names_are_encoded_as_the_manuals_have_them(void **state)
{
	static const struct {
		const char *pmu, *name;
		uint64_t config;
	} manual[] = {
		{ "skl", "DTLB_LOAD_MISSES:WALK_COMPLETED", 0x0e08 },
		{ "skl", "DTLB_STORE_MISSES:WALK_COMPLETED", 0x0e49 },
		{ "skl", "DTLB_LOAD_MISSES:WALK_PENDING", 0x1008 },
		{ "icl", "DTLB_LOAD_MISSES:WALK_COMPLETED", 0x0e08 },
		{ "spr", "DTLB_LOAD_MISSES:WALK_COMPLETED", 0x0e12 },
		{ "spr", "DTLB_STORE_MISSES:WALK_PENDING", 0x1013 },
		{ "hsw", "DTLB_LOAD_MISSES:WALK_DURATION", 0x1008 },
		{ "snb", "DTLB_LOAD_MISSES:WALK_DURATION", 0x0408 },
		{ "amd64_fam17h_zen2",
		  "L1_DTLB_MISS:TLB_RELOAD_1G_L2_MISS:TLB_RELOAD_2M_L2_MISS:"
		  "TLB_RELOAD_COALESCED_PAGE_MISS:TLB_RELOAD_4K_L2_MISS",
		  0xf045 },
	};

	(void)state;
#if !defined(__x86_64__)
	skip(); /* libpfm4 knows the processors of its own architecture */
#endif
	if (!command_has_names())
		lacks("libpfm4");
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	assert_true(command_names_begin());
	for (size_t m = 0; m < ARRAY_SIZE(manual); m++) {
		struct command_pmu pmu = { .type = 0 };
		struct command_event event = { .figure = COMMAND_WALKS };

		strcpy(pmu.name, manual[m].pmu);
		if (!command_encode_name(NULL, &pmu, manual[m].name, &event))
			fail_msg("%s has no %s", manual[m].pmu, manual[m].name);
		assert_int_equal(event.type, PERF_TYPE_RAW);
		assert_int_equal(event.config, manual[m].config);
	}
	command_names_end();
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void a_counter_with_all_its_time_is_exact(void **state)
{
	(void)state;
	assert_true(command_scale(0, 0, 0) == 0);
	assert_true(command_scale(9007199254740993, 1000, 1000) == 9007199254740993.0);
	assert_true(command_scale(45001, 123456789, 123456789) == 45001);
}

static void a_counter_that_shared_its_place_is_scaled(void **state)
{
	(void)state;
	assert_true(command_scale(1000, 400, 100) == 4000);
	assert_true(command_scale(3, 3000000000, 1000000000) == 9);
	/* Beyond what 64 bits hold on the way. */
	assert_true(command_scale(UINT64_C(1) << 62, UINT64_C(1) << 40, UINT64_C(1) << 39) ==
		    9223372036854775808.0);
}

static void a_counter_that_never_had_a_turn_is_unknown(void **state)
{
	(void)state;
	assert_true(command_scale(0, 1000, 0) < 0);
}

/** A file that reads as a counter does. */
static int counter_of(uint64_t value, uint64_t enabled, uint64_t running)
{
	const uint64_t found[3] = { value, enabled, running };
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], found, sizeof(found)), (int)sizeof(found));
	close(ends[1]);
	return ends[0];
}

static void add(struct command_counters *counters, enum command_figure figure, const char *name,
		int fd)
{
	uint32_t at = counters->events.events++;

	counters->events.event[at] = (struct command_event){ .figure = figure };
	strcpy(counters->events.event[at].name, name);
	counters->fd[at] = fd;
}

static double read_value(struct command_counters *counters, enum command_figure figure,
			 double *share)
{
	double value[COMMAND_FIGURES];

	for (int f = 0; f < COMMAND_FIGURES; f++)
		value[f] = -1;
	*share = command_read(counters, value);
	command_close(counters);
	return value[figure];
}

static void parts_of_a_figure_are_scaled_each_and_added(void **state)
{
	struct command_counters counters = { .events = { .events = 0 } };
	double share;

	(void)state;
	add(&counters, COMMAND_WALKS, "skl::LOAD", counter_of(100, 1000, 1000));
	add(&counters, COMMAND_WALKS, "skl::STORE", counter_of(30, 1000, 500));
	assert_true(read_value(&counters, COMMAND_WALKS, &share) == 160);
	assert_true(share == 0.5);
}

/* A program that was on the large cores for 3/4 of its time, on the small ones for the rest. */
static void time_on_another_kind_of_core_is_not_scaled_away(void **state)
{
	struct command_counters counters = { .events = { .events = 0 } };
	double share;

	(void)state;
	add(&counters, COMMAND_LOAD_MISSES, "dTLB-load-misses", counter_of(300, 1000, 750));
	add(&counters, COMMAND_LOAD_MISSES, "dTLB-load-misses", counter_of(50, 1000, 250));
	assert_true(read_value(&counters, COMMAND_LOAD_MISSES, &share) == 350);
	assert_true(share == 1);
}

static void a_core_that_was_never_used_adds_nothing(void **state)
{
	struct command_counters counters = { .events = { .events = 0 } };
	double share;

	(void)state;
	add(&counters, COMMAND_CYCLES, "big::CYCLES", counter_of(300, 1000, 1000));
	add(&counters, COMMAND_CYCLES, "little::CYCLES", counter_of(0, 1000, 0));
	assert_true(read_value(&counters, COMMAND_CYCLES, &share) == 300);
}

static void a_part_without_a_turn_leaves_the_figure_unknown(void **state)
{
	struct command_counters counters = { .events = { .events = 0 } };
	double share;

	(void)state;
	add(&counters, COMMAND_WALKS, "skl::LOAD", counter_of(100, 1000, 1000));
	add(&counters, COMMAND_WALKS, "skl::STORE", counter_of(0, 1000, 0));
	assert_true(read_value(&counters, COMMAND_WALKS, &share) < 0);
}

static void what_this_machine_does_not_count_has_its_reason(void **state)
{
	struct command_want want = plain_want("true");
	struct command_once once;

	(void)state;
	assert_int_equal(command_once(&want, 0, &once), 0);
	for (int f = 0; f < COMMAND_COUNTED; f++) {
		bool counted = once.hardware.counted[f];

		assert_int_equal(once.value[COMMAND_HARDWARE + f] >= 0, counted);
		if (!counted && once.hardware.has_event[f])
			assert_true(once.hardware.error[f] < 0);
	}
}

#define WITH_ROOT(test) cmocka_unit_test_setup_teardown(test, new_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ROOT(no_pmu_is_none),
		WITH_ROOT(the_ordinary_machine_has_one),
		WITH_ROOT(a_hybrid_machine_has_one_for_each_kind_of_core),
		WITH_ROOT(an_arm_machine_has_one_of_its_own_name),
		cmocka_unit_test(one_pmu_needs_no_type),
		cmocka_unit_test(of_several_pmus_each_is_told),
		cmocka_unit_test(without_a_pmu_the_kernel_is_asked_all_the_same),
		cmocka_unit_test(walks_of_loads_and_stores_are_two_events_of_one_figure),
		cmocka_unit_test(a_sum_that_lacks_a_part_is_not_chosen),
		cmocka_unit_test(the_first_meaning_that_a_processor_has_is_chosen),
		cmocka_unit_test(each_kind_of_core_is_asked_for_itself),
		cmocka_unit_test(names_are_encoded_as_the_manuals_have_them),
		cmocka_unit_test(a_counter_with_all_its_time_is_exact),
		cmocka_unit_test(a_counter_that_shared_its_place_is_scaled),
		cmocka_unit_test(a_counter_that_never_had_a_turn_is_unknown),
		cmocka_unit_test(parts_of_a_figure_are_scaled_each_and_added),
		cmocka_unit_test(time_on_another_kind_of_core_is_not_scaled_away),
		cmocka_unit_test(a_core_that_was_never_used_adds_nothing),
		cmocka_unit_test(a_part_without_a_turn_leaves_the_figure_unknown),
		cmocka_unit_test(what_this_machine_does_not_count_has_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
