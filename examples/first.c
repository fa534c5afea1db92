/* SPDX-License-Identifier: MIT */
/* first.c - one table, and what came of it */
#include <stdio.h>
#include <string.h>
#include <hashdist/hashdist.h>

int main(void)
{
	void *table;
	struct hd_got got;
	char text[256];
	int error = hd_alloc((size_t)64 << 20, NULL, &table, &got); /* zeroed, populated, placed */

	hd_got_text(&got, text, sizeof(text));
	if (error) {
		fprintf(stderr, "table: %s: %s\n", strerror(-error), text);
		return 1;
	}
	printf("table: %s\n", text);
	memset(table, 1, got.bytes); /* 64 MiB, and was zero */
	return hd_free(table) ? 1 : 0;
}
