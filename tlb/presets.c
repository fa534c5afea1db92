/* SPDX-License-Identifier: MIT */
/*
 * presets.c - the geometry of real processors' data TLBs
 *
 * Figures are the vendors' where they tell them (optimisation guides, technical reference
 * manuals, CPUID leaves 2, 0x18, 0x80000005/6/19), else from published measurements, as each
 * row says. Vendors do not tell the replacement: all rows have LRU. Walk caches are told by few;
 * they change the table entries that walks read, never the number of walks.
 *
 * To add a processor: a row of `presets`, the models it is in, a line in the test's table.
 */
#include "tlb/tlb.h"

#define BOTH   (1 << HD_TLB_LOAD | 1 << HD_TLB_STORE)
#define LOADS  (1 << HD_TLB_LOAD)
#define STORES (1 << HD_TLB_STORE)

/* Every size that an arm64 kernel with 4, 16 or 64 KiB pages maps, contiguous runs included. */
#define ARM64_SIZES                                                                                \
	(HD_TLB_4K | HD_TLB_16K | HD_TLB_64K | HD_TLB_2M | HD_TLB_32M | HD_TLB_512M | HD_TLB_1G)
/* Four 4 KiB pages side by side that are so in physical memory as well make one entry. */
#define ZEN_SMALL (HD_TLB_4K | HD_TLB_16K)

#define ARRAY(at, of, n_sets, n_ways, ...)                                                         \
	{                                                                                          \
		.level = (at), .kinds = (of), .sets = (n_sets), .ways = (n_ways),                  \
		.holds = { __VA_ARGS__ },                                                          \
	}
#define HASHED(at, of, n_sets, n_ways, ...)                                                        \
	{                                                                                          \
		.level = (at), .kinds = (of), .hash = HD_TLB_XOR_FOLD, .sets = (n_sets),           \
		.ways = (n_ways), .holds = { __VA_ARGS__ },                                        \
	}
/* All ways of an array. */
#define HOLDS(of, n_ways)                                                                          \
	{                                                                                          \
		(of), 0, (n_ways)                                                                  \
	}

