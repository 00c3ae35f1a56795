/* SPDX-License-Identifier: BSD-2-Clause */
#include "cqe.h"

#include <endian.h>
#include <string.h>

#define SOLICITED (1 << 1)
#define GRH_SHIFT 28

/* Offset of the syndrome in an error entry; other entries have the timestamp's high bytes there. */
_Static_assert(offsetof(struct mlx5_err_cqe, syndrome) ==
		   offsetof(struct mlx5_cqe64, timestamp) + 7,
	       "layout");
_Static_assert(offsetof(struct mlx5_err_cqe, op_own) == offsetof(struct mlx5_cqe64, op_own),
	       "layout");
_Static_assert(sizeof(struct mlx5_cqe64) == 64, "layout");

size_t cqe_offset(uint32_t pi, uint32_t entries, uint32_t cqe_size)
{
	return (size_t)(pi & (entries - 1)) * cqe_size;
}

uint8_t cqe_owner(uint32_t pi, uint32_t entries)
{
	return pi & entries ? 1 : 0;
}

static bool is_error(const struct completion *completion)
{
	return completion->kind == MLX5_CQE_REQ_ERR || completion->kind == MLX5_CQE_RESP_ERR;
}

bool cqe_solicited(const struct completion *completion)
{
	return completion->solicited || is_error(completion);
}

/* Makes the exclusive or of all bytes 0xff, without the ownership bit, which software changes. */
static uint8_t signature(const struct mlx5_cqe64 *cqe)
{
	const uint8_t *byte = (const uint8_t *)cqe;
	uint8_t sum = 0xff;

	for (size_t i = 0; i < sizeof *cqe - 1; i++)
		sum ^= byte[i];
	return sum ^ (cqe->op_own & ~MLX5_CQE_OWNER_MASK);
}

void cqe_fill(struct mlx5_cqe64 *cqe, const struct completion *completion, uint8_t owner)
{
	memset(cqe, 0, sizeof *cqe);
	cqe->srqn_uidx = htobe32(completion->uidx);
	cqe->sop_drop_qpn = htobe32((uint32_t)completion->opcode << 24 | completion->qpn);
	cqe->wqe_counter = htobe16(completion->counter);
	if (is_error(completion)) {
		((struct mlx5_err_cqe *)cqe)->syndrome = completion->syndrome;
	} else {
		cqe->flags_rqpn =
		    htobe32((uint32_t)completion->grh << GRH_SHIFT | completion->src_qpn);
		cqe->imm_inval_pkey = completion->imm;
		cqe->byte_cnt = htobe32(completion->byte_cnt);
		cqe->timestamp = htobe64(completion->timestamp);
	}
	cqe->op_own = completion->kind << 4 | (completion->solicited ? SOLICITED : 0) | owner;
	cqe->signature = signature(cqe);
}
