/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/counters.h"

struct wv_statistics wv_counters;
