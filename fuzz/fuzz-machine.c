/* SPDX-License-Identifier: MIT */
/*
 * fuzz-machine.c - any bytes at all as the books of a saved machine
 *
 * The input is the files below, with NUL bytes between them. What is read stays in its bounds, what
 * it is described as can be read, its tables can be judged and planned, and of what would be saved
 * nothing leaves its bounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/bundle.h"
#include "machine/describe.h"
#include "machine/internal.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {
	"proc/meminfo",
	"proc/zoneinfo",
	"proc/vmallocinfo",
	"proc/cmdline",
	"proc/version",
	"proc/cpuinfo",
	"proc/sys/kernel/osrelease",
	"proc/sys/fs/dentry-state",
	"proc/sys/fs/inode-state",
	"proc/net/sockstat",
	"proc/net/protocols",
	"proc/slabinfo",
	"proc/self/mountinfo",
	"sys/devices/system/node/possible",
	"sys/devices/system/node/online",
	"sys/devices/system/node/has_memory",
	"sys/devices/system/node/has_cpu",
	"sys/devices/system/node/node0/meminfo",
	"sys/devices/system/node/node1/meminfo",
	"sys/devices/system/node/node0/cpulist",
	"sys/devices/system/cpu/possible",
	"sys/devices/system/cpu/online",
	"hashdist-saved",
	"proc/net/sockstat6",
	"proc/uptime",
	"etc/os-release",
	"sys/devices/system/node/has_normal_memory",
	"boot/config-6.12.40",
};

static void check(const struct machine *m)
{
	CHECK(memchr(m->release, '\0', sizeof(m->release)));
	CHECK(memchr(m->banner, '\0', sizeof(m->banner)));
	CHECK(memchr(m->cmdline, '\0', sizeof(m->cmdline)));
	CHECK(memchr(m->processor.vendor, '\0', sizeof(m->processor.vendor)));
	CHECK(m->blinds <= MACHINE_BLIND_MAX);
	for (uint32_t n = 1; n < m->nodes; n++)
		CHECK(m->node[n - 1].id < m->node[n].id);
}

static void describe(const struct machine *machine)
{
	struct description description;
	struct describe_error error;

	if (machine_describe_books(machine, &description))
		return;
	size_t size = machine_describe_print(&description, NULL, 0) + 1;
	char *text = malloc(size);

	CHECK(text);
	machine_describe_print(&description, text, size);
	machine_describe_free(&description);
	CHECK(!machine_describe_parse(text, &description, &error));
	machine_describe_free(&description);
	free(text);
}

/** All that is told of a machine from its books alone. */
static void judge(const struct machine *machine)
{
	static struct ktables_survey survey;
	static struct plan plan;
	static const struct ktables_given nothing;
	const struct plan_source source = { .books = machine };
	const struct plan_wish wish = { .kernel = "6.12" };
	struct ktables_advice advice[KTABLES_ADVICE_MAX];
	const char *lack;

	CHECK(!ktables_survey(&survey, NULL, machine, &nothing));
	CHECK(survey.rows <= KTABLES_ROWS_MAX);
	CHECK(ktables_advise(&survey, advice, KTABLES_ADVICE_MAX) <= KTABLES_ADVICE_MAX);
	ktables_survey_fini(&survey);
	if (!plan_make(&source, &wish, &plan, &lack)) {
		CHECK(!plan.result.leaked);
		plan_fini(&plan);
	}
}

/** Each line as each kind that a saved machine keeps something of. */
static void scrub(const uint8_t *data, size_t size)
{
	static mach_scrub *const kinds[] = {
		mach_scrub_banner, mach_scrub_release,   mach_scrub_cmdline, mach_scrub_os_release,
		mach_scrub_kib,    mach_scrub_zone,      mach_scrub_list,    mach_scrub_figures,
		mach_scrub_area,   mach_scrub_sockstat,  mach_scrub_mount,   mach_scrub_slab,
		mach_scrub_config, mach_scrub_protocols, mach_scrub_log,
	};
	const uint8_t *end = size ? memchr(data, '\0', size) : NULL;
	size_t len = end ? (size_t)(end - data) : size;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		char *line = strndup((const char *)data, len < MACH_LINE_MAX ? len : MACH_LINE_MAX);
		char *out = malloc(MACH_SCRUB_MAX);

		CHECK(line && out);
		if (kinds[k](line, out))
			for (const char *c = out; *c; c++)
				CHECK((unsigned char)*c >= ' ' || *c == '\t');
		free(line);
		free(out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine *machine;

	scrub(data, size);

	bundle_write(data, size, files, sizeof(files) / sizeof(*files));
	if (machine_read(bundle_directory(), &machine))
		return 0;
	check(machine);
	describe(machine);
	judge(machine);
	machine_free(machine);
	return 0;
}
