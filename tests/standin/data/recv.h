/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receive queues: a queue pair's own, or its SRQ.
 */
#pragma once

#include "data.h"
#include "wqe.h"

/*
 * Reads the next element for @qp without using it up. 0; -EAGAIN if there is none; another -errno
 * if the queue can't be read.
 */
int recv_peek(struct hca_qp *qp, struct recv_wqe *wqe);

/* Uses up the element that recv_peek() returned. */
void recv_consume(struct hca_qp *qp, const struct recv_wqe *wqe);

/* The protection domain that the element's memory must belong to. */
struct hca_pd *recv_pd(const struct hca_qp *qp);
