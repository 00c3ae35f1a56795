/* SPDX-License-Identifier: BSD-2-Clause */
/* All checks of `warmverbs doctor`. */
#pragma once

#include "cli/doctor/doctor_state.h"

/* Carries out each check in turn. They add to the findings, and change nothing else. */
void wv_run_checks(struct wv_doctor *d);
