/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommand `recipes`: lists, shows and forgets recipes. */
#pragma once

#include "cli/subcommand.h"

extern const struct wv_subcommand wv_cli_recipes;
