/* SPDX-License-Identifier: BSD-2-Clause */
/* The receives of a soft-RoCE queue pair: RESET takes all of them off the receive queue. */
#pragma once

#include "preload/core/provider.h"

extern const struct wv_receives wv_rxe_receives;
