/* SPDX-License-Identifier: MIT */
/* options_print.c - the options as the starter hands them on */
#include <stdio.h>

#include "preload/options.h"

/** Cut text is no error here: its length tells. */
static int append(char *out, size_t size, int len, const char *text)
{
	size_t at = (size_t)len < size ? (size_t)len : size;

	return len + snprintf(out + at, size - at, "%s", text);
}

static int print_nodes(const struct hdl_mask *nodes, char *out, size_t size, int len)
{
	const char *before = ";nodes=";

	HDL_FOR_EACH_NODE(first, nodes)
	{
		char text[32];
		uint32_t last = first;

		if (first && hdl_mask_has(nodes, first - 1))
			continue;
		while (hdl_mask_has(nodes, last + 1))
			last++;
		if (last > first)
			snprintf(text, sizeof(text), "%s%u-%u", before, first, last);
		else
			snprintf(text, sizeof(text), "%s%u", before, first);
		len = append(out, size, len, text);
		before = ",";
	}
	return len;
}

int preload_options_print(const struct preload_options *options, char *out, size_t size)
{
	int len =
	    snprintf(out, size, "pid=%llu;min=%llu;most=%llu;scan=%llu;huge=%llu",
		     (unsigned long long)options->pid, (unsigned long long)options->min_bytes,
		     (unsigned long long)options->most_bytes, (unsigned long long)options->scan_ms,
		     (unsigned long long)options->huge_shift);

	len = print_nodes(&options->nodes, out, size, len);
	if (options->weighted)
		len = append(out, size, len, ";weighted");
	if (!options->hooks)
		len = append(out, size, len, ";no-hooks");
	if (options->children)
		len = append(out, size, len, ";children");
	if (options->explain) {
		/* Last: a path may hold anything. */
		len = append(out, size, len, ";explain=");
		len = append(out, size, len, options->explain_path);
	}
	return len;
}
