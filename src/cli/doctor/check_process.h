/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of what programs get from the process that starts them. */
#pragma once

#include "cli/doctor/findings.h"

/* The library to preload: that it is there, and whether it is preloaded already. */
void wv_check_library(struct wv_doctor *d);

/* Variables that turn warmverbs off, or have a value that means nothing. */
void wv_check_environment(struct wv_doctor *d);

/* The limit on locked memory, which programs need to register memory. */
void wv_check_memlock(struct wv_doctor *d);
