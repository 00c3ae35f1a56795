/* SPDX-License-Identifier: BSD-2-Clause */
/* How checks say what they have found. */
#pragma once

#include "cli/doctor/doctor_state.h"

/* Adds a finding of the check that is at work. Further findings than there is room for are lost. */
void wv_found(struct wv_doctor *d, enum wv_mark mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Gives the last finding a remedy: a command, or what to do. */
void wv_remedy(struct wv_doctor *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "as root: " if the user is not root: to begin a remedy with. */
const char *wv_as_root(void);

/* How many findings have that mark. */
unsigned int wv_count_findings(const struct wv_doctor *d, enum wv_mark mark);
