/* SPDX-License-Identifier: BSD-2-Clause */
/* Words that make objects, and destroy them. */
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MR_BYTES 16384

const char *const qp_kind_names[QP_KINDS] = {
    [RC] = "rc", [UC] = "uc", [UD] = "ud", [DCI] = "dci", [DCT] = "dct", [RAW] = "raw",
};

/* For an "open" that comes later; with "free" for nothing. */
int do_list(struct program *p, struct options o)
{
	p->list = ibv_get_device_list(&p->n_list);
	if (!p->list)
		return errno;
	if (has(o, "free")) {
		ibv_free_device_list(p->list);
		p->list = NULL;
	}
	return 0;
}

int do_open(struct program *p, struct options o)
{
	struct mlx5dv_context_attr attr = {.flags = (uint32_t)option(o, "dv", 0)};
	int number = (int)option(o, "device", 0);

	if ((!p->list && do_list(p, o)) || p->n_list <= number)
		return ENODEV;
	if (has(o, "dv"))
		p->context = mlx5dv_open_device(p->list[number], &attr);
	else
		p->context = ibv_open_device(p->list[number]);
	ibv_free_device_list(p->list);
	p->list = NULL;
	p->pd = p->parent = NULL;
	p->channel = NULL;
	p->srq = NULL;
	return p->context ? 0 : errno;
}

int do_close(struct program *p, struct options o)
{
	(void)o;
	return ibv_close_device(p->context);
}

int do_pd(struct program *p, struct options o)
{
	(void)o;
	p->pd = ibv_alloc_pd(p->context);
	return p->pd ? 0 : errno;
}

int do_channel(struct program *p, struct options o)
{
	(void)o;
	p->channel = ibv_create_comp_channel(p->context);
	return p->channel ? 0 : errno;
}

static void make_cq_ex(struct program *p, struct options o, struct cq *cq)
{
	struct ibv_cq_init_attr_ex attr = {
	    .cqe = (uint32_t)option(o, "depth", 100),
	    .channel = cq->channel,
	    .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM,
	    .comp_mask = p->parent ? IBV_CQ_INIT_ATTR_MASK_PD : 0,
	    .parent_domain = p->parent,
	};
	struct mlx5dv_cq_init_attr dv = {0};

	if (has(o, "single")) {
		attr.comp_mask |= IBV_CQ_INIT_ATTR_MASK_FLAGS;
		attr.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	}

	cq->ex = has(o, "dv") ? mlx5dv_create_cq(p->context, &attr, &dv)
			      : ibv_create_cq_ex(p->context, &attr);
	cq->cq = cq->ex ? ibv_cq_ex_to_cq(cq->ex) : NULL;
}

int do_cq(struct program *p, struct options o)
{
	struct cq *cq = &p->cqs[p->n_cqs];

	*cq = (struct cq){.channel = has(o, "channel") ? p->channel : NULL};
	if (has(o, "ex"))
		make_cq_ex(p, o, cq);
	else
		cq->cq = ibv_create_cq(p->context, (int)option(o, "depth", 100), NULL, cq->channel,
				       (int)option(o, "vector", 0));
	if (!cq->cq)
		return errno;
	p->n_cqs++;
	say(" cqe %d", cq->cq->cqe);
	return 0;
}

int do_srq(struct program *p, struct options o)
{
	struct ibv_srq_init_attr init = {
	    .attr = {.max_wr = (uint32_t)option(o, "depth", 64), .max_sge = 1}};

	p->srq = ibv_create_srq(p->parent ? p->parent : p->pd, &init);
	return p->srq ? 0 : errno;
}

static enum qp_kind kind_of(struct options o)
{
	enum qp_kind kind = RC;

	while (kind < QP_KINDS && !has(o, qp_kind_names[kind]))
		kind++;
	if (kind == QP_KINDS)
		exit(2);
	return kind;
}

static void ask_for_ops(struct ibv_qp_init_attr_ex *init, enum qp_kind kind)
{
	init->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	init->send_ops_flags = IBV_QP_EX_WITH_SEND;
	if (kind != UD)
		init->send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE;
}

static struct ibv_qp *make_dv(struct program *p, struct ibv_qp_init_attr_ex *init,
			      enum qp_kind kind)
{
	struct mlx5dv_qp_init_attr dv = {0};

	if (kind == DCI || kind == DCT) {
		dv.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC;
		dv.dc_init_attr.dc_type = kind == DCT ? MLX5DV_DCTYPE_DCT : MLX5DV_DCTYPE_DCI;
		if (kind == DCT)
			dv.dc_init_attr.dct_access_key = 73;
	} else {
		dv.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
		dv.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE;
	}
	return mlx5dv_create_qp(p->context, init, &dv);
}

