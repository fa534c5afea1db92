/* SPDX-License-Identifier: MIT */
/*
 * seven.c - a program that does nothing, and ends with status 7
 *
 *   seven [MS]     lasts so many milliseconds
 *
 * What run and measure start in the tests of faults: its status tells that it ran. Linked
 * statically it makes few system calls, so few faults meant for the tool hit it.
 */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 1)
		usleep((useconds_t)atoi(argv[1]) * 1000);
	return 7;
}
