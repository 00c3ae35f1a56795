/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program on mlx5, made up: the commands of its provider (rdma-core 44, providers/mlx5/verbs.c,
 * cq.c, srq.c, dbrec.c) in their order, with queues in memory that it allocates.
 */
#pragma once

#include "cmdlog/replay.h"
#include "fixture.h"

#include <rdma/mlx5-abi.h>

#define MLX5_SLOT      64 /* bytes of a doorbell record */
#define MLX5_CQE_SMALL 64
#define MLX5_CQE_LARGE 128

/* One command of the program's is other than it was: bits of an input, or a length. */
struct mlx5_change {
	const char *name; /* of the command, in the ABI table; NULL: none */
	unsigned int nth;
	uint16_t attr;
	uint32_t offset;
	uint8_t bits;
	int16_t longer;
};

struct mlx5_program {
	wv_issue_fn issue;
	void *kernel;
	void *(*alloc)(void *owner, size_t bytes); /* zeroed whole pages, NULL for 0 bytes */
	void *owner;
	uint64_t base; /* sets its user handles apart from another's */
	struct mlx5_change change;
	unsigned int n_changed;
	int error; /* of the last command */

	uint32_t pd, uar_number, bf_number;
	int async, channel;
	uint8_t *doorbells; /* the page of them, once there is one */
	unsigned int n_doorbells, n_objects;
};

void mlx5_init(struct mlx5_program *p, wv_issue_fn issue, void *kernel);

/* What they make is its handle, WV_NONE if the kernel refused. */
void mlx5_open(struct mlx5_program *p);
uint32_t mlx5_alloc_uar(struct mlx5_program *p, uint8_t type);
uint32_t mlx5_create_cq(struct mlx5_program *p, uint32_t entries, uint32_t cqe_bytes);
uint32_t mlx5_create_srq(struct mlx5_program *p, uint32_t entries);
/* @flags: MLX5_QP_FLAG_TYPE_DCI, or none. */
uint32_t mlx5_create_qp(struct mlx5_program *p, uint32_t cq, uint32_t type, uint32_t flags);
/* A DC target: it has no queue of its own. */
uint32_t mlx5_create_dct(struct mlx5_program *p, uint32_t cq, uint32_t srq);
void mlx5_move(struct mlx5_program *p, uint32_t qp, uint8_t state);
/* As the provider moves a DC target. */
void mlx5_move_dct(struct mlx5_program *p, uint32_t qp, uint8_t state);
/* A command of the firmware; any but QUERY_HCA_CAP (0x100) does something. */
void mlx5_firmware(struct mlx5_program *p, uint16_t opcode);
void mlx5_devx_obj_create(struct mlx5_program *p);
void mlx5_query_port(struct mlx5_program *p);

/* All of the above but the firmware's: one of each kind of object, two completion queues. */
struct mlx5_made {
	uint32_t cq, cq_large, cq_more, srq, rc, ud, dci, dct;
};
struct mlx5_made mlx5_run(struct mlx5_program *p);

/* What the commands of mlx5_run() are, in order. */
#define MLX5_RUN                                                                                   \
	"GET_CONTEXT query_hca_cap query_device_ex QUERY_PORT uar_obj_alloc ASYNC_EVENT_ALLOC "    \
	"alloc_pd create_comp_channel memory memory CQ_CREATE memory CQ_CREATE memory CQ_CREATE "  \
	"memory SRQ_CREATE uar_obj_alloc memory QP_CREATE modify_qp memory QP_CREATE modify_qp "   \
	"modify_qp modify_qp memory QP_CREATE modify_qp modify_qp modify_qp QP_CREATE "            \
	"modify_qp_ex modify_qp_ex"
