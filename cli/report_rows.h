/* SPDX-License-Identifier: MIT */
/* report_rows.h - one row per boot, for many logs */
#ifndef HASHDIST_CLI_REPORT_ROWS_H
#define HASHDIST_CLI_REPORT_ROWS_H

#include "ktables/ktables.h"

enum { REPORT_ROW_MAX = 512 };

void report_rows_head(void);
/** All of a row but LOG and LINE, in @out. Return: its bytes, at most REPORT_ROW_MAX. */
size_t report_rows_format(const struct klog_boot *boot, const struct ktables_survey *survey,
			  char *out);
/** LOG, LINE, and @rest as report_rows_format() made it. */
void report_rows_print(const char *file, uint64_t number, const char *rest, size_t len);
/** The worst of one boot; unknown when nothing could be judged. */
enum hd_verdict_code report_rows_verdict(const struct ktables_survey *survey);

#endif
