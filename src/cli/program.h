/*
 * Looking at a program before it is run: whether a library can be preloaded into it at all.
 */
#pragma once

#include <stddef.h>

/* The file that execvp(@name) would run, in @path. 0, or -ENOENT if there is none. */
int wv_program_find(const char *name, char *path, size_t capacity);

/* Why nothing can be preloaded into the program at @path, in words; NULL if it can. */
const char *wv_program_obstacle(const char *path);
