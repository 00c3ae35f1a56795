/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts back the program's end of a pair, which is connected, to the state that the program has
 * moved it to. Call with the lock of the pairs held.
 */
#pragma once

#include "preload/spares/pair_end.h"

/* Receives that the program has posted stay posted. The program's next verb shows an error. */
void wv_pair_put_back(struct wv_pair_end *end);

/* The same, unless something has come from the partner, which would be lost. Returns whether. */
bool wv_pair_try_put_back(struct wv_pair_end *end);
