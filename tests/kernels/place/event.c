/* SPDX-License-Identifier: MIT */
/*
 * event.c - what is printed: one event as JSON, with what the library and the kernel say
 */
#include <sys/resource.h>

#include "tests/kernels/place/place.h"

static void print_text(const char *key, const char *text)
{
	printf("\"%s\":\"", key);
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	printf("\"");
}

static void print_nodes(const char *key, const uint64_t *bytes)
{
	const char *comma = "";

	printf("\"%s\":{", key);
	for (int node = 0; node < NODES; node++) {
		if (!bytes[node])
			continue;
		printf("%s\"%d\":%" PRIu64, comma, node, bytes[node]);
		comma = ",";
	}
	printf("}");
}

static void print_got(const char *key, const struct hd_got *got)
{
	printf(",\"%s\":{\"bytes\":%" PRIu64 ",\"entries\":%" PRIu64 ",\"populated\":%" PRIu64
	       ",\"unit\":%" PRIu64 ",\"pages\":{",
	       key, got->bytes, got->entries, got->populated, got->unit);
	for (uint32_t i = 0; i < got->page_sizes; i++)
		printf("%s\"%" PRIu64 "\":%" PRIu64, i ? "," : "", got->page[i].page_bytes,
		       got->page[i].bytes);
	printf("},\"nodes\":{");
	for (uint32_t i = 0; i < got->nodes; i++)
		printf("%s\"%u\":%" PRIu64, i ? "," : "", got->node[i].node, got->node[i].bytes);
	printf("},\"aimed\":[");
	for (uint32_t i = 0, some = 0; i < got->nodes; i++)
		if (got->node[i].aimed)
			printf("%s%u", some++ ? "," : "", got->node[i].node);
	printf("],\"pages_unknown\":%" PRIu64 ",\"nodes_unknown\":%" PRIu64
	       ",\"spread\":%u,\"halvings\":%u,\"collapsed\":%u,\"moved\":%u,\"locked\":%u,",
	       got->pages_unknown, got->nodes_unknown, got->spread, got->halvings, got->collapsed,
	       got->moved, got->locked);
	print_text("pages_why", hd_why_name(got->pages_why));
	printf(",");
	print_text("nodes_why", hd_why_name(got->nodes_why));
	printf(",\"why_node\":%u,", got->why_node);
	print_text("step", hd_step_name(got->step));
	printf(",\"error\":%d}", got->error);
}

static void print_books(void)
{
	struct books books;

	books_read(&books);
	printf(",\"books\":{\"rss\":%" PRIu64 ",\"huge\":%" PRIu64 ",\"hugetlb\":%" PRIu64
	       ",\"maps\":%" PRIu64 ",\"outside\":%" PRIu64 ",\"present\":%" PRIu64
	       ",\"frame_huge\":%" PRIu64 ",\"frame_lost\":%" PRIu64 ",\"unanswered\":%" PRIu64
	       ",\"answer\":%d,",
	       books.rss, books.huge, books.hugetlb, books.maps, books.outside, books.present,
	       books.frame_huge, books.frame_lost, books.unanswered, books.answer);
	print_text("flags", books.flags);
	printf(",");
	print_nodes("numa_maps", books.numa);
	printf(",");
	print_nodes("frames", books.frame_node);
	printf(",");
	print_nodes("move_pages", books.asked);
	printf("}");
}

/* ---- contents ------------------------------------------------------------------------ */

uint64_t pattern(uint64_t word)
{
	return (word + 1) * 0x9e3779b97f4a7c15ULL;
}

int64_t wrong_at(const char *start, uint64_t bytes, uint64_t written)
{
	const uint64_t *word = (const uint64_t *)start;

	for (uint64_t i = 0; i < bytes / sizeof(*word); i++)
		if (word[i] != (i < written / sizeof(*word) ? pattern(i) : 0))
			return (int64_t)(i * sizeof(*word));
	return -1;
}

uint64_t faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

void begin_event(const char *word, int rc)
{
	static bool some; /* was printed */

	printf("%s\n{", some ? "," : "");
	some = true;
	print_text("do", word);
	printf(",\"rc\":%d", rc);
}

void end_event(void)
{
	printf("}");
	fflush(stdout);
}

void event(const char *word, int rc, const struct hd_got *got, uint64_t asked)
{
	struct hd_got read;
	char text[512];

	begin_event(word, rc);
	printf(",\"asked\":%" PRIu64, asked);
	if (now.start)
		print_books();
	print_got("got", got);
	printf(",\"text_length\":%d,", hd_got_text(got, text, sizeof(text)));
	print_text("text", text);
	if (now.start) {
		uint64_t before;

		if (!hd_read_got(now.start, &read))
			print_got("read", &read);
		before = faults();
		printf(",\"wrong_at\":%" PRId64, wrong_at(now.start, now.bytes, now.written));
		printf(",\"late_faults\":%" PRIu64, faults() - before);
		printf(",\"aligned\":%d", __builtin_ctzll((uintptr_t)now.start | 1ULL << 62));
	}
	end_event();
}
