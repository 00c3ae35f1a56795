/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's state as metrics for Prometheus, in its text format, which the textfile collector of
 * node_exporter reads, too (prometheus.io, "Exposition formats").
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/*
 * Prints @status, the daemon's answer, with its answer about peers added: of the node, its devices
 * and its peers. Returns 0.
 */
int wv_print_metrics(json_t *status, FILE *out);

/* The same, and samples for each user and each recipe. Returns 0. */
int wv_print_detailed_metrics(json_t *status, FILE *out);
