/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommand `explain`: runs a program and reports how its commands were answered. */
#pragma once

#include "cli/subcommand.h"

extern const struct wv_subcommand wv_cli_explain;
