/* SPDX-License-Identifier: MIT */
/*
 * pages.c - the translations this kernel has, and what stands in their way
 *
 * Sizes are the running kernel's: with 64 KiB base pages a huge page has 512 MiB.
 * Since Linux 6.8 each size of transparent huge pages has a setting of its own,
 * which may say "inherit"; sizes below the page tables' huge page are mTHP.
 *
 * Source: Documentation/admin-guide/mm/transhuge.rst, hugetlbpage.rst, Linux 6.12.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "backend/linux/internal.h"
#include "core/bits.h"

#define THP_DIR  "/sys/kernel/mm/transparent_hugepage/"
#define POOL_DIR "/sys/kernel/mm/hugepages/"

enum { THP_DISABLE_EXCEPT_ADVISED = 1 << 1 };

/** The word in brackets of a file like "always [madvise] never". */
static bool chosen(const char *path, char *word, size_t size)
{
	char text[256], *begin, *end;

	if (hdl_read_text(path, text, sizeof(text)) < 0)
		return false;
	begin = strchr(text, '[');
	end = begin ? strchr(begin, ']') : NULL;
	if (!end || (size_t)(end - begin) > size)
		return false;
	*end = '\0';
	snprintf(word, size, "%s", begin + 1);
	return true;
}

static enum hdl_thp meaning(const char *word, enum hdl_thp inherited)
{
	if (!strcmp(word, "always"))
		return HDL_THP_ALWAYS;
	if (!strcmp(word, "madvise"))
		return HDL_THP_MADVISE;
	return strcmp(word, "inherit") ? HDL_THP_NEVER : inherited;
}

static enum hdl_thp size_setting(unsigned shift, enum hdl_thp global, enum hdl_thp without)
{
	char path[128], word[16];

	snprintf(path, sizeof(path), THP_DIR "hugepages-%llukB/enabled", 1ULL << (shift - 10));
	return chosen(path, word, sizeof(word)) ? meaning(word, global) : without;
}

static void read_thp(struct hdl_pages *out)
{
	enum hdl_thp global;
	uint64_t bytes;
	char word[16];
	int error;
	long off;

	error = hdl_read_number(THP_DIR "hpage_pmd_size", &bytes);
	if (error || !chosen(THP_DIR "enabled", word, sizeof(word))) {
		out->thp = error == -ENOENT ? HDL_THP_NONE : HDL_THP_UNKNOWN;
		return;
	}
	if (bytes < 1ULL << out->base_shift)
		return;
	global = meaning(word, HDL_THP_NEVER);
	out->thp_shift = log2_floor(bytes);
	out->thp = size_setting(out->thp_shift, global, global);
	for (unsigned shift = out->thp_shift - 1; shift > out->base_shift && !out->small_shift;
	     shift--)
		if (size_setting(shift, global, HDL_THP_NEVER) > HDL_THP_NEVER)
			out->small_shift = shift;
	off = HDL_SYS(SYS_prctl, PR_GET_THP_DISABLE);
	/* Since 6.18 it may be off except where it is advised, as we do. */
	out->off = off > 0 && !(off & THP_DISABLE_EXCEPT_ADVISED);
}

void hdl_pages_read(struct hdl_pages *out)
{
	char text[HDL_TEXT_MAX];
	uint64_t kib;
	long page = sysconf(_SC_PAGESIZE);

	*out = (struct hdl_pages){ .base_shift = log2_floor(page > 0 ? (uint64_t)page : 4096) };
	read_thp(out);
	if (hdl_read_text("/proc/meminfo", text, sizeof(text)) > 0 &&
	    hdl_field(text, "Hugepagesize:", &kib) && kib)
		out->hugetlb_shift = log2_floor(kib << 10);
	out->has_1g = hdl_read_number(POOL_DIR "hugepages-1048576kB/nr_hugepages", &kib) == 0;
}

enum hd_why hdl_thp_why(const struct hdl_pages *pages)
{
	if (pages->thp == HDL_THP_NONE)
		return HD_WHY_NO_SUPPORT;
	if (pages->thp == HDL_THP_UNKNOWN)
		return HD_WHY_UNKNOWN;
	if (pages->thp == HDL_THP_NEVER)
		return HD_WHY_THP_NEVER;
	return pages->off ? HD_WHY_THP_OFF : HD_WHY_MET;
}

static int pool_file(unsigned shift, uint32_t node, const char *name, uint64_t *pages)
{
	char path[160], where[64];

	snprintf(where, sizeof(where), "/sys/devices/system/node/node%u/hugepages/", node);
	snprintf(path, sizeof(path), "%shugepages-%llukB/%s",
		 node == HDL_NODES_MAX ? POOL_DIR : where, 1ULL << (shift - 10), name);
	return hdl_read_number(path, pages);
}

bool hdl_pool_has(unsigned shift, uint64_t pages)
{
	uint64_t free_pages, reserved;

	return !pool_file(shift, HDL_NODES_MAX, "free_hugepages", &free_pages) &&
	       !pool_file(shift, HDL_NODES_MAX, "resv_hugepages", &reserved) &&
	       free_pages >= reserved && free_pages - reserved >= pages;
}

int hdl_pool_free(unsigned shift, uint32_t node, uint64_t *pages)
{
	uint64_t free_pages, reserved, allowed, surplus;
	int error = pool_file(shift, node, "free_hugepages", &free_pages);

	if (error)
		return error;
	*pages = free_pages;
	if (node != HDL_NODES_MAX)
		return 0;
	/* Free pages may be promised to others; overcommitted ones can still be made. */
	if (!pool_file(shift, node, "resv_hugepages", &reserved))
		*pages = free_pages > reserved ? free_pages - reserved : 0;
	if (!pool_file(shift, node, "nr_overcommit_hugepages", &allowed) &&
	    !pool_file(shift, node, "surplus_hugepages", &surplus) && allowed > surplus)
		*pages += allowed - surplus;
	return 0;
}
