/* SPDX-License-Identifier: MIT */
/*
 * fuzz-texts.c - any text at all where a user may write one
 *
 * As a description of a machine, a rule, a kernel's command line, a version, an architecture.
 * What is taken is printed and read again, and must come out the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/bundle.h"
#include "hashdist/core.h"
#include "machine/describe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *printed(const struct description *description)
{
	size_t size = machine_describe_print(description, NULL, 0) + 1;
	char *text = malloc(size);

	CHECK(text && machine_describe_print(description, text, size) == size - 1);
	return text;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	describe(text);
	words_of_a_kernel(text, strlen(text));
	free(text);
	return 0;
}
