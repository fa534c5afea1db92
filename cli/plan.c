/* SPDX-License-Identifier: MIT */
/*
 * plan.c - hashdist plan: what will a kernel do on a machine that is not here?
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/plan.h"
#include "cli/report.h"
#include "cli/source.h"

enum { GIVEN_MAX = 64, RULE_TEXT_MAX = 4096 };

enum view { VIEW_LINES, VIEW_TABLE, VIEW_EXPLAIN };

struct options {
	const char *machine, *sysroot, *log, *check, *compare, *tlb;
	struct plan_wish wish;
	enum view view;
	bool json, describe;
	const char *rule[GIVEN_MAX];
	char rule_text[RULE_TEXT_MAX]; /* of --rules FILE, one file behind the other */
	size_t rule_used;
};

static const struct cli_option options[] = {
	{ "machine", 'm', "TEXT", "describe the machine: 'x86-64 node:0=8G node:1=8G cpus=16'" },
	{ "sysroot", 's', "DIR", "a machine saved with hashdist report --save" },
	{ "log", 'l', "FILE", "a boot log; - is standard input" },
	{ "arch", 0, "ARCH", "the architecture of a log that does not tell it" },
	{ "kernel", 'k', "VERSION", "the kernel, such as 6.1 or 6.12.40" },
	{ "cmdline", 'c', "TEXT", "the kernel's command line, instead of the machine's own" },
	{ "add", 'a', "TEXT", "words behind the machine's own command line" },
	{ "rule", 0, "NAME=VALUE",
	  "overrule what the version tells; 'report --rule help' lists them" },
	{ "rules", 0, "FILE", "the same from a file, one a line; # begins a comment" },
	{ "table", 't', NULL, "placement per table: translations, and bytes on each node" },
	{ "explain", 'e', NULL, "why each table came out so, step by step" },
	{ "compare", 0, "TEXT", "beside the same machine with these words on its command line" },
	{ "check", 0, "LOG", "compare with a boot log; 'live' is this machine's" },
	{ "tlb", 0, "PROCESSOR", "whose TLB the expected walks are about; 'help' lists them" },
	{ "early-all", 0, NULL, "all tables from the boot allocator when not distributed" },
	{ "describe", 0, NULL, "print the machine as --machine takes it" },
	{ "json", 'j', NULL, "print JSON" },
	{ "help", 'h', NULL, "show this" },
	{ 0 },
};

enum {
	OPT_MACHINE,
	OPT_SYSROOT,
	OPT_LOG,
	OPT_ARCH,
	OPT_KERNEL,
	OPT_CMDLINE,
	OPT_ADD,
	OPT_RULE,
	OPT_RULES,
	OPT_TABLE,
	OPT_EXPLAIN,
	OPT_COMPARE,
	OPT_CHECK,
	OPT_TLB,
	OPT_EARLY_ALL,
	OPT_DESCRIBE,
	OPT_JSON,
	OPT_HELP
};

static int run(int argc, char **argv);

const struct cli_verb cli_plan = {
	"plan", "[OPTION...]", "what will a kernel do on a machine that is not here?", options, run,
};

/* ---- options ---------------------------------------------------------------------------- */

static int add_rule(struct options *opt, const char *text)
{
	struct hd_rules scratch;

	hd_rules_init(&scratch, 0, HD_ARCH_X86_64, NULL);
	if (hd_rules_parse(&scratch, text, strlen(text))) {
		cli_error("'%s' is no rule, or not a value it can have", text);
		cli_hint("try", "hashdist report --rule help");
		return CLI_USAGE;
	}
	if (opt->wish.given.rules == GIVEN_MAX) {
		cli_error("more than %d rules", GIVEN_MAX);
		return CLI_USAGE;
	}
	opt->rule[opt->wish.given.rules++] = text;
	return CLI_OK;
}

static int read_rules(struct options *opt, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = opt->rule_text + opt->rule_used, *rest;
	size_t len;
	int status = CLI_OK;

	if (!file) {
		cli_error("%s: %s", path, strerror(errno));
		return CLI_FAILED;
	}
	len = fread(text, 1, sizeof(opt->rule_text) - 1 - opt->rule_used, file);
	if (ferror(file) || !feof(file)) {
		cli_error("%s: %s", path, ferror(file) ? strerror(errno) : "too long for rules");
		status = CLI_FAILED;
	}
	fclose(file);
	text[len] = '\0';
	opt->rule_used += len + 1;
	for (char *line = strtok_r(text, "\n", &rest); line && status == CLI_OK;
	     line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " \t\r");
		line[strcspn(line, "# \t\r")] = '\0';
		if (*line)
			status = add_rule(opt, line);
	}
	return status;
}

