/* SPDX-License-Identifier: BSD-2-Clause */
/* MODIFY_QP and QUERY_QP. */
#include "commands.h"
#include "port.h"
#include "transitions.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#define MAX_RD_ATOMIC 16
/* Only privileged users may send with a queue key that has this bit. */
#define PRIVILEGED_QKEY 0x80000000u
/* IBV_QP_STATE up to IBV_QP_DEST_QPN. */
#define STANDARD_MASK ((IBV_QP_DEST_QPN << 1) - 1u)

static struct ibv_ah_attr address_of(const struct ib_uverbs_qp_dest *dest)
{
	struct ibv_ah_attr attr = {.dlid = dest->dlid,
				   .sl = dest->sl,
				   .src_path_bits = dest->src_path_bits,
				   .static_rate = dest->static_rate,
				   .is_global = dest->is_global,
				   .port_num = dest->port_num};

	memcpy(&attr.grh.dgid, dest->dgid, sizeof(attr.grh.dgid));
	attr.grh.flow_label = dest->flow_label;
	attr.grh.sgid_index = dest->sgid_index;
	attr.grh.hop_limit = dest->hop_limit;
	attr.grh.traffic_class = dest->traffic_class;
	return attr;
}

static int check_values(const struct hca_call *call, const struct hca_qp *qp,
			const struct ib_uverbs_modify_qp *req)
{
	struct ibv_ah_attr address = address_of(&req->dest);
	bool has_peer = qp->type == HCA_RC || qp->type == HCA_UC;

	if (req->attr_mask & IBV_QP_PORT && req->port_num != HCA_PORT)
		return -EINVAL;
	if (req->attr_mask & IBV_QP_PKEY_INDEX && req->pkey_index)
		return -EINVAL;
	if (req->attr_mask & IBV_QP_ALT_PATH)
		return -EINVAL; /* never on Ethernet */
	if (req->attr_mask & IBV_QP_MAX_QP_RD_ATOMIC && req->max_rd_atomic > MAX_RD_ATOMIC)
		return -EINVAL;
	if (req->attr_mask & IBV_QP_MAX_DEST_RD_ATOMIC && req->max_dest_rd_atomic > MAX_RD_ATOMIC)
		return -EINVAL;
	if (req->attr_mask & IBV_QP_PATH_MTU &&
	    (req->path_mtu < IBV_MTU_256 || req->path_mtu > IBV_MTU_4096))
		return -EINVAL;
	if (req->attr_mask & IBV_QP_QKEY && req->qkey & PRIVILEGED_QKEY &&
	    !hca_call_is_capable(call, CAP_NET_RAW))
		return -EPERM;
	return req->attr_mask & IBV_QP_AV ? hca_check_address(call->hca, &address, has_peer) : 0;
}

/* Attribute by attribute: which bit brings which field. */
static void take_values(struct hca *hca, struct hca_qp *qp, const struct ib_uverbs_modify_qp *req)
{
	struct hca_qp_attr *attr = &qp->attr;

#define TAKE(bit, to, from)                                                                        \
	do {                                                                                       \
		if (req->attr_mask & (bit))                                                        \
			attr->to = req->from;                                                      \
	} while (0)
	TAKE(IBV_QP_PORT, port, port_num);
	TAKE(IBV_QP_PKEY_INDEX, pkey_index, pkey_index & 0xff);
	TAKE(IBV_QP_QKEY, qkey, qkey);
	TAKE(IBV_QP_ACCESS_FLAGS, access, qp_access_flags);
	TAKE(IBV_QP_PATH_MTU, path_mtu, path_mtu);
	TAKE(IBV_QP_DEST_QPN, dest_qpn, dest_qp_num);
	TAKE(IBV_QP_RQ_PSN, rq_psn, rq_psn & 0xffffff);
	TAKE(IBV_QP_SQ_PSN, sq_psn, sq_psn & 0xffffff);
	TAKE(IBV_QP_TIMEOUT, timeout, timeout);
	TAKE(IBV_QP_RETRY_CNT, retry_cnt, retry_cnt);
	TAKE(IBV_QP_RNR_RETRY, rnr_retry, rnr_retry);
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, min_rnr_timer);
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, max_rd_atomic);
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, max_dest_rd_atomic);
#undef TAKE
	if (!(req->attr_mask & IBV_QP_AV))
		return;
	attr->ah = address_of(&req->dest);
	hca_gid_release(qp->gid);
	qp->gid = hca_gid_hold(hca, &attr->ah);
}

