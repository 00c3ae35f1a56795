/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a command was not adopted, for people.
 */
#pragma once

#include "cli/command_name.h"

/*
 * Returns @why (wv_why_name()), or "privileged command" where @why is that the command is unknown
 * and the ABI table knows it: a lease ends at a privileged command as at an unknown one.
 */
const char *wv_reason(const struct wv_command_id *command, const char *why);
