/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fuzz targets share. A target is one function, LLVMFuzzerTestOneInput(), that gives bytes
 * of unknown origin to one parser and asserts what must hold whatever they are.
 */
#pragma once

#include "fixture.h"

#include <stdio.h>

/* Called by libFuzzer for each input. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Called by libFuzzer before the first input. Returns 0. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/*
 * Called by libFuzzer to change the @bytes at @data, in room for @capacity, as follows from @seed.
 * Returns the new size.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity, unsigned int seed);

/* libFuzzer's own mutations. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t capacity);

/*
 * Changes a command log of form @form, and leaves it well-formed more often than libFuzzer would.
 * Arguments and result are those of LLVMFuzzerCustomMutator(). @data need not be aligned.
 */
size_t fuzz_mutate_cmdlog(uint8_t *data, size_t bytes, size_t capacity, unsigned int seed,
			  enum wv_form form);

/* A memory file that holds @data; the caller closes the descriptor. */
int fuzz_file(const void *data, size_t bytes);

/* The path of such a file in this process. */
const char *fuzz_path(int fd, char path[static 32]);

/* /dev/null, as a file. */
FILE *fuzz_nowhere(void);
