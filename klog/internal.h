/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of klog/ share
 *
 * Bytes travel one way:
 *
 *   source.c    reads them from a file, the kernel's ring or the journal
 *   line.c      cuts them into lines and passes by what cannot matter (scan.h)
 *   prefix.c    takes off what stands in front of a message
 *   unwrap.c    joins what was wrapped
 *   message.c   finds the message, or several, in a line
 *   words.c     tells by its first words what a message is
 *   tables.c    reads the figures of a table line, facts.c and facts_*.c those of all others
 *   boots.c     decides to which boot they belong
 *   arch.c      guesses the architecture when the boot is complete
 *   edge.c      says where a file can be cut in front of all that
 *
 * Text is never terminated here: it runs from @text to @end, and nothing may be read
 * at or beyond @end.
 */
#ifndef HASHDIST_KLOG_INTERNAL_H
#define HASHDIST_KLOG_INTERNAL_H

#include <string.h>

#include "klog/klog.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/** What a message is, told by its first words. */
enum word {
	W_NONE,
	W_TABLE, /* "<name> hash table entries"; struct line.name says which */
	W_HEAD,  /* the first words of a table line and no more: its rest may come wrapped */
	W_BANNER,
	W_CMDLINE,
	W_KERNEL_CMDLINE,
	W_REFUSED,
	W_BOOT_START, /* printed before the banner, or right after it */
	W_BOOTING_ARM64,
	W_E820_MAP,
	W_E820,
	W_ZONELISTS,
	W_MEMORY,
	W_PERCPU,
	W_ALLOWING,
	W_ALLOWING_SUM,
	W_SETUP_PERCPU,
	W_SLUB,
	W_RCU, /* for words.c alone: "rcu: ", behind which W_RCU_CPUS may come */
	W_RCU_CPUS,
	W_BROUGHT_UP,
	W_NODE_RANGE,
	W_NODE_MAP,
	W_NODE_PFNS,
	W_NODE_TOTAL,
	W_INITMEM,
	W_MEMORYLESS,
	W_NO_START_PFN,
	W_HIGHMEM_ZONE,
	W_DMA32_ZONE,
	W_MEMMAP,
	W_LOWMEM,
	W_HASH_MMU,
	W_ARM_CPU,
	W_AARCH64_CPU,
	W_TOP_OF_RAM,
	W_MIPS_CPU,
	W_PROMLIB,
	W_RISCV,
	W_S390_HOST,
	W_PARISC_PAGES,
	W_SMP_TOTAL,
	W_FAKING_NODE,
	W_NO_NUMA,
	W_CRASHKERNEL,
	W_RESERVING,
	W_SWIOTLB,
	W_KFENCE,
	W_CMA,
	W_HYPERVISOR,
	W_PARAVIRT,
	W_NOISE, /* known, and of no interest */
};

/** What a reader of figures made of a line. */
enum taken {
	TAKEN,
	MORE, /* ends too early; nothing was stored */
	BAD,  /* not what its first words promised; nothing was stored */
};

enum { KLOG_LAZY = -2 };

/** One logical line, prefix taken off. */
struct line {
	const char *raw;  /* with prefix */
	const char *text; /* the message */
	const char *end;
	const char *stamp;   /* digits of the kernel's time, NULL if there is none */
	const char *name;    /* W_TABLE: the table's name */
	const char *figures; /* W_TABLE: behind "hash table entries"; else behind the words */
	uint32_t name_len;
	bool stamped; /* has a time, a level, a caller or a host: it starts a record */
	bool quoted;
	bool joined;   /* made from several lines */
	bool coloured; /* escape sequences were taken out */
	int64_t us;    /* the kernel's time, -1 unknown, KLOG_LAZY: read it from @stamp */
	uint8_t word;  /* enum word */
	uint8_t known; /* W_TABLE: 1 + enum hd_table_id; 0: not looked up yet */
};

/** Text kept while its rest is waited for. */
struct pending {
	char text[KLOG_LINE_MAX + 1];
	uint32_t len;     /* 0: nothing is pending */
	uint32_t message; /* where the message starts */
	uint32_t name, name_len, figures;
	int64_t us;
	int32_t stamp;  /* where the kernel's time stands, -1 nowhere */
	uint32_t width; /* of the last physical line */
	uint64_t number;
	uint8_t word;
	uint8_t lines;
	bool stamped, quoted, coloured;
};