static struct ibv_qp *make_qp(struct program *p, struct options o, enum qp_kind kind)
{
	static const enum ibv_qp_type types[QP_KINDS] = {
	    [RC] = IBV_QPT_RC,	    [UC] = IBV_QPT_UC,	    [UD] = IBV_QPT_UD,
	    [DCI] = IBV_QPT_DRIVER, [DCT] = IBV_QPT_DRIVER, [RAW] = IBV_QPT_RAW_PACKET};
	bool is_dc = kind == DCI || kind == DCT, receives = kind != DCI && kind != DCT;
	struct ibv_cq *cq = p->cqs[option(o, "cq", (long)p->n_cqs - 1)].cq;
	struct ibv_qp_init_attr_ex init = {
	    .send_cq = cq,
	    .recv_cq = cq,
	    .srq = has(o, "srq") ? p->srq : NULL,
	    .qp_type = types[kind],
	    .comp_mask = IBV_QP_INIT_ATTR_PD,
	    .pd = p->parent ? p->parent : p->pd,
	};

	if (kind != DCT && !has(o, "deaf"))
		init.cap.max_send_wr = (uint32_t)option(o, "send", 32);
	if (receives && !init.srq)
		init.cap.max_recv_wr = (uint32_t)option(o, "recv", 32);
	init.cap.max_send_sge = !!init.cap.max_send_wr;
	init.cap.max_recv_sge = !!init.cap.max_recv_wr;
	if (has(o, "ex") || kind == DCI)
		ask_for_ops(&init, kind);
	return is_dc || has(o, "dv") ? make_dv(p, &init, kind)
				     : ibv_create_qp_ex(p->context, &init);
}

int do_qp(struct program *p, struct options o)
{
	enum qp_kind kind = kind_of(o);

	if (!p->pd)
		return ENOENT;
	for (long i = option(o, "n", 1); i; i--) {
		struct qp *qp = &p->qps[p->n_qps];

		*qp = (struct qp){
		    .kind = kind,
		    .ex = has(o, "ex") || kind == DCI,
		    .cq = &p->cqs[option(o, "cq", (long)p->n_cqs - 1)],
		};
		qp->qp = make_qp(p, o, kind);
		if (!qp->qp)
			return errno;
		printf("# qp %u\n", qp->qp->qp_num);
		p->n_qps++;
	}
	return 0;
}

int do_mr(struct program *p, struct options o)
{
	(void)o;
	p->mr = ibv_reg_mr(p->pd, calloc(1, MR_BYTES), MR_BYTES, IBV_ACCESS_LOCAL_WRITE);
	return p->mr ? 0 : errno;
}

static int destroy_qps(struct program *p, struct options o)
{
	unsigned int first = (unsigned int)option(o, "qp", 0);
	unsigned int end = has(o, "qp") ? first + 1 : p->n_qps;
	int error = 0;

	for (unsigned int i = first; i < end && !error; i++) {
		if (p->qps[i].qp)
			error = ibv_destroy_qp(p->qps[i].qp);
		if (!error)
			p->qps[i].qp = NULL;
	}
	return error;
}

static int destroy_cqs(struct program *p, struct options o)
{
	unsigned int first = (unsigned int)option(o, "cq", 0);
	unsigned int end = option(o, "cq", -1) >= 0 ? first + 1 : p->n_cqs;
	int error = 0;

	for (unsigned int i = first; i < end && !error; i++) {
		if (p->cqs[i].cq)
			error = ibv_destroy_cq(p->cqs[i].cq);
		if (!error)
			p->cqs[i].cq = NULL;
	}
	return error;
}

int do_destroy(struct program *p, struct options o)
{
	if (has(o, "mr"))
		return ibv_dereg_mr(p->mr);
	if (has(o, "qp") || has(o, "qps"))
		return destroy_qps(p, o);
	if (has(o, "cq") || has(o, "cqs"))
		return destroy_cqs(p, o);
	if (has(o, "srq"))
		return ibv_destroy_srq(p->srq);
	if (has(o, "channel"))
		return ibv_destroy_comp_channel(p->channel);
	if (has(o, "parent"))
		return ibv_dealloc_pd(p->parent);
	return ibv_dealloc_pd(p->pd);
}

int do_resize(struct program *p, struct options o)
{
	struct ibv_cq *cq = p->cqs[p->n_cqs - 1].cq;
	int error = ibv_resize_cq(cq, (int)option(o, "depth", 200));

	return error < 0 ? errno : error;
}
