/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommand `doctor`: finds out what keeps programs from leases. */
#pragma once

#include "cli/subcommand.h"

extern const struct wv_subcommand wv_cli_doctor;
