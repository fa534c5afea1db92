/* SPDX-License-Identifier: MIT */
/*
 * tables.c - the catalogue of the tables the kernel allocates this way
 *
 * infos[]  what stays: names, the boot parameter, what fills it
 * specs[]  what changed over the years: bucket, scale, limits, when; one row per
 *          form of a table, with the versions it held for
 *
 * Buckets are given as a layout, not as a number, because locks grow with
 * debugging options and pointers with the word size.
 *
 * Source: the callers of alloc_large_system_hash(), Linux 2.6.11 to 7.1:
 * fs/dcache.c, fs/inode.c, fs/namespace.c, kernel/pid.c, kernel/futex*,
 * kernel/time/posix-timers.c, kernel/locking/qspinlock_paravirt.h,
 * lib/stackdepot.c, net/ipv4/{route,tcp,udp,inet_hashtables}.c, net/mptcp/token.c.
 */
#include "core/bits.h"
#include "core/text.h"
#include "hashdist/core.h"

#define NAME(text) text, sizeof(text) - 1

static const struct hd_table_info infos[HD_TABLE_COUNT] = {
	[HD_TABLE_PID] = { HD_TABLE_PID, "pid", NAME("PID"), HD_PARAM_NONE, "process ids", NULL,
			   true },
	[HD_TABLE_PV_QSPINLOCK] = { HD_TABLE_PV_QSPINLOCK, "pv-qspinlock", NAME("PV qspinlock"),
				    HD_PARAM_NONE, "processors waiting for a lock", NULL, true },
	[HD_TABLE_STACKDEPOT] = { HD_TABLE_STACKDEPOT, "stackdepot", NAME("stackdepot"),
				  HD_PARAM_NONE, "stack traces of debugging aids", NULL, true },
	[HD_TABLE_DENTRY] = { HD_TABLE_DENTRY, "dentry", NAME("Dentry cache"),
			      HD_PARAM_DHASH_ENTRIES, "cached path components",
			      "/proc/sys/fs/dentry-state", true },
	[HD_TABLE_INODE] = { HD_TABLE_INODE, "inode", NAME("Inode-cache"), HD_PARAM_IHASH_ENTRIES,
			     "cached inodes", "/proc/sys/fs/inode-state", true },
	[HD_TABLE_MOUNT] = { HD_TABLE_MOUNT, "mount", NAME("Mount-cache"), HD_PARAM_MHASH_ENTRIES,
			     "mounts", "/proc/self/mountinfo", true },
	[HD_TABLE_MOUNTPOINT] = { HD_TABLE_MOUNTPOINT, "mountpoint", NAME("Mountpoint-cache"),
				  HD_PARAM_MPHASH_ENTRIES, "directories that carry a mount",
				  "/proc/self/mountinfo", true },
	[HD_TABLE_POSIXTIMERS] = { HD_TABLE_POSIXTIMERS, "posixtimers", NAME("posixtimers"),
				   HD_PARAM_NONE, "POSIX timers", "/proc/slabinfo", true },
	[HD_TABLE_FUTEX] = { HD_TABLE_FUTEX, "futex", NAME("futex"), HD_PARAM_NONE,
			     "threads waiting on a futex", NULL, true },
	[HD_TABLE_DQUOT] = { HD_TABLE_DQUOT, "dquot", NAME("Dquot-cache"), HD_PARAM_NONE,
			     "disk quotas in use", NULL, true },
	[HD_TABLE_IP_ROUTE] = { HD_TABLE_IP_ROUTE, "ip-route", NAME("IP route cache"),
				HD_PARAM_RHASH_ENTRIES, "cached routes", NULL, true },
	[HD_TABLE_IP_IDENTS] = { HD_TABLE_IP_IDENTS, "ip-idents", NAME("IP idents"), HD_PARAM_NONE,
				 "IP identification counters", NULL, false },
	[HD_TABLE_TCP_LISTEN] = { HD_TABLE_TCP_LISTEN, "tcp-listen",
				  NAME("tcp_listen_portaddr_hash"), HD_PARAM_THASH_ENTRIES,
				  "listening TCP sockets", NULL, true },
	[HD_TABLE_TABLE_PERTURB] = { HD_TABLE_TABLE_PERTURB, "table-perturb", NAME("Table-perturb"),
				     HD_PARAM_NONE, "source port offsets", NULL, false },
	[HD_TABLE_TCP_ESTABLISHED] = { HD_TABLE_TCP_ESTABLISHED, "tcp-established",
				       NAME("TCP established"), HD_PARAM_THASH_ENTRIES,
				       "TCP connections", "/proc/net/sockstat", true },
	[HD_TABLE_TCP_BIND] = { HD_TABLE_TCP_BIND, "tcp-bind", NAME("TCP bind"),
				HD_PARAM_THASH_ENTRIES, "bound TCP ports", "/proc/slabinfo", true },
	[HD_TABLE_MPTCP_TOKEN] = { HD_TABLE_MPTCP_TOKEN, "mptcp-token", NAME("MPTCP token"),
				   HD_PARAM_NONE, "multipath TCP connections",
				   "/proc/net/protocols", true },
	[HD_TABLE_UDP] = { HD_TABLE_UDP, "udp", NAME("UDP"), HD_PARAM_UHASH_ENTRIES, "UDP sockets",
			   "/proc/net/sockstat", true },
	[HD_TABLE_UDP_LITE] = { HD_TABLE_UDP_LITE, "udp-lite", NAME("UDP-Lite"),
				HD_PARAM_UHASH_ENTRIES, "UDP-Lite sockets", "/proc/net/sockstat",
				true },
};

