/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_WR	 (1u << 15)
#define MAX_SGE	 31u
#define DB_BYTES 8
#define SEGMENT	 16u /* bytes of a link segment, and of a data segment */

static int get_driver_part(const struct hca_call *call, struct mlx5_ib_create_srq *cmd)
{
	if (hca_call_length(call, UVERBS_ATTR_UHW_IN) < offsetof(struct mlx5_ib_create_srq, uidx) ||
	    HCA_CALL_IN(call, UVERBS_ATTR_UHW_IN, cmd))
		return -EINVAL;
	if (cmd->flags & ~(uint32_t)MLX5_SRQ_FLAG_SIGNATURE || cmd->reserved0 || cmd->reserved1)
		return -EINVAL;
	return cmd->buf_addr % 64 || cmd->db_addr % DB_BYTES ? -EINVAL : 0;
}

/* Driver and library derive the buffer's layout from the attributes in the same way. */
static void set_form(struct hca_srq *srq)
{
	srq->n_wqe = 1;
	while (srq->n_wqe < srq->max_wr + 1)
		srq->n_wqe *= 2;
	srq->wqe_shift = 5;
	while (1u << srq->wqe_shift < SEGMENT + srq->max_sge * SEGMENT)
		srq->wqe_shift++;
}

static int get_core_part(struct hca_call *call, struct hca_srq *srq)
{
	/* All other types need objects that are not modelled. */
	if ((uint32_t)hca_call_number(call, UVERBS_ATTR_CREATE_SRQ_TYPE, 0) != IB_UVERBS_SRQT_BASIC)
		return -EOPNOTSUPP;
	srq->max_wr = (uint32_t)hca_call_number(call, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 0);
	srq->max_sge = (uint32_t)hca_call_number(call, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 0);
	srq->limit = (uint32_t)hca_call_number(call, UVERBS_ATTR_CREATE_SRQ_LIMIT, 0);
	srq->user_handle = hca_call_number(call, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 0);
	if (srq->max_wr >= MAX_WR || srq->max_sge > MAX_SGE)
		return -EINVAL;
	set_form(srq);
	return hca_call_async(call, UVERBS_ATTR_CREATE_SRQ_EVENT_FD, &srq->async);
}

static int pin(struct hca_call *call, const struct mlx5_ib_create_srq *cmd, struct hca_srq *srq)
{
	int error = hca_call_pin_queue(call, cmd->buf_addr, (uint64_t)srq->n_wqe << srq->wqe_shift,
				       &srq->buf);

	if (error)
		return error;
	error = hca_call_pin_record(call, cmd->db_addr, DB_BYTES, &srq->db);
	if (!error)
		error = hca_call_firmware(call);
	if (error) {
		hca_mem_unpin(&srq->db);
		hca_mem_unpin(&srq->buf);
	}
	return error;
}

static int add(struct hca_call *call, struct hca_srq *srq)
{
	struct mlx5_ib_create_srq_resp driver = {0};
	uint32_t max_wr = srq->n_wqe - 1;
	int error = hca_object_add(call->ufile, HCA_SRQ, &srq->object);

	if (error)
		return error;
	hca_events_use(srq->async);
	srq->pd->object.users++;
	srq->srqn = driver.srqn = hca_number_take(&call->hca->srqns, srq);
	LIST_INSERT_HEAD(&call->hca->srqs, srq, of_hca);
	hca_call_out_handle(call, UVERBS_ATTR_CREATE_SRQ_HANDLE, srq->object.handle);
	HCA_CALL_OUT(call, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &max_wr);
	HCA_CALL_OUT(call, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &srq->max_sge);
	HCA_CALL_OUT(call, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &srq->srqn);
	HCA_CALL_OUT(call, UVERBS_ATTR_UHW_OUT, &driver);
	return 0;
}

static int create(struct hca_call *call, struct hca_srq *srq)
{
	struct mlx5_ib_create_srq cmd;
	int error = get_core_part(call, srq);

	if (!error)
		error = hca_call_object(call, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, HCA_PD, &srq->pd);
	if (!error)
		error = get_driver_part(call, &cmd);
	if (!error)
		error = pin(call, &cmd, srq);
	return error ? error : add(call, srq);
}

int hca_create_srq(struct hca_call *call)
{
	struct hca_srq *srq = calloc(1, sizeof(*srq));
	int error = srq ? create(call, srq) : -ENOMEM;

	if (error)
		free(srq);
	return error;
}

int hca_modify_srq(struct hca_call *call)
{
	struct ib_uverbs_modify_srq req;
	struct hca_srq *srq;
	int error;

	HCA_CALL_IN(call, UVERBS_ATTR_CORE_IN, &req);
	error = hca_object_get(call->ufile, req.srq_handle, HCA_SRQ, &srq);
	if (error)
		return error;
	/* The driver can't resize, and a limit has to be within the queue. */
	if (req.attr_mask & IBV_SRQ_MAX_WR || req.srq_limit >= srq->n_wqe)
		return -EINVAL;
	if (!(req.attr_mask & IBV_SRQ_LIMIT))
		return 0;
	error = hca_call_firmware(call);
	if (!error)
		srq->limit = req.srq_limit;
	return error;
}

int hca_query_srq(struct hca_call *call)
{
	struct ib_uverbs_query_srq_resp resp = {0};
	struct ib_uverbs_query_srq req;
	struct hca_srq *srq;
	int error;

	HCA_CALL_IN(call, UVERBS_ATTR_CORE_IN, &req);
	error = hca_object_get(call->ufile, req.srq_handle, HCA_SRQ, &srq);
	if (!error)
		error = hca_call_firmware(call);
	if (error)
		return error;
	resp.max_wr = srq->n_wqe - 1;
	resp.max_sge = srq->max_sge;
	resp.srq_limit = srq->limit;
	HCA_CALL_OUT(call, UVERBS_ATTR_CORE_OUT, &resp);
	return 0;
}

int hca_srq_fini(struct hca_object *object, struct hca_work *work)
{
	struct hca_srq *srq = (struct hca_srq *)object;
	struct hca *hca = object->ufile->hca;
	int error = hca_fw(work, FW_DESTROY_RMP);

	if (error)
		return error;
	hca_data_forget_srq(hca, srq);
	hca_events_unuse(srq->async, srq);
	work->async_events = srq->async_events_reported;
	hca_mem_unpin(&srq->buf);
	hca_mem_unpin(&srq->db);
	srq->pd->object.users--;
	hca_number_free(&hca->srqns, srq->srqn);
	LIST_REMOVE(srq, of_hca);
	return 0;
}
