/* SPDX-License-Identifier: BSD-2-Clause */
#include "making.h"

#include "loopback.h"
#include "measure.h"
#include "start.h"

#include <dlfcn.h>
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#define CQ_ENTRIES 256
#define DEPTH	   64
#define INLINE	   64
#define PORT	   1
#define QKEY	   0x11111111

/*
 * Ordinary programs are not linked with a provider; programs written for one provider are. So the
 * provider is loaded only for the kinds that need it, before anything is measured.
 */
static __typeof__(&mlx5dv_create_qp) create_dc;

static void load_provider(void)
{
	void *library = made(dlopen("libmlx5.so.1", RTLD_NOW | RTLD_GLOBAL), "libmlx5.so.1");

	create_dc = made(dlsym(library, "mlx5dv_create_qp"), "mlx5dv_create_qp");
}

static const struct ibv_qp_cap both_ways = {DEPTH, DEPTH, 1, 1, INLINE};

static struct ibv_cq *recv_cq(const struct making *m)
{
	return m->recv_cq ? m->recv_cq : m->cq;
}

static struct ibv_qp *create_plainly(const struct making *m, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
	    .send_cq = m->cq, .recv_cq = recv_cq(m), .cap = both_ways, .qp_type = type};

	return made(ibv_create_qp(m->pd, &attr), "ibv_create_qp");
}

static struct ibv_qp *create_rc(const struct making *m)
{
	return create_plainly(m, IBV_QPT_RC);
}

static struct ibv_qp *create_ud(const struct making *m)
{
	return create_plainly(m, IBV_QPT_UD);
}

static struct ibv_qp *create_dci(const struct making *m)
{
	struct ibv_qp_init_attr_ex attr = {
	    .send_cq = m->cq,
	    .recv_cq = recv_cq(m),
	    .cap = {.max_send_wr = DEPTH, .max_send_sge = 1, .max_inline_data = INLINE},
	    .qp_type = IBV_QPT_DRIVER,
	    .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	    .pd = m->pd,
	    .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
	};
	struct mlx5dv_qp_init_attr dc = {
	    .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
	    .dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCI},
	};

	return made(create_dc(m->context, &attr, &dc), "mlx5dv_create_qp (DCI)");
}

static struct ibv_qp *create_dct(const struct making *m)
{
	struct ibv_qp_init_attr_ex attr = {
	    .send_cq = m->cq,
	    .recv_cq = recv_cq(m),
	    .srq = m->srq,
	    .qp_type = IBV_QPT_DRIVER,
	    .comp_mask = IBV_QP_INIT_ATTR_PD,
	    .pd = m->pd,
	};
	struct mlx5dv_qp_init_attr dc = {
	    .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
	    .dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = MAKING_DC_KEY},
	};

	return made(create_dc(m->context, &attr, &dc), "mlx5dv_create_qp (DCT)");
}

#define TIMERS (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

static const struct making_kind kinds[] = {
    {.name = "rc",
     .create = create_rc,
     .n_moves = 1,
     .moves = {{IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS}}},
    {.name = "ud",
     .create = create_ud,
     .n_moves = 3,
     .moves = {{IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
	       {IBV_QPS_RTR, 0},
	       {IBV_QPS_RTS, IBV_QP_SQ_PSN}}},
    {.name = "dci",
     .is_dc = true,
     .create = create_dci,
     .n_moves = 3,
     .moves = {{IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT},
	       {IBV_QPS_RTR, IBV_QP_PATH_MTU},
	       {IBV_QPS_RTS, IBV_QP_SQ_PSN | TIMERS}}},
    {.name = "dct",
     .is_dc = true,
     .has_srq = true,
     .create = create_dct,
     .n_moves = 2,
     .moves = {{IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	       {IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER}}},
};

const struct making_kind *making_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) != 0)
			continue;
		if (kinds[i].is_dc)
			load_provider();
		return &kinds[i];
	}
	return NULL;
}

void making_open(struct making *m, struct ibv_device **list, const char *name)
{
	m->context = made(ibv_open_device(start_device(list, name)), "ibv_open_device");
}

struct ibv_cq *making_cq(const struct making *m)
{
	return made(ibv_create_cq(m->context, CQ_ENTRIES, NULL, NULL, 0), "ibv_create_cq");
}

struct ibv_srq *making_srq(const struct making *m)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = DEPTH, .max_sge = 1}};

	return made(ibv_create_srq(m->pd, &attr), "ibv_create_srq");
}

void making_move(const struct making *m, const struct making_move *move)
{
	struct ibv_qp_attr attr = {
	    .qp_state = move->to,
	    .port_num = PORT,
	    .qkey = QKEY,
	    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	    .path_mtu = IBV_MTU_1024,
	    .ah_attr = {.port_num = PORT,
			.is_global = 1,
			.grh = {.sgid_index = (uint8_t)m->gid_index, .hop_limit = 1}},
	    .min_rnr_timer = 12,
	    .timeout = 14,
	    .retry_cnt = 7,
	    .rnr_retry = 7,
	    .max_rd_atomic = 1,
	    /* Different in each run, as with most programs. */
	    .sq_psn = (uint32_t)clock_ns() & 0xffffff,
	};
	int err = ibv_modify_qp(m->qp, &attr, move->mask | IBV_QP_STATE);

	if (err)
		give_up(err, "ibv_modify_qp, to state %d", move->to);
}
