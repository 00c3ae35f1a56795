/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the command line about what went wrong.
 */
#pragma once

/* Prints "warmverbs: CAUSE" and, unless @remedy is NULL, the remedy on a line of its own. */
void wv_complain(const char *remedy, const char *cause, ...) __attribute__((format(printf, 2, 3)));
