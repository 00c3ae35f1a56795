/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/scope.h"

__thread struct wv_scope wv_scope;
