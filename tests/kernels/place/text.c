/* SPDX-License-Identifier: MIT */
/*
 * text.c - numbers in words and files
 */
#include <ctype.h>

#include "tests/kernels/place/place.h"

void die(const char *what, const char *which)
{
	fprintf(stderr, "place: %s %s: %s\n", what, which, strerror(errno));
	exit(2);
}

uint64_t size_of(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (end == text)
		die("no number:", text);
	return *end == 'G'   ? value << 30
	       : *end == 'M' ? value << 20
	       : *end == 'K' ? value << 10
			     : value;
}

unsigned long nodes_of(const char *text)
{
	unsigned long bits = 0;
	char *end;

	while (isdigit((unsigned char)*text)) {
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < NODES; first++)
			bits |= 1UL << first;
		text = *end == ',' ? end + 1 : end;
	}
	return bits;
}

uint64_t file_number(const char *path, const char *key)
{
	char line[512];
	FILE *file = fopen(path, "r");
	uint64_t value = 0;

	if (!file)
		die("cannot open", path);
	while (fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, key);

		if (at) {
			value = strtoull(at + strlen(key), NULL, 10);
			break;
		}
	}
	fclose(file);
	return value;
}

uint64_t vm_kib(void)
{
	return file_number("/proc/self/status", "VmSize:");
}

uint64_t node_free(int node)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	return file_number(path, "MemFree:") << 10;
}