const struct hd_table_info *hd_table_info(enum hd_table_id id)
{
	return id < HD_TABLE_COUNT ? &infos[id] : NULL;
}

/** Spellings of kernels 2.4 to 2.6, and what wraps a name. */
static const struct {
	const char *name;
	enum hd_table_id id;
} old_names[] = {
	{ "Dentry-cache", HD_TABLE_DENTRY }, { "Inode cache", HD_TABLE_INODE },
	{ "Mount cache", HD_TABLE_MOUNT },   { "VFS: Dquot-cache", HD_TABLE_DQUOT },
	{ "Dquot cache", HD_TABLE_DQUOT },
};

enum hd_table_id hd_table_by_name(const char *name, size_t len)
{
	if (!len)
		return HD_TABLE_COUNT;
	for (int id = 0; id < HD_TABLE_COUNT; id++)
		if (infos[id].name_len == len && infos[id].name[0] == name[0] &&
		    text_is(name, len, infos[id].name))
			return id;
	for (size_t i = 0; i < sizeof(old_names) / sizeof(old_names[0]); i++)
		if (text_is(name, len, old_names[i].name))
			return old_names[i].id;
	return HD_TABLE_COUNT;
}

/* ---- buckets ------------------------------------------------------------------------ */

/** Layout of a bucket: 'l' spinlock, 'i' 32-bit number, 'p' pointer. */
struct layout {
	const char *fields;
	uint8_t copies;      /* how many of them make a bucket */
	bool pair_aligned;   /* each copy to two pointers */
	bool line_aligned;   /* to a cache line, where there is one */
	uint8_t extra_pairs; /* UDP from 6.13: main slot's additional pair of pointers */
};

enum bucket {
	B_POINTER,
	B_TWO_POINTERS,
	B_NUMBER,
	B_EIGHT,
	B_LOCK_POINTER,
	B_TWO_LOCK_POINTERS,
	B_LOCK_NUMBER_POINTER,
	B_TOKEN,
	B_FUTEX,
	B_UDP_TWO_SLOTS,
	B_UDP_THREE_SLOTS,
	B_STACK_LIST,
};

static const struct layout layouts[] = {
	[B_POINTER] = { "p", 1, false, false, 0 },
	[B_TWO_POINTERS] = { "pp", 1, false, false, 0 },
	[B_NUMBER] = { "i", 1, false, false, 0 },
	[B_EIGHT] = { "ii", 1, false, false, 0 },
	[B_LOCK_POINTER] = { "lp", 1, false, false, 0 },
	[B_TWO_LOCK_POINTERS] = { "lp", 2, false, false, 0 },
	[B_LOCK_NUMBER_POINTER] = { "lip", 1, false, false, 0 },
	[B_TOKEN] = { "lipp", 1, false, false, 0 },
	[B_FUTEX] = { "ilpp", 1, false, true, 0 },
	[B_UDP_TWO_SLOTS] = { "pil", 2, true, false, 0 },
	[B_UDP_THREE_SLOTS] = { "pil", 3, true, false, 1 },
	[B_STACK_LIST] = { "pp", 1, false, false, 0 },
};

