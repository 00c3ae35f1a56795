/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's status, for people.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Prints the daemon's status document. 0 or -ENOMEM. */
int wv_print_status(json_t *status, FILE *out);
