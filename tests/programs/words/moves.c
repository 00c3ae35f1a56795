/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that modify and query queue pairs. */
#include "words.h"

#include <errno.h>
#include <stdlib.h>

#define TIMERS                                                                                     \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |                    \
	 IBV_QP_MAX_QP_RD_ATOMIC)
#define INIT (IBV_QP_PKEY_INDEX | IBV_QP_PORT)

static const int masks[QP_KINDS][IBV_QPS_RTS + 1] = {
    [RC] = {[IBV_QPS_INIT] = INIT | IBV_QP_ACCESS_FLAGS,
	    [IBV_QPS_RTR] = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	    [IBV_QPS_RTS] = TIMERS},
    [UC] = {[IBV_QPS_INIT] = INIT | IBV_QP_ACCESS_FLAGS,
	    [IBV_QPS_RTR] = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
	    [IBV_QPS_RTS] = IBV_QP_SQ_PSN},
    [UD] = {[IBV_QPS_INIT] = INIT | IBV_QP_QKEY, [IBV_QPS_RTS] = IBV_QP_SQ_PSN},
    [DCI] = {[IBV_QPS_INIT] = INIT, [IBV_QPS_RTR] = IBV_QP_PATH_MTU, [IBV_QPS_RTS] = TIMERS},
    [DCT] = {[IBV_QPS_INIT] = INIT | IBV_QP_ACCESS_FLAGS,
	     [IBV_QPS_RTR] = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER},
};

/* The peer of a connected queue pair. */
static int set_peer(const struct program *p, const struct qp *qp, struct options o,
		    struct ibv_qp_attr *attr)
{
	const struct qp *to = has(o, "peer") ? &p->qps[option(o, "peer", 0)] : qp;
	struct ibv_global_route *route = &attr->ah_attr.grh;

	route->sgid_index = (uint8_t)option(o, "gid", 1);
	route->hop_limit = 1;
	if (has(o, "met")) {
		attr->dest_qp_num = met()->qpn;
		attr->rq_psn = met()->psn;
		route->dgid = met()->gid;
		return 0;
	}
	attr->dest_qp_num = (uint32_t)option(o, "dest", to->qp->qp_num);
	return ibv_query_gid(qp->qp->context, PORT, route->sgid_index, &route->dgid) ? errno : 0;
}

static int move(const struct program *p, const struct qp *qp, enum ibv_qp_state to,
		struct options o)
{
	struct ibv_qp_attr attr = {
	    .qp_state = to,
	    .port_num = PORT,
	    .pkey_index = (uint16_t)option(o, "pkey", 0),
	    .qp_access_flags = (unsigned int)option(o, "access", IBV_ACCESS_REMOTE_WRITE),
	    .path_mtu = (enum ibv_mtu)option(o, "mtu", IBV_MTU_1024),
	    .min_rnr_timer = (uint8_t)option(o, "rnr", 12),
	    .timeout = (uint8_t)option(o, "timeout", 14),
	    .retry_cnt = (uint8_t)option(o, "retries", 7),
	    .rnr_retry = (uint8_t)option(o, "rnr-retries", 7),
	    .max_rd_atomic = 1,
	    .max_dest_rd_atomic = 1,
	    .qkey = (uint32_t)option(o, "qkey", 0x1111),
	    .sq_psn = (uint32_t)option(o, "psn", 0),
	    .rq_psn = (uint32_t)option(o, "rq", 0),
	    .ah_attr = {.is_global = 1, .port_num = PORT},
	};
	int mask = to <= IBV_QPS_RTS ? masks[qp->kind][to] : 0;
	int error = mask & IBV_QP_AV ? set_peer(p, qp, o, &attr) : 0;

	return error ?: ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE | mask);
}

static const struct {
	const char *name;
	enum ibv_qp_state state;
} states[] = {
    {"reset", IBV_QPS_RESET}, {"init", IBV_QPS_INIT}, {"rtr", IBV_QPS_RTR},
    {"rts", IBV_QPS_RTS},     {"err", IBV_QPS_ERR},
};

static int move_one(const struct program *p, const struct qp *qp, struct options o)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]) && !error; i++)
		if (has(o, states[i].name))
			error = move(p, qp, states[i].state, o);
	return error;
}

/*
 * "move:init,rtr" moves to these states, in their order: "all" queue pairs, or one. The peer of a
 * connected queue pair is "peer=N", the one that was "met", or itself; or that with the number
 * "dest=N", in whatever process.
 */
int do_move(struct program *p, struct options o)
{
	int error = 0;

	if (!has(o, "all"))
		return move_one(p, chosen_qp(p, o), o);
	for (unsigned int i = 0; i < p->n_qps && !error; i++)
		if (p->qps[i].qp)
			error = move_one(p, &p->qps[i], o);
	return error;
}

int do_query(struct program *p, struct options o)
{
	const int all = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY |
			IBV_QP_ACCESS_FLAGS | IBV_QP_CAP;
	struct qp *qp = chosen_qp(p, o);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int error = ibv_query_qp(qp->qp, &attr, qp->kind == DCT ? IBV_QP_STATE : all, &init);

	if (error)
		return error;
	say(" state %d", attr.qp_state);
	if (qp->kind == DCT)
		return 0;
	say(" port %d pkey %d qkey %x access %x", attr.port_num, attr.pkey_index, attr.qkey,
	    attr.qp_access_flags);
	say(" send %u receive %u", attr.cap.max_send_wr, attr.cap.max_recv_wr);
	return 0;
}
