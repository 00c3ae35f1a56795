/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's peers, for people.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Prints the daemon's document of peers. 0 or -ENOMEM. */
int wv_print_peers(json_t *document, FILE *out);
