/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"
#include "uar.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_CQE	 (1u << 22)
#define DB_BYTES 8
#define KNOWN                                                                                      \
	(MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD | MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX |           \
	 MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS)

static uint32_t power_of_two(uint32_t n)
{
	uint32_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

/* The driver's part of the command. */
static int get_driver_part(const struct hca_call *call, struct mlx5_ib_create_cq *cmd)
{
	if (hca_call_length(call, UVERBS_ATTR_UHW_IN) < offsetof(struct mlx5_ib_create_cq, flags) ||
	    HCA_CALL_IN(call, UVERBS_ATTR_UHW_IN, cmd))
		return -EINVAL;
	if (cmd->flags & ~KNOWN || cmd->reserved0 || cmd->reserved1)
		return -EINVAL;
	if (cmd->cqe_size != 64 && cmd->cqe_size != 128)
		return -EINVAL;
	/* Compression is not modelled, and not among the capabilities. */
	if (cmd->cqe_comp_en)
		return -EOPNOTSUPP;
	if (cmd->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD && cmd->cqe_size != 128)
		return -EOPNOTSUPP;
	if (!(cmd->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX) ||
	    !hca_has_uar(call->ufile, cmd->uar_page_index))
		return -EINVAL;
	return cmd->buf_addr % 64 || cmd->db_addr % DB_BYTES ? -EINVAL : 0;
}

static int get_core_part(struct hca_call *call, struct hca_cq *cq)
{
	uint64_t n_cqe = hca_call_number(call, UVERBS_ATTR_CREATE_CQ_CQE, 0);
	uint64_t flags = hca_call_number(call, UVERBS_ATTR_CREATE_CQ_FLAGS, 0);
	int error;

	if (n_cqe >= MAX_CQE)
		return -EINVAL;
	if (flags & ~(uint64_t)(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
				IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN))
		return -EOPNOTSUPP;
	cq->n_cqe = power_of_two((uint32_t)n_cqe + 1);
	cq->vector = (uint32_t)hca_call_number(call, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0);
	cq->user_handle = hca_call_number(call, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0);
	if (cq->vector >= HCA_N_VECTORS)
		return -EINVAL;
	error = hca_call_async(call, UVERBS_ATTR_CREATE_CQ_EVENT_FD, &cq->async);
	return error ? error
		     : hca_call_channel(call, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, &cq->channel);
}

static int pin(struct hca_call *call, const struct mlx5_ib_create_cq *cmd, struct hca_cq *cq)
{
	uint64_t bytes = (uint64_t)cq->n_cqe * cmd->cqe_size;
	int error = hca_call_pin_queue(call, cmd->buf_addr, bytes, &cq->buf);

	if (error)
		return error;
	error = hca_call_pin_record(call, cmd->db_addr, DB_BYTES, &cq->db);
	if (!error)
		error = hca_call_firmware(call);
	if (error) {
		hca_mem_unpin(&cq->db);
		hca_mem_unpin(&cq->buf);
	}
	return error;
}

static int add(struct hca_call *call, struct hca_cq *cq)
{
	struct mlx5_ib_create_cq_resp driver = {0};
	uint32_t cqe = cq->n_cqe - 1;
	int error = hca_object_add(call->ufile, HCA_CQ, &cq->object);

	if (error)
		return error;
	hca_events_use(cq->async);
	hca_events_use(cq->channel);
	cq->cqn = driver.cqn = hca_number_take(&call->hca->cqns, cq);
	LIST_INSERT_HEAD(&call->hca->cqs, cq, of_hca);
	hca_call_out_handle(call, UVERBS_ATTR_CREATE_CQ_HANDLE, cq->object.handle);
	HCA_CALL_OUT(call, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe);
	HCA_CALL_OUT(call, UVERBS_ATTR_UHW_OUT, &driver);
	return 0;
}

static int create(struct hca_call *call, struct hca_cq *cq)
{
	struct mlx5_ib_create_cq cmd;
	int error = get_core_part(call, cq);

	if (!error)
		error = get_driver_part(call, &cmd);
	if (error)
		return error;
	cq->cqe_size = cmd.cqe_size;
	cq->flags = cmd.flags;
	error = pin(call, &cmd, cq);
	return error ? error : add(call, cq);
}

int hca_create_cq(struct hca_call *call)
{
	struct hca_cq *cq = calloc(1, sizeof(*cq));
	int error = cq ? create(call, cq) : -ENOMEM;

	if (error)
		free(cq);
	return error;
}

int hca_cq_fini(struct hca_object *object, struct hca_work *work)
{
	struct hca_cq *cq = (struct hca_cq *)object;
	struct hca *hca = object->ufile->hca;
	int error = hca_fw(work, FW_DESTROY_CQ);

	if (error)
		return error;
	hca_data_forget_cq(hca, cq);
	hca_events_unuse(cq->channel, cq);
	hca_events_unuse(cq->async, cq);
	work->comp_events = cq->comp_events_reported;
	work->async_events = cq->async_events_reported;
	hca_mem_unpin(&cq->buf);
	hca_mem_unpin(&cq->db);
	hca_number_free(&hca->cqns, cq->cqn);
	LIST_REMOVE(cq, of_hca);
	return 0;
}