static const struct hca_transition *find(const struct hca_qp *qp,
					 const struct ib_uverbs_modify_qp *req)
{
	enum ibv_qp_state from = qp->state;
	const struct hca_transition *t;

	if (req->attr_mask & IBV_QP_CUR_STATE)
		from = req->cur_qp_state;
	t = hca_transition_find(qp->type, from,
				req->attr_mask & IBV_QP_STATE ? req->qp_state : from);
	if (!t || (req->attr_mask & t->must) != t->must ||
	    req->attr_mask & ~(t->must | t->may | IBV_QP_STATE))
		return NULL;
	return t;
}

static void enter(struct hca *hca, struct hca_qp *qp, enum ibv_qp_state to)
{
	enum ibv_qp_state from = qp->state;

	qp->state = to;
	if (to == IBV_QPS_RESET) {
		qp->attr = (struct hca_qp_attr){.dc_key = qp->attr.dc_key};
		hca_data_reset_qp(hca, qp);
	}
	hca_data_modified_qp(hca, qp, from);
}

static int get_request(struct hca_call *call, struct ib_uverbs_ex_modify_qp *req, uint32_t known,
		       struct hca_qp **qp)
{
	int error = HCA_CALL_IN(call, UVERBS_ATTR_CORE_IN, req);

	if (error)
		return error;
	if (req->base.attr_mask & ~known || req->reserved)
		return -EOPNOTSUPP;
	if (req->base.qp_state > IBV_QPS_ERR || req->base.cur_qp_state > IBV_QPS_ERR)
		return -EINVAL;
	return hca_object_get(call->ufile, req->base.qp_handle, HCA_QP, qp);
}

static int modify(struct hca_call *call, struct hca_qp *qp, const struct ib_uverbs_modify_qp *req)
{
	const struct hca_transition *t = find(qp, req);
	int error;

	if (!t || (qp->type == HCA_DCT && !(req->attr_mask & IBV_QP_STATE)))
		return -EINVAL;
	error = check_values(call, qp, req);
	if (!error && t->fw != FW_N)
		error = hca_fw(&call->work, t->fw);
	if (error)
		return error;
	take_values(call->hca, qp, req);
	if (t->fw == FW_CREATE_DCT)
		qp->qpn = hca_number_take(&call->hca->qpns, qp);
	enter(call->hca, qp, t->to);
	return 0;
}

int hca_modify_qp(struct hca_call *call)
{
	struct ib_uverbs_ex_modify_qp req;
	struct hca_qp *qp;
	int error = get_request(call, &req, STANDARD_MASK, &qp);

	return error ? error : modify(call, qp, &req.base);
}

/* The driver's part: it refuses what it does not know. */
static int check_driver_part(const struct hca_call *call, const struct hca_qp *qp,
			     const struct ib_uverbs_modify_qp *req)
{
	struct mlx5_ib_modify_qp cmd;

	if (HCA_CALL_IN(call, UVERBS_ATTR_UHW_IN, &cmd))
		return -EINVAL;
	if (cmd.comp_mask || cmd.burst_info.max_burst_sz || cmd.burst_info.typical_pkt_sz ||
	    cmd.burst_info.reserved)
		return -EOPNOTSUPP;
	/* The number of a DCT is answered in the driver's part. */
	if (qp->type == HCA_DCT && req->qp_state == IBV_QPS_RTR &&
	    hca_call_length(call, UVERBS_ATTR_UHW_OUT) <
		offsetof(struct mlx5_ib_modify_qp_resp, ece_options))
		return -EINVAL;
	return 0;
}

