/* SPDX-License-Identifier: MIT */
/*
 * cli.c - messages, options and figures as all verbs print them; children
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void cli_error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("hashdist: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void cli_hint(const char *what, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "  %-7s ", what);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static bool children_ignored;

void cli_children_take(void)
{
	children_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

void cli_children_as_before(void)
{
	if (children_ignored)
		signal(SIGCHLD, SIG_IGN);
}

static int wrong(const struct cli_verb *verb, const char *format, const char *word)
{
	fputs("hashdist: ", stderr);
	fprintf(stderr, format, word);
	fputc('\n', stderr);
	cli_hint("try", "hashdist %s --help", verb->name);
	return CLI_ARG_WRONG;
}

static int long_option(struct cli_args *args, const struct cli_verb *verb, const char *word)
{
	const char *name = word + 2;
	size_t len = strcspn(name, "=");

	for (int i = 0; verb->options[i].name; i++) {
		const struct cli_option *option = &verb->options[i];

		if (strlen(option->name) != len || strncmp(option->name, name, len))
			continue;
		if (!option->arg && name[len] == '=')
			return wrong(verb, "%s: takes no value", word);
		if (!option->arg || (option->arg[0] == '[' && name[len] != '='))
			return i;
		if (name[len] == '=')
			args->value = name + len + 1;
		else if (args->at < args->argc)
			args->value = args->argv[args->at++];
		else
			return wrong(verb, "%s: needs a value", word);
		return i;
	}
	return wrong(verb, "%s: no such option", word);
}

static int short_option(struct cli_args *args, const struct cli_verb *verb, const char *word)
{
	for (int i = 0; verb->options[i].name; i++) {
		const struct cli_option *option = &verb->options[i];

		if (option->letter != word[1])
			continue;
		if (option->arg && option->arg[0] == '[' && !word[2])
			return i;
		if (option->arg && word[2])
			args->value = word + 2;
		else if (option->arg && args->at < args->argc)
			args->value = args->argv[args->at++];
		else if (option->arg)
			return wrong(verb, "%s: needs a value", word);
		else if (word[2])
			return wrong(verb, "%s: one letter at a time", word);
		return i;
	}
	return wrong(verb, "%s: no such option", word);
}

int cli_next(struct cli_args *args, const struct cli_verb *verb)
{
	const char *word;

	args->value = NULL;
	if (args->at >= args->argc)
		return CLI_ARG_END;
	word = args->argv[args->at++];
	if (word[0] == '-' && word[1] == '-' && word[2])
		return long_option(args, verb, word);
	if (word[0] == '-' && word[1] && word[1] != '-')
		return short_option(args, verb, word);
	args->value = word;
	return CLI_ARG_PLAIN;
}

void cli_print_help(const struct cli_verb *verb)
{
	printf("usage: hashdist %s %s\n\n%s\n\n", verb->name, verb->synopsis, verb->help);
	for (const struct cli_option *option = verb->options; option->name; option++) {
		bool optional = option->arg && option->arg[0] == '[';
		char left[48];

		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", option->letter ? '-' : ' ',
			 option->letter ? option->letter : ' ', option->letter ? "," : " ",
			 option->name, option->arg && !optional ? " " : "",
			 option->arg ? option->arg : "");
		printf("  %-28s %s\n", left, option->help);
	}
	printf("\nmanual: hashdist-%s(1)\n", verb->name);
}

char *cli_size(char *out, size_t size, unsigned long long bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned unit = 0;
	unsigned long long rest = bytes;

	while (unit < 6 && rest >= 1024) {
		rest >>= 10;
		unit++;
	}
	if (unit == 0 || bytes == rest << (10 * unit) || rest >= 100)
		snprintf(out, size, "%llu %s", rest, units[unit]);
	else
		snprintf(out, size, "%llu.%llu %s", rest,
			 ((bytes >> (10 * (unit - 1))) & 1023) * 10 / 1024, units[unit]);
	return out;
}

bool cli_parse_size(const char *word, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	double value;
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	value = strtod(word, &end);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		value *= (double)(1ULL << 10 * (unit - units + 1));
		end++;
		end += strspn(end, "i");
		end += *end == 'B';
	}
	if (*end || value < 1 || value >= 9.2e18)
		return false;
	*bytes = (uint64_t)value;
	return true;
}

char *cli_page(char *out, size_t size, unsigned shift)
{
	static const char units[] = { 'B', 'K', 'M', 'G', 'T' };

	snprintf(out, size, "%u%c", 1u << shift % 10, units[shift / 10 > 4 ? 4 : shift / 10]);
	return out;
}
