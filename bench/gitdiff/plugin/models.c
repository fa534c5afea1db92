/* SPDX-License-Identifier: MIT */
/*
 * models.c - sets the TLBs up, and answers what they ask on a miss
 */
#include "models.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"

struct model *models[MODELS_MAX];
unsigned models_count;
uint64_t models_pc;

static struct regions regions;

static struct hd_tlb_translation on_walk(void *context, uint64_t address, int kind)
{
	struct model_tlb *of = context;
	struct walk_result found;

	if (!guest_translate(of->cpu, address, &found)) {
		of->model->counts.untranslated[kind]++;
		return (struct hd_tlb_translation){ .shift = HD_TLB_BASE_SHIFT };
	}
	count_walk(
	    &of->model->counts,
	    &(struct count_walk){ models_pc, region_of(&regions, address), kind, found.shift });
	return (struct hd_tlb_translation){ .shift = found.shift, .global = found.global };
}

/* "kaby-lake@4k": the part before the '@', and 12. False: no such page size. */
static bool split_name(const char *whole, char *name, size_t room, uint8_t *host_shift)
{
	static const struct {
		const char *name;
		uint8_t shift;
	} hosts[] = { { "4k", 12 }, { "2m", 21 }, { "1g", 30 } };
	const char *at = strchr(whole, '@');

	*host_shift = 0;
	snprintf(name, room, "%.*s", at ? (int)(at - whole) : (int)strlen(whole), whole);
	for (size_t i = 0; at && i < sizeof(hosts) / sizeof(*hosts); i++)
		if (!strcmp(at + 1, hosts[i].name))
			*host_shift = hosts[i].shift;
	return !at || *host_shift;
}

static int add_cpu(struct model *model, const struct hd_tlb_geometry *geometry, unsigned cpu)
{
	struct model_tlb *of = calloc(1, sizeof(*of));
	size_t bytes = hd_tlb_bytes(geometry);
	void *memory = malloc(bytes);
	struct hd_tlb_config config = {
		.geometry = geometry,
		.host = model->host_shift ? &hd_tlb_4_levels : NULL,
		.host_shift = model->host_shift,
		.walk = on_walk,
		.context = of,
	};

	if (!of || !memory || hd_tlb_init(&of->tlb, &config, memory, bytes)) {
		free(memory);
		free(of);
		return -ENOMEM;
	}
	of->model = model;
	of->cpu = cpu;
	model->cpus[cpu] = of;
	return 0;
}

int models_add(const char *whole, unsigned cpus)
{
	const struct hd_tlb_geometry *geometry;
	struct model *model;
	uint8_t host_shift;
	char name[sizeof(model->name)];

	if (!split_name(whole, name, sizeof(name), &host_shift))
		return -EINVAL;
	geometry = hd_tlb_preset_named(name);
	if (!geometry)
		return -EINVAL;
	if (models_count == MODELS_MAX || cpus > MODELS_CPUS_MAX)
		return -ENOSPC;
	model = calloc(1, sizeof(*model));
	if (!model)
		return -ENOMEM;
	snprintf(model->name, sizeof(model->name), "%s", whole);
	model->host_shift = host_shift;
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		if (add_cpu(model, geometry, cpu))
			return -ENOMEM; /* the emulator ends: nothing to tidy up for */
	models[models_count++] = model;
	return 0;
}

void models_set_regions(const struct regions *found)
{
	regions = *found;
}

void models_switch(unsigned cpu, unsigned tag)
{
	for (unsigned i = 0; i < models_count; i++)
		hd_tlb_switch(&models[i]->cpus[cpu]->tlb, tag);
}

void models_flush_tag(unsigned cpu)
{
	for (unsigned i = 0; i < models_count; i++)
		hd_tlb_flush_tag(&models[i]->cpus[cpu]->tlb);
}

void models_flush_all(unsigned cpu)
{
	for (unsigned i = 0; i < models_count; i++)
		hd_tlb_flush_all(&models[i]->cpus[cpu]->tlb);
}

void models_flush_page(unsigned cpu, uint64_t address)
{
	for (unsigned i = 0; i < models_count; i++)
		hd_tlb_flush_page(&models[i]->cpus[cpu]->tlb, address);
}

void models_reset_counts(void)
{
	for (unsigned i = 0; i < models_count; i++) {
		count_reset(&models[i]->counts);
		for (unsigned cpu = 0; cpu < MODELS_CPUS_MAX && models[i]->cpus[cpu]; cpu++)
			hd_tlb_reset_counts(&models[i]->cpus[cpu]->tlb);
	}
}

static void add(uint64_t *sum, const uint64_t *more, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sum[i] += more[i];
}

struct hd_tlb_counts models_tlb_counts(const struct model *model)
{
	struct hd_tlb_counts sum = { 0 };

	for (unsigned cpu = 0; cpu < MODELS_CPUS_MAX && model->cpus[cpu]; cpu++) {
		struct hd_tlb_counts one = hd_tlb_read_counts(&model->cpus[cpu]->tlb);

		add(sum.accesses, one.accesses, HD_TLB_KINDS);
		add(sum.walks, one.walks, HD_TLB_KINDS);
		add(sum.references, one.references, HD_TLB_KINDS);
		for (unsigned level = 0; level < HD_TLB_LEVELS; level++)
			add(sum.hits[level], one.hits[level], HD_TLB_KINDS);
	}
	return sum;
}
