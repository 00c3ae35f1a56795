/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the data path keeps about each object of the model, in its ->data. Used with net->lock held.
 */
#pragma once

#include "../server/hca.h"
#include "cqe.h"

#include <stdbool.h>
#include <stdint.h>

/* After which answer of the other side a queue pair waits for its next try. */
enum wait {
	WAIT_NOT,
	WAIT_RNR,    /* the receiver was not ready */
	WAIT_ANSWER, /* nobody answered */
};

struct data_qp {
	uint16_t sq_next; /* basic blocks that were carried out, since the reset */
	uint16_t rq_next; /* elements that were used up, since the reset */
	enum wait wait;
	unsigned int tries; /* of that kind, for the element that waits */
	uint64_t retry_at;  /* ns, CLOCK_MONOTONIC */
};

struct data_srq {
	uint16_t used; /* elements, ever: what the receive counter counts */
	uint16_t head; /* the index of the next */
};

struct data_cq {
	uint32_t pi;	       /* entries written, ever */
	uint32_t solicited_pi; /* pi behind the last solicited one */
	uint32_t settled_pi;   /* armed for any, and nothing to tell up to here */
	bool settled;
	int8_t told; /* the arm sequence number that an event was sent for; -1 before the first */
	bool failed; /* overrun, or not reachable: nothing is written any more */
};

/* Made at the first call. Never NULL: without memory the server ends. */
struct data_qp *data_of_qp(struct hca_qp *qp);
struct data_srq *data_of_srq(struct hca_srq *srq);
struct data_cq *data_of_cq(struct hca_cq *cq);

/* ns of CLOCK_MONOTONIC. */
uint64_t data_now(void);
