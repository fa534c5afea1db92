/* SPDX-License-Identifier: MIT */
/* mask.c - lists of nodes */
#include "backend/linux/mask.h"
#include "backend/linux/sys.h"

bool hdl_mask_parse(struct hdl_mask *mask, const char *text)
{
	*mask = (struct hdl_mask){ 0 };
	for (;;) {
		uint64_t first, last;

		if (!hdl_number(&text, &first))
			return *text == '\n' || *text == '\0';
		last = first;
		if (*text == '-') {
			text++;
			if (!hdl_number(&text, &last))
				return false;
		}
		if (last < first || last >= HDL_NODES_MAX)
			return false;
		for (uint64_t node = first; node <= last; node++)
			hdl_mask_add(mask, (uint32_t)node);
		if (*text != ',')
			return *text == '\n' || *text == '\0';
		text++;
	}
}