static const struct hd_tlb_geometry presets[] = {
	{
	    .name = "haswell",
	    .title = "Intel Haswell",
	    .source = "Intel optimisation manual 248966, Haswell; walk caches by measurement",
	    .arrays = { ARRAY(1, BOTH, 16, 4, HOLDS(HD_TLB_4K, 4)),
			ARRAY(1, BOTH, 8, 4, HOLDS(HD_TLB_2M, 4)),
			ARRAY(1, BOTH, 1, 4, HOLDS(HD_TLB_1G, 4)),
			ARRAY(2, BOTH, 128, 8, HOLDS(HD_TLB_4K | HD_TLB_2M, 8)) },
	    .walk_caches = { { HD_TLB_2M, 32 }, { HD_TLB_1G, 4 } },
	    .nested_entries = 32,
	},
	{
	    .name = "broadwell",
	    .title = "Intel Broadwell",
	    .source = "Intel optimisation manual 248966, Broadwell; walk caches by measurement",
	    .arrays = { ARRAY(1, BOTH, 16, 4, HOLDS(HD_TLB_4K, 4)),
			ARRAY(1, BOTH, 8, 4, HOLDS(HD_TLB_2M, 4)),
			ARRAY(1, BOTH, 1, 4, HOLDS(HD_TLB_1G, 4)),
			ARRAY(2, BOTH, 256, 6, HOLDS(HD_TLB_4K | HD_TLB_2M, 6)),
			ARRAY(2, BOTH, 4, 4, HOLDS(HD_TLB_1G, 4)) },
	    .walk_caches = { { HD_TLB_2M, 32 }, { HD_TLB_1G, 4 } },
	    .nested_entries = 32,
	},
	{
	    .name = "kaby-lake",
	    .title = "Intel Skylake, Kaby Lake, Coffee Lake, Comet Lake, Cascade Lake",
	    .source = "Intel optimisation manual 248966, Skylake; CPUID leaf 2 says 6 ways for the "
		      "second level. That its set index is folded over 14 bits is measured "
		      "(Gras et al., TLBleed, USENIX Security 2018); walk caches by measurement",
	    .arrays = { ARRAY(1, BOTH, 16, 4, HOLDS(HD_TLB_4K, 4)),
			ARRAY(1, BOTH, 8, 4, HOLDS(HD_TLB_2M, 4)),
			ARRAY(1, BOTH, 1, 4, HOLDS(HD_TLB_1G, 4)),
			HASHED(2, BOTH, 128, 12, HOLDS(HD_TLB_4K | HD_TLB_2M, 12)),
			ARRAY(2, BOTH, 4, 4, HOLDS(HD_TLB_1G, 4)) },
	    .walk_caches = { { HD_TLB_2M, 32 }, { HD_TLB_1G, 4 } },
	    .nested_entries = 32,
	},
	{
	    .name = "zen2",
	    .title = "AMD Zen 2",
	    .source =
		"AMD optimisation guide 56305; the second level's ways are 12 or 16 by source "
		"(16 here: 2048 entries are no multiple of 12). 1G in pieces of 2M there",
	    .arrays = { ARRAY(1, BOTH, 1, 64, HOLDS(ZEN_SMALL | HD_TLB_2M | HD_TLB_1G, 64)),
			ARRAY(2, BOTH, 128, 16, HOLDS(ZEN_SMALL | HD_TLB_2M, 16)) },
	    .walk_caches = { { HD_TLB_2M | HD_TLB_1G | HD_TLB_SIZE(39) | HD_TLB_SIZE(48), 64 } },
	    .nested_entries = 32,
	},
	{
	    .name = "neoverse-n1",
	    .title = "Arm Neoverse N1, Cortex-A76",
	    .source =
		"Arm Neoverse N1 technical reference manual, MMU; the second level is shared with "
		"instructions; walk caches not told",
	    .arrays = { ARRAY(1, BOTH, 1, 48, HOLDS(ARM64_SIZES, 48)),
			ARRAY(2, BOTH, 256, 5, HOLDS(ARM64_SIZES, 5)) },
	},
	{
	    .name = "ice-lake",
	    .title = "Intel Ice Lake, Tiger Lake, Rocket Lake",
	    .source =
		"Intel optimisation manual 248966, Sunny Cove; CPUID leaf 0x18: half of the second "
		"level is for 4K and 2M, half for 4K and 1G; walk caches by measurement on Skylake",
	    .arrays = { ARRAY(1, LOADS, 16, 4, HOLDS(HD_TLB_4K, 4)),
			ARRAY(1, LOADS, 8, 4, HOLDS(HD_TLB_2M, 4)),
			ARRAY(1, LOADS, 1, 8, HOLDS(HD_TLB_1G, 8)),
			ARRAY(1, STORES, 1, 16, HOLDS(HD_TLB_4K | HD_TLB_2M | HD_TLB_1G, 16)),
			HASHED(2, BOTH, 128, 16, HOLDS(HD_TLB_4K, 16), { HD_TLB_2M, 0, 8 },
			       { HD_TLB_1G, 8, 8 }) },
	    .walk_caches = { { HD_TLB_2M, 32 }, { HD_TLB_1G, 4 } },
	    .nested_entries = 32,
	},
	{
	    .name = "zen3",
	    .title = "AMD Zen 3",
	    .source = "AMD optimisation guide 56665",
	    .arrays = { ARRAY(1, BOTH, 1, 64, HOLDS(ZEN_SMALL | HD_TLB_2M | HD_TLB_1G, 64)),
			ARRAY(2, BOTH, 128, 16, HOLDS(ZEN_SMALL | HD_TLB_2M, 16)) },
	    .walk_caches = { { HD_TLB_2M | HD_TLB_1G | HD_TLB_SIZE(39) | HD_TLB_SIZE(48), 64 } },
	    .nested_entries = 32,
	},
	{
	    .name = "neoverse-v1",
	    .title = "Arm Neoverse V1",
	    .source =
		"Arm Neoverse V1 technical reference manual, MMU; the first level has 40 or 48 "
		"entries "
		"by source (40 here); the second is shared with instructions; walk caches not told",
	    .arrays = { ARRAY(1, BOTH, 1, 40, HOLDS(ARM64_SIZES, 40)),
			ARRAY(2, BOTH, 256, 8, HOLDS(ARM64_SIZES, 8)) },
	},
	{
	    .name = "golden-cove",
	    .title = "Intel Sapphire Rapids, Emerald Rapids, Alder Lake (large cores), Raptor Lake",
	    .source = "Intel optimisation manual 248966, Golden Cove; the second level by halves "
		      "as on Ice "
		      "Lake; walk caches by measurement on Skylake",
	    .arrays = { ARRAY(1, LOADS, 16, 6, HOLDS(HD_TLB_4K, 6)),
			ARRAY(1, LOADS, 8, 4, HOLDS(HD_TLB_2M, 4)),
			ARRAY(1, LOADS, 1, 8, HOLDS(HD_TLB_1G, 8)),
			ARRAY(1, STORES, 1, 16, HOLDS(HD_TLB_4K | HD_TLB_2M | HD_TLB_1G, 16)),
			HASHED(2, BOTH, 128, 16, HOLDS(HD_TLB_4K, 16), { HD_TLB_2M, 0, 8 },
			       { HD_TLB_1G, 8, 8 }) },
	    .walk_caches = { { HD_TLB_2M, 32 }, { HD_TLB_1G, 4 } },
	    .nested_entries = 32,
	},
	{
	    .name = "zen4",
	    .title = "AMD Zen 4",
	    .source = "AMD optimisation guide 57647",
	    .arrays = { ARRAY(1, BOTH, 1, 72, HOLDS(ZEN_SMALL | HD_TLB_2M | HD_TLB_1G, 72)),
			ARRAY(2, BOTH, 128, 24, HOLDS(ZEN_SMALL | HD_TLB_2M, 24)) },
	    .walk_caches = { { HD_TLB_2M | HD_TLB_1G | HD_TLB_SIZE(39) | HD_TLB_SIZE(48), 64 } },
	    .nested_entries = 32,
	},
	{
	    .name = "neoverse-v2",
	    .title = "Arm Neoverse V2",
	    .source =
		"Arm Neoverse V2 technical reference manual, MMU; the second level is shared with "
		"instructions; walk caches not told",
	    .arrays = { ARRAY(1, BOTH, 1, 48, HOLDS(ARM64_SIZES, 48)),
			ARRAY(2, BOTH, 256, 8, HOLDS(ARM64_SIZES, 8)) },
	},
	{
	    .name = "zen5",
	    .title = "AMD Zen 5",
	    .source = "AMD optimisation guide 58455",
	    .arrays = { ARRAY(1, BOTH, 1, 96, HOLDS(ZEN_SMALL | HD_TLB_2M | HD_TLB_1G, 96)),
			ARRAY(2, BOTH, 256, 16, HOLDS(ZEN_SMALL | HD_TLB_2M | HD_TLB_1G, 16)) },
	    .walk_caches = { { HD_TLB_2M | HD_TLB_1G | HD_TLB_SIZE(39) | HD_TLB_SIZE(48), 64 } },
	    .nested_entries = 32,
	},
};

