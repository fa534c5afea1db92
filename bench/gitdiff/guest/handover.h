/* SPDX-License-Identifier: MIT */
#ifndef GITDIFF_HANDOVER_H
#define GITDIFF_HANDOVER_H

/**
 * hand_over_symbols() - shows the plugin the kernel's symbols; from then on it looks at memory
 *
 * Return: 0; -1 with errno, if the kernel does not show them.
 */
int hand_over_symbols(void);

#endif
