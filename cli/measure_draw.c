/* SPDX-License-Identifier: MIT */
/*
 * measure_draw.c - times and page faults run by run, as a picture
 *
 * Run by run, as it shows what medians hide: a machine that got slower meanwhile, a run
 * that was disturbed, two ways that a program may go.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/measure.h"
#include "cli/plot.h"

enum { PANELS = 3, SIDES = 2 };

static const struct {
	enum command_figure figure;
	const char *title;
} panels[PANELS] = {
	{ COMMAND_WALL, "wall time" },
	{ COMMAND_CPU, "CPU time: user and system" },
	{ COMMAND_MINOR_FAULTS, "page faults (minor)" },
};

struct canvas {
	struct plot_line line[PANELS][SIDES];
	struct plot_point *point; /* panel by panel, side by side */
};

/** What a value is divided by for its axis, and that axis's name. */
struct axis {
	double unit;
	const char *name;
};

static struct axis axis_of(const struct ab *m, enum command_figure figure)
{
	double most = 0;

	if (ab_figures[figure].unit != AB_NS)
		return (struct axis){ 1, "number" };
	for (int side = 0; side < SIDES; side++)
		most = m->stat[side][figure].high > most ? m->stat[side][figure].high : most;
	if (most >= 1e9)
		return (struct axis){ 1e9, "s" };
	return most >= 1e6 ? (struct axis){ 1e6, "ms" } : (struct axis){ 1e3, "us" };
}

static void make_line(const struct ab *m, int panel, int side, double unit, struct canvas *canvas)
{
	static const char *const titles[SIDES] = { "A", "B" };
	struct plot_point *point = canvas->point + (size_t)(panel * SIDES + side) * m->result.runs;
	struct plot_line *line = &canvas->line[panel][side];

	*line = (struct plot_line){
		.title = titles[side],
		.point = point,
		.colour = (uint32_t)side,
		.dashed = side > 0,
	};
	for (uint32_t r = 0; r < m->result.runs; r++) {
		double value = command_sample(&m->result, side, panels[panel].figure, r) / unit;

		if (value >= 0)
			point[line->points++] = (struct plot_point){ r + 1, value, value, value };
	}
}

static int draw(const struct ab *m, struct canvas *canvas)
{
	struct bench_words command = { .len = 0 }, method = { .len = 0 }, outcome = { .len = 0 };
	struct bench shown = { .facts = m->facts };
	struct bench_words machine = { .len = 0 };
	const char *const caption[] = { command.text, outcome.text, method.text, machine.text };
	struct plot_panel panel[PANELS];

	for (int p = 0; p < PANELS; p++) {
		struct axis axis = axis_of(m, panels[p].figure);

		for (int side = 0; side < SIDES; side++)
			make_line(m, p, side, axis.unit, canvas);
		panel[p] =
		    (struct plot_panel){ panels[p].title, axis.name, canvas->line[p], SIDES };
	}
	bench_say(&command, "$ %s", m->command);
	ab_say_outcome(m, &outcome);
	ab_say_method(m, &method);
	bench_say_machine(&shown, &machine);
	return plot_draw(
	    &(struct plot){
		.title = "One command under two settings, run by run",
		.x_label = "run",
		.key_below = true,
		.panel = panel,
		.panels = PANELS,
		.caption = caption,
		.captions = sizeof(caption) / sizeof(caption[0]),
	    },
	    m->opt->plot);
}

int ab_draw(const struct ab *m)
{
	struct canvas canvas = {
		.point = calloc((size_t)PANELS * SIDES * m->result.runs, sizeof(struct plot_point)),
	};
	int status;

	if (!canvas.point) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	status = draw(m, &canvas);
	free(canvas.point);
	return status;
}
