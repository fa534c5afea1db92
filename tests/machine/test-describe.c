/* SPDX-License-Identifier: MIT */
/*
 * test-describe.c - a machine in one line of text: what is read, refused and written
 */
#include <errno.h>

#include "tests/core/help.h"

#include "machine/describe.h"
#include "machine/machine.h"

static struct description parsed(const char *text)
{
	struct description d;
	struct describe_error error;

	if (machine_describe_parse(text, &d, &error))
		fail_msg("\"%s\", column %zu: expected %s", text, error.column, error.wanted);
	assert_int_equal(error.column, 0);
	assert_null(error.wanted);
	return d;
}

static void node_is(const struct description *d, uint32_t at, uint32_t id, uint64_t bytes,
		    bool no_cpu)
{
	assert_true(at < d->nodes);
	assert_int_equal(d->node[at].id, id);
	assert_int_equal(d->node[at].bytes, bytes);
	assert_int_equal(d->node[at].no_cpu, no_cpu);
}

/* ---- what is read ----------------------------------------------------------------- */

static void the_example_is_read(void **state)
{
	struct description d = parsed("x86-64 node:0=8G node:1=8G cpus=16");

	(void)state;
	assert_int_equal(d.arch, HD_ARCH_X86_64);
	assert_int_equal(d.nodes, 2);
	node_is(&d, 0, 0, 8 * GIB, false);
	node_is(&d, 1, 1, 8 * GIB, false);
	assert_int_equal(d.cpus, 16);
	assert_int_equal(d.possible_nodes, 2);
	assert_int_equal(d.page_bytes, 0);
	assert_int_equal(d.highmem_bytes, 0);
	assert_int_equal(d.reserved_bytes, 0);
	assert_false(d.emulated);
	machine_describe_free(&d);
	assert_null(d.node);
	assert_int_equal(d.nodes, 0);
}

static void every_item_is_read(void **state)
{
	struct description d = parsed("aarch64 emulated reserved=512M highmem=3G page=64K "
				      "possible-nodes=8 cpus=3 node:7=1T/nocpu node:2=0 ram=4G");

	(void)state;
	assert_int_equal(d.arch, HD_ARCH_ARM64);
	assert_int_equal(d.nodes, 3);
	node_is(&d, 0, 0, 4 * GIB, false); /* by id, whatever their order */
	node_is(&d, 1, 2, 0, false);
	node_is(&d, 2, 7, TIB, true);
	assert_int_equal(d.cpus, 3);
	assert_int_equal(d.possible_nodes, 8);
	assert_int_equal(d.page_bytes, 64 * KIB);
	assert_int_equal(d.highmem_bytes, 3 * GIB);
	assert_int_equal(d.reserved_bytes, 512 * MIB);
	assert_true(d.emulated);
	machine_describe_free(&d);
}

static void what_is_not_said_is_plain(void **state)
{
	struct description d = parsed("ppc64le ram=1");

	(void)state;
	assert_int_equal(d.arch, HD_ARCH_PPC64);
	assert_int_equal(d.cpus, 1);
	assert_int_equal(d.possible_nodes, 1);
	node_is(&d, 0, 0, 1, false);
	machine_describe_free(&d);
}

