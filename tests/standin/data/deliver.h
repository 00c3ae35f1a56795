/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiving side: finds the queue pair, moves the data, completes the receive.
 */
#pragma once

#include "copy.h"
#include "data.h"

struct message {
	struct hca *hca; /* the sender's */
	struct hca_qp *from;
	const struct send_wqe *wqe;
	struct pieces local; /* the sender's memory: what is sent, or where a READ puts it */
};

enum answer_kind {
	ANSWER_DONE,
	ANSWER_NOT_READY, /* no receive is posted */
	ANSWER_NONE,  /* no queue pair, not one that accepts this, or its answer went elsewhere */
	ANSWER_ERROR, /* refused */
	ANSWER_LOCAL, /* the sender's own memory is not there */
};

struct answer {
	enum answer_kind kind;
	uint8_t syndrome;      /* of ANSWER_ERROR: what the sender completes with */
	uint8_t min_rnr_timer; /* of ANSWER_NOT_READY: as the receiver asks */
};

/*
 * Delivers all of @msg, to whichever adapter has the address. An error of the receiver is completed
 * at the receiver and puts it in error; the caller acts on the answer for the sender.
 */
struct answer deliver(const struct message *msg);

/* Puts @qp in error, once, and raises the events for it. */
void deliver_error(struct hca_qp *qp);

/*
 * @qp has gone to error and takes no more elements of its SRQ. A program waits for this event
 * before it gives up on elements whose completions it has not seen.
 */
void deliver_last(struct hca_qp *qp);
