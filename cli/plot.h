/* SPDX-License-Identifier: MIT */
/*
 * plot.h - figures as a picture, drawn by the program gnuplot
 *
 * plot_script.c  what gnuplot is told
 * plot.c         runs it, and puts the picture in its place
 */
#ifndef HASHDIST_CLI_PLOT_H
#define HASHDIST_CLI_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct plot_point {
	double x, y;
	double low, high; /* a bar through the point; cut where it would dwarf all points */
};

struct plot_line {
	const char *title;
	const struct plot_point *point;
	uint32_t points;
	uint32_t colour; /* lines of one colour belong together; 0 to PLOT_COLOURS - 1 */
	bool dashed;
};

enum { PLOT_COLOURS = 6 };

/** One of several drawings that stand side by side. */
struct plot_panel {
	const char *title;
	const char *y_label;
	const struct plot_line *line;
	uint32_t lines; /* those without points are left out */
};

struct plot {
	const char *title;
	const char *x_label;
	bool x_is_bytes; /* powers of two, in KiB, MiB, GiB; else as they are */
	bool key_below;  /* titles of lines stand at the bottom, as no line is near 0 */
	const struct plot_panel *panel;
	uint32_t panels;
	const char *const *caption; /* below, in small print; each is broken into lines */
	uint32_t captions;
};

/** Of --plot: into *@file, if it ends as pictures do. Return: CLI_OK; CLI_USAGE, having said why. */
int plot_take(const char *value, const char **file);

/**
 * plot_ready() - can a picture be made of @file? To be asked before a long measurement
 * Return: CLI_OK; CLI_FAILED, having said what is missing and how to get it.
 */
int plot_ready(const char *file);

/**
 * plot_draw() - draw it into @file, whose name ends with .svg or .png
 *
 * The file appears as a whole or not at all, and replaces one of that name.
 * Return: CLI_OK; CLI_FAILED, having said why.
 */
int plot_draw(const struct plot *plot, const char *file);

/** The script for a picture in the format of @file, to standard output of gnuplot. */
void plot_script(const struct plot *plot, const char *file, FILE *out);

#endif
