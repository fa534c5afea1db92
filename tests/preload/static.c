/* SPDX-License-Identifier: MIT */
/* static.c - a program that no preload reaches */
#include <stdio.h>

int main(void)
{
	puts("static");
	return 0;
}