static void sizes_have_units_in_either_case(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = {
		{ "x86-64 ram=4095", 4095 },
		{ "x86-64 ram=3K", 3 * KIB },
		{ "x86-64 ram=3k", 3 * KIB },
		{ "x86-64 ram=007M", 7 * MIB },
		{ "x86-64 ram=5g", 5 * GIB },
		{ "x86-64 ram=64T", 64 * TIB },
		{ "x86-64 ram=2P", 2048 * TIB },
		{ "x86-64 ram=4095P", 4095 * 1024 * TIB },
		{ "x86-64 ram=4611686018427387903", (1ULL << 62) - 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct description d = parsed(sizes[i].text);

		assert_int_equal(d.node[0].bytes, sizes[i].bytes);
		machine_describe_free(&d);
	}
}

static void any_blanks_separate_words(void **state)
{
	struct description d = parsed("\t x86-64\n\vnode:0=1G \f\r cpus=2  \n");

	(void)state;
	assert_int_equal(d.cpus, 2);
	node_is(&d, 0, 0, GIB, false);
	machine_describe_free(&d);
}

static void limits_are_taken(void **state)
{
	struct description d =
	    parsed("x86-64 node:4095=1G cpus=65536 possible-nodes=4096 page=1M reserved=1023M");

	(void)state;
	node_is(&d, 0, 4095, GIB, false);
	assert_int_equal(d.cpus, 65536);
	assert_int_equal(d.possible_nodes, 4096);
	assert_int_equal(d.page_bytes, MIB);
	machine_describe_free(&d);
}

/* ---- what is refused -------------------------------------------------------------- */

#define AN_ITEM                                                                                    \
	"node:ID=SIZE, ram=SIZE, cpus=N, possible-nodes=N, page=SIZE, highmem=SIZE, "              \
	"reserved=SIZE or emulated"
#define AN_ARCH  "an architecture: x86-64, arm64, ppc64, ..."
#define A_SIZE   "a size such as 8G"
#define A_UNIT   "K, M, G, T or P behind the number"
#define A_NODE   "a node's number, up to 4095"
#define A_PAGE   "a page size such as 4K, 16K or 64K"
#define SOME_RAM "a node with memory: node:0=8G"
#define MORE_RAM "more memory than highmem= and reserved= take"

/** The column is that of the '^', which is taken out. */
static const struct {
	const char *text, *wanted;
} refused[] = {
	{ "^", AN_ARCH },
	{ "   ^", AN_ARCH },
	{ "^vax ram=1G", AN_ARCH },
	{ "^unknown ram=1G", AN_ARCH },
	{ " ^ram=1G", AN_ARCH },
	{ "x86-64^", SOME_RAM },
	{ "x86-64 node:0=0 node:1=0^", SOME_RAM },
	{ "x86-64 ram=1G ^memory=2G", AN_ITEM },
	{ "x86-64 ram=1G ^-", AN_ITEM },
	{ "x86-64 ^node=1G", AN_ITEM },
	{ "x86-64 ^RAM=1G", AN_ITEM },
	{ "x86-64 node:^=1G", A_NODE },
	{ "x86-64 node:^x=1G", A_NODE },
	{ "x86-64 node:^-1=1G", A_NODE },
	{ "x86-64 node:^4096=1G", A_NODE },
	{ "x86-64 node:0^", "'=' and the node's memory" },
	{ "x86-64 node:0^:1G", "'=' and the node's memory" },
	{ "x86-64 node:0=^", A_SIZE },
	{ "x86-64 node:0=^G", A_SIZE },
	{ "x86-64 node:0=^-1G", A_SIZE },
	{ "x86-64 node:0=1^X", A_UNIT },
	{ "x86-64 node:0=1^.5G", A_UNIT },
	{ "x86-64 node:0=1^{", A_UNIT },
	{ "x86-64 node:0=1G^B", "a blank" },
	{ "x86-64 node:0=1G^/", "'/nocpu' or a blank" },
	{ "x86-64 node:0=1G^/nocpus", "'/nocpu' or a blank" },
	{ "x86-64 node:0=1G^/cpu", "'/nocpu' or a blank" },
	{ "x86-64 node:1=1G ^node:1=2G", "each node once" },
	{ "x86-64 node:0=1G ^ram=2G", "each node once" },
	{ "x86-64 ram=1G^/nocpu", "a blank" },
	{ "x86-64 ram=^8192P", "a size below 8 EiB" },
	{ "x86-64 ram=^9007199254740992K", "a size below 8 EiB" },
	{ "x86-64 ram=^9223372036854775808", "a size below 8 EiB" },
	{ "x86-64 ram=^18446744073709551616", "a smaller number" },
	{ "x86-64 ram=^99999999999999999999P", "a smaller number" },
	{ "x86-64 ram=4096P^", "less memory" },
	{ "x86-64 node:0=2048P node:1=2048P^", "less memory" },
	{ "x86-64 ram=1G cpus=^0", "a number from 1 to 65536" },
	{ "x86-64 ram=1G cpus=^65537", "a number from 1 to 65536" },
	{ "x86-64 ram=1G cpus=^", "a number from 1 to 65536" },
	{ "x86-64 ram=1G cpus=^4294967297", "a number from 1 to 65536" },
	{ "x86-64 ram=1G cpus=2^x", "a blank" },
	{ "x86-64 ram=1G possible-nodes=^0", "a number from 1 to 4096" },
	{ "x86-64 ram=1G possible-nodes=^4097", "a number from 1 to 4096" },
	{ "x86-64 ram=1G page=^3K", A_PAGE },
	{ "x86-64 ram=1G page=^512", A_PAGE },
	{ "x86-64 ram=1G page=^2M", A_PAGE },
	{ "x86-64 ram=1G page=^0", A_PAGE },
	{ "x86-64 ram=1G page=4K^/", "a blank" },
	{ "x86-64 ram=1G highmem=1G^", MORE_RAM },
	{ "x86-64 ram=1G reserved=1G^", MORE_RAM },
	{ "x86-64 ram=1G emulated^ly", "a blank" },
	{ "x86-64 ram=1G emulated^=1", "a blank" },
};

static void what_is_wrong_is_told_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		size_t before = strcspn(refused[i].text, "^");
		struct description d = { .cpus = 77 };
		struct describe_error error;
		char text[80];
		int status;

		snprintf(text, sizeof(text), "%.*s%s", (int)before, refused[i].text,
			 refused[i].text + before + 1);
		status = machine_describe_parse(text, &d, &error);
		if (status != -EINVAL || error.column != before + 1 ||
		    strcmp(error.wanted, refused[i].wanted) != 0)
			fail_msg("%s: %d, column %zu, expected %s; it is: expected %s",
				 refused[i].text, status, error.column,
				 error.wanted ? error.wanted : "nothing", refused[i].wanted);
		assert_int_equal(d.cpus, 77); /* filled on success only */
		assert_null(d.node);
	}
}