/** Return: CLI_OK to go on; -1: done; another exit status. */
static int take_option(struct options *opt, int which, const char *value)
{
	const char **const texts[] = {
		[OPT_MACHINE] = &opt->machine,
		[OPT_SYSROOT] = &opt->sysroot,
		[OPT_LOG] = &opt->log,
		[OPT_KERNEL] = &opt->wish.kernel,
		[OPT_CMDLINE] = &opt->wish.cmdline,
		[OPT_ADD] = &opt->wish.more,
		[OPT_COMPARE] = &opt->compare,
		[OPT_CHECK] = &opt->check,
	};

	switch (which) {
	case OPT_RULE:
		return add_rule(opt, value);
	case OPT_RULES:
		return read_rules(opt, value);
	case OPT_ARCH:
		opt->wish.arch = hd_arch_parse(value, strlen(value));
		if (opt->wish.arch)
			return CLI_OK;
		cli_error("--arch: '%s' is no architecture such as x86-64, arm64 or ppc64", value);
		return CLI_USAGE;
	case OPT_TLB:
		opt->tlb = value;
		return walks_check_preset("tlb", value);
	case OPT_TABLE:
		opt->view = VIEW_TABLE;
		return CLI_OK;
	case OPT_EXPLAIN:
		opt->view = VIEW_EXPLAIN;
		return CLI_OK;
	case OPT_EARLY_ALL:
		opt->wish.early_all = true;
		return CLI_OK;
	case OPT_DESCRIBE:
		opt->describe = true;
		return CLI_OK;
	case OPT_JSON:
		opt->json = true;
		return CLI_OK;
	case OPT_HELP:
		cli_print_help(&cli_plan);
		return -1;
	default:
		*texts[which] = value;
		return CLI_OK;
	}
}

static int parse(int argc, char **argv, struct options *opt)
{
	struct cli_args args = { .argc = argc, .argv = argv, .at = 1 };
	int which, status = CLI_OK;

	while (status == CLI_OK && (which = cli_next(&args, &cli_plan)) != CLI_ARG_END) {
		if (which == CLI_ARG_WRONG)
			return CLI_USAGE;
		if (which == CLI_ARG_PLAIN) {
			cli_error("%s: a word that belongs to no option", args.value);
			cli_hint("try", "hashdist plan --help");
			return CLI_USAGE;
		}
		status = take_option(opt, which, args.value);
	}
	if (status == CLI_OK && !!opt->machine + !!opt->sysroot + !!opt->log > 1) {
		cli_error("--machine, --sysroot and --log exclude each other");
		return CLI_USAGE;
	}
	if (status == CLI_OK && opt->machine && !opt->wish.kernel && !opt->describe) {
		cli_error("--machine says nothing of the kernel");
		cli_hint("try", "--kernel VERSION");
		return CLI_USAGE;
	}
	if (status == CLI_OK && opt->wish.kernel &&
	    !hd_version_parse(opt->wish.kernel, strlen(opt->wish.kernel))) {
		cli_error("--kernel: '%s' is no version such as 6.1 or 6.12.40", opt->wish.kernel);
		return CLI_USAGE;
	}
	opt->wish.given.rule = opt->rule;
	return status;
}

/* ---- the plan ----------------------------------------------------------------------------- */

static int parse_machine(const char *text, struct description *out)
{
	struct describe_error error;
	int status = machine_describe_parse(text, out, &error);

	if (status == -EINVAL) {
		cli_error("--machine: column %zu: expected %s", error.column, error.wanted);
		fprintf(stderr, "  %s\n  %*s^\n", text, (int)error.column - 1, "");
		return CLI_USAGE;
	}
	if (status) {
		cli_error("%s", strerror(-status));
		return CLI_FAILED;
	}
	return CLI_OK;
}

static int make(const struct plan_source *source, const struct plan_wish *wish, struct plan *out)
{
	const char *lack;
	int error = plan_make(source, wish, out, &lack);

	if (!error)
		return CLI_OK;
	if (error == -ENODATA)
		cli_error("not known: %s", lack);
	else if (error == -EINVAL)
		cli_error("the command line leaves this machine without memory");
	else
		cli_error("%s", strerror(-error));
	return CLI_FAILED;
}

