/* SPDX-License-Identifier: MIT */
/* walks.c - see walks.h */
#include "cli/walks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const struct hd_tlb_geometry *processor_of(const struct machine *machine)
{
	const struct machine_processor *p = &machine->processor;

	if (!machine_processor_known(p))
		return NULL;
	return hd_tlb_preset_for(&(struct hd_tlb_processor){
	    .vendor = p->vendor[0] ? p->vendor : NULL,
	    .family = p->family,
	    .model = p->model,
	    .implementer = p->implementer,
	    .part = p->part,
	});
}

bool walks_open(struct walks *walks, const char *preset, const struct machine *machine)
{
	*walks = (struct walks){ 0 };
	if (preset)
		walks->processor = hd_tlb_preset_named(preset);
	else if (machine)
		walks->processor = processor_of(machine);
	if (!walks->processor)
		return true;
	walks->bytes = hd_tlb_bytes(walks->processor);
	walks->memory = malloc(walks->bytes);
	return walks->memory;
}

void walks_close(struct walks *walks)
{
	free(walks->memory);
}

bool walks_expected(const struct walks *walks, const struct hd_tlb_table *table, double *out)
{
	uint32_t ppm;

	if (!walks->processor ||
	    hd_tlb_expect(walks->processor, NULL, table, 0, walks->memory, walks->bytes, &ppm))
		return false;
	*out = ppm / 1e6;
	return true;
}

void walks_cell(const struct walks *walks, const struct hd_tlb_table *table, char *out, size_t size)
{
	double expected;

	if (walks_expected(walks, table, &expected))
		snprintf(out, size, "%.2f", expected);
	else
		snprintf(out, size, "?");
}

void walks_print_note(const struct walks *walks)
{
	if (walks->processor)
		printf(
		    "walks     page walks per random lookup of one table alone, by a model of %s\n",
		    walks->processor->title);
	else
		printf("walks     not known: no TLB model for this processor; --tlb takes "
		       "another's\n");
}

int walks_check_preset(const char *option, const char *value)
{
	if (!strcmp(value, "help")) {
		for (unsigned i = 0; hd_tlb_preset(i); i++)
			printf("  %-14s %s\n", hd_tlb_preset(i)->name, hd_tlb_preset(i)->title);
		return -1;
	}
	if (hd_tlb_preset_named(value))
		return CLI_OK;
	cli_error("--%s: '%s' is none of the processors we have a model of", option, value);
	cli_hint("try", "--%s help", option);
	return CLI_USAGE;
}
