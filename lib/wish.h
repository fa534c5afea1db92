/* SPDX-License-Identifier: MIT */
/* wish.h - from what a program asks to what the backend is told */
#ifndef HASHDIST_LIB_WISH_H
#define HASHDIST_LIB_WISH_H

#include "backend/linux/linux.h"

/** @want checked, with defaults and the environment filled in. Return: 0 or -EINVAL. */
int wish_from(const struct hd_want *want, struct hdl_wish *out);
/**
 * wish_machine() - this machine as the engine of core/ sees it
 * hashdist is the environment's, cleared where only one node has memory, or what
 * @want says. Return: 0; -ENODEV; another -errno.
 */
int wish_machine(const struct hd_want *want, const struct hdl_wish *wish, struct hd_machine *out);

#endif
