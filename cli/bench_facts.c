/* SPDX-License-Identifier: MIT */
/*
 * bench_facts.c - what one must know of this machine to repeat a measurement
 *
 * Figures and models only: no name of a host, no serial number, no address.
 * Of the CPU only the fields below are read; others of that file may identify it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench.h"
#include "machine/machine.h"

static void copy_value(const char *line, char *out, size_t size)
{
	const char *value = strchr(line, ':') + 1;

	value += strspn(value, " \t");
	snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
}

static bool has_key(const char *line, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(line, key, len) && line[len + strspn(line + len, " \t")] == ':';
}

/** x86 has a name; others a model or, on arm64, numbers that stand for one. */
static void read_cpu_model(char *out, size_t size)
{
	static const char *const names[] = { "model name", "cpu model", "cpu", "uarch" };
	char line[1024], implementer[32] = "", part[32] = "";
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && !*out && fgets(line, sizeof(line), file)) {
		for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			if (!*out && has_key(line, names[n]))
				copy_value(line, out, size);
		if (has_key(line, "CPU implementer"))
			copy_value(line, implementer, sizeof(implementer));
		if (has_key(line, "CPU part"))
			copy_value(line, part, sizeof(part));
	}
	if (file)
		fclose(file);
	if (!*out && *implementer && *part)
		snprintf(out, size, "implementer %s part %s", implementer, part);
}

/** The word in brackets of "always [madvise] never". */
static void read_choice(const char *path, char *out, size_t size)
{
	char line[256] = "", *from, *to;
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	if (fgets(line, sizeof(line), file) && (from = strchr(line, '[')) &&
	    (to = strchr(from, ']')))
		snprintf(out, size, "%.*s", (int)(to - from - 1), from + 1);
	fclose(file);
}

void bench_facts_read(struct bench_facts *out)
{
	struct machine *machine;
	int64_t available = measure_book_bytes("/proc/meminfo", "MemAvailable");

	*out = (struct bench_facts){ .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE) };
	out->available_bytes = available > 0 ? (uint64_t)available : 0;
	read_cpu_model(out->cpu_model, sizeof(out->cpu_model));
	read_choice("/sys/kernel/mm/transparent_hugepage/enabled", out->transparent_huge_pages,
		    sizeof(out->transparent_huge_pages));
	if (machine_read(NULL, &machine))
		return;
	snprintf(out->arch, sizeof(out->arch), "%s", hd_arch_name(machine->arch));
	snprintf(out->release, sizeof(out->release), "%s", machine->release);
	out->memory_bytes = machine->mem_total_kib.known ? machine->mem_total_kib.value << 10 : 0;
	out->huge_page_bytes =
	    machine->huge_page_kib.known ? machine->huge_page_kib.value << 10 : 0;
	out->memory_nodes = machine->memory_nodes;
	out->cpus = machine->online_cpus.known ? (uint32_t)machine->online_cpus.value : 0;
	machine_free(machine);
}
