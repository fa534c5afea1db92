/* SPDX-License-Identifier: MIT */
/*
 * internal.h - between the files of this room
 */
#ifndef HASHDIST_MEASURE_INTERNAL_H
#define HASHDIST_MEASURE_INTERNAL_H

#include "measure/measure.h"

/** One table: got, measured, given back. */
struct measure_once {
	int error;   /* of hd_alloc(), negative */
	bool had;    /* it is the layout that was wanted */
	bool broken; /* it could not be given back */
	struct hd_got got;
	double value[MEASURE_FIGURES]; /* below 0: unknown; the ratios to another layout are */
	struct measure_lookups independent, dependent;
};

/** @lookups: false to see what can be had, no more. */
void measure_once(const struct measure_want *want, const struct measure_layout *layout,
		  const struct measure_cpu *home, bool lookups, struct measure_once *out);

#endif
