/* SPDX-License-Identifier: MIT */
/*
 * kconfig.c - build-time options of the kernel that change a table
 *
 * From /proc/config.gz, else /boot/config-RELEASE, else
 * /lib/modules/RELEASE/config. In a configuration that was read, an option
 * that is not mentioned is off; without one, everything is unknown. A file
 * without a single option is not taken for a configuration.
 *
 * Compressed files are unpacked as they are read, up to a limit both ways.
 */
#include "machine/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CONFIG_LIMIT = 4 * MACH_SMALL };

#define TRISTATE(field) offsetof(struct hd_config, field)

static const struct {
	const char *name; /* without CONFIG_ */
	size_t offset;
} switches[] = {
	{ "NUMA", TRISTATE(numa) },
	{ "SMP", TRISTATE(smp) },
	{ "HAVE_ARCH_HUGE_VMALLOC", TRISTATE(huge_vmalloc) },
	{ "PTDUMP_DEBUGFS", TRISTATE(ptdump_debugfs) },
	{ "ARM64_PTDUMP_DEBUGFS", TRISTATE(ptdump_debugfs) },
	{ "FA_DUMP", TRISTATE(fa_dump) },
	{ "PRESERVE_FA_DUMP", TRISTATE(fa_dump) },
	{ "PREEMPT_RT", TRISTATE(preempt_rt) },
	{ "DEBUG_SPINLOCK", TRISTATE(debug_spinlock) },
	{ "DEBUG_LOCK_ALLOC", TRISTATE(debug_lock) },
	{ "LOCK_STAT", TRISTATE(lock_stat) },
};

/* Each architecture names its page sizes in its own way. */
static const struct {
	const char *name;
	uint8_t shift;
} page_sizes[] = {
	{ "ARM64_4K_PAGES", 12 },        { "ARM64_16K_PAGES", 14 },
	{ "ARM64_64K_PAGES", 16 },       { "PPC_4K_PAGES", 12 },
	{ "PPC_16K_PAGES", 14 },         { "PPC_64K_PAGES", 16 },
	{ "PPC_256K_PAGES", 18 },        { "PAGE_SIZE_4KB", 12 },
	{ "PAGE_SIZE_8KB", 13 },         { "PAGE_SIZE_16KB", 14 },
	{ "PAGE_SIZE_32KB", 15 },        { "PAGE_SIZE_64KB", 16 },
	{ "PAGE_SIZE_256KB", 18 },       { "IA64_PAGE_SIZE_4KB", 12 },
	{ "IA64_PAGE_SIZE_8KB", 13 },    { "IA64_PAGE_SIZE_16KB", 14 },
	{ "IA64_PAGE_SIZE_64KB", 16 },   { "PARISC_PAGE_SIZE_4KB", 12 },
	{ "PARISC_PAGE_SIZE_16KB", 14 }, { "PARISC_PAGE_SIZE_64KB", 16 },
};

static const char *const page_shifts[] = { "PAGE_SHIFT", "ARM64_PAGE_SHIFT", "PPC_PAGE_SHIFT" };

/* Others that are looked at, and 64BIT so that no saved configuration is empty. */
static const char *const others[] = { "BASE_SMALL", "BASE_FULL", "ARCH_FORCE_MAX_ORDER",
				      "FORCE_MAX_ZONEORDER", "64BIT" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is(const char *name, size_t len, const char *want)
{
	return strlen(want) == len && memcmp(name, want, len) == 0;
}

bool mach_config_option(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT(switches); i++)
		if (is(name, len, switches[i].name))
			return true;
	for (size_t i = 0; i < COUNT(page_sizes); i++)
		if (is(name, len, page_sizes[i].name))
			return true;
	for (size_t i = 0; i < COUNT(page_shifts); i++)
		if (is(name, len, page_shifts[i]))
			return true;
	for (size_t i = 0; i < COUNT(others); i++)
		if (is(name, len, others[i]))
			return true;
	return false;
}

bool mach_config_split(const char *line, const char **name, size_t *len, const char **value)
{
	const char *on = mach_after(line, "CONFIG_");
	const char *off = mach_after(line, "# CONFIG_");

	*name = on ? on : off;
	if (!*name)
		return false;
	*len = strcspn(*name, on ? "=" : " ");
	if (off) {
		*value = NULL;
		return strcmp(off + *len, " is not set") == 0;
	}
	if (on[*len] != '=')
		return false;
	*value = on + *len + 1;
	return true;
}

/* ---- one option ---------------------------------------------------------------- */

struct reading {
	struct hd_config config;
	uint32_t version;
	bool seen;
};

static uint64_t number_or_0(const char *value)
{
	return value ? mach_count(value).value : 0;
}

/* Before 6.4 (always for the second name) the option tells one more than the largest order. */
static void take_order(struct reading *r, const char *value, bool exclusive)
{
	uint64_t order = number_or_0(value);

	if (order > exclusive && order <= 32)
		r->config.top_order = (uint8_t)(order - exclusive);
}

