/* SPDX-License-Identifier: MIT */
/*
 * run_look.c - can a preload reach this program?
 *
 * From the file alone, before it is started: ELF header and program headers, mode,
 * capabilities; of a script its interpreter. What cannot be read is taken for
 * reachable: it will show.
 *
 * Source: elf(5), ld.so(8) under "secure-execution mode", execve(2) under
 * "Interpreter scripts".
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/run.h"

enum { SCRIPTS_MAX = 4, LINE_BYTES = 256, HEADERS_MAX = 64, SECTIONS_MAX = 256 };

/* ---- finding it -------------------------------------------------------------------------- */

static int may_run(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return -EACCES;
	return 0;
}

/** Nothing but a regular file: opening another may wait, or make a device do something. */
static int open_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static int find(const char *command, char *out, size_t size)
{
	const char *dirs = getenv("PATH");
	int error = -ENOENT;

	if (!*command)
		return -ENOENT;
	if (strchr(command, '/')) {
		if ((size_t)snprintf(out, size, "%s", command) >= size)
			return -ENAMETOOLONG;
		return may_run(out);
	}
	for (const char *dir = dirs ? dirs : "/bin:/usr/bin"; dir;) {
		size_t len = strcspn(dir, ":");
		int now;

		if ((size_t)snprintf(out, size, "%.*s%s%s", (int)len, dir, len ? "/" : "",
				     command) < size) {
			now = may_run(out);
			if (!now)
				return 0;
			if (now == -EACCES)
				error = now;
		}
		dir = dir[len] ? dir + len + 1 : NULL;
	}
	return error;
}

/* ---- ELF ------------------------------------------------------------------------------------ */

static bool read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/** The dynamic linker that a program asks for. Return: false when it asks for none. */
static bool linker_of(int fd, const ElfW(Ehdr) * header, char *out, size_t size)
{
	for (unsigned i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
		ElfW(Phdr) segment;

		if (header->e_phentsize != sizeof(segment) ||
		    !read_at(fd, &segment, sizeof(segment), header->e_phoff + i * sizeof(segment)))
			return false;
		if (segment.p_type != PT_INTERP)
			continue;
		if (!segment.p_filesz || segment.p_filesz > size ||
		    !read_at(fd, out, segment.p_filesz, segment.p_offset))
			return false;
		out[segment.p_filesz - 1] = '\0';
		return true;
	}
	return false;
}

/** Go's linker leaves a section of that name in each of its programs. */
static bool is_go(int fd, const ElfW(Ehdr) * header)
{
	ElfW(Shdr) names, section;

	if (header->e_shentsize != sizeof(section) || header->e_shstrndx >= header->e_shnum ||
	    !read_at(fd, &names, sizeof(names),
		     header->e_shoff + header->e_shstrndx * sizeof(names)))
		return false;
	for (unsigned i = 0; i < header->e_shnum && i < SECTIONS_MAX; i++) {
		char name[16] = "";

		if (!read_at(fd, &section, sizeof(section), header->e_shoff + i * sizeof(section)))
			return false;
		if (!read_at(fd, name, sizeof(name) - 1, names.sh_offset + section.sh_name))
			continue;
		if (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".note.go.buildi"))
			return true;
	}
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum run_reach reach_of_elf(int fd)
{
	char linker[PATH_MAX], ours[PATH_MAX];
	ElfW(Ehdr) header, own;
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool known = self >= 0 && read_at(self, &own, sizeof(own), 0) &&
		     linker_of(self, &own, ours, sizeof(ours));

	if (self >= 0)
		close(self);
	if (!read_at(fd, &header, sizeof(header), 0) || !known)
		return RUN_REACHED;
	if (header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] ||
	    header.e_ident[EI_DATA] != own.e_ident[EI_DATA] || header.e_machine != own.e_machine)
		return RUN_FOREIGN;
	if (!linker_of(fd, &header, linker, sizeof(linker)))
		return is_go(fd, &header) ? RUN_GO_STATIC : RUN_STATIC;
	return strcmp(base_name(linker), base_name(ours)) ? RUN_OTHER_LIBC : RUN_REACHED;
}

/** Will the dynamic linker distrust its environment? */
static bool is_privileged(int fd)
{
	struct statvfs fs;
	struct stat st;
	char caps[64];

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || fstat(fd, &st) ||
	    (!fstatvfs(fd, &fs) && fs.f_flag & ST_NOSUID))
		return false;
	if (st.st_mode & S_ISUID && st.st_uid != getuid())
		return true;
	if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getgid())
		return true;
	return getuid() != 0 && fgetxattr(fd, "security.capability", caps, sizeof(caps)) > 0;
}

/* ---- scripts ---------------------------------------------------------------------------------- */

/** The interpreter in a script's first line, into @path. */
static bool interpreter_of(int fd, char *path, size_t size)
{
	char line[LINE_BYTES + 1] = "";
	char *at = line + 2;
	size_t len;

	if (pread(fd, line, LINE_BYTES, 0) < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[strcspn(line, "\n")] = '\0';
	at += strspn(at, " \t");
	len = strcspn(at, " \t");
	if (!len || len >= size)
		return false;
	memcpy(path, at, len);
	path[len] = '\0';
	return true;
}

int run_look(const char *command, struct run_program *out)
{
	int error = find(command, out->path, sizeof(out->path));

	out->reach = RUN_REACHED;
	if (error)
		return error;
	memcpy(out->binary, out->path, sizeof(out->binary));
	for (int depth = 0; depth <= SCRIPTS_MAX; depth++) {
		char next[PATH_MAX], magic[SELFMAG];
		int fd = open_program(out->binary);
		bool script;

		if (fd < 0)
			return 0;
		script = interpreter_of(fd, next, sizeof(next));
		if (!script && read_at(fd, magic, SELFMAG, 0) && !memcmp(magic, ELFMAG, SELFMAG))
			out->reach = is_privileged(fd) ? RUN_PRIVILEGED : reach_of_elf(fd);
		close(fd);
		if (!script)
			break;
		memcpy(out->binary, next, sizeof(next));
	}
	return 0;
}

const char *run_reach_text(enum run_reach reach)
{
	switch (reach) {
	case RUN_STATIC:
		return "it is statically linked";
	case RUN_GO_STATIC:
		return "it is a Go program without the C library";
	case RUN_PRIVILEGED:
		return "it runs with privileges of its own";
	case RUN_FOREIGN:
		return "it is for another kind of processor";
	case RUN_OTHER_LIBC:
		return "it uses another C library";
	default:
		return "it can";
	}
}
