/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mlx5: queues and doorbell records are in memory of the program, and pages of the adapter are
 * mapped from the ufile.
 */
#pragma once

#include "preload/core/provider.h"

extern const struct wv_provider wv_mlx5;
