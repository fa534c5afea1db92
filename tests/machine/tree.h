/* SPDX-License-Identifier: MIT */
/* tree.h - a small directory tree for one test */
#ifndef TESTS_MACHINE_TREE_H
#define TESTS_MACHINE_TREE_H

#include <stdbool.h>
#include <stddef.h>

/** An empty temporary directory; aborts the test program when it cannot be made. */
char *tree_new(void);
void tree_free(char *tree);

/** Writes @text as file @path, with the directories it needs; "" makes an empty file. */
void tree_put(const char *tree, const char *path, const char *text);
void tree_put_bytes(const char *tree, const char *path, const void *data, size_t len);
void tree_link(const char *tree, const char *path, const char *target);
void tree_fifo(const char *tree, const char *path);
void tree_dir(const char *tree, const char *path);
/** A hole of @bytes. */
void tree_sparse(const char *tree, const char *path, unsigned long long bytes);
/** "@tree/@path", valid until the fourth next call. */
const char *tree_at(const char *tree, const char *path);

/** Does any file below @dir contain @text? */
bool tree_contains(const char *dir, const char *text);
/** Number of files and directories below @dir; -1 when it is not there. */
int tree_count(const char *dir);
/** The file as a string, to be freed; NULL when there is none. */
char *tree_read(const char *tree, const char *path);

#endif
