/* SPDX-License-Identifier: BSD-2-Clause */
/* A reason, for people. */
#pragma once

#define WV_REASON_BYTES 120

struct wv_reason_text {
	char text[WV_REASON_BYTES]; /* "": none */
};

/* Writes it. Returns 1. */
__attribute__((format(printf, 2, 3))) int wv_because(struct wv_reason_text *why, const char *format,
						     ...);
