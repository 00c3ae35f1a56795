/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommand `status`: prints what the daemon holds. */
#pragma once

#include "cli/subcommand.h"

extern const struct wv_subcommand wv_cli_status;
