/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program has changed in its environment before its stop point. */
#pragma once

/* Before the program can have changed anything. */
void wv_environment_remember(char **variables);

/* At the stop point: finds the changes. Returns NULL, or why that is not possible. */
const char *wv_environment_compare(void);

/* In a start, whose environ is the client's: makes the same changes. */
void wv_environment_change(void);
