/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue pairs: creation and end. */
#include "commands.h"
#include "port.h"
#include "uar.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>

#define DB_BYTES 8

/* The driver's flags that this adapter has a use for, for each type. */
#define FLAGS_COMMON                                                                               \
	(MLX5_QP_FLAG_SIGNATURE | MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE |      \
	 MLX5_QP_FLAG_UAR_PAGE_INDEX)
static const uint32_t known_flags[HCA_QP_TYPES] = {
    [HCA_RC] = FLAGS_COMMON,
    [HCA_UC] = FLAGS_COMMON,
    [HCA_UD] = FLAGS_COMMON,
    [HCA_DCI] = FLAGS_COMMON | MLX5_QP_FLAG_TYPE_DCI,
    [HCA_DCT] = MLX5_QP_FLAG_TYPE_DCT | MLX5_QP_FLAG_SCATTER_CQE,
    [HCA_RAW] = FLAGS_COMMON,
};

static int type_of(const struct hca_call *call, uint32_t driver_flags, enum hca_qp_type *type)
{
	uint32_t dc = driver_flags & (MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT);

	switch ((uint32_t)hca_call_number(call, UVERBS_ATTR_CREATE_QP_TYPE, 0)) {
	case IB_UVERBS_QPT_RC:
		*type = HCA_RC;
		break;
	case IB_UVERBS_QPT_UC:
		*type = HCA_UC;
		break;
	case IB_UVERBS_QPT_UD:
		*type = HCA_UD;
		break;
	case IB_UVERBS_QPT_RAW_PACKET:
		*type = HCA_RAW;
		break;
	case IB_UVERBS_QPT_DRIVER:
		*type = dc == MLX5_QP_FLAG_TYPE_DCI ? HCA_DCI : HCA_DCT;
		return dc == MLX5_QP_FLAG_TYPE_DCI || dc == MLX5_QP_FLAG_TYPE_DCT ? 0 : -EINVAL;
	case IB_UVERBS_QPT_XRC_INI:
	case IB_UVERBS_QPT_XRC_TGT:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
	return dc ? -EINVAL : 0;
}

static int check_queues(const struct hca_call *call, const struct mlx5_ib_create_qp *cmd)
{
	if (cmd->sq_wqe_count & (cmd->sq_wqe_count - 1) || cmd->sq_wqe_count > HCA_MAX_WQEBB)
		return -EINVAL;
	if (cmd->rq_wqe_count & (cmd->rq_wqe_count - 1) || cmd->rq_wqe_count > HCA_MAX_WQEBB ||
	    cmd->rq_wqe_shift > 9)
		return -EINVAL;
	if ((cmd->sq_wqe_count || cmd->rq_wqe_count) && !cmd->buf_addr)
		return -EINVAL;
	if (cmd->buf_addr % 64 || cmd->db_addr % DB_BYTES)
		return -EINVAL;
	if (!(cmd->flags & MLX5_QP_FLAG_UAR_PAGE_INDEX))
		return -EINVAL;
	return hca_has_uar(call->ufile, cmd->bfreg_index) ? 0 : -EINVAL;
}

static int get_driver_part(const struct hca_call *call, struct mlx5_ib_create_qp *cmd,
			   struct hca_qp *qp)
{
	int error;

	if (hca_call_length(call, UVERBS_ATTR_UHW_IN) <
		offsetof(struct mlx5_ib_create_qp, ece_options) ||
	    HCA_CALL_IN(call, UVERBS_ATTR_UHW_IN, cmd))
		return -EINVAL;
	error = type_of(call, cmd->flags, &qp->type);
	if (error)
		return error;
	if (cmd->flags & ~known_flags[qp->type] || cmd->reserved ||
	    cmd->dci_streams.log_num_concurent || cmd->dci_streams.log_num_errored)
		return -EINVAL;
	if (cmd->uidx >= HCA_MAX_UIDX || cmd->uidx == HCA_NO_UIDX)
		return -EINVAL;
	return qp->type == HCA_DCT ? 0 : check_queues(call, cmd);
}

static int get_objects(struct hca_call *call, struct hca_qp *qp)
{
	int error = hca_call_object(call, UVERBS_ATTR_CREATE_QP_PD_HANDLE, HCA_PD, &qp->pd);

	if (!error)
		error = hca_call_object(call, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, HCA_SRQ, &qp->srq);
	if (!error)
		error = hca_call_object(call, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, HCA_CQ,
					&qp->send_cq);
	if (!error)
		error = hca_call_object(call, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, HCA_CQ,
					&qp->recv_cq);
	if (error)
		return error;
	if (!qp->recv_cq || (qp->type == HCA_DCT && !qp->srq))
		return -EINVAL;
	return qp->send_cq || qp->type == HCA_DCT ? 0 : -EINVAL;
}

static int get_core_part(struct hca_call *call, struct hca_qp *qp)
{
	uint32_t flags = (uint32_t)hca_call_number(call, UVERBS_ATTR_CREATE_QP_FLAGS, 0);
	uint32_t known = IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	struct ib_uverbs_qp_cap cap;

	if (qp->type == HCA_UD)
		known |= IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	if (qp->type == HCA_RAW)
		known |= IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING |
			 IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING;
	if (flags & ~known)
		return -EINVAL;
	if (hca_call_has(call, UVERBS_ATTR_CREATE_QP_SOURCE_QPN))
		return hca_call_is_capable(call, CAP_NET_RAW) ? -EOPNOTSUPP : -EPERM;
	if (qp->type == HCA_RAW && !hca_call_is_capable(call, CAP_NET_RAW))
		return -EPERM;
	hca_call_in(call, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	qp->cap = (struct ibv_qp_cap){cap.max_send_wr, cap.max_recv_wr, cap.max_send_sge,
				      cap.max_recv_sge, cap.max_inline_data};
	qp->create_flags = flags;
	qp->sq_sig_all = flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	qp->user_handle = hca_call_number(call, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 0);
	return hca_call_async(call, UVERBS_ATTR_CREATE_QP_EVENT_FD, &qp->async);
}

static void set_form(struct hca_qp *qp, const struct mlx5_ib_create_qp *cmd)
{
	bool has_rq = !qp->srq && qp->cap.max_recv_wr && qp->type != HCA_DCT;

	qp->uidx = cmd->uidx;
	qp->flags = cmd->flags;
	if (!has_rq)
		qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
	if (qp->type == HCA_DCT) {
		qp->attr.dc_key = cmd->access_key;
		return;
	}
	qp->rq_wqe_count = has_rq ? cmd->rq_wqe_count : 0;
	qp->rq_wqe_shift = has_rq ? cmd->rq_wqe_shift : 0;
	qp->sq_wqe_count = cmd->sq_wqe_count;
	qp->sq_offset = (uint64_t)qp->rq_wqe_count << qp->rq_wqe_shift;
}

/* A DCT has no memory of its own, and firmware learns of it only at RTR. */
static int pin(struct hca_call *call, const struct mlx5_ib_create_qp *cmd, struct hca_qp *qp)
{
	uint64_t bytes = qp->sq_offset + (uint64_t)qp->sq_wqe_count * HCA_SQ_STRIDE;
	int error;

	if (qp->type == HCA_DCT)
		return 0;
	error = hca_call_pin_queue(call, cmd->buf_addr, bytes, &qp->buf);
	if (error)
		return error;
	error = hca_call_pin_record(call, cmd->db_addr, DB_BYTES, &qp->db);
	if (!error)
		error = hca_fw(&call->work, FW_CREATE_QP);
	if (error) {
		hca_mem_unpin(&qp->db);
		hca_mem_unpin(&qp->buf);
	}
	return error;
}

static void use(struct hca_qp *qp, int n)
{
	qp->pd->object.users += (uint32_t)n;
	qp->recv_cq->object.users += (uint32_t)n;
	if (qp->send_cq)
		qp->send_cq->object.users += (uint32_t)n;
	if (qp->srq)
		qp->srq->object.users += (uint32_t)n;
}

static void answer(struct hca_call *call, const struct hca_qp *qp)
{
	struct ib_uverbs_qp_cap cap = {qp->cap.max_send_wr, qp->cap.max_recv_wr,
				       qp->cap.max_send_sge, qp->cap.max_recv_sge,
				       qp->cap.max_inline_data};
	struct mlx5_ib_create_qp_resp driver = {.bfreg_index = UINT32_MAX};

	hca_call_out_handle(call, UVERBS_ATTR_CREATE_QP_HANDLE, qp->object.handle);
	HCA_CALL_OUT(call, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap);
	HCA_CALL_OUT(call, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qp->qpn);
	HCA_CALL_OUT(call, UVERBS_ATTR_UHW_OUT, &driver);
}

static int add(struct hca_call *call, struct hca_qp *qp)
{
	int error = hca_object_add(call->ufile, HCA_QP, &qp->object);

	if (error)
		return error;
	use(qp, 1);
	hca_events_use(qp->async);
	if (qp->type != HCA_DCT)
		qp->qpn = hca_number_take(&call->hca->qpns, qp);
	LIST_INSERT_HEAD(&call->hca->qps, qp, of_hca);
	hca_data_reset_qp(call->hca, qp);
	answer(call, qp);
	return 0;
}

static int create(struct hca_call *call, struct hca_qp *qp)
{
	struct mlx5_ib_create_qp cmd;
	int error = get_driver_part(call, &cmd, qp);

	if (!error)
		error = get_objects(call, qp);
	if (!error)
		error = get_core_part(call, qp);
	if (error)
		return error;
	set_form(qp, &cmd);
	error = pin(call, &cmd, qp);
	return error ? error : add(call, qp);
}

int hca_create_qp(struct hca_call *call)
{
	struct hca_qp *qp = calloc(1, sizeof(*qp));
	int error = qp ? create(call, qp) : -ENOMEM;

	if (error)
		free(qp);
	return error;
}

static int end_firmware(struct hca_qp *qp, struct hca_work *work)
{
	int error = 0;

	if (qp->type == HCA_DCT) {
		if (!qp->qpn)
			return 0;
		error = hca_fw(work, FW_DRAIN_DCT);
		return error ? error : hca_fw(work, FW_DESTROY_DCT);
	}
	if (qp->state != IBV_QPS_RESET)
		error = hca_fw(work, FW_2RST_QP);
	return error ? error : hca_fw(work, FW_DESTROY_QP);
}

int hca_qp_fini(struct hca_object *object, struct hca_work *work)
{
	struct hca_qp *qp = (struct hca_qp *)object;
	struct hca *hca = object->ufile->hca;
	int error = end_firmware(qp, work);

	if (error)
		return error;
	hca_data_forget_qp(hca, qp);
	hca_gid_release(qp->gid);
	hca_events_unuse(qp->async, qp);
	work->async_events = qp->async_events_reported;
	hca_mem_unpin(&qp->buf);
	hca_mem_unpin(&qp->db);
	use(qp, -1);
	if (qp->qpn)
		hca_number_free(&hca->qpns, qp->qpn);
	LIST_REMOVE(qp, of_hca);
	return 0;
}

void hca_qp_error(struct hca_qp *qp)
{
	qp->state = IBV_QPS_ERR;
}
