/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Send queues: takes what is posted, carries it out in order, completes it.
 */
#pragma once

#include "data.h"

/*
 * Carries out some of what @qp has posted, if its state lets it, and flushes what is posted if it
 * is in error. True if anything moved.
 */
bool send_serve(struct hca *hca, struct hca_qp *qp);