/** One beginning of a message, ready to compare with. */
struct klog_word {
	uint64_t head, mask; /* its first eight bytes, and which of them count */
	const char *text;
	uint8_t len, what, name, known;
	uint8_t next; /* the next one with the same hash, 0: none */
	bool coloured;
};

enum {
	KLOG_WORDS = 128,
	KLOG_WORD_BITS = 12,
};

/** All of them: words.c. */
struct klog_words {
	uint8_t first[1 << KLOG_WORD_BITS]; /* by klog__word_hash(); 0: none */
	uint8_t noise;                      /* from here on they are of no interest */
	struct klog_word word[KLOG_WORDS];
};

struct klog {
	struct klog_sink sink;
	struct klog_stats stats;
	bool finished; /* stats are those of a stream that has ended */

	/* line.c, unwrap.c, message.c */
	uint64_t number; /* of the logical line in work */
	bool parting;    /* a line has begun whose end has not come yet */
	bool cutting;    /* the rest of an overlong line is being skipped */
	uint32_t part_len;
	uint32_t raw_len; /* quoted-printable line being joined */
	uint64_t raw_number;
	const char *next, *next_end; /* the line behind the one in work, NULL: not there yet */
	char head[64];               /* what stood before the time in the last syslog prefix */
	uint32_t head_len;
	struct pending pend;
	char part[KLOG_LINE_MAX + 1];
	char raw[KLOG_LINE_MAX + 1];
	char clean[KLOG_LINE_MAX + 1];

	/* boots.c */
	bool open; /* the boot below has something in it */
	bool ring_wrapped;
	uint64_t banner_number; /* line of the last banner */
	int64_t banner_us;
	int64_t last_us; /* time of the last line that counted, -1 unknown, KLOG_LAZY: */
	char last_stamp[16];
	uint64_t table_stamp[KLOG_TABLES_MAX]; /* digest of a table's prefix, 0: it had no stamp */
	uint64_t seen;                         /* digest bits of names: no bit, no such name */
	uint64_t high_nodes;                   /* ids from KLOG_NODES_MAX up: the last one */

	/* facts.c */
	uint64_t node_map_number; /* line of the last "early_node_map" or of a range under it */
	bool node_pfns;           /* node_bytes count page frames as 4096 bytes */
	struct klog_boot boot;

	struct klog_words words;
};

/* line.c */
void klog__whole(struct klog *log, const char *s, const char *e, uint64_t number);
void klog__end_of_text(struct klog *log);

/* prefix.c, see prefix.h */
int64_t klog__us(const struct line *line);
uint64_t klog__digest(const struct line *line);

/* unwrap.c */
void klog__hold(struct klog *log, const struct line *line);
void klog__flush(struct klog *log);
/* Try to join @line to the pending one. Return: whether it is used up. */
bool klog__join(struct klog *log, struct line *line);
/* @line ends too early: read it as it is if no rest can follow, else keep it. */
void klog__hold_or_settle(struct klog *log, struct line *line);
const char *klog__soft_spaces(const char *s, const char *e);
bool klog__soft_end(struct klog *log, const char *s, const char *e);
void klog__raw_flush(struct klog *log);

/* message.c: @depth counts the messages found in one line */
void klog__message(struct klog *log, struct line *line, int depth);
void klog__logical(struct klog *log, const char *raw, const char *s, const char *e, bool coloured,
		   int depth);
bool klog__hidden(const struct line *line);
void klog__scrub(struct klog *log, const char *p, const char *e, int depth);
void klog__damaged(struct klog *log, const struct line *line);

/* words.c */
void klog__words_init(struct klog_words *words);
enum word klog__word(const struct klog_words *words, struct line *line);
bool klog__table_anchor(struct line *line);
bool klog__name_head(const char *text, const char *end);

/* tables.c: @rest: behind what was understood */
enum taken klog__table(struct klog *log, struct line *line, bool last, const char **rest);
/* How far the grammar of a table line goes with @line; stores nothing. */
enum taken klog__table_try(const struct line *line, const char **stop);

/* facts.c */
enum taken klog__fact(struct klog *log, struct line *line, bool last);
void klog__fact_reset(struct klog *log);
void klog__fact_close(struct klog *log);

