/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - see quiet.h
 *
 * The streams are replaced, not their descriptors: reports of the sanitizers and of libFuzzer,
 * which hold on to descriptor 2, stay readable.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/bundle.h"
#include "fuzz/quiet.h"

static FILE *null, *out, *err;
static char *said;
static size_t said_len;

void quiet_begin(void)
{
	if (!null)
		null = fopen("/dev/null", "w");
	out = stdout;
	err = stderr;
	stdout = null;
	stderr = open_memstream(&said, &said_len);
	CHECK(stdout && stderr);
}

char *quiet_end(size_t *len)
{
	CHECK(!fclose(stderr));
	fflush(stdout);
	stdout = out;
	stderr = err;
	*len = said_len;
	return said;
}
