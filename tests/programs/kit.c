/* SPDX-License-Identifier: BSD-2-Clause */
#include "kit.h"

#include <time.h>

#define PATIENCE_S 20

struct ibv_context *open_device(void)
{
	struct ibv_device **list = MADE(ibv_get_device_list(NULL));
	struct ibv_context *context;

	if (!list[0])
		give_up(__FILE__, __LINE__, "there is no RDMA device");
	context = MADE(ibv_open_device(list[0]));
	ibv_free_device_list(list);
	return context;
}

int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

int to_init(struct ibv_qp *qp, unsigned int access)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_INIT,
	    .port_num = PORT,
	    .qp_access_flags = access,
	};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

const struct manner usual = {.mtu = IBV_MTU_1024, .timeout = 14, .rq_psn = 1, .sq_psn = 1};

int to_rtr(struct ibv_qp *qp, uint32_t peer)
{
	return to_rtr_by(qp, peer, usual);
}

int to_rtr_by(struct ibv_qp *qp, uint32_t peer, struct manner how)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTR,
	    .path_mtu = how.mtu,
	    .dest_qp_num = peer,
	    .rq_psn = how.rq_psn,
	    .max_dest_rd_atomic = 1,
	    .min_rnr_timer = 12,
	    .ah_attr = {.is_global = 1,
			.port_num = PORT,
			.grh = {.sgid_index = GID_INDEX, .hop_limit = 1}},
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	OK(ibv_query_gid(qp->context, PORT, GID_INDEX, &attr.ah_attr.grh.dgid));
	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return ibv_modify_qp(qp, &attr, mask);
}

int to_rts(struct ibv_qp *qp)
{
	return to_rts_by(qp, usual);
}

int to_rts_by(struct ibv_qp *qp, struct manner how)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTS,
	    .timeout = how.timeout,
	    .retry_cnt = 7,
	    .rnr_retry = 7,
	    .sq_psn = how.sq_psn,
	    .max_rd_atomic = 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (qp->qp_type == IBV_QPT_RC)
		mask |=
		    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	return ibv_modify_qp(qp, &attr, mask);
}

void connect_pair(struct ibv_qp *a, struct ibv_qp *b)
{
	OK(to_rtr(a, b->qp_num));
	OK(to_rtr(b, a->qp_num));
	OK(to_rts(a));
	OK(to_rts(b));
}

struct memory memory_new(struct ibv_pd *pd)
{
	struct memory memory = {.bytes = MADE(aligned_alloc(4096, MEMORY_BYTES))};

	memset(memory.bytes, 0, MEMORY_BYTES);
	memory.mr = MADE(ibv_reg_mr(pd, memory.bytes, MEMORY_BYTES,
				    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	return memory;
}

void memory_free(struct memory memory)
{
	OK(ibv_dereg_mr(memory.mr));
	free(memory.bytes);
}

static struct ibv_sge half(struct memory memory, int second)
{
	return (struct ibv_sge){
	    .addr = (uintptr_t)memory.bytes + (second ? MEMORY_HALF : 0),
	    .length = PAYLOAD,
	    .lkey = memory.mr->lkey,
	};
}

void post_receive(struct ibv_qp *qp, struct memory memory)
{
	struct ibv_sge sge = half(memory, 1);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	OK(ibv_post_recv(qp, &wr, &bad));
}

void post_srq_receive(struct ibv_srq *srq, struct memory memory)
{
	struct ibv_sge sge = half(memory, 1);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	OK(ibv_post_srq_recv(srq, &wr, &bad));
}

static int post(struct ibv_qp *qp, struct memory memory, const char *text, struct ibv_send_wr *wr)
{
	struct ibv_sge sge = half(memory, 0);
	struct ibv_send_wr *bad;

	strncpy(memory.bytes, text, PAYLOAD);
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(qp, wr, &bad);
}

int post_text(struct ibv_qp *qp, struct memory memory, const char *text)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	return post(qp, memory, text, &wr);
}

int post_write(struct ibv_qp *qp, struct memory memory, const char *text)
{
	struct ibv_send_wr wr = {
	    .opcode = IBV_WR_RDMA_WRITE,
	    .wr.rdma = {.remote_addr = half(memory, 1).addr, .rkey = memory.mr->rkey},
	};

	return post(qp, memory, text, &wr);
}

void await_completions(struct ibv_cq *cq, int n)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct ibv_wc wc;

	while (n > 0) {
		int got = DONE(ibv_poll_cq(cq, 1, &wc));

		if (got && wc.status != IBV_WC_SUCCESS)
			give_up(__FILE__, __LINE__, "completion: %s", ibv_wc_status_str(wc.status));
		if (!got && time(NULL) > end)
			give_up(__FILE__, __LINE__, "%d completions did not come", n);
		n -= got;
	}
}

bool arrived(struct memory memory, const char *text)
{
	return !strncmp(memory.bytes + MEMORY_HALF, text, PAYLOAD);
}

struct pair pair_new(struct ibv_context *context)
{
	return pair_with_channel(context, NULL);
}

struct pair pair_with_channel(struct ibv_context *context, struct ibv_comp_channel *channel)
{
	struct pair pair = {
	    .context = context,
	    .pd = MADE(ibv_alloc_pd(context)),
	    .cq = MADE(ibv_create_cq(context, 16, NULL, channel, 0)),
	};
	struct ibv_qp_init_attr attr = {
	    .send_cq = pair.cq,
	    .recv_cq = pair.cq,
	    .cap = {8, 8, 1, 1, 0},
	    .qp_type = IBV_QPT_RC,
	};

	for (int i = 0; i < 2; i++) {
		pair.qp[i] = MADE(ibv_create_qp(pair.pd, &attr));
		OK(to_init(pair.qp[i], IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	}
	connect_pair(pair.qp[0], pair.qp[1]);
	pair.memory = memory_new(pair.pd);
	return pair;
}

void pair_send(struct pair *pair, const char *text)
{
	post_receive(pair->qp[1], pair->memory);
	OK(post_text(pair->qp[0], pair->memory, text));
	await_completions(pair->cq, 2);
	EXPECT(arrived(pair->memory, text));
}

void pair_free(struct pair *pair)
{
	for (int i = 0; i < 2; i++)
		OK(ibv_destroy_qp(pair->qp[i]));
	OK(ibv_destroy_cq(pair->cq));
	memory_free(pair->memory);
	OK(ibv_dealloc_pd(pair->pd));
}

void run_way(const struct way *ways, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(ways[i].name, name)) {
			ways[i].run();
			return;
		}
	give_up(__FILE__, __LINE__, "no such way: %s", name);
}

void stage(const char *name)
{
	printf("at %s\n", name);
	fflush(stdout);
	while (getchar() != '\n' && !feof(stdin))
		;
}
