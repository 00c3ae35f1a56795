/* SPDX-License-Identifier: BSD-2-Clause */
/* soft-RoCE. */
#pragma once

#include "preload/core/provider.h"

extern const struct wv_provider wv_rxe;
