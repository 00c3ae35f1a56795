/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hexadecimal text, in lower case.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Writes @bytes bytes of @data, 0-terminated; @text has room for 2 * @bytes + 1 characters. */
void wv_hex(const void *data, size_t bytes, char *text);

/* Reads a text of exactly @bytes bytes into @data. 0 or -EINVAL. */
int wv_unhex(const char *text, void *data, size_t bytes);

/* Writes a 64-bit number as 16 digits, most significant first. */
void wv_hex_u64(uint64_t value, char text[static 17]);

/* Reads such a number. 0, or -EINVAL and @value as it was. */
int wv_unhex_u64(const char *text, uint64_t *value);
