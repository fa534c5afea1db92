/* SPDX-License-Identifier: MIT */
/*
 * record.c - where blocks were, kept between "place" and "place --undo"
 *
 *   hashdist-record 1 PID START_TIME SHIFT
 *   block ADDRESS NODE HUGE
 *   policy START END
 *
 * The directory is made for its owner alone; the file is written beside its
 * name and renamed, so that a stop leaves the old one or the new one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/record.h"

void record_init(struct place_record *record, const struct process *process)
{
	*record = (struct place_record){ .pid = process->pid,
					 .start_time = process->start_time,
					 .shift = process->pages.thp_shift };
}

void record_free(struct place_record *record)
{
	free(record->block);
	free(record->stretch);
	record->block = NULL;
	record->stretch = NULL;
	record->count = record->room = record->stretches = 0;
}

/** Index of @address, or where it would have to be put in. */
static uint64_t place_of(const struct place_record *record, uint64_t address)
{
	uint64_t low = 0, high = record->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (record->block[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int record_block(struct place_record *record, uint64_t address, int node, bool huge)
{
	uint64_t at = place_of(record, address);

	if (at < record->count && record->block[at].address == address)
		return 0;
	if (record->count == record->room) {
		uint64_t room = record->room ? record->room * 2 : 1024;
		struct record_block *more = realloc(record->block, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		record->block = more;
		record->room = room;
	}
	memmove(&record->block[at + 1], &record->block[at],
		(record->count - at) * sizeof(record->block[0]));
	record->block[at] = (struct record_block){ address, (int16_t)node, huge };
	record->count++;
	return 0;
}

int record_node(const struct place_record *record, uint64_t address)
{
	uint64_t at = place_of(record, address);

	return at < record->count && record->block[at].address == address ? record->block[at].node
									  : -1;
}

int record_stretch(struct place_record *record, uint64_t start, uint64_t end)
{
	struct record_stretch *more;

	for (uint32_t i = 0; i < record->stretches; i++)
		if (record->stretch[i].start == start && record->stretch[i].end == end)
			return 0;
	more = realloc(record->stretch, (record->stretches + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	more[record->stretches++] = (struct record_stretch){ start, end };
	record->stretch = more;
	return 0;
}

static int directory(char *path, size_t size)
{
	const char *base = geteuid() == 0 ? "/run" : secure_getenv("XDG_RUNTIME_DIR");
	int len;

	if (!base || base[0] != '/')
		return -ENOENT;
	len = snprintf(path, size, "%s/hashdist", base);
	return len < 0 || (size_t)len >= size ? -ERANGE : 0;
}

int record_path(const struct process *process, char *path, size_t size)
{
	char dir[512];
	int error = directory(dir, sizeof(dir)), len;

	if (error)
		return error;
	len = snprintf(path, size, "%s/%d-%" PRIu64, dir, (int)process->pid, process->start_time);
	return len < 0 || (size_t)len >= size ? -ERANGE : 0;
}

/** @path, or the usual one with its directory made. */
static int choose_path(const struct process *process, const char *path, char *out, size_t size,
		       bool make)
{
	char dir[512];
	int error;

	if (path)
		return snprintf(out, size, "%s", path) < (int)size ? 0 : -ENAMETOOLONG;
	error = directory(dir, sizeof(dir));
	if (!error && make && mkdir(dir, 0700) && errno != EEXIST)
		error = -errno;
	return error ? error : record_path(process, out, size);
}

static int write_all(const struct place_record *record, FILE *out)
{
	fprintf(out, "hashdist-record 1 %d %" PRIu64 " %u\n", (int)record->pid, record->start_time,
		record->shift);
	for (uint64_t i = 0; i < record->count; i++)
		fprintf(out, "block %" PRIx64 " %d %d\n", record->block[i].address,
			record->block[i].node, record->block[i].huge);
	for (uint32_t i = 0; i < record->stretches; i++)
		fprintf(out, "policy %" PRIx64 " %" PRIx64 "\n", record->stretch[i].start,
			record->stretch[i].end);
	return ferror(out) ? -EIO : 0;
}

int record_save(const struct place_record *record, const struct process *process, const char *path)
{
	char name[640], beside[656];
	int error = choose_path(process, path, name, sizeof(name), true), fd;
	FILE *out;

	if (error)
		return error;
	snprintf(beside, sizeof(beside), "%s.new.%d", name, (int)getpid());
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	out = fdopen(fd, "w");
	if (!out) {
		error = -errno;
		close(fd);
	} else {
		error = write_all(record, out);
		if (fclose(out) && !error)
			error = -errno;
	}
	if (!error && rename(beside, name))
		error = -errno;
	if (error)
		unlink(beside);
	return error;
}

static int read_line(struct place_record *record, const char *line)
{
	uint64_t first, second;
	int node, huge;

	if (sscanf(line, "block %" SCNx64 " %d %d", &first, &node, &huge) == 3)
		return node < -1 || node >= HDL_NODES_MAX
			   ? -EPROTO
			   : record_block(record, first, node, huge != 0);
	if (sscanf(line, "policy %" SCNx64 " %" SCNx64, &first, &second) == 2 && first < second)
		return record_stretch(record, first, second);
	return -EPROTO;
}

static int read_all(struct place_record *record, const struct process *process, FILE *in)
{
	char line[128];
	int pid, error = 0;
	uint64_t start;
	unsigned shift;

	if (!fgets(line, sizeof(line), in) ||
	    sscanf(line, "hashdist-record 1 %d %" SCNu64 " %u", &pid, &start, &shift) != 3)
		return -EPROTO;
	if (pid != process->pid || start != process->start_time ||
	    shift != process->pages.thp_shift)
		return -ESTALE;
	while (!error && fgets(line, sizeof(line), in))
		error = read_line(record, line);
	/* A part of it would put a part back. */
	return !error && ferror(in) ? -EIO : error;
}

int record_load(struct place_record *record, const struct process *process, const char *path)
{
	char name[640];
	int error = choose_path(process, path, name, sizeof(name), false), fd;
	FILE *in;

	record_init(record, process);
	if (error)
		return error;
	fd = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	in = fdopen(fd, "r");
	if (!in) {
		error = -errno;
		close(fd);
		return error;
	}
	error = read_all(record, process, in);
	fclose(in);
	if (error)
		record_free(record);
	return error;
}

void record_remove(const struct process *process, const char *path)
{
	char name[640];

	if (!choose_path(process, path, name, sizeof(name), false))
		unlink(name);
}