/* 2^61 + (2^64 - 2^61 + 4096) would be 4096, were sums allowed to wrap. */
static void a_sum_does_not_wrap(void **state)
{
	struct description d = { 0 };
	struct describe_error error;

	(void)state;
	assert_int_equal(
	    machine_describe_parse("x86-64 node:0=2048P node:1=16140901064495861760", &d, &error),
	    -EINVAL);
	assert_int_equal(error.column, 28);
	assert_int_equal(
	    machine_describe_parse("x86-64 node:0=2047P node:1=8191P node:2=8191P", &d, &error),
	    -EINVAL);
	assert_string_equal(error.wanted, "less memory");
	assert_int_equal(
	    machine_describe_parse("x86-64 ram=1G reserved=18446744073709551615", &d, &error),
	    -EINVAL);
}

/* Cut anywhere, a description is read or refused inside its text; a leak checker looks on. */
static void a_cut_description_is_refused_inside_its_text(void **state)
{
	static const char whole[] = "x86-64 node:10=8G/nocpu node:11=0 cpus=16 possible-nodes=32 "
				    "page=16K highmem=1G reserved=512M emulated";

	(void)state;
	for (size_t len = 0; len < sizeof(whole); len++) {
		char *text = strndup(whole, len); /* exactly as long: reading on would be seen */
		struct description d = { 0 };
		struct describe_error error;

		assert_non_null(text);
		if (machine_describe_parse(text, &d, &error)) {
			assert_true(error.column >= 1 && error.column <= len + 1);
			assert_non_null(error.wanted);
		} else {
			machine_describe_free(&d);
		}
		free(text);
	}
}

/* ---- what is written -------------------------------------------------------------- */

static void same(const struct description *a, const struct description *b)
{
	assert_int_equal(a->arch, b->arch);
	assert_int_equal(a->page_bytes, b->page_bytes);
	assert_int_equal(a->cpus, b->cpus);
	assert_int_equal(a->possible_nodes, b->possible_nodes);
	assert_int_equal(a->highmem_bytes, b->highmem_bytes);
	assert_int_equal(a->reserved_bytes, b->reserved_bytes);
	assert_int_equal(a->emulated, b->emulated);
	assert_int_equal(a->nodes, b->nodes);
	for (uint32_t n = 0; n < a->nodes; n++)
		node_is(a, n, b->node[n].id, b->node[n].bytes, b->node[n].no_cpu);
}

