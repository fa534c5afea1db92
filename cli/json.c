/* SPDX-License-Identifier: MIT */
/* json.c - see json.h */
#include "cli/json.h"

#include <stdio.h>

#include "cli/cli.h"

int cli_json_print(json_t *json, size_t flags)
{
	int error =
	    !json || json_dumpf(json, stdout, JSON_INDENT(2) | flags) || putchar('\n') == EOF;

	json_decref(json);
	if (!error || ferror(stdout))
		return CLI_OK;
	cli_error("out of memory");
	return CLI_FAILED;
}
