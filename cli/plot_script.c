/* SPDX-License-Identifier: MIT */
/*
 * plot_script.c - what gnuplot is told
 *
 * Of a text nothing reaches gnuplot that it could take for its own: what it
 * would run, expand or end a string at is written in octal. (In single quotes
 * it runs nothing, but 5.4 trips over two quotes in a row.) Other than printable
 * ASCII is left out, as an SVG must be well-formed whatever somebody calls a file.
 */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/plot.h"
#include "cli/wrap.h"

/* Pixels, but for the last three. */
enum {
	WIDTH = 1200,
	HEIGHT = 600, /* of title and panels */
	ABOVE = 90,   /* of HEIGHT, for the titles */
	BELOW = 75,   /* of HEIGHT, for the axis */
	LEFT = 100,   /* of a panel's width */
	RIGHT = 25,
	TITLE_FONT = 19,
	FONT = 14,
	SMALL_FONT = 12,
	CAPTION_LINE = 19,
	CAPTION_WRAP = 165, /* letters */
	TICKS_MAX = 7,      /* that have a label */
	CUT = 2,            /* bars are, at this many times the highest point */
};

/* Told apart by colour-blind readers, and when printed in grey (Okabe and Ito). */
static const char *const colours[PLOT_COLOURS] = { "#0072b2", "#d55e00", "#009e73",
						   "#cc79a7", "#e69f00", "#56b4e9" };

/** The picture, with its captions. */
struct sheet {
	const struct plot *plot;
	FILE *out;
	double height; /* pixels */
	bool png;
};

