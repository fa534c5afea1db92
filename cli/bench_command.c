/* SPDX-License-Identifier: MIT */
/*
 * bench_command.c - the command that was typed, for the caption of a plot
 *
 * Quoted where a shell needs it. A plot is shown to others, so the name of its
 * file stands there without the directory, which may tell whose it is.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"

static char *add(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

static char *add_quoted(char *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*word && !word[strspn(word, plain)])
		return add(to, word);
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			to = add(to, "'\\'");
		*to++ = *word;
	}
	*to++ = '\'';
	return to;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *bench_command(int argc, char **argv)
{
	static const char head[] = "hashdist";
	size_t room = sizeof(head);
	char *command, *to;

	for (int a = 0; a < argc; a++)
		room += 4 * strlen(argv[a]) + 3;
	command = to = malloc(room);
	if (!command)
		return NULL;
	to = add(to, head);
	for (int a = 0; a < argc; a++) {
		const char *word = argv[a];

		*to++ = ' ';
		if (a && !strcmp(argv[a - 1], "--plot"))
			word = last_part(word);
		if (!strncmp(word, "--plot=", 7)) {
			to = add(to, "--plot=");
			word = last_part(word + 7);
		}
		to = add_quoted(to, word);
	}
	*to = '\0';
	return command;
}