static void take_option(struct reading *r, const char *name, size_t len, const char *value)
{
	bool yes = value && value[0] == 'y';

	for (size_t i = 0; i < COUNT(switches); i++)
		if (yes && is(name, len, switches[i].name))
			*((int8_t *)&r->config + switches[i].offset) = HD_YES;
	for (size_t i = 0; i < COUNT(page_sizes); i++)
		if (yes && is(name, len, page_sizes[i].name))
			r->config.page_shift = page_sizes[i].shift;
	for (size_t i = 0; i < COUNT(page_shifts); i++)
		if (is(name, len, page_shifts[i]) && number_or_0(value) >= 12 &&
		    number_or_0(value) <= 18)
			r->config.page_shift = (uint8_t)number_or_0(value);
	/* BASE_SMALL was a number, the opposite of BASE_FULL, before it became a switch. */
	if (is(name, len, "BASE_SMALL") && (yes || number_or_0(value) == 1))
		r->config.base_small = HD_YES;
	else if (is(name, len, "BASE_FULL") && !yes)
		r->config.base_small = HD_YES;
	else if (is(name, len, "FORCE_MAX_ZONEORDER"))
		take_order(r, value, true);
	else if (is(name, len, "ARCH_FORCE_MAX_ORDER") && r->version)
		take_order(r, value, r->version < HD_VERSION(6, 4, 0));
}

static int take_line(void *ctx, char *line)
{
	struct reading *r = ctx;
	const char *name, *value;
	size_t len;

	if (mach_config_split(line, &name, &len, &value)) {
		r->seen = true;
		take_option(r, name, len, value);
	}
	return 0;
}

/* ---- where it is ----------------------------------------------------------------- */

/* The release becomes part of a path, and may come from somebody else. */
static bool fit_for_a_path(const char *release)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789.-_+~";

	return release[0] && release[0] != '.' && !release[strspn(release, fine)];
}

bool mach_config_path(const struct machine *m, unsigned index, char *out, size_t size)
{
	bool fit = fit_for_a_path(m->release);

	switch (index) {
	case 0:
		snprintf(out, size, "proc/config.gz");
		return true;
	case 1:
		snprintf(out, size, "boot/config-%s", m->release);
		return fit;
	default:
		snprintf(out, size, "lib/modules/%s/config", m->release);
		return fit;
	}
}

/* Takes over @fd. gzgets() hands plain text through as it is. */
static int unpack_lines(int fd, int (*take)(void *ctx, char *line), void *ctx)
{
	static const size_t size = 4096;
	struct stat st;
	int error = Z_OK, ret = 0;
	char *line;
	gzFile file;

	if (fstat(fd, &st) || st.st_size > CONFIG_LIMIT) {
		close(fd);
		return -EFBIG;
	}
	line = malloc(size);
	file = line ? gzdopen(fd, "rb") : NULL;
	if (!file) {
		free(line);
		close(fd);
		return -ENOMEM;
	}
	while (!ret && gzgets(file, line, (int)size)) {
		if (gztell(file) > CONFIG_LIMIT)
			ret = -EFBIG;
		line[strcspn(line, "\n")] = '\0';
		if (!ret)
			ret = take(ctx, line);
	}
	gzerror(file, &error);
	if (!ret && error != Z_OK && error != Z_STREAM_END)
		ret = error == Z_ERRNO ? -EIO : error == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	gzclose(file);
	free(line);
	return ret;
}

int mach_config_lines(const struct mach_root *root, const char *path,
		      int (*take)(void *ctx, char *line), void *ctx)
{
	int fd = mach_root_file(root, path);

	return fd < 0 ? fd : unpack_lines(fd, take, ctx);
}

static int read_from(const struct mach_root *root, struct machine *m, const char *path)
{
	struct reading r = { .version = hd_version_parse(m->release, strlen(m->release)) };
	int ret;

	hd_config_init(&r.config);
	r.config.base_small = HD_NO;
	for (size_t i = 0; i < COUNT(switches); i++)
		*((int8_t *)&r.config + switches[i].offset) = HD_NO;
	ret = mach_config_lines(root, path, take_line, &r);
	if (ret)
		return ret;
	if (!r.seen)
		return -EBADMSG;
	m->config = r.config;
	m->has_config = true;
	return 0;
}

int mach_read_config(const struct mach_root *root, struct machine *m)
{
	char path[160];
	int first = -ENOENT;

	for (unsigned i = 0; i < MACH_CONFIG_PATHS && !m->has_config; i++) {
		int ret =
		    mach_config_path(m, i, path, sizeof(path)) ? read_from(root, m, path) : -ENOENT;

		if (ret == -ENOMEM)
			return ret;
		if (ret && ret != -ENOENT && first == -ENOENT)
			first = ret;
	}
	if (!m->has_config) {
		mach_config_path(m, 1, path, sizeof(path));
		mach_blind(m, path, first, "how the kernel was built",
			   "install the kernel's configuration in /boot");
	}
	return 0;
}
