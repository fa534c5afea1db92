/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - addresses by name, from the text of /proc/kallsyms
 */
#ifndef GITDIFF_SYMBOLS_H
#define GITDIFF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/**
 * symbols_find() - the first symbol of that name that is the kernel's own, not a module's
 *
 * Return: its address; 0 if there is none, or if the reader of the text was not shown any.
 */
uint64_t symbols_find(const char *text, size_t bytes, const char *name);

#endif
