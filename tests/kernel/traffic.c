/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic.h"

#include <time.h>

#define BYTES	   64
#define GID_INDEX  1
#define PATIENCE_S 10

static struct ibv_context *open_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	if (!list || !list[0])
		skip("there is no RDMA device");
	context = ibv_open_device(list[0]);
	if (!context)
		skip("%s cannot be opened: %s", ibv_get_device_name(list[0]), strerror(errno));
	ibv_free_device_list(list);
	return context;
}

static void connect_to_itself(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_INIT,
	    .port_num = 1,
	    .path_mtu = IBV_MTU_1024,
	    .dest_qp_num = qp->qp_num,
	    .max_dest_rd_atomic = 1,
	    .max_rd_atomic = 1,
	    .min_rnr_timer = 12,
	    .timeout = 14,
	    .retry_cnt = 7,
	    .rnr_retry = 7,
	    .ah_attr = {.is_global = 1,
			.port_num = 1,
			.grh = {.sgid_index = GID_INDEX, .hop_limit = 1}},
	};

	if (ibv_query_gid(qp->context, 1, GID_INDEX, &attr.ah_attr.grh.dgid))
		skip("port 1 has no GID %d", GID_INDEX);
	EXPECT(!ibv_modify_qp(
	    qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	EXPECT(!ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	EXPECT(!ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

struct traffic traffic_new(void)
{
	struct traffic t = {.context = open_first()};
	struct ibv_pd *pd = ibv_alloc_pd(t.context);
	struct ibv_qp_init_attr attr = {.cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_RC};

	EXPECT(pd);
	t.channel = ibv_create_comp_channel(t.context);
	EXPECT(t.channel);
	t.cq = ibv_create_cq(t.context, 16, NULL, t.channel, 0);
	EXPECT(t.cq);
	attr.send_cq = attr.recv_cq = t.cq;
	t.qp = ibv_create_qp(pd, &attr);
	EXPECT(t.qp);
	connect_to_itself(t.qp);
	t.buffer = calloc(2, BYTES);
	t.mr = ibv_reg_mr(pd, t.buffer, 2 * BYTES, IBV_ACCESS_LOCAL_WRITE);
	EXPECT(t.buffer && t.mr);
	return t;
}

int traffic_send(struct traffic *t)
{
	struct ibv_sge from = {(uintptr_t)t->buffer, BYTES, t->mr->lkey};
	struct ibv_sge to = {(uintptr_t)t->buffer + BYTES, BYTES, t->mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &to, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send = {.sg_list = &from,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED},
			   *bad_send;

	strcpy(t->buffer, "a message");
	EXPECT(!ibv_req_notify_cq(t->cq, 0));
	EXPECT(!ibv_post_recv(t->qp, &recv, &bad_recv));
	return ibv_post_send(t->qp, &send, &bad_send);
}

void traffic_check(struct traffic *t)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct ibv_wc wc;
	int n = 0;

	while (n < 2 && time(NULL) < end)
		if (ibv_poll_cq(t->cq, 1, &wc) > 0) {
			EXPECT(wc.status == IBV_WC_SUCCESS);
			n++;
		}
	EXPECT(n == 2 && !strcmp(t->buffer + BYTES, "a message"));
}
