/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jansson leaves out of a document what it has no memory for, and takes a text that it has no
 * memory for as malformed. So whoever makes or reads a document asks here, at the end, whether
 * memory was short. Each thread has its own answer.
 */
#pragma once

#include <stdbool.h>

/* A document is made or read from now on. */
void wv_json_begin(void);

/* Whether jansson had no memory for part of the document. */
bool wv_json_was_short(void);
