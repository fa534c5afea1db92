/* SPDX-License-Identifier: MIT */
/*
 * vmalloc.c - where scattered tables lie
 *
 * From /proc/vmallocinfo, which only root may read and which may have very
 * many lines; those that alloc_large_system_hash made are kept:
 *
 *   0x00000000c2d3f9a1-0x000000006c4b6cd5 2101248 alloc_large_system_hash+0x1a8/0x35b
 *       pages=512 vmalloc N0=256 N1=256             (one line)
 *
 * The size includes one guard page. Addresses are hashed, zero or replaced by
 * "(ptrval)", with blanks in it on some kernels: not looked at. "vpages" only
 * says that the list of pages was itself allocated by vmalloc. Node counts are
 * in base pages also where huge pages are mapped, and absent without NUMA.
 * Contiguous tables are not in this book.
 */
#include "machine/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_size(const char *line, const char *caller, uint64_t *size)
{
	const char *end = caller, *start;

	while (end > line && end[-1] == ' ')
		end--;
	if (end == caller)
		return false;
	for (start = end; start > line && start[-1] >= '0' && start[-1] <= '9';)
		start--;
	return (start == line || start[-1] == ' ') && mach_number(&start, size);
}

/* An area of n pages is listed as n + 1 pages long. */
static uint64_t guard_bytes(const struct machine *m, uint64_t size, uint64_t pages)
{
	uint64_t page;

	if (m->page_bytes)
		return m->page_bytes;
	if (pages == 0 || pages == UINT64_MAX || size % (pages + 1))
		return 0;
	page = size / (pages + 1);
	return page >= 4096 && (page & (page - 1)) == 0 ? page : 0;
}

static uint32_t node_position(const struct machine *m, uint64_t id)
{
	for (uint32_t i = 0; i < m->nodes; i++)
		if (m->node[i].id == id)
			return i;
	return m->nodes;
}

/* "N0=256 N1=256" and the rest; a node we have not seen makes the shares unknown. */
static int read_words(const struct machine *m, const char *text, struct machine_area *area)
{
	uint64_t *share = m->nodes ? calloc(m->nodes, sizeof(*share)) : NULL;
	bool told = false, sound = share;
	const char *word;
	size_t len;

	if (m->nodes && !share)
		return -ENOMEM;
	while ((word = mach_word(&text, &len)), len) {
		const char *p = mach_after(word, "pages=");
		uint64_t id, pages;
		uint32_t at;

		if (p) {
			area->pages = mach_count(p).value;
			continue;
		}
		p = mach_after(word, "N");
		if (!share || !p || !mach_number(&p, &id) || *p++ != '=')
			continue;
		at = node_position(m, id);
		if (at < m->nodes && mach_number(&p, &pages)) {
			share[at] = pages;
			told = true;
		} else {
			sound = false;
		}
	}
	if (told && sound)
		area->node_pages = share;
	else
		free(share);
	return 0;
}

static int add_area(struct machine *m, const char *line, uint32_t *room)
{
	struct machine_area area = { 0 }, *more;
	const char *caller = strstr(line, "alloc_large_system_hash");
	uint64_t size, guard;
	int ret;

	if (!caller || !read_size(line, caller, &size))
		return 0;
	if (m->areas == MACH_AREAS_MAX)
		return -EFBIG;
	if (m->areas == *room) {
		*room = *room ? 2 * *room : 16;
		more = realloc(m->area, *room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		m->area = more;
	}
	ret = read_words(m, caller, &area);
	if (ret)
		return ret;
	guard = guard_bytes(m, size, area.pages);
	if (size <= guard) {
		free(area.node_pages);
		return 0;
	}
	area.bytes = size - guard;
	m->area[m->areas++] = area;
	return 0;
}

int mach_read_areas(const struct mach_root *root, struct machine *m)
{
	struct mach_lines lines;
	int ret = mach_lines_open(&lines, root, "proc/vmallocinfo", MACH_LARGE);
	uint32_t room = 0;
	char *line;

	if (!ret) {
		while (!ret && (line = mach_lines_next(&lines)))
			ret = add_area(m, line, &room);
		if (mach_lines_close(&lines) && !ret)
			ret = lines.error;
	}
	m->has_areas = ret == 0;
	if (ret && ret != -ENOMEM) {
		/* Half a book would pass off tables as contiguous. */
		for (uint32_t i = 0; i < m->areas; i++)
			free(m->area[i].node_pages);
		m->areas = 0;
		mach_blind(m, "/proc/vmallocinfo", ret, "on which nodes scattered tables lie",
			   "mount /proc");
	}
	return ret == -ENOMEM ? ret : 0;
}
