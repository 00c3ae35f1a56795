/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommand `container`: writes files for runtimes, and is their hook. */
#pragma once

#include "cli/subcommand.h"

extern const struct wv_subcommand wv_cli_container;
