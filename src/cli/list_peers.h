/* SPDX-License-Identifier: BSD-2-Clause */
/* warmverbs peers. */
#pragma once

#include "cli/subcommand.h"

extern const struct wv_subcommand wv_cli_peers;
