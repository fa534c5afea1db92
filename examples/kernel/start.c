/* SPDX-License-Identifier: MIT */
/*
 * start.c - what the loader hands over: command line, memory map, ACPI's root
 *
 * Knows the "PVH" start information of the Xen project's x86 boot protocol, which QEMU and others
 * speak as well. The map in it is firmware's (e820). All of it lies below 4 GiB, which boot.S has
 * mapped; the command line is copied, the rest is read once.
 */
#include "kernel.h"

enum {
	START_MAGIC = 0x336ec578,
	TYPE_RAM = 1,
	CMDLINE_MAX = 2048,
};

struct start_info {
	uint32_t magic, version, flags, modules;
	uint64_t module_list, cmdline, rsdp;
	uint64_t memory_map; /* from version 1 */
	uint32_t memory_entries, reserved;
};

struct memory_entry {
	uint64_t address, bytes;
	uint32_t type, reserved;
};

static char cmdline[CMDLINE_MAX];

void start_read(uint64_t start_info, struct start *out)
{
	const struct start_info *info = linear(start_info);
	const struct memory_entry *entry = linear(info->memory_map);

	if (info->magic != START_MAGIC || info->version < 1)
		panic("started by something that does not speak PVH");
	if (info->cmdline) {
		const char *text = linear(info->cmdline);
		size_t len = strlen(text);

		if (len >= CMDLINE_MAX)
			panic("the command line is too long");
		memcpy(cmdline, text, len + 1);
	}
	out->cmdline = cmdline;
	out->rsdp = info->rsdp;
	for (uint32_t i = 0; i < info->memory_entries; i++) {
		uint64_t begin = entry[i].address, end = begin + entry[i].bytes;

		/* Page 0 is the BIOS's, whatever the map says; and 0 means "none" here. */
		if (entry[i].type == TYPE_RAM)
			ranges_add(&out->memory, begin < PAGE ? PAGE : begin, end, 0);
	}
}

const char *cmdline_value(const char *text, const char *name, size_t *len)
{
	const char *found = "";
	size_t name_len = strlen(name);

	*len = 0;
	while (*text) {
		const char *word = text;

		while (*text && *text != ' ')
			text++;
		if ((size_t)(text - word) > name_len && word[name_len] == '=' &&
		    !memcmp(word, name, name_len)) {
			found = word + name_len + 1;
			*len = (size_t)(text - found);
		}
		while (*text == ' ')
			text++;
	}
	return found;
}