int hca_modify_qp_ex(struct hca_call *call)
{
	struct ib_uverbs_ex_modify_qp_resp resp = {.response_length = sizeof(resp)};
	struct mlx5_ib_modify_qp_resp driver = {.response_length = sizeof(driver)};
	struct ib_uverbs_ex_modify_qp req;
	struct hca_qp *qp;
	int error = get_request(call, &req, STANDARD_MASK | IBV_QP_RATE_LIMIT, &qp);

	if (!error)
		error = check_driver_part(call, qp, &req.base);
	if (!error)
		error = modify(call, qp, &req.base);
	if (error)
		return error;
	if (qp->type == HCA_DCT)
		driver.dctn = qp->qpn;
	HCA_CALL_OUT(call, UVERBS_ATTR_CORE_OUT, &resp);
	HCA_CALL_OUT(call, UVERBS_ATTR_UHW_OUT, &driver);
	return 0;
}

static struct ib_uverbs_qp_dest dest_of(const struct ibv_ah_attr *attr)
{
	struct ib_uverbs_qp_dest dest = {.flow_label = attr->grh.flow_label,
					 .dlid = attr->dlid,
					 .sgid_index = attr->grh.sgid_index,
					 .hop_limit = attr->grh.hop_limit,
					 .traffic_class = attr->grh.traffic_class,
					 .sl = attr->sl,
					 .src_path_bits = attr->src_path_bits,
					 .static_rate = attr->static_rate,
					 .is_global = attr->is_global,
					 .port_num = attr->port_num};

	memcpy(dest.dgid, &attr->grh.dgid, sizeof(dest.dgid));
	return dest;
}

static struct ib_uverbs_query_qp_resp describe(const struct hca_qp *qp)
{
	const struct hca_qp_attr *attr = &qp->attr;

	return (struct ib_uverbs_query_qp_resp){
	    .dest = dest_of(&attr->ah),
	    .max_send_wr = qp->cap.max_send_wr,
	    .max_recv_wr = qp->cap.max_recv_wr,
	    .max_send_sge = qp->cap.max_send_sge,
	    .max_recv_sge = qp->cap.max_recv_sge,
	    .max_inline_data = qp->cap.max_inline_data,
	    .qkey = attr->qkey,
	    .rq_psn = attr->rq_psn,
	    .sq_psn = attr->sq_psn,
	    .dest_qp_num = attr->dest_qpn,
	    .qp_access_flags = attr->access,
	    .pkey_index = attr->pkey_index,
	    .qp_state = (uint8_t)qp->state,
	    .cur_qp_state = (uint8_t)qp->state,
	    .path_mtu = (uint8_t)attr->path_mtu,
	    .max_rd_atomic = attr->max_rd_atomic,
	    .max_dest_rd_atomic = attr->max_dest_rd_atomic,
	    .min_rnr_timer = attr->min_rnr_timer,
	    .port_num = attr->port,
	    .timeout = attr->timeout,
	    .retry_cnt = attr->retry_cnt,
	    .rnr_retry = attr->rnr_retry,
	    .sq_sig_all = qp->sq_sig_all,
	};
}

int hca_query_qp(struct hca_call *call)
{
	struct ib_uverbs_query_qp_resp resp;
	struct ib_uverbs_query_qp req;
	struct hca_qp *qp;
	int error;

	HCA_CALL_IN(call, UVERBS_ATTR_CORE_IN, &req);
	error = hca_object_get(call->ufile, req.qp_handle, HCA_QP, &qp);
	if (error)
		return error;
	/* The driver can ask for a DCT's attributes only while firmware knows it. */
	if (qp->type == HCA_DCT && qp->state != IBV_QPS_RTR)
		return -EINVAL;
	error = hca_fw(&call->work, qp->type == HCA_DCT ? FW_QUERY_DCT : FW_QUERY_QP);
	if (error)
		return error;
	resp = describe(qp);
	HCA_CALL_OUT(call, UVERBS_ATTR_CORE_OUT, &resp);
	return 0;
}
