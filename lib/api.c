/* SPDX-License-Identifier: MIT */
/*
 * api.c - the functions of hashdist.h over regions and the registry
 */
#include <errno.h>

#include "backend/linux/sys.h"
#include "hashdist/hashdist.h"
#include "lib/registry.h"
#include "lib/wish.h"

/* Of the library itself; the header's macros are those a program was built with. */
#define TEXT(x)   #x
#define NUMBER(x) TEXT(x)

const char *hd_library_version(void)
{
	return NUMBER(HASHDIST_VERSION_MAJOR) "." NUMBER(HASHDIST_VERSION_MINOR) "." NUMBER(
	    HASHDIST_VERSION_PATCH);
}

static void tell(const struct lib_table *table, const struct hd_got *read, struct hd_got *got)
{
	if (!got)
		return;
	*got = *read;
	if (table) {
		got->entries = table->entries;
		got->halvings = table->halvings;
	}
}

/** Put a region that was made where programs can find it again. */
static int keep(const struct hdl_region *region, uint64_t entries, uint32_t halvings, void **start,
		const struct hd_got *read, struct hd_got *got)
{
	struct lib_table *table = hdl_malloc(sizeof(*table));

	if (table) {
		*table = (struct lib_table){ .start = region->start,
					     .region = *region,
					     .entries = entries,
					     .halvings = halvings };
		registry_add(table);
	} else {
		struct hdl_region lost = *region;

		hdl_region_release(&lost);
		tell(NULL,
		     &(struct hd_got){
			 .pages_why = HD_WHY_UNKNOWN, .step = HD_STEP_RESERVE, .error = ENOMEM },
		     got);
		return -ENOMEM;
	}
	*start = region->start;
	tell(table, read, got);
	return 0;
}

/** What is told when it is not even known where a table could go. */
static struct hd_got no_machine(int error)
{
	return (struct hd_got){ .step = HD_STEP_LIMITS,
				.error = -error,
				.pages_why = HD_WHY_UNKNOWN,
				.nodes_why = HD_WHY_NO_NODE };
}

int hd_alloc(size_t bytes, const struct hd_want *want, void **start, struct hd_got *got)
{
	struct hdl_region region;
	struct hd_machine machine;
	struct hdl_wish wish;
	struct hd_got read = { 0 };
	int error = bytes && start ? wish_from(want, &wish) : -EINVAL;

	if (!error)
		error = wish_machine(want, &wish, &machine);
	if (!error) {
		wish.spread = machine.hashdist;
		error = hdl_region_make(bytes, &wish, &region, &read);
	} else if (error != -EINVAL) {
		read = no_machine(error);
	}
	if (error) {
		tell(NULL, &read, got);
		return error;
	}
	return keep(&region, 0, 0, start, &read, got);
}

int hd_alloc_table(const struct hd_table_want *table, const struct hd_want *want, void **start,
		   uint64_t *entries, struct hd_got *got)
{
	struct hdl_maker maker = { 0 };
	struct hd_providers providers = hdl_providers(&maker);
	struct hd_machine machine;
	struct hd_table made;
	struct hd_request request;
	int error = -EINVAL;

	if (table && start && entries && table->scale < 64 && !table->reserved32 &&
	    !(table->reserved[0] | table->reserved[1] | table->reserved[2] | table->reserved[3]))
		error = wish_from(want, &maker.wish);
	if (!error) {
		error = wish_machine(want, &maker.wish, &machine);
		if (error)
			maker.got = no_machine(error);
	}
	if (!error) {
		request = (struct hd_request){ .bucket_bytes = table->bucket_bytes,
					       .entries = table->entries,
					       .low = table->low,
					       .high = table->high,
					       .scale = (uint8_t)table->scale,
					       .when = HD_WHEN_LATE,
					       .zero = true };
		maker.once = maker.wish.flags & HD_EXACT;
		error = hd_table_alloc(&machine, &request, &providers, &made);
	}
	/* The engine knows only that memory ran out; what the last attempt said is more. */
	if (error && maker.error)
		error = maker.error;
	if (error) {
		tell(NULL, &maker.got, got);
		return error;
	}
	error = keep(&maker.region, made.entries, made.halvings, start, &maker.got, got);
	if (!error)
		*entries = made.entries;
	return error;
}

int hd_free(void *start)
{
	struct lib_table *table;

	if (!start)
		return 0;
	table = registry_take(start);
	if (!table)
		return -EINVAL;
	hdl_region_release(&table->region);
	hdl_mfree(table);
	return 0;
}

int hd_resize(void **start, size_t bytes, struct hd_got *got)
{
	struct lib_table *table = start && bytes ? registry_take(*start) : NULL;
	struct hd_got read = { 0 };
	int error;

	if (!table) {
		tell(NULL, &read, got);
		return -EINVAL;
	}
	error = hdl_region_resize(&table->region, bytes, &read);
	if (!error)
		table->entries = 0;
	table->start = table->region.start;
	registry_add(table);
	*start = table->start;
	tell(table, &read, got);
	return error;
}

int hd_repair(void *start, struct hd_got *got)
{
	struct lib_table table;
	struct hd_got read = { 0 };
	bool ours = registry_read(start, &table);

	if (ours) {
		hdl_region_repair(&table.region, &read);
		registry_update(&table);
	}
	tell(ours ? &table : NULL, &read, got);
	return ours ? 0 : -EINVAL;
}

int hd_read_got(const void *start, struct hd_got *got)
{
	struct lib_table table;
	struct hd_got read = { 0 };
	bool ours = registry_read(start, &table);

	if (ours)
		hdl_region_read(&table.region, &read);
	tell(ours ? &table : NULL, &read, got);
	return ours ? 0 : -EINVAL;
}
