/* SPDX-License-Identifier: MIT */
/*
 * seven.c - a program that does nothing, and ends with status 7
 *
 * What run and measure start in the tests of faults: its status tells that it ran. It
 * is linked statically: it makes few system calls, so few faults meant for the tool hit it.
 */
int main(void)
{
	return 7;
}
