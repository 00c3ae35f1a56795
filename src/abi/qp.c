/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/qp.h"

#include "base/base.h"

#include <rdma/mlx5-abi.h>
#include <string.h>

/*
 * How far a queue pair may be moved while its peer is unknown: RC and UC need the peer from RTR on.
 * UD's and a DC initiator's PSN at RTS is a number that no receiver checks (IBTA 1.3, 9.8.3; DC
 * connects by itself).
 */
static const struct wv_ahead_row ahead[] = {
    {WV_ANY_DRIVER, IB_UVERBS_QPT_RC, 0, 0, 0, IBV_QPS_INIT, true},
    {WV_ANY_DRIVER, IB_UVERBS_QPT_UC, 0, 0, 0, IBV_QPS_INIT, true},
    {WV_ANY_DRIVER, IB_UVERBS_QPT_UD, 0, 0, 0, IBV_QPS_RTS, true},
    {RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, offsetof(struct mlx5_ib_create_qp, flags),
     MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT, MLX5_QP_FLAG_TYPE_DCI, IBV_QPS_RTS, true},
    /* mlx5_ib cannot take a DCT back from RTR (hw/mlx5/qp.c, mlx5_ib_modify_dct()). */
    {RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, offsetof(struct mlx5_ib_create_qp, flags),
     MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT, MLX5_QP_FLAG_TYPE_DCT, IBV_QPS_RTR, false},
};

_Static_assert(sizeof(struct ib_uverbs_modify_qp) == 112, "as uverbs_cmd.c reads it");
_Static_assert((int)IBV_QPT_RC == IB_UVERBS_QPT_RC && (int)IBV_QPT_UC == IB_UVERBS_QPT_UC &&
		   (int)IBV_QPT_UD == IB_UVERBS_QPT_UD,
	       "libibverbs and the kernel number types alike");

const struct wv_ahead_row *wv_qp_ahead(uint32_t driver_id, uint32_t qp_type, const void *uhw_in,
				       size_t len)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(ahead); i++) {
		const struct wv_ahead_row *row = &ahead[i];
		uint32_t flags = 0;

		if (uhw_in && row->flags_at + sizeof(flags) <= len)
			memcpy(&flags, (const uint8_t *)uhw_in + row->flags_at, sizeof(flags));
		if (row->qp_type == qp_type &&
		    (row->driver_id == WV_ANY_DRIVER || row->driver_id == driver_id) &&
		    (flags & row->flags_mask) == row->flags)
			return row;
	}
	return NULL;
}

bool wv_qp_may_move(const struct wv_ahead_row *row, int from, int to)
{
	bool once_more = from == IBV_QPS_INIT && to == IBV_QPS_INIT;

	return row && to <= (int)row->state && (to == from + 1 || once_more);
}

bool wv_qp_is_ahead(enum ibv_qp_type type, enum ibv_qp_state state)
{
	const struct wv_ahead_row *row = wv_qp_ahead(WV_ANY_DRIVER, type, NULL, 0);

	return row && state >= IBV_QPS_INIT && (uint32_t)state <= row->state;
}

int wv_qp_state_asked(const void *core_in, size_t len)
{
	const struct ib_uverbs_modify_qp *modify = core_in;

	if (len < sizeof(*modify) || !(modify->attr_mask & IBV_QP_STATE))
		return -1;
	return modify->qp_state;
}

int wv_command_qp_state(const struct ib_uverbs_ioctl_hdr *cmd)
{
	for (unsigned int i = 0; i < cmd->num_attrs; i++)
		if (cmd->attrs[i].attr_id == UVERBS_ATTR_CORE_IN)
			return wv_qp_state_asked(wv_attr_input(&cmd->attrs[i]), cmd->attrs[i].len);
	return -1;
}

/* What qp_state_table of Linux requires and allows for RC (drivers/infiniband/core/verbs.c). */
static const struct {
	uint8_t state; /* enum ibv_qp_state */
	uint32_t must, may;
} connecting[] = {
    {IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	 IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTS,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
};

bool wv_qp_connects(const void *core_in, size_t len, enum ibv_qp_state state)
{
	const struct ib_uverbs_modify_qp *modify = core_in;

	if (wv_qp_state_asked(core_in, len) != (int)state)
		return false;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(connecting); i++) {
		uint32_t must = connecting[i].must | IBV_QP_STATE;

		if (connecting[i].state == state)
			return (modify->attr_mask & must) == must &&
			       !(modify->attr_mask & ~(must | connecting[i].may)) &&
			       (modify->dest.is_global || !(must & IBV_QP_AV));
	}
	return false;
}