/* boots.c */
void klog__boot_line(struct klog *log, const struct line *line);
bool klog__boot_banner(struct klog *log, const struct line *line);
bool klog__boot_table(struct klog *log, const struct line *line, const struct klog_table *table);
void klog__boot_reset(struct klog *log);
void klog__boot_close(struct klog *log);
void klog__boot_touch(struct klog *log);

/* arch.c */
enum hd_arch klog__arch(const struct klog_boot *boot);

/* ---- small readers ------------------------------------------------------------ */

static inline bool klog__is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline bool klog__is_hex(char c)
{
	return klog__is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}

static inline bool klog__is_alpha(char c)
{
	return (unsigned char)((c | 0x20) - 'a') < 26;
}

static inline bool klog__is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline const char *klog__blanks(const char *p, const char *end)
{
	while (p < end && klog__is_blank(*p))
		p++;
	return p;
}

static inline uint64_t klog__load8(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/** Of the first four bytes of a message. */
static inline unsigned klog__word_hash(const char *p)
{
	uint32_t four;

	memcpy(&four, p, sizeof(four));
	return four * 0x9e3779b1u >> (32 - KLOG_WORD_BITS);
}

/** May a word of interest stand at @p, where eight bytes can be read? False alarms allowed. */
static inline bool klog__may_be_word(const struct klog_words *words, const char *p)
{
	unsigned i = words->first[klog__word_hash(p)];

	return (i && i < words->noise) || klog__is_digit(*p);
}

/** Digits one by one, from @value on. Return: behind them. */
static inline const char *klog__digits(const char *p, const char *end, uint64_t *value)
{
	while (p < end && klog__is_digit(*p))
		*value = *value * 10 + (uint64_t)(*p++ - '0');
	return p;
}

/** Return: behind the digits; @p itself when there are none or the number has over 19 digits. */
static inline const char *klog__number(const char *p, const char *end, uint64_t *out)
{
	const char *start = p;

	*out = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* eight bytes at once, however many of them are digits: no branch depends on it */
	if (likely(end - p >= 8)) {
		uint64_t x = klog__load8(p) ^ 0x3030303030303030u;
		uint64_t other = ((x + 0x7676767676767676u) | x) & 0x8080808080808080u;
		unsigned n = other ? (unsigned)__builtin_ctzll(other) >> 3 : 8;

		if (n == 0)
			return p;
		x <<= 64 - 8 * n;
		x = x * 10 + (x >> 8);
		x = ((x & 0x000000ff000000ffu) * 0x000f424000000064u +
		     ((x >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
		    32;
		*out = x;
		p += n;
		if (likely(n < 8))
			return p;
	}
#endif
	p = klog__digits(p, end, out);
	return p - start > 19 ? start : p;
}

/** Are @len bytes equal? With a constant @len a few wide compares and no call. */
static inline __attribute__((always_inline)) bool klog__same(const char *p, const char *word,
							     size_t len)
{
	size_t i = 0;

	if (len < 4)
		return memcmp(p, word, len) == 0;
	if (len < 8) {
		uint32_t a, b, c, d;

		memcpy(&a, p, 4);
		memcpy(&b, word, 4);
		memcpy(&c, p + len - 4, 4);
		memcpy(&d, word + len - 4, 4);
		return a == b && c == d;
	}
	for (; i + 8 <= len; i += 8)
		if (klog__load8(p + i) != klog__load8(word + i))
			return false;
	return klog__load8(p + len - 8) == klog__load8(word + len - 8);
}

static inline __attribute__((always_inline)) bool klog__starts(const char *p, const char *end,
							       const char *word, size_t len)
{
	return (size_t)(end - p) >= len && klog__same(p, word, len);
}
#define STARTS(p, end, literal) klog__starts(p, end, literal, sizeof(literal) - 1)

/** memmem() with a literal. Return: behind it, or NULL. */
static inline const char *klog__find(const char *p, const char *end, const char *word, size_t len)
{
	const char *hit = p < end ? memmem(p, (size_t)(end - p), word, len) : NULL;

	return hit ? hit + len : NULL;
}
#define AFTER(p, end, literal) klog__find(p, end, literal, sizeof(literal) - 1)

#endif
