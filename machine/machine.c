/* SPDX-License-Identifier: MIT */
/*
 * machine.c - put together what the other files of this room read
 *
 * The order matters in a few places: the release names the configuration's
 * file and says how to read counters, the configuration may tell the page
 * size, and the page size that of the guard page in vmallocinfo.
 */
#include "machine/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *remedy(const struct machine *m, int error, const char *absent)
{
	switch (error) {
	case EACCES:
	case EPERM:
		if (!m->live)
			return "make the saved files readable";
		return geteuid() ? "run as root" : "run as root outside of containers";
	case ENOENT:
	case ENOTDIR:
		return m->live || !absent ? absent : "save the machine again, as root";
	default:
		return NULL;
	}
}

void mach_blind(struct machine *m, const char *path, int error, const char *lost,
		const char *absent)
{
	struct machine_blind *blind = &m->blind[m->blinds];

	/* One book of each kind is enough: a thousand nodes would fill the list. */
	for (uint32_t i = 0; i < m->blinds; i++)
		if (strcmp(m->blind[i].lost, lost) == 0)
			return;
	if (m->blinds == MACHINE_BLIND_MAX)
		return;
	snprintf(blind->path, sizeof(blind->path), "%s%s", path[0] == '/' ? "" : "/", path);
	blind->error = -error;
	blind->lost = lost;
	blind->remedy = remedy(m, -error, absent);
	m->blinds++;
}

void mach_blind_if_there(struct machine *m, const char *path, int error, const char *lost)
{
	if (error && error != -ENOENT && error != -ENOTDIR)
		mach_blind(m, path, error, lost, NULL);
}

int mach_read(const struct mach_root *root, struct machine **out)
{
	static int (*const parts[])(const struct mach_root *, struct machine *) = {
		mach_read_identity,  mach_read_memory, mach_read_nodes, mach_read_config,
		mach_read_page_size, mach_read_areas,  mach_read_usage, mach_read_processor,
	};
	int proc = mach_root_dir(root, "proc"), sys = mach_root_dir(root, "sys");
	struct machine *m;

	if (proc && sys)
		return proc == -EMFILE || proc == -ENFILE || proc == -EACCES ? proc : -ENODATA;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->live = root->live;
	hd_config_init(&m->config);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int ret = parts[i](root, m);

		if (ret) {
			machine_free(m);
			return ret;
		}
	}
	*out = m;
	return 0;
}

int machine_read(const char *sysroot, struct machine **out)
{
	struct mach_root root;
	int ret = mach_root_open(sysroot, &root);

	if (ret)
		return ret;
	ret = mach_read(&root, out);
	mach_root_close(&root);
	return ret;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->areas; i++)
		free(m->area[i].node_pages);
	free(m->area);
	free(m->zone);
	free(m->node);
	free(m);
}

/** Who made it may have put anything there: hours of zeros, too. Takes over @fd. */
static int not_too_large(int fd)
{
	struct stat st;

	if (fd < 0 ||
	    (!fstat(fd, &st) && st.st_size >= 0 && (uint64_t)st.st_size <= MACHINE_LOG_MAX))
		return fd;
	close(fd);
	return -EFBIG;
}

int machine_open_log(const char *sysroot)
{
	static const char *const paths[] = {
		"var/log/dmesg",
		"dmesg",
		"sos_commands/kernel/dmesg",
	};
	struct mach_root root;
	int ret, first = -ENOENT;

	if (!sysroot)
		return -ENOENT;
	ret = mach_root_open(sysroot, &root);
	if (ret)
		return ret;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		ret = not_too_large(mach_root_file(&root, paths[i]));
		if (ret >= 0)
			break;
		if (ret != -ENOENT && ret != -ENOTDIR && first == -ENOENT)
			first = ret;
	}
	mach_root_close(&root);
	return ret >= 0 ? ret : first;
}

int machine_save(const char *dir, int log_fd, const struct machine_left_out *left_out)
{
	struct mach_root root;
	int ret = mach_root_open(NULL, &root);

	if (ret)
		return ret;
	ret = mach_save(&root, dir, log_fd, left_out);
	mach_root_close(&root);
	return ret;
}
