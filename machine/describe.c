/* SPDX-License-Identifier: MIT */
/*
 * describe.c - a machine in one line of text: read it, write it
 *
 * Refuses what it does not understand, with the column and what was expected
 * there; a description is typed by people.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/describe.h"
#include "machine/machine.h"

enum { NODE_ID_MAX = 4095, CPUS_MAX = 65536 };

struct parser {
	const char *text, *at;
	struct description *out;
	struct describe_error *error;
	uint32_t room; /* nodes allocated */
};

static int expected(struct parser *p, const char *at, const char *wanted)
{
	p->error->column = (size_t)(at - p->text) + 1;
	p->error->wanted = wanted;
	return -EINVAL;
}

static bool blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool word_end(const char *at)
{
	return !*at || blank(*at);
}

static int take_digits(struct parser *p, uint64_t *out, const char *wanted)
{
	const char *start = p->at;

	for (*out = 0; *p->at >= '0' && *p->at <= '9'; p->at++) {
		if (*out > (UINT64_MAX - 9) / 10)
			return expected(p, start, "a smaller number");
		*out = *out * 10 + (uint64_t)(*p->at - '0');
	}
	return p->at == start ? expected(p, start, wanted) : 0;
}

static int take_count(struct parser *p, uint32_t *out, uint64_t least, uint64_t most,
		      const char *wanted)
{
	const char *start = p->at;
	uint64_t n;
	int error = take_digits(p, &n, wanted);

	if (error)
		return error;
	if (n < least || n > most)
		return expected(p, start, wanted);
	*out = (uint32_t)n;
	return 0;
}

static int take_size(struct parser *p, uint64_t *out)
{
	static const char units[] = "KMGTP";
	const char *start = p->at, *unit;
	int error = take_digits(p, out, "a size such as 8G");
	unsigned shift;

	if (error)
		return error;
	if (*out >> 63)
		return expected(p, start, "a size below 8 EiB");
	if (word_end(p->at) || *p->at == '/')
		return 0;
	unit = strchr(units, *p->at >= 'a' ? *p->at - 32 : *p->at);
	if (!unit)
		return expected(p, p->at, "K, M, G, T or P behind the number");
	shift = 10 * (unsigned)(unit - units + 1);
	p->at++;
	if (*out >> (63 - shift))
		return expected(p, start, "a size below 8 EiB");
	*out <<= shift;
	return 0;
}

static int add_node(struct parser *p, const char *start, struct describe_node node)
{
	struct description *d = p->out;
	uint32_t at = d->nodes;

	while (at && d->node[at - 1].id >= node.id)
		at--;
	if (at < d->nodes && d->node[at].id == node.id)
		return expected(p, start, "each node once");
	if (d->nodes == p->room) {
		uint32_t room = p->room ? 2 * p->room : 8;
		struct describe_node *more = realloc(d->node, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		d->node = more;
		p->room = room;
	}
	memmove(&d->node[at + 1], &d->node[at], (d->nodes - at) * sizeof(*d->node));
	d->node[at] = node;
	d->nodes++;
	return 0;
}

static int take_node(struct parser *p, const char *start)
{
	struct describe_node node = { 0 };
	int error = take_count(p, &node.id, 0, NODE_ID_MAX, "a node's number, up to 4095");

	if (error)
		return error;
	if (*p->at != '=')
		return expected(p, p->at, "'=' and the node's memory");
	p->at++;
	error = take_size(p, &node.bytes);
	if (error)
		return error;
	if (*p->at == '/') {
		if (strncmp(p->at, "/nocpu", 6) || !word_end(p->at + 6))
			return expected(p, p->at, "'/nocpu' or a blank");
		node.no_cpu = true;
		p->at += 6;
	}
	return add_node(p, start, node);
}

static bool starts(struct parser *p, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(p->at, word, len))
		return false;
	p->at += len;
	return true;
}

static int take_item(struct parser *p)
{
	static const char items[] = "node:ID=SIZE, ram=SIZE, cpus=N, possible-nodes=N, page=SIZE, "
				    "highmem=SIZE, reserved=SIZE or emulated";
	const char *start = p->at;
	struct description *d = p->out;
	int error;

	if (starts(p, "node:")) {
		error = take_node(p, start);
	} else if (starts(p, "ram=")) {
		struct describe_node node = { 0 };

		error = take_size(p, &node.bytes);
		if (!error)
			error = add_node(p, start, node);
	} else if (starts(p, "cpus=")) {
		error = take_count(p, &d->cpus, 1, CPUS_MAX, "a number from 1 to 65536");
	} else if (starts(p, "possible-nodes=")) {
		error = take_count(p, &d->possible_nodes, 1, NODE_ID_MAX + 1,
				   "a number from 1 to 4096");
	} else if (starts(p, "page=")) {
		start = p->at;
		error = take_size(p, &d->page_bytes);
		if (!error && (d->page_bytes < 1024 || d->page_bytes > 1 << 20 ||
			       d->page_bytes & (d->page_bytes - 1)))
			error = expected(p, start, "a page size such as 4K, 16K or 64K");
	} else if (starts(p, "highmem=")) {
		error = take_size(p, &d->highmem_bytes);
	} else if (starts(p, "reserved=")) {
		error = take_size(p, &d->reserved_bytes);
	} else if (starts(p, "emulated")) {
		d->emulated = true;
		error = 0;
	} else {
		error = expected(p, start, items);
	}
	if (!error && !word_end(p->at))
		error = expected(p, p->at, "a blank");
	return error;
}