/** Written, read again, and the same. */
static void comes_back(const struct description *d)
{
	size_t len = machine_describe_print(d, NULL, 0);
	char *text = malloc(len + 1);
	struct description again;

	assert_non_null(text);
	assert_int_equal(machine_describe_print(d, text, len + 1), len);
	assert_int_equal(strlen(text), len);
	again = parsed(text);
	same(d, &again);
	machine_describe_free(&again);
	free(text);
}

static void written(const char *text, const char *want)
{
	struct description d = parsed(text);
	char out[256];

	assert_int_equal(machine_describe_print(&d, out, sizeof(out)), strlen(want));
	assert_string_equal(out, want);
	comes_back(&d);
	machine_describe_free(&d);
}

static void it_is_written_in_one_way(void **state)
{
	(void)state;
	written("x86-64 node:0=8G node:1=8G cpus=16", "x86-64 node:0=8G node:1=8G cpus=16");
	written("amd64 ram=1048576K", "x86-64 node:0=1G cpus=1");
	written("aarch64 page=65536 node:3=1536M/nocpu node:1=0 node:0=2049K",
		"arm64 node:0=2049K node:1=0 node:3=1536M/nocpu cpus=1 page=64K");
	written("i686 ram=3G highmem=2292M", "i386 node:0=3G cpus=1 highmem=2292M");
	written("s390x ram=1025 reserved=1 cpus=2 emulated possible-nodes=3",
		"s390x node:0=1025 cpus=2 possible-nodes=3 reserved=1 emulated");
	written("x86-64 possible-nodes=1 ram=4095P", "x86-64 node:0=4095P cpus=1");
}

/* As snprintf(): the length it would have, and a text that ends in its buffer. */
static void a_short_buffer_is_not_overrun(void **state)
{
	struct description d = parsed("x86-64 node:0=8G/nocpu cpus=16 highmem=1G emulated");
	char want[128], out[128];
	size_t len = machine_describe_print(&d, want, sizeof(want));

	(void)state;
	assert_true(len < sizeof(want));
	for (size_t size = 0; size <= len + 1; size++) {
		memset(out, '#', sizeof(out));
		assert_int_equal(machine_describe_print(&d, out, size), len);
		assert_int_equal(out[size], '#');
		if (!size)
			continue;
		assert_int_equal(strlen(out), size - 1);
		assert_memory_equal(out, want, size - 1);
	}
	machine_describe_free(&d);
}

static struct description random_description(uint64_t *random)
{
	struct description d = { .arch = 1 + random_below(random, HD_ARCH_COUNT - 1) };
	uint64_t total = 0;
	uint32_t id = 0;

	d.cpus = 1 + (uint32_t)random_below(random, 65536);
	d.nodes = 1 + (uint32_t)random_below(random, 20);
	d.node = calloc(d.nodes, sizeof(*d.node));
	assert_non_null(d.node);
	for (uint32_t n = 0; n < d.nodes; n++) {
		id += (uint32_t)random_below(random, 200);
		d.node[n].id = id++;
		d.node[n].no_cpu = random_below(random, 2);
		d.node[n].bytes = random_below(random, 1ULL << (1 + random_below(random, 57)));
		/* Round figures are written another way than odd ones. */
		d.node[n].bytes &= ~0ULL << random_below(random, 50);
		total += d.node[n].bytes;
	}
	if (!total)
		total = d.node[0].bytes = 1;
	d.possible_nodes = d.nodes + (uint32_t)random_below(random, 30);
	if (random_below(random, 2))
		d.page_bytes = 1024ULL << random_below(random, 11);
	if (random_below(random, 2))
		d.highmem_bytes = random_below(random, total);
	if (random_below(random, 2))
		d.reserved_bytes = random_below(random, total);
	d.emulated = random_below(random, 2);
	return d;
}

static void random_machines_come_back(void **state)
{
	uint64_t random = seed_of("test-machine-describe", 7);

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct description d = random_description(&random);

		comes_back(&d);
		machine_describe_free(&d);
	}
}

