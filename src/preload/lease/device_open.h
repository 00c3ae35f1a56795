/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a device node for the program: from a lease if there is one. */
#pragma once

#include "preload/core/scope.h"

/*
 * Opens the device node @path for a thread in @scope. Returns the tracked descriptor, which is the
 * program's, or -errno of the open itself. Call with no lock held.
 */
int wv_device_open(const char *path, const struct wv_scope *scope);
