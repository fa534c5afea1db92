/* SPDX-License-Identifier: MIT */
/*
 * wrap.h - long sentences in lines
 */
#ifndef HASHDIST_CLI_WRAP_H
#define HASHDIST_CLI_WRAP_H

#include <stddef.h>

/**
 * cli_wrap() - how much of @text goes into a line of @width bytes
 *
 * Up to a blank where there is one; the caller skips the blanks that follow.
 * Return: bytes, 0 only of an empty text; more than @width if one word is.
 */
size_t cli_wrap(const char *text, size_t width);

#endif
