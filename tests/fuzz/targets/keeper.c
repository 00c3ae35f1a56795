/* SPDX-License-Identifier: BSD-2-Clause */
/* What the daemon says to a server that has spares: notes, one after the other. */
#include "fuzz.h"

#include "preload/pairs/keeper_sock.h"
#include "preload/pairs/partner.h"
#include "preload/pairs/server_end.h"

#include <errno.h>

#define SPARES 8

static struct ibv_context context;
static struct ibv_pd pd = {.context = &context};
static struct ibv_cq cq;
static struct ibv_qp qps[SPARES];
static struct wv_tickets *tickets;
static uint64_t promised[SPARES + 1]; /* to which pair; 0: to none */
static unsigned int n_said;

int __wrap_wv_keeper_send(const struct wv_pair_note *note, int wait_ms);

/* A spare is promised to one pair at a time. Now and then the daemon does not read. */
int __wrap_wv_keeper_send(const struct wv_pair_note *note, int wait_ms)
{
	assert_true(wait_ms >= 0);
	switch (note->word) {
	case WV_PAIR_MADE:
		assert_in_range(note->qp_num, 1, SPARES);
		assert_true(note->pair && !promised[note->qp_num]);
		promised[note->qp_num] = note->pair;
		break;
	case WV_PAIR_REFUSED:
	case WV_PAIR_DROP:
	case WV_PAIR_DROPPED:
		break;
	default:
		fail_msg("word %u", note->word);
	}
	return ++n_said % 4 || wait_ms ? 0 : -EAGAIN;
}

/* The client's end is no part of the pair any more. */
static void release(uint64_t pair)
{
	for (unsigned int i = 1; i <= SPARES; i++)
		if (promised[i] == pair)
			promised[i] = 0;
}

static void show_shape(const struct wv_qp_key *key)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct wv_init_moves moves;

	memset(&moves, 0, sizeof(moves));
	moves.n = 1;
	assert_true(
	    wv_init_move_set(&moves.all[0], &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	for (unsigned int i = 0; i < SPARES; i++) {
		assert_non_null(wv_stock_ask(key, 0));
		wv_stock_agree(key, &moves);
	}
}

/* All that are wanted. */
static void make_spares(void)
{
	struct wv_young_qp spare;
	unsigned int n = 0;

	wv_stock_plan(0);
	while (n < SPARES && wv_stock_lacking(&spare, 0)) {
		assert_true(wv_ticket_begin(tickets, &spare.key, &spare.ticket));
		wv_ticket_made(&spare.ticket, n);
		qps[n].qp_num = n + 1;
		spare.qp = &qps[n++];
		assert_true(wv_stock_add(&spare));
	}
	assert_true(n);
}

/* A server that has shown whom it is connected to: its shape has number 1, and its GID is ones. */
static void begin(void)
{
	struct ibv_qp_init_attr attr = {.send_cq = &cq, .recv_cq = &cq, .qp_type = IBV_QPT_RC};
	struct wv_young_qp *y;
	struct wv_shape *shape;
	struct wv_qp_key key;

	wv_stock_withdraw(NULL);
	while ((y = wv_young_in(~0u, NULL)))
		wv_young_enter(y, WV_YOUNG_NONE);
	wv_tickets_free(tickets);
	tickets = wv_tickets_new();
	assert_non_null(tickets);
	memset(promised, 0, sizeof(promised));
	wv_qp_key_set(&key, &pd, &attr);
	show_shape(&key);
	make_spares();
	shape = wv_stock_find(&key);
	shape->number = 1;
	shape->connected = WV_STOCK_AGREE;
	memset(shape->gid, 1, sizeof(shape->gid));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wv_pair_note note;

	begin();
	for (; bytes >= sizeof(note); data += sizeof(note), bytes -= sizeof(note)) {
		int err;

		memcpy(&note, data, sizeof(note));
		if (note.word == WV_PAIR_DROP || note.word == WV_PAIR_DROPPED)
			release(note.pair);
		err = wv_server_end_hear(&note);
		assert_true(!err || err == -EPROTO);
	}
	wv_server_end_lose();
	return 0;
}