static void put_text(FILE *out, const char *text, size_t len)
{
	fputc('"', out);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c > 0x7e)
			fputc('?', out);
		else if (strchr("\"\\'`@$", c))
			fprintf(out, "\\%03o", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void put_string(FILE *out, const char *text)
{
	put_text(out, text, strlen(text));
}

/** A line of text at pixels from the left and from the top. */
static void put_label(const struct sheet *s, const char *text, size_t len, double left, double top,
		      const char *align, int font)
{
	fputs("set label ", s->out);
	put_text(s->out, text, len);
	fprintf(s->out, " at screen %.4f, screen %.4f %s font ',%g'\n", left / WIDTH,
		1 - top / s->height, align, s->png ? font * 0.75 : font);
}

/* ---- captions ------------------------------------------------------------------------------ */

/** @put: else only counts. Return: lines. */
static int captions(const struct sheet *s, bool put)
{
	int lines = 0;

	for (uint32_t c = 0; c < s->plot->captions; c++) {
		for (const char *at = s->plot->caption[c]; *at; lines++) {
			size_t take = cli_wrap(at, CAPTION_WRAP);

			if (put)
				put_label(s, at, take, LEFT / 4,
					  HEIGHT + (lines + 1) * CAPTION_LINE, "left", SMALL_FONT);
			at += take;
			at += strspn(at, " ");
		}
	}
	return lines;
}

/* ---- the axis of sizes ------------------------------------------------------------------------ */

static void range_of(const struct plot *plot, double *least, double *most)
{
	*least = HUGE_VAL;
	*most = 0;
	for (uint32_t p = 0; p < plot->panels; p++)
		for (uint32_t l = 0; l < plot->panel[p].lines; l++)
			for (uint32_t i = 0; i < plot->panel[p].line[l].points; i++) {
				double x = plot->panel[p].line[l].point[i].x;

				*least = x < *least ? x : *least;
				*most = x > *most ? x : *most;
			}
}

/** Powers of two from label to label: few enough, and with labels at both ends if that can be. */
static int step_of(int powers)
{
	int step = (powers + TICKS_MAX - 1) / (TICKS_MAX - 1);

	step = step > 0 ? step : 1;
	return powers % step && powers % (step + 1) == 0 ? step + 1 : step;
}

static void axis_of_bytes(const struct plot *plot, FILE *out)
{
	double least, most;
	int low, high, step;
	const char *between = "";
	char text[32];

	range_of(plot, &least, &most);
	if (least > most)
		return;
	low = (int)floor(log2(least));
	high = (int)ceil(log2(most));
	step = step_of(high - low);
	fprintf(out, "set logscale x 2\nset xrange [%.17g:%.17g]\nset xtics (", least / 1.5,
		most * 1.5);
	for (int shift = low; shift <= high; shift++) {
		bool named = (shift - low) % step == 0;

		fputs(between, out);
		put_string(out, named ? cli_size(text, sizeof(text), 1ULL << shift) : "");
		fprintf(out, " %.17g%s", ldexp(1, shift), named ? "" : " 1");
		between = ", ";
	}
	fputs(")\n", out);
}

/* ---- the other axis --------------------------------------------------------------------------- */

/** One bar that is far longer than all points are high would press them flat: it is cut. */
static void other_axis(const struct plot_panel *panel, FILE *out)
{
	double point = 0, bar = 0;

	for (uint32_t l = 0; l < panel->lines; l++)
		for (uint32_t i = 0; i < panel->line[l].points; i++) {
			point = fmax(point, panel->line[l].point[i].y);
			bar = fmax(bar, panel->line[l].point[i].high);
		}
	if (bar > CUT * point && point > 0)
		fprintf(out, "set yrange [0:%.9g]\n", CUT * point);
	else
		fputs("set yrange [0:*]\n", out);
}

/* ---- panels ------------------------------------------------------------------------------------ */

/** Bars at one size would hide each other: sets the lines apart by a little. */
static double aside(const struct plot_panel *panel, uint32_t l)
{
	int before = 0, all = 0;

	for (uint32_t i = 0; i < panel->lines; i++) {
		all += panel->line[i].points > 0;
		before += i < l && panel->line[i].points > 0;
	}
	return exp2(0.06 * (before - (all - 1) / 2.0));
}

static void data_of(const struct sheet *s, uint32_t p)
{
	const struct plot_panel *panel = &s->plot->panel[p];

	for (uint32_t l = 0; l < panel->lines; l++) {
		double shift = s->plot->x_is_bytes ? aside(panel, l) : 1;

		fprintf(s->out, "$p%ul%u << EOD\n", p, l);
		for (uint32_t i = 0; i < panel->line[l].points; i++) {
			const struct plot_point *point = &panel->line[l].point[i];

			fprintf(s->out, "%.17g %.9g %.9g %.9g\n", point->x * shift, point->y,
				point->low, point->high);
		}
		fputs("EOD\n", s->out);
	}
}

static void place_panel(const struct sheet *s, uint32_t p)
{
	double width = (double)WIDTH / s->plot->panels;

	fprintf(s->out, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n",
		(p * width + LEFT) / WIDTH, ((p + 1) * width - RIGHT) / WIDTH);
	fprintf(s->out, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
		1 - ABOVE / s->height, 1 - (HEIGHT - BELOW) / s->height);
}

static void draw_line(const struct plot_line *line, uint32_t p, uint32_t l, FILE *out)
{
	fprintf(out, "$p%ul%u using 1:2:3:4 with yerrorlines title ", p, l);
	put_string(out, line->title);
	fprintf(out, " lc rgb '%s' lw 2 dt %s pt %d ps 0.9", colours[line->colour % PLOT_COLOURS],
		line->dashed ? "(8,6)" : "solid", line->dashed ? 6 : 7);
}

static void draw_panel(const struct sheet *s, uint32_t p)
{
	const struct plot_panel *panel = &s->plot->panel[p];
	const char *between = "";

	place_panel(s, p);
	other_axis(panel, s->out);
	fputs("set title ", s->out);
	put_string(s->out, panel->title);
	fputs("\nset ylabel ", s->out);
	put_string(s->out, panel->y_label);
	fputs("\nplot ", s->out);
	for (uint32_t l = 0; l < panel->lines; l++) {
		if (!panel->line[l].points)
			continue;
		fputs(between, s->out);
		draw_line(&panel->line[l], p, l, s->out);
		between = ", ";
	}
	fputs(*between ? "\n" : "NaN notitle\n", s->out);
	/* The title and the captions belong to the picture, not to each of its panels. */
	fputs("unset label\n", s->out);
}

static void set_up(const struct sheet *s)
{
	fprintf(s->out,
		"set terminal %s size %d,%.0f font 'sans%s,%g' noenhanced background rgb 'white'\n",
		s->png ? "pngcairo" : "svg", WIDTH, s->height, s->png ? "" : "-serif",
		s->png ? FONT * 0.75 : FONT);
	fputs("set encoding utf8\n"
	      "set border 3\n"
	      "set tics nomirror out\n"
	      "set bars 0.5\n"
	      "set grid xtics ytics lt 1 lc rgb '#dddddd' lw 1\n"
	      "set key left reverse Left width 1 samplen 4\n"
	      "set xlabel ",
	      s->out);
	put_string(s->out, s->plot->x_label);
	fprintf(s->out, "\nset key %s\n", s->plot->key_below ? "bottom" : "top");
}

void plot_script(const struct plot *plot, const char *file, FILE *out)
{
	const char *dot = strrchr(file, '.');
	struct sheet s = { .plot = plot, .out = out, .png = dot && !strcmp(dot, ".png") };

	s.height = HEIGHT + (captions(&s, false) + 1.5) * CAPTION_LINE;
	set_up(&s);
	for (uint32_t p = 0; p < plot->panels; p++)
		data_of(&s, p);
	if (plot->x_is_bytes)
		axis_of_bytes(plot, out);
	put_label(&s, plot->title, strlen(plot->title), WIDTH / 2, ABOVE / 3, "center", TITLE_FONT);
	captions(&s, true);
	fputs("set multiplot\n", out);
	for (uint32_t p = 0; p < plot->panels; p++)
		draw_panel(&s, p);
	fputs("unset multiplot\n", out);
}
