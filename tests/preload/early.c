/* SPDX-License-Identifier: MIT */
/* early.c - a library that wants a large block while it is initialized */
#include <stdlib.h>
#include <string.h>

extern char *early_block;
char *early_block;

/* The C library gives constructors the arguments of main(). */
__attribute__((constructor)) static void initialized(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "early"))
		early_block = malloc((size_t)32 << 20);
}