static uint64_t align_up(uint64_t n, uint64_t to)
{
	return to ? (n + to - 1) / to * to : n;
}

static uint64_t bucket_bytes(const struct hd_rules *rules, enum bucket bucket)
{
	const struct layout *layout = &layouts[bucket];
	uint64_t word = (uint64_t)rules->value[HD_RULE_WORD_BYTES];
	uint64_t lock = (uint64_t)rules->value[HD_RULE_SPINLOCK_BYTES];
	uint64_t at = 0, widest = 1;

	for (const char *field = layout->fields; *field; field++) {
		uint64_t size = *field == 'p' ? word : *field == 'i' ? 4 : lock;
		/* A plain lock is a 32-bit number; a debugging one holds pointers. */
		uint64_t to = *field != 'l' ? size : lock > 4 ? word : lock ? 4 : 1;

		at = align_up(at, to) + size;
		widest = to > widest ? to : widest;
	}
	at = align_up(at, layout->pair_aligned ? 2 * word : widest);
	if (layout->line_aligned)
		at = align_up(at, (uint64_t)rules->value[HD_RULE_CACHE_LINE]);
	return at * layout->copies + 2 * word * layout->extra_pairs;
}

/* ---- what each kernel asks for --------------------------------------------------------- */

/** Where the number of entries comes from. */
enum count {
	C_MEMORY,      /* derived, or the boot parameter's */
	C_FUTEX,       /* 256 per possible processor */
	C_POSIXTIMERS, /* 512 per possible processor */
	C_PV,          /* 4 per possible processor, in whole cache lines */
	C_FIXED,       /* spec.low */
	C_ESTABLISHED, /* as many as TCP established got */
};

struct spec {
	enum hd_table_id id;
	uint32_t since, until; /* until is exclusive; 0: still so */
	enum bucket bucket;
	enum count count;
	enum hd_when when;
	uint8_t scale;
	uint8_t scale_below; /* below 131072 pages of memory; 0: the same */
	uint32_t low, high;
};

#define V(major, minor, patch) HD_VERSION(major, minor, patch)

