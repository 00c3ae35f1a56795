/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/connect_steps.h"

#include <string.h>

/* Reliable connections only; see ibv_modify_qp(3). */
#define RTR_MUST                                                                                   \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |            \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTR_MAY (IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX)
#define RTS_MUST                                                                                   \
	(IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |     \
	 IBV_QP_MAX_QP_RD_ATOMIC)
#define RTS_MAY (IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER)

/* The bit of the mask, the member of a step, and that of struct ibv_qp_attr. */
#define EACH_FIELD(FIELD)                                                                          \
	FIELD(IBV_QP_ACCESS_FLAGS, access, qp_access_flags)                                        \
	FIELD(IBV_QP_PKEY_INDEX, pkey_index, pkey_index)                                           \
	FIELD(IBV_QP_PATH_MTU, mtu, path_mtu)                                                      \
	FIELD(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, max_dest_rd_atomic)                   \
	FIELD(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, min_rnr_timer)                                  \
	FIELD(IBV_QP_TIMEOUT, timeout, timeout)                                                    \
	FIELD(IBV_QP_RETRY_CNT, retry_cnt, retry_cnt)                                              \
	FIELD(IBV_QP_RNR_RETRY, rnr_retry, rnr_retry)                                              \
	FIELD(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, max_rd_atomic)                               \
	FIELD(IBV_QP_AV, flow_label, ah_attr.grh.flow_label)                                       \
	FIELD(IBV_QP_AV, sgid_index, ah_attr.grh.sgid_index)                                       \
	FIELD(IBV_QP_AV, hop_limit, ah_attr.grh.hop_limit)                                         \
	FIELD(IBV_QP_AV, traffic_class, ah_attr.grh.traffic_class)                                 \
	FIELD(IBV_QP_AV, dlid, ah_attr.dlid)                                                       \
	FIELD(IBV_QP_AV, sl, ah_attr.sl)                                                           \
	FIELD(IBV_QP_AV, src_path_bits, ah_attr.src_path_bits)                                     \
	FIELD(IBV_QP_AV, static_rate, ah_attr.static_rate)                                         \
	FIELD(IBV_QP_AV, port, ah_attr.port_num)

static void set_step(struct wv_connect_step *step, const struct ibv_qp_attr *attr, int mask)
{
	*step = (struct wv_connect_step){.mask = (uint32_t)mask};
#define SET(bit, to, from)                                                                         \
	if (mask & (bit))                                                                          \
		step->to = (uint32_t)attr->from;
	EACH_FIELD(SET)
#undef SET
}

static bool is_usual(int mask, int must, int may)
{
	return (mask & must) == must && !(mask & ~(must | may));
}

static bool set_rtr(struct wv_connection *c, const struct ibv_qp_attr *attr, int mask)
{
	if (!is_usual(mask, RTR_MUST, RTR_MAY) || !attr->ah_attr.is_global)
		return false;
	set_step(&c->rtr, attr, mask);
	memcpy(c->peer.gid, &attr->ah_attr.grh.dgid, sizeof(c->peer.gid));
	c->peer.qp_num = attr->dest_qp_num;
	c->peer.rq_psn = attr->rq_psn;
	return true;
}

bool wv_connection_set(struct wv_connection *c, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR)
		return set_rtr(c, attr, mask);
	if (!(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_RTS ||
	    !is_usual(mask, RTS_MUST, RTS_MAY))
		return false;
	set_step(&c->rts, attr, mask);
	c->peer.sq_psn = attr->sq_psn;
	return true;
}

int wv_connection_get(const struct wv_connection *c, enum ibv_qp_state state,
		      struct ibv_qp_attr *attr)
{
	const struct wv_connect_step *step = state == IBV_QPS_RTR ? &c->rtr : &c->rts;

	*attr = (struct ibv_qp_attr){
	    .qp_state = state,
	    .dest_qp_num = c->peer.qp_num,
	    .rq_psn = c->peer.rq_psn,
	    .sq_psn = c->peer.sq_psn,
	    .ah_attr.is_global = 1,
	};
	memcpy(&attr->ah_attr.grh.dgid, c->peer.gid, sizeof(c->peer.gid));
#define GET(bit, from, to) attr->to = (__typeof__(attr->to))step->from;
	EACH_FIELD(GET)
#undef GET
	return (int)step->mask;
}

bool wv_connect_steps_agree(const struct wv_connect_step *a, const struct wv_connect_step *b)
{
	struct wv_connect_step other = *b;

	other.flow_label = a->flow_label;
	return !memcmp(a, &other, sizeof(*a));
}
