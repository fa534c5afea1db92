/* SPDX-License-Identifier: MIT */
/* json.h - a JSON document onto standard output */
#ifndef HASHDIST_CLI_JSON_H
#define HASHDIST_CLI_JSON_H

#include <jansson.h>

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
