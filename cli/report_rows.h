/* SPDX-License-Identifier: MIT */
/* report_rows.h - one row per boot, for many logs */
#ifndef HASHDIST_CLI_REPORT_ROWS_H
#define HASHDIST_CLI_REPORT_ROWS_H

#include "ktables/ktables.h"

void report_rows_head(void);
void report_rows_print(const char *file, const struct klog_boot *boot,
		       const struct ktables_survey *survey);
/** The worst of one boot; unknown when nothing could be judged. */
enum hd_verdict_code report_rows_verdict(const struct ktables_survey *survey);

#endif