static const struct {
	const char *name, *preset;
} other_names[] = {
	{ "skylake", "kaby-lake" },          { "coffee-lake", "kaby-lake" },
	{ "cascade-lake", "kaby-lake" },     { "tiger-lake", "ice-lake" },
	{ "cortex-a76", "neoverse-n1" },     { "sapphire-rapids", "golden-cove" },
	{ "emerald-rapids", "golden-cove" }, { "alder-lake", "golden-cove" },
	{ "raptor-lake", "golden-cove" },
};

/* x86: models @first to @last of a family; arm64: the implementer and the part. */
static const struct {
	const char *vendor, *preset;
	uint32_t family, first, last;
} models[] = {
	{ "GenuineIntel", "haswell", 6, 0x3c, 0x3c },
	{ "GenuineIntel", "haswell", 6, 0x3f, 0x3f },
	{ "GenuineIntel", "haswell", 6, 0x45, 0x46 },
	{ "GenuineIntel", "broadwell", 6, 0x3d, 0x3d },
	{ "GenuineIntel", "broadwell", 6, 0x47, 0x47 },
	{ "GenuineIntel", "broadwell", 6, 0x4f, 0x4f },
	{ "GenuineIntel", "broadwell", 6, 0x56, 0x56 },
	{ "GenuineIntel", "kaby-lake", 6, 0x4e, 0x4e },
	{ "GenuineIntel", "kaby-lake", 6, 0x55, 0x55 },
	{ "GenuineIntel", "kaby-lake", 6, 0x5e, 0x5e },
	{ "GenuineIntel", "kaby-lake", 6, 0x8e, 0x8e },
	{ "GenuineIntel", "kaby-lake", 6, 0x9e, 0x9e },
	{ "GenuineIntel", "kaby-lake", 6, 0xa5, 0xa6 },
	{ "GenuineIntel", "ice-lake", 6, 0x6a, 0x6a },
	{ "GenuineIntel", "ice-lake", 6, 0x6c, 0x6c },
	{ "GenuineIntel", "ice-lake", 6, 0x7d, 0x7e },
	{ "GenuineIntel", "ice-lake", 6, 0x8c, 0x8d },
	{ "GenuineIntel", "ice-lake", 6, 0xa7, 0xa7 },
	{ "GenuineIntel", "golden-cove", 6, 0x8f, 0x8f },
	{ "GenuineIntel", "golden-cove", 6, 0x97, 0x97 },
	{ "GenuineIntel", "golden-cove", 6, 0x9a, 0x9a },
	{ "GenuineIntel", "golden-cove", 6, 0xb7, 0xb7 },
	{ "GenuineIntel", "golden-cove", 6, 0xba, 0xba },
	{ "GenuineIntel", "golden-cove", 6, 0xbf, 0xbf },
	{ "GenuineIntel", "golden-cove", 6, 0xcf, 0xcf },
	{ "AuthenticAMD", "zen2", 0x17, 0x30, 0xff },
	{ "AuthenticAMD", "zen3", 0x19, 0x00, 0x0f },
	{ "AuthenticAMD", "zen3", 0x19, 0x20, 0x5f },
	{ "AuthenticAMD", "zen4", 0x19, 0x10, 0x1f },
	{ "AuthenticAMD", "zen4", 0x19, 0x60, 0xaf },
	{ "AuthenticAMD", "zen5", 0x1a, 0x00, 0xff },
	{ NULL, "neoverse-n1", 0x41, 0xd0b, 0xd0c },
	{ NULL, "neoverse-v1", 0x41, 0xd40, 0xd40 },
	{ NULL, "neoverse-v2", 0x41, 0xd4f, 0xd4f },
};

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

