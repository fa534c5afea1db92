/* SPDX-License-Identifier: MIT */
/*
 * fuzz-texts.c - any text at all where a user may write one
 *
 * As a description of a machine, which is planned, too; a rule, a kernel's command line, a version,
 * an architecture; a list of nodes, a line of another process's books. What is taken is printed and
 * read again, and must come out the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/bundle.h"
#include "hashdist/core.h"
#include "machine/internal.h"
#include "plan/plan.h"
#include "process/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *printed(const struct description *description)
{
	size_t size = machine_describe_print(description, NULL, 0) + 1;
	char *text = malloc(size);

	CHECK(text && machine_describe_print(description, text, size) == size - 1);
	return text;
}

/** The description is also the command line. */
static void plan(const struct description *description, const char *text)
{
	static const char *const kernels[] = { "2.6.32", "5.10", "6.12.40", "7.2" };
	static struct plan plan;
	const struct plan_source source = { .description = description };
	const struct plan_wish wish = { .kernel = kernels[strlen(text) % 4], .cmdline = text };
	const char *lack;

	/* Each translation of a table is counted: beyond this it takes its seconds. */
	for (uint32_t n = 0; n < description->nodes; n++)
		if (description->node[n].bytes >> 42)
			return;
	if (plan_make(&source, &wish, &plan, &lack))
		return;
	CHECK(!plan.result.leaked);
	plan_fini(&plan);
}

static void describe(const char *text)
{
	struct description once, twice;
	struct describe_error error = { 0 };
	int status = machine_describe_parse(text, &once, &error);
	char *first, *second;

	if (status) {
		CHECK(status == -ENOMEM || (status == -EINVAL && error.column && error.wanted));
		CHECK(error.column <= strlen(text) + 1);
		return;
	}
	first = printed(&once);
	CHECK(!machine_describe_parse(first, &twice, &error));
	second = printed(&twice);
	CHECK(!strcmp(first, second));
	free(first);
	free(second);
	plan(&once, text);
	machine_describe_free(&once);
	machine_describe_free(&twice);
}

static void words_of_a_kernel(const char *text, size_t len)
{
	struct hd_rules rules;
	struct hd_params params;
	uint32_t version = hd_version_parse(text, len);

	hd_arch_parse(text, len);
	hd_rules_init(&rules, version, HD_ARCH_X86_64, NULL);
	hd_rules_parse(&rules, text, len);
	hd_params_parse(&params, &rules, text, len);
}

static void words_of_books(const char *text)
{
	static struct mach_ids ids;
	struct process process = { .pid = 1 };
	struct process_line line;
	struct hdl_mask nodes;
	uint64_t bytes;

	if (hdl_mask_parse(&nodes, text))
		CHECK(hdl_mask_count(&nodes) <= HDL_NODES_MAX);
	if (!mach_ids_parse(text, 512, &ids))
		CHECK(ids.count <= 512);
	if (process_line_parse(text, &line))
		CHECK(line.name);
	if (process_stat_parse(text, &process))
		CHECK(memchr(process.comm, '\0', sizeof(process.comm)));
	process_policy_nodes(text, &nodes);
	process_kib(text, "VmRSS", &bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	describe(text);
	words_of_a_kernel(text, strlen(text));
	words_of_books(text);
	free(text);
	return 0;
}
