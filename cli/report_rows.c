/* SPDX-License-Identifier: MIT */
/*
 * report_rows.c - one row per boot, for many logs
 *
 * Places are fixed, since the widest row is not known while rows still come.
 * Hundreds of thousands are written, so no format is parsed for each.
 */
#include <stdio.h>
#include <string.h>

#include "cli/report.h"
#include "cli/report_rows.h"

enum hd_verdict_code report_rows_verdict(const struct ktables_survey *survey)
{
	if (survey->worst != HD_OK)
		return survey->worst;
	for (uint32_t r = 0; r < survey->rows; r++)
		if (!survey->row[r].judgement.count)
			return HD_OK;
	return HD_V_UNKNOWN;
}

static const struct ktables_row *row_of(const struct ktables_survey *survey, enum hd_table_id id)
{
	for (uint32_t r = 0; r < survey->rows; r++)
		if (survey->row[r].id == id)
			return &survey->row[r];
	return NULL;
}

/** A row that grows. */
struct line {
	char text[1024];
	size_t len;
};

static void put(struct line *line, const char *text)
{
	size_t n = strlen(text);

	if (n > sizeof(line->text) - line->len - 2)
		n = sizeof(line->text) - line->len - 2;
	memcpy(line->text + line->len, text, n);
	line->len += n;
}

static void put_number(struct line *line, uint64_t n)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	put(line, digits + at);
}

/** Blanks until the column after @start and @width; always at least one. */
static void pad(struct line *line, size_t start, size_t width)
{
	size_t want = start + width, most = sizeof(line->text) - 2;

	if (want <= line->len)
		want = line->len + 1;
	if (want > most)
		want = line->len < most ? most : line->len + 1;
	memset(line->text + line->len, ' ', want - line->len);
	line->len = want;
}

static const struct {
	const char *name;
	uint8_t width;
} places[] = { { "LOG", 36 },   { "LINE", 9 },     { "KERNEL", 30 },
	       { "NODES", 6 },  { "HASHDIST", 9 }, { "DENTRY", 27 },
	       { "INODE", 27 }, { "TABLES", 7 },   { "VERDICT", 0 } };
enum { PLACE_KERNEL = 2, PLACES = sizeof(places) / sizeof(places[0]) };

void report_rows_head(void)
{
	struct line line = { .len = 0 };

	for (int p = 0; p < PLACES; p++) {
		size_t start = line.len;

		put(&line, places[p].name);
		if (places[p].width)
			pad(&line, start, places[p].width);
	}
	puts((line.text[line.len] = '\0', line.text));
}

static void put_table(struct line *line, const struct ktables_survey *survey, enum hd_table_id id)
{
	const struct ktables_row *row = row_of(survey, id);

	if (!row || !row->entries) {
		put(line, "?");
		return;
	}
	put_number(line, row->entries);
	put(line, " ");
	put(line, row->mapping == HD_MAP_UNKNOWN ? "?" : hd_mapping_name(row->mapping));
}

static void put_place(struct line *line, int place, const struct klog_boot *boot,
		      const struct ktables_survey *survey)
{
	const struct ktables_facts *facts = &survey->facts;

	switch (place) {
	case 2:
		put(line, boot->version[0] ? boot->version : "?");
		break;
	case 3:
		if (facts->has_nodes)
			put_number(line, facts->machine.facts.memory_nodes);
		else
			put(line, "?");
		break;
	case 4:
		put(line, !facts->has_nodes || !facts->has_version ? "?"
			  : facts->machine.hashdist                ? "on"
								   : "off");
		break;
	case 5:
		put_table(line, survey, HD_TABLE_DENTRY);
		break;
	case 6:
		put_table(line, survey, HD_TABLE_INODE);
		break;
	case 7:
		put_number(line, survey->rows);
		break;
	default:
		put(line, hd_verdict_name(report_rows_verdict(survey)));
		break;
	}
}

size_t report_rows_format(const struct klog_boot *boot, const struct ktables_survey *survey,
			  char *out)
{
	struct line line;

	line.len = 0;
	for (int p = PLACE_KERNEL; p < PLACES; p++) {
		size_t start = line.len;

		put_place(&line, p, boot, survey);
		if (places[p].width)
			pad(&line, start, places[p].width);
	}
	line.text[line.len++] = '\n';
	memcpy(out, line.text, line.len);
	return line.len;
}

void report_rows_print(const char *file, uint64_t number, const char *rest, size_t len)
{
	struct line line;
	size_t start;

	line.len = 0;
	put(&line, file);
	pad(&line, 0, places[0].width);
	start = line.len;
	put_number(&line, number);
	pad(&line, start, places[1].width);
	if (len > sizeof(line.text) - line.len) {
		fwrite(line.text, 1, line.len, stdout);
		line.len = 0;
	}
	memcpy(line.text + line.len, rest, len);
	fwrite(line.text, 1, line.len + len, stdout);
}