static int take_arch(struct parser *p)
{
	const char *start = p->at;

	while (!word_end(p->at))
		p->at++;
	p->out->arch = hd_arch_parse(start, (size_t)(p->at - start));
	if (!p->out->arch)
		return expected(p, start, "an architecture: x86-64, arm64, ppc64, ...");
	return 0;
}

static int check(struct parser *p)
{
	struct description *d = p->out;
	uint64_t total = 0;

	for (uint32_t n = 0; n < d->nodes; n++) {
		total += d->node[n].bytes;
		if (total >> 62)
			return expected(p, p->at, "less memory");
	}
	if (!total)
		return expected(p, p->at, "a node with memory: node:0=8G");
	if (d->highmem_bytes >= total || d->reserved_bytes >= total)
		return expected(p, p->at, "more memory than highmem= and reserved= take");
	if (d->possible_nodes < d->nodes)
		d->possible_nodes = d->nodes;
	return 0;
}

int machine_describe_parse(const char *text, struct description *out, struct describe_error *error)
{
	struct description parsed = { .cpus = 1 };
	struct parser p = { .text = text, .at = text, .out = &parsed, .error = error };
	int status;

	*error = (struct describe_error){ 0 };
	while (blank(*p.at))
		p.at++;
	status = take_arch(&p);
	while (!status) {
		while (blank(*p.at))
			p.at++;
		if (!*p.at)
			break;
		status = take_item(&p);
	}
	if (!status)
		status = check(&p);
	if (status)
		free(parsed.node);
	else
		*out = parsed;
	return status;
}

void machine_describe_free(struct description *description)
{
	free(description->node);
	description->node = NULL;
	description->nodes = 0;
}

/* ---- writing ------------------------------------------------------------------------ */

struct writer {
	char *out;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->len < w->size ? w->out + w->len : NULL,
		      w->len < w->size ? w->size - w->len : 0, format, args);
	va_end(args);
	if (n > 0)
		w->len += (size_t)n;
}

static void put_size(struct writer *w, uint64_t bytes)
{
	static const char units[] = { '\0', 'K', 'M', 'G', 'T', 'P' };
	unsigned unit = 0;

	while (unit < 5 && bytes && !(bytes & 1023)) {
		bytes >>= 10;
		unit++;
	}
	put(w, "%" PRIu64, bytes);
	if (unit)
		put(w, "%c", units[unit]);
}

static void put_item(struct writer *w, const char *name, uint64_t bytes)
{
	if (!bytes)
		return;
	put(w, " %s=", name);
	put_size(w, bytes);
}

size_t machine_describe_print(const struct description *d, char *out, size_t size)
{
	struct writer w = { out, size, 0 };

	put(&w, "%s", hd_arch_name(d->arch));
	for (uint32_t n = 0; n < d->nodes; n++) {
		put(&w, " node:%u=", d->node[n].id);
		put_size(&w, d->node[n].bytes);
		if (d->node[n].no_cpu)
			put(&w, "/nocpu");
	}
	put(&w, " cpus=%u", d->cpus);
	if (d->possible_nodes > d->nodes)
		put(&w, " possible-nodes=%u", d->possible_nodes);
	put_item(&w, "page", d->page_bytes);
	put_item(&w, "highmem", d->highmem_bytes);
	put_item(&w, "reserved", d->reserved_bytes);
	if (d->emulated)
		put(&w, " emulated");
	return w.len;
}

/* ---- from the books -------------------------------------------------------------------- */

/** Memory of a node as its zones hold it; what firmware kept back is not in it. */
static uint64_t node_bytes(const struct machine *m, const struct machine_node *node)
{
	uint64_t pages = 0;

	for (uint32_t z = 0; z < m->zones; z++)
		if (m->zone[z].node == node->id)
			pages += m->zone[z].present;
	if (pages)
		return pages * m->page_bytes;
	return node->total_kib.known ? node->total_kib.value << 10 : 0;
}

int machine_describe_books(const struct machine *m, struct description *out)
{
	struct description d = { .arch = m->arch, .page_bytes = m->page_bytes, .cpus = 1 };
	uint64_t total = 0;

	if (!m->arch || !m->page_bytes)
		return -ENODATA;
	if (m->possible_cpus.known && m->possible_cpus.value)
		d.cpus = (uint32_t)m->possible_cpus.value;
	d.possible_nodes = m->possible_nodes;
	d.node = calloc(m->nodes ? m->nodes : 1, sizeof(*d.node));
	if (!d.node)
		return -ENOMEM;
	for (uint32_t z = 0; z < m->zones; z++)
		if (!strcmp(m->zone[z].name, "HighMem"))
			d.highmem_bytes += m->zone[z].present * m->page_bytes;
	for (uint32_t n = 0; n < m->nodes; n++) {
		if (!m->node[n].online)
			continue;
		d.node[d.nodes] = (struct describe_node){ .id = m->node[n].id,
							  .bytes = node_bytes(m, &m->node[n]),
							  .no_cpu = !m->node[n].has_cpu };
		total += d.node[d.nodes++].bytes;
	}
	if (!d.nodes) {
		struct machine_node only = { 0 };

		d.node[0].bytes = node_bytes(m, &only);
		if (!d.node[0].bytes && m->mem_total_kib.known)
			d.node[0].bytes = m->mem_total_kib.value << 10;
		total = d.node[0].bytes;
		d.nodes = 1;
	}
	if (!total) {
		free(d.node);
		return -ENODATA;
	}
	if (d.possible_nodes < d.nodes)
		d.possible_nodes = d.nodes;
	*out = d;
	return 0;
}
