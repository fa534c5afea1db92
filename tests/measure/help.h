/* SPDX-License-Identifier: MIT */
/*
 * help.h - what the tests of measure/ share
 */
#ifndef HASHDIST_TESTS_MEASURE_HELP_H
#define HASHDIST_TESTS_MEASURE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "measure/measure.h"

#define KIB           (UINT64_C(1) << 10)
#define MIB           (UINT64_C(1) << 20)
#define GIB           (UINT64_C(1) << 30)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
