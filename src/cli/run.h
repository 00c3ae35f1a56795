/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommand `run`: runs a program under warmverbs. */
#pragma once

#include "cli/subcommand.h"

extern const struct wv_subcommand wv_cli_run;
