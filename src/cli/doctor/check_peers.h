/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the daemon reaches the daemons of the nodes that its configuration names. */
#pragma once

#include "cli/doctor/doctor_state.h"

void wv_check_peers(struct wv_doctor *d);
