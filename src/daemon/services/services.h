/* SPDX-License-Identifier: BSD-2-Clause */
/* Services as a whole: their start and end. */
#pragma once

#include "daemon/services/service_state.h"

/* 0 or -errno. */
int wv_services_start(struct wv_services *s);

/* The processes are gone already. Harmless if they were not started. */
void wv_services_stop(struct wv_services *s);
