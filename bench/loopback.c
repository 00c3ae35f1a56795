/* SPDX-License-Identifier: BSD-2-Clause */
#include "loopback.h"

#include "measure.h"

#include <errno.h>

#define PORT 1
#define PSN  1

void loopback_init(struct loopback *loopback, struct ibv_context *context, int gid_index)
{
	int err = ibv_query_port(context, PORT, &loopback->port);

	if (err)
		give_up(err, "ibv_query_port");
	if (ibv_query_gid(context, PORT, gid_index, &loopback->gid))
		give_up(errno, "GID index %d of port %d cannot be read, choose another with -g",
			gid_index, PORT);
	loopback->gid_index = gid_index;
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, const char *state)
{
	int err = ibv_modify_qp(qp, attr, mask | IBV_QP_STATE);

	if (err)
		give_up(err, "ibv_modify_qp to %s", state);
}

void modify_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_INIT,
	    .port_num = PORT,
	    .qp_access_flags =
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	modify(qp, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
}

struct peer peer_of(const struct ibv_qp *qp, const struct loopback *loopback)
{
	return (struct peer){loopback->gid, qp->qp_num, loopback->port.lid};
}

void modify_to_rtr(struct ibv_qp *qp, const struct loopback *loopback)
{
	struct peer self = peer_of(qp, loopback);

	modify_to_rtr_with(qp, loopback, &self);
}

void modify_to_rtr_with(struct ibv_qp *qp, const struct loopback *own, const struct peer *peer)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTR,
	    .path_mtu = own->port.active_mtu,
	    .dest_qp_num = peer->qp_num,
	    .rq_psn = PSN,
	    .max_dest_rd_atomic = 1,
	    .min_rnr_timer = 12,
	    .ah_attr =
		{
		    .dlid = peer->lid,
		    .port_num = PORT,
		    .is_global = own->port.link_layer == IBV_LINK_LAYER_ETHERNET,
		    .grh =
			{
			    .dgid = peer->gid,
			    .sgid_index = (uint8_t)own->gid_index,
			    .hop_limit = 1,
			},
		},
	};

	modify(qp, &attr,
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	       "RTR");
}

void modify_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTS,
	    .timeout = 14,
	    .retry_cnt = 7,
	    .rnr_retry = 7,
	    .sq_psn = PSN,
	    .max_rd_atomic = 1,
	};

	modify(qp, &attr,
	       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		   IBV_QP_MAX_QP_RD_ATOMIC,
	       "RTS");
}

void await_completions(struct ibv_cq *cq, int n)
{
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(cq, 1, &wc);

		if (got < 0)
			give_up(-got, "ibv_poll_cq");
		if (got && wc.status != IBV_WC_SUCCESS)
			give_up(0, "work request failed: %s", ibv_wc_status_str(wc.status));
		n -= got;
	}
}
