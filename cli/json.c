/* SPDX-License-Identifier: MIT */
/* json.c - see json.h */
#include "cli/json.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static atomic_bool starved;

static void *remembering_malloc(size_t size)
{
	void *block = malloc(size);

	if (!block && size)
		starved = true;
	return block;
}

void cli_json_watch(void)
{
	json_set_alloc_funcs(remembering_malloc, free);
}

bool cli_json_dump(json_t *json, size_t flags)
{
	bool fine = json && !starved && (!json_dumpf(json, stdout, flags) || ferror(stdout));

	json_decref(json);
	return fine && !starved;
}

int cli_json_print(json_t *json, size_t flags)
{
	if (cli_json_dump(json, JSON_INDENT(2) | flags)) {
		putchar('\n');
		return CLI_OK;
	}
	cli_error("out of memory");
	return CLI_FAILED;
}