static void garbage_is_refused_or_comes_back(void **state)
{
	static const char *const pieces[] = {
		"x86-64 ",
		"arm64 ",
		"node:",
		"0",
		"1",
		"4096",
		"=",
		"8G",
		"/nocpu",
		" ",
		"ram=",
		"cpus=",
		"page=",
		"64K",
		"\t",
		"K",
		"P",
		"-",
		"18446744073709551615",
		"highmem=",
		"reserved=",
		"emulated",
		"possible-nodes=",
		"\xff",
		"node:0=1G ",
	};
	uint64_t random = seed_of("test-machine-describe", 9);
	unsigned taken = 0;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		char text[512] = "x86-64 ram=8G ";
		struct description d;
		struct describe_error error;

		if (random_below(&random, 2))
			text[0] = '\0';
		for (uint64_t n = random_below(&random, 9); n; n--)
			strcat(text, pieces[random_below(&random, ARRAY_SIZE(pieces))]);
		if (machine_describe_parse(text, &d, &error)) {
			assert_true(error.column >= 1 && error.column <= strlen(text) + 1);
			continue;
		}
		taken++;
		comes_back(&d);
		machine_describe_free(&d);
	}
	assert_true(taken > 1000);
}

static void a_thousand_nodes_are_read_in_any_order(void **state)
{
	char *text = malloc(64 * 1024);
	size_t len;
	struct description d;

	(void)state;
	assert_non_null(text);
	len = (size_t)sprintf(text, "x86-64 cpus=8192");
	for (unsigned n = 0; n < 1024; n++) /* 7 and 1024 have no divisor in common */
		len += (size_t)sprintf(text + len, " node:%u=%uG", n * 7 % 1024, n * 7 % 1024 + 1);
	d = parsed(text);
	assert_int_equal(d.nodes, 1024);
	assert_int_equal(d.possible_nodes, 1024);
	for (uint32_t n = 0; n < 1024; n++)
		node_is(&d, n, n, (n + 1) * GIB, false);
	comes_back(&d);
	machine_describe_free(&d);
	free(text);
}

/* ---- from the books --------------------------------------------------------------- */

/*
 *   node 0  |8 GiB|  cpu    node 1  | |  cpu    node 2 not online    node 4  |4 GiB|  no cpu
 */
static void books_become_a_description(void **state)
{
	struct machine_node node[] = {
		{ .id = 0, .online = true, .has_memory = true, .has_cpu = true },
		{ .id = 1, .online = true, .has_cpu = true },
		{ .id = 2 },
		{ .id = 4, .online = true, .has_memory = true },
	};
	struct machine_zone zone[] = {
		{ .node = 0, .name = "DMA", .spanned = 4095, .present = 3998, .managed = 3840 },
		{ .node = 0, .name = "Normal", .spanned = 2097152, .present = 2093154 },
		{ .node = 4, .name = "Normal", .spanned = 1048576, .present = 1048576 },
	};
	struct machine m = {
		.arch = HD_ARCH_X86_64,
		.page_bytes = 4096,
		.possible_cpus = { true, 24 },
		.node = node,
		.nodes = 4,
		.possible_nodes = 5,
		.online_nodes = 3,
		.zone = zone,
		.zones = 3,
	};
	struct description d;

	(void)state;
	assert_int_equal(machine_describe_books(&m, &d), 0);
	assert_int_equal(d.arch, HD_ARCH_X86_64);
	assert_int_equal(d.page_bytes, 4096);
	assert_int_equal(d.cpus, 24);
	assert_int_equal(d.possible_nodes, 5);
	assert_int_equal(d.nodes, 3);
	node_is(&d, 0, 0, (3998ULL + 2093154) * 4096, false);
	node_is(&d, 1, 1, 0, false);
	node_is(&d, 2, 4, 4 * GIB, true);
	assert_int_equal(d.highmem_bytes, 0);
	comes_back(&d);
	machine_describe_free(&d);
}

