/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of rdma-core: libibverbs and its providers. */
#pragma once

#include "cli/doctor/findings.h"

/* That programs can load libibverbs, and which version it is. */
void wv_check_verbs(struct wv_doctor *d);

/* That the providers that libibverbs is told of are installed, those of the devices above all. */
void wv_check_providers(struct wv_doctor *d);
