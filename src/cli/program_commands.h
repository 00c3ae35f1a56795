/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands that run a program: `run`, and `explain`, which reports how that went. */
#pragma once

#include "cli/subcommand.h"

extern const struct wv_subcommand wv_cli_run, wv_cli_explain;
