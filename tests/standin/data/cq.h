/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queues: entries into them, and events out of them.
 */
#pragma once

#include "data.h"

/*
 * Writes @completion and sets its timestamp. Returns 0, -ENOSPC if the queue is overrun, which
 * raises IBV_EVENT_CQ_ERR the first time, or -errno if its memory can't be reached. After a
 * failure, every further completion is refused.
 */
int cq_post(struct hca_cq *cq, struct completion *completion);

/* Sends the event that the program asked for, if there is something to tell. */
void cq_tell(struct hca_cq *cq);
