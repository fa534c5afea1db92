/* SPDX-License-Identifier: MIT */
/* json.h - a JSON document onto standard output */
#ifndef HASHDIST_CLI_JSON_H
#define HASHDIST_CLI_JSON_H

#include <jansson.h>
#include <stdbool.h>

/**
 * cli_json_watch() - from now on, remember when memory was short
 *
 * Who builds a document need not look after each value then: one that could not be made is
 * missing, and a document that lacks one is not printed.
 */
void cli_json_watch(void);

/**
 * cli_json_dump() - put it onto standard output, and release it
 * @json:  NULL: it could not be made
 * @flags: of json_dumps()
 *
 * Return: false when memory was short since cli_json_watch(); true, also where the stream
 * failed: of that the end of the program tells.
 */
bool cli_json_dump(json_t *json, size_t flags);

/**
 * cli_json_print() - print it, with a newline behind it, and release it
 * @json:  NULL: it could not be made
 * @flags: of json_dumps(), besides the indent
 *
 * Return: CLI_OK, also where the stream failed: of that the end of the program tells;
 * CLI_FAILED, having said that memory is short.
 */
int cli_json_print(json_t *json, size_t flags);

#endif