/** Compares with a log. Return: an exit status. */
static int check(const struct options *opt, const struct plan *plan, struct plan_checked *checked,
		 struct cli_source *against)
{
	bool fine = !strcmp(opt->check, "live") ? cli_source_machine(against, NULL)
						: cli_source_log(against, opt->check);

	if (!fine)
		return CLI_FAILED;
	if (!against->boot) {
		cli_error("--check: %s",
			  against->note[0] ? against->note : "no log to compare with");
		if (against->remedy)
			cli_hint("try", "%s", against->remedy);
		return CLI_FAILED;
	}
	checked->differences = plan_check(plan, against->boot, checked->difference, &checked->same);
	checked->done = true;
	return CLI_OK;
}

static int show(const struct options *opt, const struct plan *plan, const struct plan *other,
		const struct plan_checked *checked, const struct walks *walks)
{
	bool fine = true;

	if (plan->result.leaked) {
		cli_error("the simulated machine lost memory: a fault of this program");
		return CLI_FAILED;
	}
	if (opt->json)
		fine = plan_print_json(plan, other, checked, walks);
	else if (other)
		fine = plan_print_compare(plan, other, opt->compare);
	else if (opt->view == VIEW_TABLE)
		fine = plan_print_table(plan, walks);
	else if (opt->view == VIEW_EXPLAIN)
		plan_print_explain(plan);
	else if (!checked->done)
		plan_print_lines(plan);
	if (!fine) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	if (checked->done && !opt->json) {
		if (other || opt->view != VIEW_LINES)
			putchar('\n');
		plan_print_check(plan, checked);
	}
	return plan_wrong(checked) ? CLI_VERDICT : CLI_OK;
}

static int plan_it(const struct options *opt, const struct plan_source *source)
{
	struct plan plan, other;
	struct plan_wish wish = opt->wish;
	struct cli_source against = { 0 };
	struct plan_checked *checked = calloc(1, sizeof(*checked));
	struct walks walks;
	char more[PLAN_CMDLINE_MAX];
	bool compared = false;
	int status;

	if (!checked) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	status = make(source, &opt->wish, &plan);
	if (status != CLI_OK) {
		free(checked);
		return status;
	}
	if (opt->compare) {
		snprintf(more, sizeof(more), "%s%s%s", wish.more ? wish.more : "",
			 wish.more ? " " : "", opt->compare);
		wish.more = more;
		status = make(source, &wish, &other);
		compared = status == CLI_OK;
	}
	if (status == CLI_OK && opt->check)
		status = check(opt, &plan, checked, &against);
	if (!walks_open(&walks, opt->tlb, source->books)) {
		cli_error("out of memory");
		status = CLI_FAILED;
	}
	if (status == CLI_OK)
		status = show(opt, &plan, compared ? &other : NULL, checked, &walks);
	walks_close(&walks);
	if (compared)
		plan_fini(&other);
	plan_fini(&plan);
	cli_source_close(&against);
	free(checked);
	return status;
}

char *plan_description_text(const struct description *description)
{
	size_t size = machine_describe_print(description, NULL, 0) + 1;
	char *text = malloc(size);

	if (text)
		machine_describe_print(description, text, size);
	return text;
}

static int print_description(const struct plan_source *source)
{
	struct description description;
	int error = plan_describe(source, &description);
	char *text;

	if (error) {
		cli_error(error == -ENODATA ? "not known: memory and nodes of this machine"
					    : "out of memory");
		return CLI_FAILED;
	}
	text = plan_description_text(&description);
	machine_describe_free(&description);
	if (!text) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	puts(text);
	free(text);
	return CLI_OK;
}

static int run(int argc, char **argv)
{
	struct options opt = { .machine = NULL };
	struct description description = { 0 };
	struct cli_source input = { 0 };
	struct plan_source source = { 0 };
	int status = parse(argc, argv, &opt);

	if (status != CLI_OK)
		return status == -1 ? CLI_OK : status;
	if (opt.machine)
		status = parse_machine(opt.machine, &description);
	else if (opt.log)
		status = cli_source_log(&input, opt.log) ? CLI_OK : CLI_FAILED;
	else
		status = cli_source_machine(&input, opt.sysroot) ? CLI_OK : CLI_FAILED;
	if (status == CLI_OK) {
		cli_source_say_unread(&input);
		source.description = opt.machine ? &description : NULL;
		source.books = input.books;
		source.boot = input.boot;
		status = opt.describe ? print_description(&source) : plan_it(&opt, &source);
	}
	machine_describe_free(&description);
	cli_source_close(&input);
	return status;
}
