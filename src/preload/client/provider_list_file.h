/* SPDX-License-Identifier: BSD-2-Clause */
/* The providers file, which the daemon leaves next to its socket (wire/wire.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the file into @text, with a final zero; what does not fit is left out. False: there is
 * none, or somebody could have written it whom this program does not trust. Never waits.
 */
bool wv_provider_list_file_read(char *text, size_t capacity);