const struct hd_tlb_geometry *hd_tlb_preset(unsigned i)
{
	return i < sizeof(presets) / sizeof(*presets) ? &presets[i] : NULL;
}

const struct hd_tlb_geometry *hd_tlb_preset_named(const char *name)
{
	for (unsigned i = 0; i < sizeof(other_names) / sizeof(*other_names); i++)
		if (same(other_names[i].name, name))
			name = other_names[i].preset;
	for (unsigned i = 0; i < sizeof(presets) / sizeof(*presets); i++)
		if (same(presets[i].name, name))
			return &presets[i];
	return NULL;
}

const struct hd_tlb_geometry *hd_tlb_preset_for(const struct hd_tlb_processor *processor)
{
	uint32_t family = processor->vendor ? processor->family : processor->implementer;
	uint32_t model = processor->vendor ? processor->model : processor->part;

	for (unsigned i = 0; i < sizeof(models) / sizeof(*models); i++) {
		if (!models[i].vendor != !processor->vendor ||
		    (processor->vendor && !same(models[i].vendor, processor->vendor)))
			continue;
		if (models[i].family == family && models[i].first <= model &&
		    model <= models[i].last)
			return hd_tlb_preset_named(models[i].preset);
	}
	return NULL;
}

uint32_t hd_tlb_entries(const struct hd_tlb_geometry *geometry, unsigned level, unsigned shift)
{
	uint32_t entries = 0;

	for (unsigned a = 0; a < HD_TLB_ARRAYS; a++) {
		const struct hd_tlb_array *array = &geometry->arrays[a];

		for (unsigned h = 0;
		     array->level == level && (array->kinds & LOADS) && h < HD_TLB_HOLDS; h++)
			if (array->holds[h].sizes >> shift & 1)
				entries += (uint32_t)array->sets * array->holds[h].ways;
	}
	return entries;
}
