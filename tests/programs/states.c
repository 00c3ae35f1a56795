/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the attributes of a queue pair and errors, which must be the same with and without
 * warmverbs. The environment variable STATES says what to do; without it the program makes a queue
 * pair, moves it to INIT and destroys it.
 */
#include "kit.h"

#define ACCESS 7

static void show(struct ibv_qp *qp, const char *when)
{
	struct ibv_qp_attr attr = {0};
	struct ibv_qp_init_attr init = {0};
	int all = IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
		  IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
		  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_CAP;

	OK(ibv_query_qp(qp, &attr, all, &init));
	printf("%s: library's state %d, kernel's %d (%d), access %#x, pkey %u, port %u, qkey %#x\n",
	       when, qp->state, attr.qp_state, attr.cur_qp_state, attr.qp_access_flags,
	       attr.pkey_index, attr.port_num, attr.qkey);
	printf("  mtu %d, timeout %u, retries %u %u, atomics %u %u, timer %u\n", attr.path_mtu,
	       attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.max_rd_atomic,
	       attr.max_dest_rd_atomic, attr.min_rnr_timer);
	printf("  cap %u %u %u %u %u, context %d, type %d, signal %d\n", init.cap.max_send_wr,
	       init.cap.max_recv_wr, init.cap.max_send_sge, init.cap.max_recv_sge,
	       init.cap.max_inline_data, init.qp_context == qp->qp_context, init.qp_type,
	       init.sq_sig_all);
}

/* Errors are part of what a program sees. */
static void tell(const char *what, int error)
{
	printf("%s: %s\n", what, error ? strerrorname_np(error) : "0");
}

static void only_init(struct ibv_qp *qp)
{
	tell("INIT", to_init(qp, ACCESS));
}

static void query(struct ibv_qp *qp)
{
	show(qp, "created");
	tell("INIT", to_init(qp, ACCESS));
	show(qp, "in INIT");
}

static void rtr_without_init(struct ibv_qp *qp)
{
	tell("RTR", to_rtr(qp, qp->qp_num));
	show(qp, "after RTR was refused");
	tell("INIT", to_init(qp, ACCESS));
	tell("RTR", to_rtr(qp, qp->qp_num));
	show(qp, "in RTR");
}

static void rts_without_rtr(struct ibv_qp *qp)
{
	tell("INIT", to_init(qp, ACCESS));
	tell("RTS", to_rts(qp));
	show(qp, "after RTS was refused");
}

static void init_twice(struct ibv_qp *qp)
{
	tell("INIT", to_init(qp, ACCESS));
	tell("INIT again", to_init(qp, ACCESS));
	tell("INIT otherwise", to_init(qp, IBV_ACCESS_LOCAL_WRITE));
	show(qp, "in INIT");
}

static void other_access_first(struct ibv_qp *qp)
{
	tell("INIT otherwise", to_init(qp, IBV_ACCESS_LOCAL_WRITE));
	show(qp, "in INIT");
	tell("INIT", to_init(qp, ACCESS));
	show(qp, "in INIT again");
}

static void reset_first(struct ibv_qp *qp)
{
	tell("RESET", to_state(qp, IBV_QPS_RESET));
	show(qp, "in RESET");
	tell("INIT", to_init(qp, ACCESS));
	show(qp, "in INIT");
}

static void there_and_back(struct ibv_qp *qp)
{
	tell("INIT", to_init(qp, ACCESS));
	tell("RTR", to_rtr(qp, qp->qp_num));
	tell("RTS", to_rts(qp));
	show(qp, "in RTS");
	tell("ERR", to_state(qp, IBV_QPS_ERR));
	show(qp, "in ERR");
	tell("RESET", to_state(qp, IBV_QPS_RESET));
	show(qp, "in RESET");
	tell("INIT", to_init(qp, ACCESS));
	show(qp, "in INIT");
}

static void error_at_once(struct ibv_qp *qp)
{
	tell("ERR", to_state(qp, IBV_QPS_ERR));
	show(qp, "in ERR");
	tell("INIT", to_init(qp, ACCESS));
	show(qp, "after INIT was asked for");
}

static void half_an_init(struct ibv_qp *qp)
{
	tell("INIT without a port", to_state(qp, IBV_QPS_INIT));
	show(qp, "after INIT was refused");
	tell("INIT", to_init(qp, ACCESS));
}

static const struct {
	const char *name;
	void (*run)(struct ibv_qp *qp);
} scripts[] = {
    {"init", only_init},
    {"query", query},
    {"rtr-without-init", rtr_without_init},
    {"rts-without-rtr", rts_without_rtr},
    {"init-twice", init_twice},
    {"other-access-first", other_access_first},
    {"reset-first", reset_first},
    {"there-and-back", there_and_back},
    {"error-at-once", error_at_once},
    {"half-an-init", half_an_init},
};

int main(void)
{
	const char *name = getenv("STATES") ? getenv("STATES") : "init";
	struct ibv_context *context = open_device();
	struct ibv_pd *pd = MADE(ibv_alloc_pd(context));
	struct ibv_cq *cq = MADE(ibv_create_cq(context, 16, NULL, NULL, 0));
	struct ibv_qp_init_attr attr = {
	    .qp_context = context,
	    .send_cq = cq,
	    .recv_cq = cq,
	    .cap = {8, 8, 1, 1, 0},
	    .qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = MADE(ibv_create_qp(pd, &attr));

	for (unsigned int i = 0; i < COUNT(scripts); i++)
		if (!strcmp(scripts[i].name, name))
			scripts[i].run(qp);
	OK(ibv_destroy_qp(qp));
	OK(ibv_destroy_cq(cq));
	OK(ibv_dealloc_pd(pd));
	OK(ibv_close_device(context));
	return 0;
}
