/*
 * The side that a message comes to: finds the queue pair, moves the data, completes its receive.
 */
#pragma once

#include "copy.h"
#include "data.h"

struct message {
	struct hca_qp *from;
	const struct send_wqe *wqe;
	struct pieces local; /* the sender's memory: what is sent, or where a READ puts it */
};

enum answer_kind {
	ANSWER_DONE,
	ANSWER_NOT_READY, /* no receive is posted */
	ANSWER_NONE,	  /* nobody is there, or it does not want to talk with this sender */
	ANSWER_ERROR,	  /* refused */
	ANSWER_LOCAL,	  /* the sender's own memory is not there */
};

struct answer {
	enum answer_kind kind;
	uint8_t syndrome;      /* of ANSWER_ERROR: what the sender completes with */
	uint8_t min_rnr_timer; /* of ANSWER_NOT_READY: as the receiver asks */
};

/*
 * Delivers @msg, to the end. Errors of the receiver's are completed there, and put it in error;
 * what the sender does about the answer is its own business.
 */
struct answer deliver(struct hca *hca, const struct message *msg);

/* Puts @qp in error, once, and tells the program what it needs to know of it. */
void deliver_error(struct hca_qp *qp);

/*
 * @qp is in error since now: of an SRQ's elements it takes no more. A program waits to be told
 * before it gives up on those that it has not seen completed.
 */
void deliver_last(struct hca_qp *qp);
