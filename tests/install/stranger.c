/* SPDX-License-Identifier: MIT */
/*
 * stranger.c - a program that knows of libhashdist only what is installed
 */
#include <hashdist/hashdist.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
	const size_t bytes = (size_t)4 << 20;
	struct hd_want want;
	struct hd_got got;
	void *table;
	char text[256];

	snprintf(text, sizeof(text), "%d.%d.%d", HASHDIST_VERSION_MAJOR, HASHDIST_VERSION_MINOR,
		 HASHDIST_VERSION_PATCH);
	if (strcmp(hd_library_version(), text)) {
		fprintf(stderr, "header %s, library %s\n", text, hd_library_version());
		return 1;
	}
	memset(&want, 0, sizeof(want));
	want.nodes = HD_NODES_ONE;
	if (hd_alloc(bytes, &want, &table, &got)) {
		hd_got_text(&got, text, sizeof(text));
		fprintf(stderr, "hd_alloc: %s\n", text);
		return 1;
	}
	memset(table, 1, bytes);
	if (hd_read_got(table, &got) || got.bytes < bytes || got.populated != got.bytes)
		return 1;
	hd_got_text(&got, text, sizeof(text));
	puts(text);
	return hd_free(table) ? 1 : 0;
}
