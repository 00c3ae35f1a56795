/* SPDX-License-Identifier: BSD-2-Clause */
/* What an interpreter has read before its stop point: files that are not mapped, and its script. */
#pragma once

#include "template/start.h"

#include <stdbool.h>

/* Whether a start names the file that is expected, if one is. */
bool wv_sources_are_named(const struct wv_started *s);
