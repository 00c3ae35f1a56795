/* SPDX-License-Identifier: BSD-2-Clause */
/* Words by which two of these programs send each other messages. */
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 64
#define SLOTS 64

static uint8_t memory[SLOTS + 1][BYTES]; /* the last one is what is sent */
static struct ibv_pd *registered;
static struct ibv_mr *mr;
static unsigned int n_posted;

static int register_memory(struct ibv_pd *pd)
{
	if (registered == pd)
		return 0;
	mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	registered = mr ? pd : NULL;
	return mr ? 0 : errno;
}

/* "receives:n=N": posts receives. */
int do_receives(struct program *p, struct options o)
{
	struct qp *qp = chosen_qp(p, o);
	int error = register_memory(p->pd);

	for (long i = option(o, "n", 1); i && !error; i--) {
		unsigned int slot = n_posted++ % SLOTS;
		struct ibv_sge sge = {(uintptr_t)memory[slot], BYTES, mr->lkey};
		struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

		error = qp->qp->srq ? ibv_post_srq_recv(qp->qp->srq, &wr, &bad)
				    : ibv_post_recv(qp->qp, &wr, &bad);
	}
	return error;
}

static int next(const struct qp *qp, struct ibv_wc *wc)
{
	int n;

	while (!(n = ibv_poll_cq(qp->cq->cq, 1, wc)))
		;
	if (n < 0)
		return EIO;
	if (wc->status != IBV_WC_SUCCESS)
		say(" status %d", wc->status);
	return wc->status == IBV_WC_SUCCESS && wc->qp_num == qp->qp->qp_num ? 0 : EBADMSG;
}

/* "push:fill=N": sends a message of bytes N, and waits until it has arrived. */
int do_push(struct program *p, struct options o)
{
	struct qp *qp = chosen_qp(p, o);
	int error = register_memory(p->pd);
	struct ibv_sge sge = {(uintptr_t)memory[SLOTS], BYTES, mr ? mr->lkey : 0};
	struct ibv_send_wr wr = {.wr_id = SLOTS,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	memset(memory[SLOTS], (int)option(o, "fill", 0), BYTES);
	if (!error)
		error = ibv_post_send(qp->qp, &wr, &bad);
	if (!error)
		error = next(qp, &wc);
	return error ?: wc.opcode == IBV_WC_SEND ? 0 : EBADMSG;
}

/* "pull:n=N": waits for messages, and prints a byte of each. */
int do_pull(struct program *p, struct options o)
{
	struct qp *qp = chosen_qp(p, o);
	struct ibv_wc wc;
	int error = 0;

	for (long i = option(o, "n", 1); i && !error; i--) {
		error = next(qp, &wc);
		if (!error && (wc.opcode != IBV_WC_RECV || wc.byte_len != BYTES))
			error = EBADMSG;
		if (!error)
			say(" %u", memory[wc.wr_id][BYTES - 1]);
	}
	return error;
}

/* "listen": does the words of each line that it reads, up to an empty one. */
int do_listen(struct program *p, struct options o)
{
	char text[512], *words[32], *rest;

	(void)o;
	for (;;) {
		int n = 0;

		printf("@listening\n");
		fflush(stdout);
		if (!fgets(text, sizeof(text), stdin) || *text == '\n')
			return 0;
		for (char *at = strtok_r(text, " \n", &rest); at && n < 32;
		     at = strtok_r(NULL, " \n", &rest))
			words[n++] = at;
		run_words(p, words, n);
	}
}
