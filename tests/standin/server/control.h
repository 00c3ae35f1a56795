/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests ask of a running stand-in. */
#pragma once

#include "hca.h"

#include <jansson.h>

/*
 * Carries out one line of words, the command line's after "ctl"; returns the answer, a new
 * reference. Called without the lock.
 */
json_t *hca_control(struct hca *hca, const char *line);
