/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of this room share
 *
 * root.c      files below a root: bounded, regular files only, no way out
 * text.c      numbers and lists out of kernel text; overflow is refused
 * scrub.c     what of a line may leave this machine
 * the others  one group of facts each; machine.c calls them in turn
 *
 * Paths carry no leading slash. Functions return 0 or a negative errno.
 */
#ifndef HASHDIST_MACHINE_INTERNAL_H
#define HASHDIST_MACHINE_INTERNAL_H

#include <stdio.h>

#include "machine/machine.h"

enum {
	MACH_LINE_MAX = 32768,    /* longer lines are cut here */
	MACH_ID_MAX = 65536,      /* CPU ids are below this */
	MACH_NODE_ID_MAX = 8192,  /* node ids are below this; kernels stop at 1024 */
	MACH_ZONES_MAX = 65536,   /* zones of one machine */
	MACH_AREAS_MAX = 1024,    /* areas of one machine; real ones have about 20 */
	MACH_SMALL = 1024 * 1024, /* bytes read of most files */
	MACH_LARGE = 64 * MACH_SMALL,
};

/* ---- root.c ---------------------------------------------------------------------- */

struct mach_root {
	int fd;
	bool live;   /* "/": links may be followed */
	bool simple; /* component by component, without openat2(2) */
};

int mach_root_open(const char *sysroot, struct mach_root *out);
void mach_root_close(struct mach_root *root);
/** Return: 0 if @path is a directory, else -errno. */
int mach_root_dir(const struct mach_root *root, const char *path);
bool mach_root_has(const struct mach_root *root, const char *path);
/** Return: a descriptor of the regular file @path, open for reading, or -errno. */
int mach_root_file(const struct mach_root *root, const char *path);
/**
 * mach_root_text() - a small file as one string
 * NUL bytes and control characters but tabs become spaces, the newline at the end is dropped.
 * Return: its length; -EFBIG if it does not fit (@buf then holds its start); -errno.
 */
int mach_root_text(const struct mach_root *root, const char *path, char *buf, size_t size);

/** A file line by line, with fixed memory. */
struct mach_lines {
	int fd;
	int error; /* -errno of what ended it early */
	uint64_t left;
	size_t start, end;
	bool eof, skipping;
	char buf[MACH_LINE_MAX + 1];
};

/** Takes over @fd. @limit: bytes read at most, beyond that the error is -EFBIG. */
void mach_lines_start(struct mach_lines *lines, int fd, uint64_t limit);
int mach_lines_open(struct mach_lines *lines, const struct mach_root *root, const char *path,
		    uint64_t limit);
/** Return: the next line without newline, to be changed at will; NULL at the end. */
char *mach_lines_next(struct mach_lines *lines);
/** Return: 0, or why the end came early. */
int mach_lines_close(struct mach_lines *lines);

/* ---- text.c ---------------------------------------------------------------------- */

/**
 * mach_number() - read a decimal number at *@text and step behind it
 * Return: false when there is none or it exceeds 64 bits; *@value is then untouched.
 */
bool mach_number(const char **text, uint64_t *value);
/** Number after blanks, as a count; unknown when there is none. */
struct machine_count mach_count(const char *text);
/** Adds; unknown when either is, or on overflow. */
struct machine_count mach_count_add(struct machine_count a, struct machine_count b);
/** What follows @key at the start of @text, NULL when it starts otherwise. */
const char *mach_after(const char *text, const char *key);
/** Number behind the word @key of a line "LABEL: key number key number"; else unknown. */
struct machine_count mach_field(const char *line, const char *key);
/** Next blank-separated word, *@text steps behind it; length 0 at the end. */
const char *mach_word(const char **text, size_t *len);
/** Control characters become spaces, but for tabs. */
void mach_plain(char *text);

struct mach_ids {
	uint64_t word[MACH_ID_MAX / 64];
	uint32_t count;
};

/** "0-1,4"; nothing is the empty set. Return: 0; -ERANGE an id of @max or more; -EINVAL. */
int mach_ids_parse(const char *text, uint32_t max, struct mach_ids *out);
bool mach_ids_has(const struct mach_ids *ids, uint32_t id);
void mach_ids_add(struct mach_ids *ids, uint32_t id);

/* ---- scrub.c --------------------------------------------------------------------- */

enum { MACH_SCRUB_MAX = MACH_LINE_MAX + 256 };

/**
 * What of @line may leave this machine, into @out of MACH_SCRUB_MAX bytes.
 * Return: false when the line is to be dropped.
 */
typedef bool mach_scrub(char *line, char *out);

mach_scrub mach_scrub_banner, mach_scrub_release, mach_scrub_cmdline, mach_scrub_os_release;
mach_scrub mach_scrub_kib, mach_scrub_zone, mach_scrub_list, mach_scrub_figures, mach_scrub_area;
mach_scrub mach_scrub_sockstat, mach_scrub_protocols, mach_scrub_slab, mach_scrub_mount;
mach_scrub mach_scrub_config, mach_scrub_log;

/* ---- the facts ------------------------------------------------------------------- */

/**
 * mach_blind() - note a book that could not be read
 * @error: -errno
 * @absent: what would help if the file is not there; NULL nothing
 */
void mach_blind(struct machine *m, const char *path, int error, const char *lost,
		const char *absent);
/** Likewise, of a book that a machine may lack: notes nothing if it does, or if @error is 0. */
void mach_blind_if_there(struct machine *m, const char *path, int error, const char *lost);

/* Each reads one group of facts; errors other than -ENOMEM end up in blind[]. */
int mach_read_identity(const struct mach_root *root, struct machine *m);
int mach_read_memory(const struct mach_root *root, struct machine *m);
int mach_read_nodes(const struct mach_root *root, struct machine *m);
int mach_read_config(const struct mach_root *root, struct machine *m);
/** After all of the above: from whatever tells it. */
int mach_read_page_size(const struct mach_root *root, struct machine *m);
/** After nodes and page size. */
int mach_read_areas(const struct mach_root *root, struct machine *m);
int mach_read_usage(const struct mach_root *root, struct machine *m);

int mach_read_processor(const struct mach_root *root, struct machine *m);

/* ---- processor.c, for save.c as well ----------------------------------------------- */

/** A line of "hashdist-saved"; none if it is not known. */
void mach_save_processor(const struct machine_processor *processor, FILE *file);

/* ---- kconfig.c, for save.c as well ------------------------------------------------ */

enum { MACH_CONFIG_PATHS = 3 };

/** Where a configuration may be, best first. Return: false when this one cannot be named. */
bool mach_config_path(const struct machine *m, unsigned index, char *out, size_t size);
/** Hand out a configuration, compressed or not, line by line, until @take returns not 0. */
int mach_config_lines(const struct mach_root *root, const char *path,
		      int (*take)(void *ctx, char *line), void *ctx);
/** "CONFIG_X=y", "# CONFIG_X is not set". @value: NULL where not set. */
bool mach_config_split(const char *line, const char **name, size_t *len, const char **value);
/** Is it an option that mach_read_config() looks at? */
bool mach_config_option(const char *name, size_t len);

/* ---- machine.c, save.c ------------------------------------------------------------- */

/** What machine_read() and machine_save() do, on a root that is open. */
int mach_read(const struct mach_root *root, struct machine **out);
int mach_save(const struct mach_root *root, const char *dir, int log_fd,
	      const struct machine_left_out *left_out);

#endif
