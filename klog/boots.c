/* SPDX-License-Identifier: MIT */
/*
 * boots.c - where one boot ends and the next begins
 *
 * Logs hold one boot, a part of one, or many. A boot begins
 *
 *   at its banner, "Linux version ...", unless that is the banner printed once more;
 *   at a line that early boots print when the clock has fallen back to zero;
 *   when its first table, or the dentry table, comes again and is not the same line.
 *
 * The same table line with the same prefix is a console that replays its buffer: one
 * table. Two boots of one machine that a filter has robbed of everything but lines
 * stamped 0.000000 cannot be told apart from that, and are not.
 */
#include "internal.h"

enum {
	REPLAY_LINES = 100,  /* a banner this near and nothing in between is the same */
	NEAR_ZERO = 500000,  /* microseconds: a clock that has just started */
	FALLS_BACK = 300000, /* and by this much it must have fallen */
};

void klog__boot_reset(struct klog *log)
{
	log->open = false;
	log->seen = 0;
	log->last_us = log->banner_us = -1;
	log->banner_number = 0;
}

void klog__boot_touch(struct klog *log)
{
	if (likely(log->open))
		return;
	log->open = true;
	log->boot.first_line = log->number;
}

void klog__boot_close(struct klog *log)
{
	if (log->open && (log->boot.head_seen || log->boot.tables)) {
		klog__fact_close(log);
		log->boot.ring_wrapped = log->ring_wrapped && log->stats.boots == 0;
		log->stats.boots++;
		if (log->sink.boot)
			log->sink.boot(log->sink.ctx, &log->boot);
	}
	klog__fact_reset(log);
	klog__boot_reset(log);
}

/** Remember the time of a line that counted, unread if it is unread yet. */
static inline void clock_at(struct klog *log, const struct line *line)
{
	if (likely(line->us == KLOG_LAZY && line->end - line->stamp >= 16)) {
		memcpy(log->last_stamp, line->stamp, sizeof(log->last_stamp));
		log->last_us = KLOG_LAZY;
	} else {
		int64_t us = klog__us(line);

		if (us >= 0)
			log->last_us = us;
	}
}

static int64_t clock_was(struct klog *log)
{
	struct line line = { .stamp = log->last_stamp,
			     .end = log->last_stamp + sizeof(log->last_stamp),
			     .us = log->last_us };

	return log->last_us = klog__us(&line);
}

/** Has the clock been set back to about zero at @us? */
static bool restarted(struct klog *log, int64_t us)
{
	return us >= 0 && us < NEAR_ZERO && clock_was(log) > us + FALLS_BACK;
}

/** A line that an early boot prints: does it belong to another boot than the open one? */
void klog__boot_line(struct klog *log, const struct line *line)
{
	int64_t us = klog__us(line);
	const struct klog_boot *boot = &log->boot;

	if (log->open) {
		bool early = line->word == W_BOOTING_ARM64 || line->word == W_BOOT_START;

		if (restarted(log, us) || (early && boot->head_seen && boot->tables))
			klog__boot_close(log);
	}
	clock_at(log, line);
	klog__boot_touch(log);
}

/** A banner. Return: false when it is the open boot's, printed once more. */
bool klog__boot_banner(struct klog *log, const struct line *line)
{
	const struct klog_boot *boot = &log->boot;
	int64_t us = klog__us(line);
	size_t len = (size_t)(line->end - line->text);

	if (log->open && boot->head_seen) {
		size_t had = strlen(boot->banner);

		if (len >= sizeof(boot->banner))
			len = sizeof(boot->banner) - 1;
		if (!boot->tables && had == len && memcmp(boot->banner, line->text, len) == 0 &&
		    log->number - log->banner_number <= REPLAY_LINES &&
		    (us < 0 || log->banner_us < 0 || us == log->banner_us))
			return false;
		klog__boot_close(log);
	} else if (log->open && (boot->tables || (boot->has && restarted(log, us)))) {
		klog__boot_close(log);
	}
	klog__boot_touch(log);
	log->banner_number = log->number;
	log->banner_us = us;
	clock_at(log, line);
	return true;
}

static bool same_figures(const struct klog_table *a, const struct klog_table *b)
{
	return a->entries == b->entries && a->bytes == b->bytes && a->order == b->order &&
	       a->nodes == b->nodes && a->mapping == b->mapping;
}

/** The open boot has a table of this name. Return: whether @table is to be kept. */
static bool again(struct klog *log, uint32_t had, uint64_t digest, const struct line *line,
		  const struct klog_table *table)
{
	const struct klog_boot *boot = &log->boot;
	bool same = same_figures(&boot->table[had], table);

	if (same && (digest ? digest == log->table_stamp[had] : had + 1 == boot->tables))
		return false;
	if (had == 0 || strcmp(table->name, "Dentry cache") == 0 ||
	    restarted(log, klog__us(line))) {
		struct klog_table kept = *table;

		klog__boot_close(log);
		log->boot.table[0] = kept;
	}
	return true;
}

/** A table line, whose figures are in @table. Return: false when it is a replay. */
bool klog__boot_table(struct klog *log, const struct line *line, const struct klog_table *table)
{
	struct klog_boot *boot = &log->boot;
	uint64_t digest = klog__digest(line);
	/* a bit for each table of the catalogue; other names share what is left */
	unsigned other =
	    HD_TABLE_COUNT +
	    (line->name_len * 5u + (unsigned char)line->name[0] * 3u) % (64 - HD_TABLE_COUNT);
	uint64_t bit = 1ull << (table->id < HD_TABLE_COUNT ? table->id : other);

	if (unlikely(log->seen & bit)) {
		uint32_t i = boot->tables;

		while (i > 0 && strcmp(boot->table[i - 1].name, table->name) != 0)
			i--;
		if (i > 0 && !again(log, i - 1, digest, line, table))
			return false;
	}
	klog__boot_touch(log);
	clock_at(log, line);
	log->seen |= bit;
	if (unlikely(boot->tables == KLOG_TABLES_MAX)) {
		boot->tables_dropped++;
		return true;
	}
	log->table_stamp[boot->tables++] = digest;
	return true;
}

/* ---- copies -------------------------------------------------------------------------- */

static void copy_text(char *to, const char *from)
{
	memcpy(to, from, strlen(from) + 1);
}

void klog_boot_copy(struct klog_boot *to, const struct klog_boot *from)
{
	memcpy(to, from, offsetof(struct klog_boot, version));
	copy_text(to->version, from->version);
	copy_text(to->banner, from->banner);
	copy_text(to->refused, from->refused);
	copy_text(to->cmdline, from->cmdline);
	memcpy(to->node_bytes, from->node_bytes, from->node_max * sizeof(*from->node_bytes));
	memcpy(to->node_pages, from->node_pages, from->node_max * sizeof(*from->node_pages));
	memcpy(to->initmem_node, from->initmem_node, from->node_max);
	memcpy(to->table, from->table, from->tables * sizeof(*from->table));
}
