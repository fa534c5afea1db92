/* SPDX-License-Identifier: MIT */
/*
 * buddy.c - free blocks of a size, on one node
 *
 *   Node 1, zone   Normal   12 7 3 1 0 0 2 1 0 1 38     a count for each order
 */
#include <string.h>

#include "backend/linux/facts.h"
#include "backend/linux/sys.h"

uint64_t hdl_room_blocks(uint32_t node, unsigned order)
{
	struct hdl_lines lines;
	const char *line;
	uint64_t blocks = 0, value;

	if (hdl_lines_open(&lines, "/proc/buddyinfo"))
		return UINT64_MAX;
	while ((line = hdl_lines_next(&lines))) {
		if (!hdl_field(line, "Node", &value) || value != node ||
		    !(line = strstr(line, "zone")))
			continue;
		line += 4 + strspn(line + 4, " ");
		line += strcspn(line, " ");
		for (unsigned o = 0; hdl_number(&line, &value); o++)
			if (o >= order)
				blocks += value << (o - order);
	}
	hdl_lines_close(&lines);
	return blocks;
}