/* In the order of ids: find_spec() looks no further. */
static const struct spec specs[] = {
	{ HD_TABLE_PID, 0, V(4, 15, 0), B_POINTER, C_MEMORY, HD_WHEN_EARLY, 18, 0, 0, 4096 },
	{ HD_TABLE_PV_QSPINLOCK, V(4, 2, 0), 0, B_TWO_POINTERS, C_PV, HD_WHEN_EARLY, 0, 0, 0, 0 },
	{ HD_TABLE_STACKDEPOT, V(6, 0, 0), V(6, 8, 0), B_POINTER, C_MEMORY, HD_WHEN_EARLY, 14, 0,
	  1u << 12, 1u << 20 },
	{ HD_TABLE_STACKDEPOT, V(6, 8, 0), 0, B_STACK_LIST, C_MEMORY, HD_WHEN_EARLY, 14, 0,
	  1u << 12, 1u << 20 },
	{ HD_TABLE_DENTRY, 0, 0, B_POINTER, C_MEMORY, HD_WHEN_EARLY_UNLESS, 13, 0, 0, 0 },
	{ HD_TABLE_INODE, 0, 0, B_POINTER, C_MEMORY, HD_WHEN_EARLY_UNLESS, 14, 0, 0, 0 },
	{ HD_TABLE_MOUNT, V(3, 13, 0), 0, B_POINTER, C_MEMORY, HD_WHEN_LATE, 19, 0, 0, 0 },
	{ HD_TABLE_MOUNTPOINT, V(3, 13, 0), 0, B_POINTER, C_MEMORY, HD_WHEN_LATE, 19, 0, 0, 0 },
	{ HD_TABLE_POSIXTIMERS, V(6, 15, 0), 0, B_LOCK_POINTER, C_POSIXTIMERS, HD_WHEN_LATE, 0, 0,
	  0, 0 },
	{ HD_TABLE_FUTEX, V(3, 14, 0), V(6, 16, 0), B_FUTEX, C_FUTEX, HD_WHEN_LATE, 0, 0, 0, 0 },
	/* Without a limit in 2.6.20, with one in 2.6.32: some release between them. */
	{ HD_TABLE_IP_ROUTE, 0, V(2, 6, 30), B_POINTER, C_MEMORY, HD_WHEN_LATE, 15, 17, 0, 0 },
	{ HD_TABLE_IP_ROUTE, V(2, 6, 30), V(3, 6, 0), B_POINTER, C_MEMORY, HD_WHEN_LATE, 15, 17, 0,
	  524288 },
	{ HD_TABLE_IP_IDENTS, V(5, 13, 0), 0, B_EIGHT, C_MEMORY, HD_WHEN_LATE, 16, 0, 2048,
	  262144 },
	{ HD_TABLE_TCP_LISTEN, V(4, 16, 0), V(5, 19, 0), B_LOCK_NUMBER_POINTER, C_MEMORY,
	  HD_WHEN_LATE, 21, 0, 0, 65536 },
	{ HD_TABLE_TCP_LISTEN, V(5, 19, 0), 0, B_LOCK_POINTER, C_MEMORY, HD_WHEN_LATE, 21, 0, 0,
	  65536 },
	{ HD_TABLE_TABLE_PERTURB, V(5, 19, 0), 0, B_NUMBER, C_FIXED, HD_WHEN_LATE, 0, 0, 65536,
	  65536 },
	{ HD_TABLE_TCP_ESTABLISHED, 0, V(3, 8, 0), B_TWO_POINTERS, C_MEMORY, HD_WHEN_LATE, 13, 15,
	  0, 524288 },
	{ HD_TABLE_TCP_ESTABLISHED, V(3, 8, 0), V(3, 13, 0), B_TWO_POINTERS, C_MEMORY, HD_WHEN_LATE,
	  17, 0, 0, 524288 },
	{ HD_TABLE_TCP_ESTABLISHED, V(3, 13, 0), 0, B_POINTER, C_MEMORY, HD_WHEN_LATE, 17, 0, 0,
	  524288 },
	{ HD_TABLE_TCP_BIND, 0, V(6, 1, 0), B_LOCK_POINTER, C_ESTABLISHED, HD_WHEN_LATE, 17, 0, 0,
	  65536 },
	{ HD_TABLE_TCP_BIND, V(6, 1, 0), 0, B_TWO_LOCK_POINTERS, C_ESTABLISHED, HD_WHEN_LATE, 17, 0,
	  0, 65536 },
	{ HD_TABLE_MPTCP_TOKEN, V(5, 9, 0), 0, B_TOKEN, C_MEMORY, HD_WHEN_LATE, 20, 0, 0, 65536 },
	{ HD_TABLE_UDP, V(2, 6, 33), V(6, 13, 0), B_UDP_TWO_SLOTS, C_MEMORY, HD_WHEN_LATE, 21, 0,
	  256, 65536 },
	{ HD_TABLE_UDP, V(6, 13, 0), 0, B_UDP_THREE_SLOTS, C_MEMORY, HD_WHEN_LATE, 21, 0, 256,
	  65536 },
	{ HD_TABLE_UDP_LITE, V(2, 6, 33), V(6, 13, 0), B_UDP_TWO_SLOTS, C_MEMORY, HD_WHEN_LATE, 21,
	  0, 256, 65536 },
	{ HD_TABLE_UDP_LITE, V(6, 13, 0), V(7, 1, 0), B_UDP_THREE_SLOTS, C_MEMORY, HD_WHEN_LATE, 21,
	  0, 256, 65536 },
};

/** Tables that came to stable branches: first release of each. */
static const struct {
	enum hd_table_id id;
	uint32_t since;
} stable[] = {
	{ HD_TABLE_IP_IDENTS, V(4, 14, 235) },   { HD_TABLE_IP_IDENTS, V(4, 19, 193) },
	{ HD_TABLE_IP_IDENTS, V(5, 4, 123) },    { HD_TABLE_IP_IDENTS, V(5, 10, 41) },
	{ HD_TABLE_IP_IDENTS, V(5, 12, 8) },     { HD_TABLE_TABLE_PERTURB, V(5, 15, 48) },
	{ HD_TABLE_TABLE_PERTURB, V(5, 18, 6) },
};

