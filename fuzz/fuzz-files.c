/* SPDX-License-Identifier: MIT */
/*
 * fuzz-files.c - any bytes at all as one of the files that hashdist is given
 *
 * The first byte says as what: a record for undo, a stream of TLB events, a program to start, a log
 * or several in one file (gzip or not) shown in each way, a kernel's configuration (gzip or not),
 * the counters of a machine.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/log_segments.h"
#include "cli/run.h"
#include "command/internal.h"
#include "fuzz/bundle.h"
#include "fuzz/quiet.h"
#include "machine/machine.h"
#include "process/record.h"
#include "tlb/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Of a file of the bundle; valid until the next call. */
static char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", bundle_directory(), name);
	return path;
}

static char *write_file(const char *name, const uint8_t *data, size_t size, mode_t mode)
{
	char *path = path_of(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size && !close(fd));
	return path;
}

/* ---- a record for undo ------------------------------------------------------------------------ */

static void check_record(const struct place_record *record)
{
	for (uint64_t b = 1; b < record->count; b++)
		CHECK(record->block[b - 1].address < record->block[b].address);
	for (uint64_t b = 0; b < record->count; b++)
		CHECK(record->block[b].node >= -1 && record->block[b].node < HDL_NODES_MAX);
	for (uint32_t s = 0; s < record->stretches; s++)
		CHECK(record->stretch[s].start < record->stretch[s].end);
}

static void as_record(const uint8_t *data, size_t size)
{
	const struct process process = { .pid = 1, .start_time = 2, .pages.thp_shift = 21 };
	struct place_record once, twice;
	const char *path = write_file("record", data, size, 0600);

	if (record_load(&once, &process, path))
		return;
	check_record(&once);
	CHECK(!record_save(&once, &process, path));
	CHECK(!record_load(&twice, &process, path));
	CHECK(once.count == twice.count && once.stretches == twice.stretches);
	record_free(&once);
	record_free(&twice);
}

/* ---- a stream of TLB events --------------------------------------------------------------------- */

static struct hd_tlb_translation translation(void *context, uint64_t address, int kind)
{
	(void)address, (void)kind;
	return hd_tlb_event_translation(*(const uint64_t *)context);
}

static void replay(const struct hd_tlb_geometry *geometry, const uint8_t *data, size_t size)
{
	size_t bytes = hd_tlb_bytes(geometry);
	void *memory = malloc(bytes);
	uint64_t event, accesses = 0;
	struct hd_tlb_counts counts;
	struct hd_tlb tlb;

	CHECK(memory);
	CHECK(!hd_tlb_init(
	    &tlb,
	    &(struct hd_tlb_config){ .geometry = geometry, .walk = translation, .context = &event },
	    memory, bytes));
	for (; size >= sizeof(event); data += sizeof(event), size -= sizeof(event)) {
		memcpy(&event, data, sizeof(event));
		if (!hd_tlb_is_event(event))
			break;
		accesses += hd_tlb_event_what(event) == HD_TLB_EVENT_ACCESS;
		hd_tlb_replay_event(&tlb, event);
	}
	counts = hd_tlb_read_counts(&tlb);
	CHECK(counts.accesses[0] + counts.accesses[1] == accesses);
	free(memory);
}

static void as_stream(const uint8_t *data, size_t size)
{
	unsigned presets = 0;

	while (hd_tlb_preset(presets))
		presets++;
	if (size--)
		replay(hd_tlb_preset(*data % presets), data + 1, size);
}

/* ---- a program ---------------------------------------------------------------------------------- */

static void as_program(const uint8_t *data, size_t size)
{
	struct run_program program;
	const char *path = write_file("program", data, size, 0700);

	CHECK(!run_look(path, &program));
	CHECK(!strcmp(program.path, path));
	CHECK(memchr(program.binary, '\0', sizeof(program.binary)));
	CHECK(run_reach_text(program.reach));
}

/* ---- a log --------------------------------------------------------------------------------------- */

static void as_shown_log(const uint8_t *data, size_t size, const char *how)
{
	char verb[] = "report", option[] = "--log", as[16];
	char *words[] = { verb, as, option, write_file("log", data, size, 0600), NULL };
	char *said;
	size_t len;
	int status;

	snprintf(as, sizeof(as), "%s", how);
	quiet_begin();
	status = cli_report.run(4, words);
	said = quiet_end(&len);
	CHECK(status == CLI_OK || status == CLI_VERDICT || len);
	free(said);
}

static void *open_one(void *ctx)
{
	return ctx;
}

static void close_one(void *worker)
{
	(void)worker;
}

static size_t work(void *worker, const struct klog_boot *boot, void *out)
{
	(void)worker;
	memcpy(out, &boot->tables, sizeof(boot->tables));
	return sizeof(boot->tables);
}

static void take(void *ctx, const void *result, uint64_t lines)
{
	unsigned *boots = ctx;

	(void)result, (void)lines;
	++*boots;
}

/** As a large file of many boots is: cut, and read by several threads. */
static void as_cut_log(const uint8_t *data, size_t size)
{
	unsigned boots = 0;
	const struct log_segments_job job = { &boots, open_one, close_one, work, take };
	struct klog_stats stats = { 0 };
	int fd = open(write_file("log", data, size, 0600), O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	if (log_segments_fit(fd)) {
		CHECK(!log_segments_read(fd, &job, &stats));
		CHECK(stats.bytes == size && stats.boots == boots);
	}
	close(fd);
}

/* ---- books that are no text, or lie in directories ------------------------------------------------- */

static void as_config(const uint8_t *data, size_t size)
{
	static const uint8_t version[] = "Linux version 6.12.40";
	struct machine *machine;

	mkdir(path_of("machine"), 0700);
	mkdir(path_of("machine/proc"), 0700);
	write_file("machine/proc/version", version, sizeof(version) - 1, 0600);
	write_file("machine/proc/config.gz", data, size, 0600);
	CHECK(!machine_read(path_of("machine"), &machine));
	machine_free(machine);
}

static void as_counters(const uint8_t *data, size_t size)
{
	static const char *const files[] = {
		"sys/bus/event_source/devices/cpu/type",
		"sys/bus/event_source/devices/cpu_core/type",
		"sys/bus/event_source/devices/cpu_core/cpus",
		"sys/bus/event_source/devices/cpu_atom/type",
		"sys/bus/event_source/devices/cpu_atom/cpus",
	};
	struct command_pmu pmu[COMMAND_PMUS_MAX];
	struct command_events events = { .events = 0 };
	uint32_t pmus;

	bundle_write(data, size, files, sizeof(files) / sizeof(*files));
	pmus = command_pmus(path_of("sys"), pmu);
	CHECK(pmus <= COMMAND_PMUS_MAX);
	command_select_generic(pmu, pmus, &events);
	CHECK(events.events && events.events <= COMMAND_EVENTS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size--)
		return 0;
	switch (*data++) {
	case 'r':
		as_record(data, size);
		break;
	case 't':
		as_stream(data, size);
		break;
	case 'p':
		as_program(data, size);
		break;
	case 'l':
		as_shown_log(data, size, "--damaged");
		break;
	case 'j':
		as_shown_log(data, size, "--json");
		break;
	case 'm':
		as_shown_log(data, size, "--openmetrics");
		break;
	case 's':
		as_cut_log(data, size);
		break;
	case 'c':
		as_config(data, size);
		break;
	case 'e':
		as_counters(data, size);
		break;
	}
	return 0;
}
