/* SPDX-License-Identifier: BSD-2-Clause */
/* Containers. */
#pragma once

#include "cli/doctor/doctor_state.h"

/* Whether this process is in a container, as far as that shows, or in a user namespace. */
bool wv_is_contained(const struct wv_doctor *d);
