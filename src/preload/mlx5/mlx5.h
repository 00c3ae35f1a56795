/*
 * mlx5: queues and doorbell records lie in memory of the program, pages of the adapter are mapped
 * from the ufile.
 */
#pragma once

#include "preload/core/provider.h"

extern const struct wv_provider wv_mlx5;
