/* SPDX-License-Identifier: MIT */
/*
 * fuzz-machine.c - any bytes at all as the books of a saved machine
 *
 * The input is the files below, with NUL bytes between them. What is read stays in its bounds, and
 * what it is described as can be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/bundle.h"
#include "machine/describe.h"
#include "machine/machine.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine *machine;

	bundle_write(data, size, files, sizeof(files) / sizeof(*files));
	if (machine_read(bundle_directory(), &machine))
		return 0;
	check(machine);
	describe(machine);
	machine_free(machine);
	return 0;
}
