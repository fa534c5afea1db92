/* SPDX-License-Identifier: MIT */
/*
 * bench_draw.c - a lookup's time by the size of the table, as a picture
 */
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/plot.h"

enum { PANELS = 2 };

/** Points of both panels, layout by layout. */
struct canvas {
	struct plot_line line[PANELS][MEASURE_LAYOUTS];
	struct plot_point *point;
	uint32_t sizes;
};

static const enum measure_figure figures[PANELS] = { MEASURE_INDEPENDENT_NS, MEASURE_DEPENDENT_NS };

static struct plot_point point_of(const struct measure_row *row, enum measure_figure figure)
{
	const struct measure_stat *stat = &row->stat[figure];

	return (struct plot_point){ (double)row->bytes, stat->median, stat->low, stat->high };
}

static void make_line(const struct bench *bench, int panel, int layout, struct canvas *canvas)
{
	struct plot_point *point =
	    canvas->point + (size_t)(panel * MEASURE_LAYOUTS + layout) * canvas->sizes;
	struct plot_line *line = &canvas->line[panel][layout];

	*line = (struct plot_line){
		.title = measure_layouts[layout].name,
		.point = point,
		/* Layouts come in pairs: one colour for the pages, dashes for the spread. */
		.colour = (uint32_t)measure_layouts[layout].want_pages - HD_PAGES_BASE,
		.dashed = measure_layouts[layout].want_nodes == HD_NODES_SPREAD,
	};
	for (uint32_t r = 0; r < bench->rows; r++)
		if (bench->row[r].had && bench->row[r].layout == &measure_layouts[layout])
			point[line->points++] = point_of(&bench->row[r], figures[panel]);
}

static int draw(const struct bench *bench, const struct canvas *canvas)
{
	struct bench_words method = { .len = 0 }, machine = { .len = 0 };
	struct bench_words lacking = { .text = "not had: ", .len = strlen("not had: ") };
	size_t nothing = lacking.len;
	struct bench_words command = { .len = 0 };
	const char *const caption[] = {
		command.text,
		method.text,
		"bars reach from the 10th to the 90th percentile, or to the edge",
		machine.text,
		lacking.text,
	};
	const struct plot_panel panel[PANELS] = {
		{ "independent: many in flight", "ns per lookup", canvas->line[0],
		  MEASURE_LAYOUTS },
		{ "dependent: one after the other", "ns per lookup", canvas->line[1],
		  MEASURE_LAYOUTS },
	};
	struct plot plot = {
		.title = "Time of a random lookup by size and layout of the table",
		.x_label = "size of the table",
		.x_is_bytes = true,
		.panel = panel,
		.panels = PANELS,
		.caption = caption,
		.captions = sizeof(caption) / sizeof(caption[0]),
	};

	snprintf(command.text, sizeof(command.text), "$ %s", bench->command);
	bench_say_method(bench, &method);
	bench_say_machine(bench, &machine);
	bench_say_not_had(bench, &lacking);
	plot.captions -= lacking.len == nothing;
	return plot_draw(&plot, bench->opt->plot);
}

int bench_draw(const struct bench *bench)
{
	struct canvas *canvas = calloc(1, sizeof(*canvas));
	uint32_t points = 0;
	int status = CLI_FAILED;

	if (canvas) {
		canvas->sizes = bench->opt->sizes;
		canvas->point = calloc((size_t)PANELS * MEASURE_LAYOUTS * canvas->sizes,
				       sizeof(*canvas->point));
	}
	if (!canvas || !canvas->point) {
		cli_error("out of memory");
		free(canvas);
		return CLI_FAILED;
	}
	for (int panel = 0; panel < PANELS; panel++)
		for (int layout = 0; layout < MEASURE_LAYOUTS; layout++) {
			make_line(bench, panel, layout, canvas);
			points += canvas->line[panel][layout].points;
		}
	if (points)
		status = draw(bench, canvas);
	else
		cli_error("--plot: no layout was had, so there is nothing to draw");
	free(canvas->point);
	free(canvas);
	return status;
}
