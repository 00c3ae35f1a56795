/* SPDX-License-Identifier: BSD-2-Clause */
/* What lookups.c asks of its libraries: lookups_library.c, built twice (NUMBER is 1 and 2). */
#pragma once

/* Both have it: its number. */
int number_of_library(void);

/* In the first one. The number of what follows it, found by RTLD_NEXT. */
int number_of_next(void);
/* A file that only this library's RUNPATH finds. */
void *load_by_runpath(const char *file);

/*
 * In the second one: what its constructor got for ibv_open_device(), before the preload's ran. Not
 * with one argument.
 */
void *verb_of_constructor(void);
