/* SPDX-License-Identifier: BSD-2-Clause */
/* Whose list of providers a program follows. */
#pragma once

#include <stdbool.h>

/*
 * Whether this process may follow the providers file (wire/wire.h) that is open as @fd and lies in
 * @folder. A provider is code that this program will run. So only those may name it who could make
 * the program run other code anyway: root, the user, and whoever owns the folder of the socket,
 * whose leases the program takes.
 */
bool wv_provider_list_is_trusted(int fd, const char *folder);
