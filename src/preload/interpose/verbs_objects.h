/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs with _ex that replace a context's own, see prefork/context_ops.h. */
#pragma once

#include "preload/prefork/set.h"

extern const struct wv_context_ops wv_verbs_ex;
