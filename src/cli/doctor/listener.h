/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that listens on the daemon's socket. */
#pragma once

#include "cli/doctor/findings.h"

/*
 * The process that listens, if it is stopped: nobody needs to wait for its answer. 0 if it is not,
 * or if this is not known, as where systemd listens on behalf of the daemon.
 */
pid_t wv_stopped_listener(const struct wv_doctor *d);
