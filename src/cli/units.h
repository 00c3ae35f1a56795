/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quantities, for people.
 */
#pragma once

#include <stdint.h>

#define WV_QUANTITY_MAX 24

/* "850 ns", "4.39 us", "20.1 ms", "1.65 s". */
const char *wv_format_ns(uint64_t ns, char text[static WV_QUANTITY_MAX]);

/* "512 B", "96.0 KiB", "1.50 GiB". */
const char *wv_format_bytes(uint64_t bytes, char text[static WV_QUANTITY_MAX]);
