/* SPDX-License-Identifier: BSD-2-Clause */
#include "cq.h"

#include <errno.h>

#define INDEX_MASK 0xffffffu /* of the consumer index, wherever it stands */

enum { DB_CONSUMER = 0, DB_ARM = 4 };

#define ARM_SN(word)	    ((word) >> 28 & 3)
#define ARM_SOLICITED(word) ((word)&MLX5_CQ_DB_REQ_NOT_SOL)

static int overrun(struct hca_cq *cq, const struct data_cq *data)
{
	uint32_t ci;
	int ret = hca_mem_read_be32(&cq->db, DB_CONSUMER, &ci);

	if (!ret && ((data->pi - ci) & INDEX_MASK) >= cq->n_cqe)
		ret = -ENOSPC;
	return ret;
}

/* The byte with the ownership bit is written last: the consumer waits for it. */
static int write_entry(struct hca_cq *cq, uint32_t pi, const struct mlx5_cqe64 *cqe)
{
	uint64_t at = cqe_offset(pi, cq->n_cqe, cq->cqe_size) + cq->cqe_size - sizeof *cqe;
	size_t before = offsetof(struct mlx5_cqe64, op_own);
	int ret = hca_mem_write(&cq->buf, at, cqe, before);

	return ret ?: hca_mem_write(&cq->buf, at + before, &cqe->op_own, sizeof cqe->op_own);
}

int cq_post(struct hca_cq *cq, struct completion *completion)
{
	struct data_cq *data = data_of_cq(cq);
	struct mlx5_cqe64 cqe;
	int ret;

	if (data->failed)
		return -ENOSPC;
	completion->timestamp = data_now();
	cqe_fill(&cqe, completion, cqe_owner(data->pi, cq->n_cqe));
	ret = overrun(cq, data) ?: write_entry(cq, data->pi, &cqe);
	if (ret) {
		data->failed = true;
		if (ret == -ENOSPC)
			hca_cq_async(cq, IBV_EVENT_CQ_ERR);
		return ret;
	}
	data->pi++;
	if (cqe_solicited(completion))
		data->solicited_pi = data->pi;
	cq_tell(cq);
	return 0;
}

/*
 * Arming shows in the doorbell record only. The record starts as 0, which is also the first arming
 * of an empty queue, so a queue with a channel counts as armed from its creation. At worst a
 * program gets one event that it did not ask for, which it must expect anyway.
 */
void cq_tell(struct hca_cq *cq)
{
	struct data_cq *data = cq->data;
	uint32_t arm, ci, reached;

	if (!cq->channel || !data || (data->settled && data->settled_pi == data->pi))
		return;
	if (hca_mem_read_be32(&cq->db, DB_ARM, &arm) || (int)ARM_SN(arm) == data->told)
		return;
	reached = ARM_SOLICITED(arm) ? data->solicited_pi : data->pi;
	ci = data->pi - ((data->pi - arm) & INDEX_MASK);
	if ((int32_t)(reached - ci) > 0) {
		data->told = ARM_SN(arm);
		hca_cq_event(cq);
		return;
	}
	data->settled = !ARM_SOLICITED(arm);
	data->settled_pi = data->pi;
}
