/* SPDX-License-Identifier: MIT */
/*
 * processor.c - which processor, as it names itself
 *
 * The first one of /proc/cpuinfo stands for all, also where there are several kinds. Its
 * marketing name is not kept: family and model, or on arm64 implementer and part, say more. Our
 * own copies carry the same in "hashdist-saved".
 */
#include "machine/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUINFO_LINES_MAX = 64 }; /* of one processor; x86 prints some 30 */

/* "cpu family\t: 6": what follows the colon; NULL: another line. */
static const char *value_of(const char *line, const char *key)
{
	const char *rest = mach_after(line, key);

	if (!rest)
		return NULL;
	rest += strspn(rest, " \t");
	return *rest == ':' ? rest + 1 + strspn(rest + 1, " \t") : NULL;
}

static bool number_of(const char *line, const char *key, uint32_t *out)
{
	const char *value = value_of(line, key);
	char *end;
	unsigned long number;

	if (!value)
		return false;
	number = strtoul(value, &end, 0);
	if (end == value || number > UINT32_MAX)
		return false;
	*out = (uint32_t)number;
	return true;
}

static void take_line(const char *line, struct machine_processor *p)
{
	const char *vendor = value_of(line, "vendor_id");

	if (vendor && strlen(vendor) < sizeof(p->vendor) &&
	    strspn(vendor, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
		strlen(vendor))
		strcpy(p->vendor, vendor);
	if (!number_of(line, "cpu family", &p->family) &&
	    !number_of(line, "CPU implementer", &p->implementer) &&
	    !number_of(line, "CPU part", &p->part))
		number_of(line, "model", &p->model);
}

/* "processor GenuineIntel 6 85" or "processor arm64 65 3340" */
static void take_saved(const char *line, struct machine_processor *p)
{
	uint32_t a, b;
	char vendor[sizeof(p->vendor)];

	if (sscanf(line, "processor %15s %u %u", vendor, &a, &b) != 3)
		return;
	if (!strcmp(vendor, "arm64")) {
		p->implementer = a, p->part = b;
		return;
	}
	strcpy(p->vendor, vendor);
	p->family = a, p->model = b;
}

static int read_saved(const struct mach_root *root, struct machine_processor *p)
{
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, "hashdist-saved", 4096);
	char *line;

	while (!ret && (line = mach_lines_next(&lines)))
		take_saved(line, p);
	return ret ? ret : mach_lines_close(&lines);
}

static int read_cpuinfo(const struct mach_root *root, struct machine_processor *p)
{
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, "proc/cpuinfo", MACH_SMALL);
	char *line;

	for (int i = 0; !ret && i < CPUINFO_LINES_MAX; i++) {
		line = mach_lines_next(&lines);
		if (!line || !*line)
			break;
		take_line(line, p);
	}
	return ret ? ret : mach_lines_close(&lines);
}

int mach_read_processor(const struct mach_root *root, struct machine *m)
{
	static const char lost[] = "which processor this is";
	struct machine_processor *p = &m->processor;

	if (!m->live)
		mach_blind_if_there(m, "hashdist-saved", read_saved(root, p), lost);
	if (!machine_processor_known(p))
		mach_blind_if_there(m, "proc/cpuinfo", read_cpuinfo(root, p), lost);
	return 0;
}

bool machine_processor_known(const struct machine_processor *p)
{
	return p->vendor[0] ? p->family : p->implementer;
}

void mach_save_processor(const struct machine_processor *p, FILE *file)
{
	if (!machine_processor_known(p))
		return;
	if (p->vendor[0])
		fprintf(file, "processor %s %u %u\n", p->vendor, p->family, p->model);
	else
		fprintf(file, "processor arm64 %u %u\n", p->implementer, p->part);
}
