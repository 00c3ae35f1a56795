/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands that ask the daemon, and print its answers: `status`, `recipes`, `peers`. */
#pragma once

#include "cli/subcommand.h"

extern const struct wv_subcommand wv_cli_status, wv_cli_recipes, wv_cli_peers;