bool wv_qp_peer_is(const struct wv_qp_peer *peer, const struct wv_qp_peer *other)
{
	return peer->qp_num == other->qp_num && !memcmp(peer->gid, other->gid, sizeof(peer->gid));
}

/* @peer, with @gid, if a move with @mask names it. */
static struct wv_qp_peer named(uint32_t mask, bool by_gid, struct wv_qp_peer peer, const void *gid)
{
	if (!(mask & IBV_QP_AV && mask & IBV_QP_DEST_QPN && by_gid))
		return (struct wv_qp_peer){.qp_num = 0};
	memcpy(peer.gid, gid, sizeof(peer.gid));
	return peer;
}

struct wv_qp_peer wv_qp_named(const void *core_in, size_t len)
{
	const struct ib_uverbs_modify_qp *modify = core_in;

	if (len < sizeof(*modify))
		return (struct wv_qp_peer){.qp_num = 0};
	return named(modify->attr_mask, modify->dest.is_global,
		     (struct wv_qp_peer){.qp_num = modify->dest_qp_num,
					 .port = modify->dest.port_num,
					 .sgid_index = modify->dest.sgid_index},
		     modify->dest.dgid);
}

struct wv_qp_peer wv_qp_named_by(const struct ibv_qp_attr *attr, int mask)
{
	return named((uint32_t)mask, attr->ah_attr.is_global,
		     (struct wv_qp_peer){.qp_num = attr->dest_qp_num,
					 .port = attr->ah_attr.port_num,
					 .sgid_index = attr->ah_attr.grh.sgid_index},
		     &attr->ah_attr.grh.dgid);
}

void wv_qp_set_psns(void *core_in, const struct wv_qp_peer *peer)
{
	struct ib_uverbs_modify_qp *modify = core_in;

	if (modify->attr_mask & IBV_QP_RQ_PSN)
		modify->rq_psn = peer->peer_psn;
	if (modify->attr_mask & IBV_QP_SQ_PSN)
		modify->sq_psn = peer->psn;
}

void wv_qp_set_peer(void *core_in, const struct wv_qp_peer *peer)
{
	struct ib_uverbs_modify_qp *modify = core_in;

	if (modify->attr_mask & IBV_QP_DEST_QPN)
		modify->dest_qp_num = peer->qp_num;
	if (modify->attr_mask & IBV_QP_AV) {
		memcpy(modify->dest.dgid, peer->gid, sizeof(peer->gid));
		modify->dest.flow_label = peer->flow_label;
	}
}

/* What the kernel keeps, under the same names in both answers. */
#define KEPT_IN_RESET(field) field(qkey) field(qp_access_flags) field(pkey_index) field(port_num)
#define CLEAR(name)	     answer->name = 0;

static struct ib_uverbs_query_qp_resp *answer_of(const struct ib_uverbs_ioctl_hdr *query)
{
	for (unsigned int i = 0; i < query->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &query->attrs[i];
		struct ib_uverbs_query_qp_resp *answer = (void *)(uintptr_t)attr->data;

		if (attr->attr_id == UVERBS_ATTR_CORE_OUT && attr->len >= sizeof(*answer))
			return answer;
	}
	return NULL;
}

void wv_qp_hide_ioctl(const struct ib_uverbs_ioctl_hdr *query)
{
	struct ib_uverbs_query_qp_resp *answer = answer_of(query);

	if (answer) {
		KEPT_IN_RESET(CLEAR)
	}
}

#define SET_BY_RTR(field)                                                                          \
	field(path_mtu) field(dest_qp_num) field(rq_psn) field(max_dest_rd_atomic)                 \
	    field(min_rnr_timer)
#define SET_BY_RTS(field)                                                                          \
	field(sq_psn) field(timeout) field(retry_cnt) field(rnr_retry) field(max_rd_atomic)

void wv_qp_hide_moves(const struct ib_uverbs_ioctl_hdr *query, enum ibv_qp_state state)
{
	struct ib_uverbs_query_qp_resp *answer = answer_of(query);

	if (!answer)
		return;
	answer->qp_state = answer->cur_qp_state = (uint8_t)state;
	SET_BY_RTS(CLEAR)
	if (state < IBV_QPS_RTR) {
		memset(&answer->dest, 0, sizeof(answer->dest));
		SET_BY_RTR(CLEAR)
	}
	if (state < IBV_QPS_INIT) {
		KEPT_IN_RESET(CLEAR)
	}
}

void wv_qp_hide(struct ibv_qp_attr *answer)
{
	KEPT_IN_RESET(CLEAR)
}
