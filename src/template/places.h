/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths at which the dynamic linker or the program has looked, and what was there. */
#pragma once

/* There may be nothing. Returns 0 or -errno: -E2BIG if there are too many. */
int wv_place_note(const char *path);

/* The first of them that leads to something else now, or to nothing; NULL if none does. */
const char *wv_places_change(void);