/* Without zones a node's own total, without nodes the machine's. */
static void books_with_less_become_a_coarser_description(void **state)
{
	struct machine_node node = {
		.id = 3, .online = true, .has_cpu = true, .total_kib = { true, 1024 }
	};
	struct machine_zone zone = { .node = 0, .name = "Normal", .present = 16384 };
	struct machine m = { .arch = HD_ARCH_ARM64,
			     .page_bytes = 65536,
			     .node = &node,
			     .nodes = 1,
			     .mem_total_kib = { true, 2048 } };
	struct description d;

	(void)state;
	assert_int_equal(machine_describe_books(&m, &d), 0);
	node_is(&d, 0, 3, MIB, false);
	assert_int_equal(d.cpus, 1);
	assert_int_equal(d.possible_nodes, 1);
	comes_back(&d);
	machine_describe_free(&d);

	m.nodes = 0;
	assert_int_equal(machine_describe_books(&m, &d), 0);
	assert_int_equal(d.nodes, 1);
	node_is(&d, 0, 0, 2 * MIB, false);
	comes_back(&d);
	machine_describe_free(&d);

	m.zone = &zone;
	m.zones = 1;
	assert_int_equal(machine_describe_books(&m, &d), 0);
	node_is(&d, 0, 0, GIB, false);
	machine_describe_free(&d);
}

/*
 *   |DMA| Normal |    HighMem    |      a 32-bit machine without books of nodes
 */
static void highmem_is_in_the_books_too(void **state)
{
	struct machine_zone zone[] = {
		{ .node = 0, .name = "DMA", .present = 3998 },
		{ .node = 0, .name = "Normal", .present = 221184 },
		{ .node = 0, .name = "HighMem", .present = 298976 },
	};
	struct machine m = { .arch = HD_ARCH_I386, .page_bytes = 4096, .zone = zone, .zones = 3 };
	struct description d;

	(void)state;
	assert_int_equal(machine_describe_books(&m, &d), 0);
	node_is(&d, 0, 0, (3998ULL + 221184 + 298976) * 4096, false);
	assert_int_equal(d.highmem_bytes, 298976ULL * 4096);
	comes_back(&d);
	machine_describe_free(&d);
}

static void books_that_tell_too_little_are_no_machine(void **state)
{
	struct machine_node node = { .id = 0, .online = true };
	struct machine no_arch = { .page_bytes = 4096, .mem_total_kib = { true, 1024 } };
	struct machine no_page = { .arch = HD_ARCH_ARM64, .mem_total_kib = { true, 1024 } };
	struct machine no_memory = { .arch = HD_ARCH_ARM64, .page_bytes = 4096 };
	struct machine empty_node = {
		.arch = HD_ARCH_ARM64, .page_bytes = 4096, .node = &node, .nodes = 1
	};
	struct description d = { .cpus = 77 };

	(void)state;
	assert_int_equal(machine_describe_books(&no_arch, &d), -ENODATA);
	assert_int_equal(machine_describe_books(&no_page, &d), -ENODATA);
	assert_int_equal(machine_describe_books(&no_memory, &d), -ENODATA);
	assert_int_equal(machine_describe_books(&empty_node, &d), -ENODATA);
	assert_int_equal(d.cpus, 77);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_is_read),
		cmocka_unit_test(every_item_is_read),
		cmocka_unit_test(what_is_not_said_is_plain),
		cmocka_unit_test(sizes_have_units_in_either_case),
		cmocka_unit_test(any_blanks_separate_words),
		cmocka_unit_test(limits_are_taken),
		cmocka_unit_test(what_is_wrong_is_told_with_its_place),
		cmocka_unit_test(a_sum_does_not_wrap),
		cmocka_unit_test(a_cut_description_is_refused_inside_its_text),
		cmocka_unit_test(it_is_written_in_one_way),
		cmocka_unit_test(a_short_buffer_is_not_overrun),
		cmocka_unit_test(random_machines_come_back),
		cmocka_unit_test(garbage_is_refused_or_comes_back),
		cmocka_unit_test(a_thousand_nodes_are_read_in_any_order),
		cmocka_unit_test(books_become_a_description),
		cmocka_unit_test(books_with_less_become_a_coarser_description),
		cmocka_unit_test(highmem_is_in_the_books_too),
		cmocka_unit_test(books_that_tell_too_little_are_no_machine),
	};

	return cmocka_run_group_tests_name("machine: description", tests, NULL, NULL);
}