static bool came_to_stable(enum hd_table_id id, uint32_t version)
{
	for (size_t i = 0; i < sizeof(stable) / sizeof(stable[0]); i++)
		if (stable[i].id == id && version >= stable[i].since &&
		    version >> 16 == stable[i].since >> 16)
			return true;
	return false;
}

static const struct spec *find_spec(enum hd_table_id id, uint32_t version)
{
	if (!version)
		version = HD_VERSION_MAX;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]) && specs[i].id <= id; i++)
		if (specs[i].id == id &&
		    (version >= specs[i].since || came_to_stable(id, version)) &&
		    (!specs[i].until || version < specs[i].until))
			return &specs[i];
	return NULL;
}

/** The count that a table which does not look at memory asks for; 0: not known. */
static uint64_t fixed_count(const struct hd_machine *machine, const struct spec *spec,
			    uint64_t bucket, uint64_t established)
{
	const struct hd_rules *rules = &machine->rules;
	uint64_t cpus = machine->facts.possible_cpus;
	bool small = rules->value[HD_RULE_BASE_SMALL];
	uint64_t page = 1ULL << rules->value[HD_RULE_PAGE_SHIFT];

	if (!cpus && !small && (spec->count == C_FUTEX || spec->count == C_POSIXTIMERS))
		return 0;
	switch (spec->count) {
	case C_FUTEX:
		return small ? 16 : power_of_two_up(256 * cpus);
	case C_POSIXTIMERS:
		return small ? 512 : power_of_two_up(512 * cpus);
	case C_PV: {
		uint64_t n =
		    align_up(4 * cpus, (uint64_t)rules->value[HD_RULE_CACHE_LINE] / bucket);

		if (!cpus)
			return 0;
		return n > page / bucket ? n : page / bucket;
	}
	case C_FIXED:
		return spec->low;
	case C_ESTABLISHED:
		return established;
	default:
		return 0;
	}
}

int hd_table_request(const struct hd_machine *machine, enum hd_table_id id, uint64_t established,
		     struct hd_request *out)
{
	const struct hd_rules *rules = &machine->rules;
	const struct spec *spec = find_spec(id, rules->version);
	enum hd_param param = infos[id < HD_TABLE_COUNT ? id : 0].param;
	enum bucket bucket = spec ? spec->bucket : B_POINTER;

	if (bucket == B_UDP_THREE_SLOTS && rules->value[HD_RULE_BASE_SMALL])
		bucket = B_UDP_TWO_SLOTS;
	if (!spec || (id == HD_TABLE_PV_QSPINLOCK && !machine->facts.pv_spinlocks))
		return HD_ENOENT;
	*out = (struct hd_request){ .name = infos[id].name,
				    .bucket_bytes = bucket_bytes(rules, bucket),
				    .scale = spec->scale,
				    .low = spec->low,
				    .high = spec->high,
				    .when = spec->when,
				    .zero = true };
	if (spec->scale_below && machine->facts.pages.all < 131072)
		out->scale = spec->scale_below;
	if (spec->low == 256 && rules->value[HD_RULE_BASE_SMALL])
		out->low = 128;
	if (id == HD_TABLE_DENTRY)
		out->low = (uint64_t)rules->value[HD_RULE_DENTRY_LOW];
	if (id == HD_TABLE_PID)
		out->small_shift = 4;
	if (spec->count != C_MEMORY) {
		out->entries = fixed_count(machine, spec, out->bucket_bytes, established);
		if (!out->entries)
			return HD_ENOENT; /* it hangs on a figure that is not known */
		if (spec->count != C_ESTABLISHED)
			out->low = out->high = out->entries;
		return 0;
	}
	if (param < HD_PARAM_COUNT && machine->params.param[param].in_force)
		out->entries = machine->params.param[param].value;
	if ((id == HD_TABLE_TCP_ESTABLISHED || id == HD_TABLE_IP_ROUTE) && out->entries)
		out->high = 0;
	return 0;
}
