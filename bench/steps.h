/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the instructions of parts of a program. The program runs in a child, which its parent
 * takes through those parts in single steps, so that nothing else on the machine affects the
 * figures.
 */
#pragma once

#include <stdint.h>

/* Runs @program in a child to its end and returns its exit status. */
int steps_run(int (*program)(int argc, char **argv), int argc, char **argv);

/* Called in the program: returns the number of instructions of @work(@arg). */
uint64_t steps_of(void (*work)(void *arg), void *arg);
