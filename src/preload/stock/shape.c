/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/stock/shape.h"

#include <string.h>

void wv_qp_key_set(struct wv_qp_key *key, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
	memset(key, 0, sizeof(*key));
	key->context = pd->context;
	key->pd = pd;
	key->send_cq = attr->send_cq;
	key->recv_cq = attr->recv_cq;
	key->srq = attr->srq;
	key->cap = attr->cap;
	key->type = attr->qp_type;
	key->sq_sig_all = (uint32_t)attr->sq_sig_all;
}

bool wv_qp_key_uses(const struct wv_qp_key *key, const void *object)
{
	return object == key->pd || object == key->send_cq || object == key->recv_cq ||
	       object == key->srq || object == key->context;
}

bool wv_init_move_set(struct wv_verb *verb, const struct ibv_qp_attr *attr, int mask)
{
	wv_verb_begin(verb, WV_VERB_MOVE);
	return wv_verb_set_move(verb, attr, mask) && attr->qp_state == IBV_QPS_INIT;
}
