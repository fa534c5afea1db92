/* SPDX-License-Identifier: MIT */
/*
 * plot.c - runs gnuplot, and puts the picture in its place
 *
 * gnuplot reads its script from, and draws into, memory without a name: it
 * cannot block us, nor we it, and whoever is interrupted leaves nothing
 * behind. Only a picture that is whole gets a name: that of a temporary
 * neighbour, then, at once, its own; signals wait for that moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/plot.h"

enum { PATH_ROOM = 4096 };

/* ---- before --------------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static bool find_gnuplot(char *out)
{
	const char *path = getenv("PATH");

	for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin";; at++) {
		size_t len = strcspn(at, ":");

		if (len && len < PATH_ROOM - 16) {
			snprintf(out, PATH_ROOM, "%.*s/gnuplot", (int)len, at);
			if (is_program(out))
				return true;
		}
		at += len;
		if (!*at)
			return false;
	}
}

static int failed(const char *file, int error)
{
	cli_error("--plot: %s: %s", file, strerror(error));
	return CLI_FAILED;
}

int plot_take(const char *value, const char **file)
{
	const char *dot = strrchr(value, '.');

	*file = value;
	if (dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".png")))
		return CLI_OK;
	cli_error("--plot: '%s' ends neither with .svg nor with .png", value);
	return CLI_USAGE;
}

int plot_ready(const char *file)
{
	char path[PATH_ROOM], *slash;
	struct stat st;

	if (!find_gnuplot(path)) {
		cli_error("--plot: the program gnuplot is not to be found");
		cli_hint("try", "apt install gnuplot-nox");
		return CLI_FAILED;
	}
	if (strlen(file) >= sizeof(path) - 32)
		return failed(file, ENAMETOOLONG);
	if (!stat(file, &st) && !S_ISREG(st.st_mode)) {
		cli_error("--plot: %s: there is something of that name, and it is no file", file);
		return CLI_FAILED;
	}
	strcpy(path, file);
	slash = strrchr(path, '/');
	if (slash)
		slash[1] = '\0';
	else
		strcpy(path, ".");
	return access(path, W_OK | X_OK) ? failed(file, errno) : CLI_OK;
}

/* ---- gnuplot ---------------------------------------------------------------------------------- */

/** Memory without a name, which a child takes over only if told to. Return: -1, having said why. */
static int open_memory(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		cli_error("memfd_create: %s", strerror(errno));
	return fd;
}

static bool write_script(const struct plot *plot, const char *file, int fd)
{
	int copy = dup(fd);
	FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
	bool fine;

	if (!out) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	plot_script(plot, file, out);
	fine = !ferror(out);
	fine = !fclose(out) && fine;
	return fine && lseek(fd, 0, SEEK_SET) == 0;
}

/** Return: its exit status; 255 if there is none. */
static int run(const char *program, int script, int picture, int messages)
{
	char name[] = "gnuplot", plain[] = "--default-settings";
	char *words[] = { name, plain, NULL };
	pid_t child = fork();
	int status;

	if (child < 0)
		return 255;
	if (!child) {
		if (dup2(script, STDIN_FILENO) >= 0 && dup2(picture, STDOUT_FILENO) >= 0 &&
		    dup2(messages, STDERR_FILENO) >= 0)
			execv(program, words);
		_exit(255);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 255;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/** What gnuplot had to say: its first line that holds words. */
static void say_messages(int fd)
{
	char text[2048], *rest, *line;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	cli_error("--plot: gnuplot could not draw it");
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " \t^");
		if (*line && strncmp(line, "gnuplot>", 8) != 0) {
			cli_hint("because", "%s", line);
			return;
		}
	}
}

/* ---- the file ----------------------------------------------------------------------------------- */

static int copy_whole(int from, int to)
{
	struct stat st;
	off_t at = 0;

	if (fstat(from, &st))
		return -errno;
	while (at < st.st_size) {
		ssize_t n = sendfile(to, from, &at, (size_t)(st.st_size - at));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EIO;
	}
	return 0;
}

static int write_neighbour(int picture, const char *neighbour, const char *file)
{
	int fd = open(neighbour, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	int error;

	if (fd < 0)
		return -errno;
	error = copy_whole(picture, fd);
	if (close(fd) && !error)
		error = -errno;
	if (!error && rename(neighbour, file))
		error = -errno;
	if (error)
		unlink(neighbour);
	return error;
}

static int put_in_place(int picture, const char *file)
{
	char neighbour[PATH_ROOM];
	const char *slash = strrchr(file, '/');
	int directory = slash ? (int)(slash + 1 - file) : 0, error;
	sigset_t all, before;

	snprintf(neighbour, sizeof(neighbour), "%.*s.%s.%ld", directory, file, file + directory,
		 (long)getpid());
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	error = write_neighbour(picture, neighbour, file);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return error ? failed(file, -error) : CLI_OK;
}

/* ---- both ---------------------------------------------------------------------------------------- */

/** Does it end as pictures of its kind do? gnuplot does not notice what it could not write. */
static bool is_whole(int picture)
{
	static const char png[] = "IEND\xae\x42\x60\x82", svg[] = "</svg>";
	off_t size = lseek(picture, 0, SEEK_END);
	char end[32] = "";
	ssize_t n = size < (off_t)sizeof(end)
			? 0
			: pread(picture, end, sizeof(end) - 1, size - (off_t)sizeof(end) + 1);

	return n > 0 && (memmem(end, (size_t)n, png, sizeof(png) - 1) ||
			 memmem(end, (size_t)n, svg, sizeof(svg) - 1));
}

static int draw(const struct plot *plot, const char *file, const char *program, const int *memory)
{
	if (!write_script(plot, file, memory[0]))
		return failed(file, errno);
	if (run(program, memory[0], memory[1], memory[2]) || lseek(memory[1], 0, SEEK_END) <= 0) {
		say_messages(memory[2]);
		return CLI_FAILED;
	}
	if (!is_whole(memory[1])) {
		cli_error("--plot: gnuplot wrote a part of the picture only");
		cli_hint("try", "room for a few MiB, in memory and by the limits on files");
		return CLI_FAILED;
	}
	return put_in_place(memory[1], file);
}

int plot_draw(const struct plot *plot, const char *file)
{
	static const char *const names[] = { "script", "picture", "messages" };
	char program[PATH_ROOM];
	int memory[3] = { -1, -1, -1 }, opened = 0, status = plot_ready(file);

	if (status != CLI_OK || !find_gnuplot(program))
		return CLI_FAILED;
	fflush(NULL);
	for (; opened < 3 && (memory[opened] = open_memory(names[opened])) >= 0; opened++)
		;
	status = opened == 3 ? draw(plot, file, program, memory) : CLI_FAILED;
	while (opened)
		close(memory[--opened]);
	return status;
}
