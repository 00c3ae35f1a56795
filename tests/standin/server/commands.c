/* SPDX-License-Identifier: BSD-2-Clause */
#include "commands.h"

#include <errno.h>

#define IN(attr, lo, hi)                                                                           \
	{                                                                                          \
		(attr), HCA_ATTR_IN, false, (lo), (hi)                                             \
	}
#define IN_OPT(attr, lo, hi)                                                                       \
	{                                                                                          \
		(attr), HCA_ATTR_IN, true, (lo), (hi)                                              \
	}
#define OUT(attr, lo)                                                                              \
	{                                                                                          \
		(attr), HCA_ATTR_OUT, false, (lo), 0                                               \
	}
#define OUT_OPT(attr, lo)                                                                          \
	{                                                                                          \
		(attr), HCA_ATTR_OUT, true, (lo), 0                                                \
	}
#define HANDLE(attr)                                                                               \
	{                                                                                          \
		(attr), HCA_ATTR_HANDLE, false, 0, 0                                               \
	}
#define HANDLE_OPT(attr)                                                                           \
	{                                                                                          \
		(attr), HCA_ATTR_HANDLE, true, 0, 0                                                \
	}
#define NEW(attr)                                                                                  \
	{                                                                                          \
		(attr), HCA_ATTR_NEW, false, 0, 0                                                  \
	}
#define FD_OPT(attr)                                                                               \
	{                                                                                          \
		(attr), HCA_ATTR_FD, true, 0, 0                                                    \
	}
#define NEW_FD(attr)                                                                               \
	{                                                                                          \
		(attr), HCA_ATTR_NEW_FD, false, 0, 0                                               \
	}

/* Sizes of the driver's own structures; the driver itself refuses those that are too short. */
#define UHW IN_OPT(UVERBS_ATTR_UHW_IN, 0, 0), OUT_OPT(UVERBS_ATTR_UHW_OUT, 0)

#define FW(...)                                                                                    \
	.n_fw = sizeof((enum hca_fw[]){__VA_ARGS__}) / sizeof(enum hca_fw), .fw = {__VA_ARGS__}

#define WRITE(cmd)                                                                                 \
	.object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INVOKE_WRITE, .write = (cmd),      \
	.specs = {IN(UVERBS_ATTR_WRITE_CMD, 4, 8), IN_OPT(UVERBS_ATTR_CORE_IN, 0, 0),              \
		  OUT_OPT(UVERBS_ATTR_CORE_OUT, 0), UHW}

#define SIZES(in, out) .core_in = sizeof(struct in), .core_out = sizeof(struct out)

const struct hca_command hca_commands[] = {
    /* The device. */
    {"get_context", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, .early = true,
     .run = hca_get_context,
     .specs = {OUT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
	       OUT_OPT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8), UHW}},
    {"query_context", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, .run = hca_query_context,
     .specs = {OUT(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, 4),
	       OUT_OPT(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, 8),
	       OUT(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, 0)}},
    {"query_device", WRITE(IB_USER_VERBS_CMD_QUERY_DEVICE), .early = true,
     SIZES(ib_uverbs_query_device, ib_uverbs_query_device_resp), .run = hca_query_device,
     FW(FW_QUERY_NIC_VPORT_CONTEXT, FW_QUERY_ADAPTER)},
    {"query_device_ex", WRITE(IB_USER_VERBS_EX_CMD_QUERY_DEVICE | HCA_WRITE_EX),
     .core_in = sizeof(struct ib_uverbs_ex_query_device),
     .core_out = sizeof(struct ib_uverbs_query_device_resp) + 8, .run = hca_query_device_ex,
     FW(FW_QUERY_NIC_VPORT_CONTEXT, FW_QUERY_ADAPTER)},
    {"query_port", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, .run = hca_query_port,
     FW(FW_ACCESS_REG, FW_QUERY_NIC_VPORT_CONTEXT),
     .specs = {IN(UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, 8), OUT(UVERBS_ATTR_QUERY_PORT_RESP, 1)}},
    {"query_gid_table", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE,
     .run = hca_query_gid_table,
     .specs = {IN(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 4, 8),
	       IN_OPT(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 4, 8),
	       OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0),
	       OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8)}},
    {"query_gid_entry", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY,
     .run = hca_query_gid_entry,
     .specs = {IN(UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 4, 8),
	       IN(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 4, 8),
	       IN_OPT(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4, 8),
	       OUT(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, 1)}},
    {"devx_other", MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, .run = hca_devx_other,
     .specs = {IN(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, 16, 0),
	       OUT(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, 16)}},
    {"devx_create", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, .run = hca_devx_create,
     .specs = {NEW(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE),
	       IN(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, 16, 0),
	       OUT(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, 16)}},
    {"devx_destroy", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, .run = hca_destroy,
     .kind = HCA_DEVX, .specs = {HANDLE(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE)}},
    {"create_flow", WRITE(IB_USER_VERBS_EX_CMD_CREATE_FLOW | HCA_WRITE_EX), .run = hca_create_flow},
    {"create_flow_matcher", MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE,
     .run = hca_create_flow,
     .specs = {NEW(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE),
	       IN_OPT(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, 0, 0),
	       IN_OPT(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, 0, 0),
	       IN_OPT(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, 0, 0),
	       IN_OPT(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, 0, 0),
	       IN_OPT(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, 0, 0)}},
    {"alloc_async", UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC,
     .run = hca_alloc_async, .specs = {NEW_FD(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)}},
    {"create_channel", WRITE(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL),
     SIZES(ib_uverbs_create_comp_channel, ib_uverbs_create_comp_channel_resp),
     .run = hca_create_channel},

    /* Objects. */
    {"alloc_uar", MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, .run = hca_alloc_uar,
     FW(FW_ALLOC_UAR),
     .specs = {NEW(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE), IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 4, 8),
	       OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8),
	       OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4),
	       OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4)}},
    {"destroy_uar", MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, .run = hca_destroy,
     .kind = HCA_UAR, .specs = {HANDLE(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE)}},
    {"alloc_pd", WRITE(IB_USER_VERBS_CMD_ALLOC_PD),
     SIZES(ib_uverbs_alloc_pd, ib_uverbs_alloc_pd_resp), .run = hca_alloc_pd, FW(FW_ALLOC_PD)},
    {"destroy_pd", UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, .run = hca_destroy, .kind = HCA_PD,
     .specs = {HANDLE(UVERBS_ATTR_DESTROY_PD_HANDLE)}},
    {"create_ah", WRITE(IB_USER_VERBS_CMD_CREATE_AH),
     SIZES(ib_uverbs_create_ah, ib_uverbs_create_ah_resp), .run = hca_create_ah},
    {"destroy_ah", UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, .run = hca_destroy, .kind = HCA_AH,
     .specs = {HANDLE(UVERBS_ATTR_DESTROY_AH_HANDLE)}},
    {"reg_mr", WRITE(IB_USER_VERBS_CMD_REG_MR), SIZES(ib_uverbs_reg_mr, ib_uverbs_reg_mr_resp),
     .run = hca_reg_mr, FW(FW_CREATE_MKEY)},
    {"destroy_mr", UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, .run = hca_destroy, .kind = HCA_MR,
     .specs = {HANDLE(UVERBS_ATTR_DESTROY_MR_HANDLE)}},
    {"create_cq", UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, .run = hca_create_cq, FW(FW_CREATE_CQ),
     .specs = {NEW(UVERBS_ATTR_CREATE_CQ_HANDLE), IN(UVERBS_ATTR_CREATE_CQ_CQE, 4, 8),
	       IN(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 8),
	       FD_OPT(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL),
	       IN(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 8),
	       IN_OPT(UVERBS_ATTR_CREATE_CQ_FLAGS, 4, 8), OUT(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
	       FD_OPT(UVERBS_ATTR_CREATE_CQ_EVENT_FD), UHW}},
    {"destroy_cq", UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, .run = hca_destroy, .kind = HCA_CQ,
     .specs = {HANDLE(UVERBS_ATTR_DESTROY_CQ_HANDLE),
	       OUT(UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(struct ib_uverbs_destroy_cq_resp))}},
    {"create_srq", UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, .run = hca_create_srq,
     FW(FW_CREATE_RMP),
     .specs = {NEW(UVERBS_ATTR_CREATE_SRQ_HANDLE), HANDLE(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE),
	       HANDLE_OPT(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE),
	       HANDLE_OPT(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE),
	       IN(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 8),
	       IN(UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, 8), IN(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, 8),
	       IN(UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 8),
	       IN_OPT(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, 4, 8),
	       IN(UVERBS_ATTR_CREATE_SRQ_TYPE, 4, 8), FD_OPT(UVERBS_ATTR_CREATE_SRQ_EVENT_FD),
	       OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4),
	       OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4),
	       OUT_OPT(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, 4), UHW}},
    {"modify_srq", WRITE(IB_USER_VERBS_CMD_MODIFY_SRQ),
     .core_in = sizeof(struct ib_uverbs_modify_srq), .run = hca_modify_srq, FW(FW_ARM_RQ)},
    {"query_srq", WRITE(IB_USER_VERBS_CMD_QUERY_SRQ),
     SIZES(ib_uverbs_query_srq, ib_uverbs_query_srq_resp), .run = hca_query_srq, FW(FW_QUERY_RMP)},
    {"destroy_srq", UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, .run = hca_destroy,
     .kind = HCA_SRQ,
     .specs = {HANDLE(UVERBS_ATTR_DESTROY_SRQ_HANDLE),
	       OUT(UVERBS_ATTR_DESTROY_SRQ_RESP, sizeof(struct ib_uverbs_destroy_srq_resp))}},
    {"create_qp", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, .run = hca_create_qp,
     .specs = {NEW(UVERBS_ATTR_CREATE_QP_HANDLE), HANDLE(UVERBS_ATTR_CREATE_QP_PD_HANDLE),
	       HANDLE_OPT(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE),
	       HANDLE_OPT(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE),
	       HANDLE_OPT(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE),
	       IN(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 8),
	       IN(UVERBS_ATTR_CREATE_QP_CAP, sizeof(struct ib_uverbs_qp_cap),
		  sizeof(struct ib_uverbs_qp_cap)),
	       IN(UVERBS_ATTR_CREATE_QP_TYPE, 4, 8), IN_OPT(UVERBS_ATTR_CREATE_QP_FLAGS, 4, 8),
	       IN_OPT(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 4, 8),
	       FD_OPT(UVERBS_ATTR_CREATE_QP_EVENT_FD),
	       OUT(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(struct ib_uverbs_qp_cap)),
	       OUT(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4), UHW}},
    {"modify_qp", WRITE(IB_USER_VERBS_CMD_MODIFY_QP), .core_in = sizeof(struct ib_uverbs_modify_qp),
     .run = hca_modify_qp},
    {"modify_qp_ex", WRITE(IB_USER_VERBS_EX_CMD_MODIFY_QP | HCA_WRITE_EX),
     .core_in = sizeof(struct ib_uverbs_modify_qp),
     .core_out = sizeof(struct ib_uverbs_ex_modify_qp_resp), .run = hca_modify_qp_ex},
    {"query_qp", WRITE(IB_USER_VERBS_CMD_QUERY_QP),
     SIZES(ib_uverbs_query_qp, ib_uverbs_query_qp_resp), .run = hca_query_qp},
    {"destroy_qp", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, .run = hca_destroy, .kind = HCA_QP,
     .specs = {HANDLE(UVERBS_ATTR_DESTROY_QP_HANDLE),
	       OUT(UVERBS_ATTR_DESTROY_QP_RESP, sizeof(struct ib_uverbs_destroy_qp_resp))}},

    /* Commands that the kernel has too: refused as by a device without them, so no one retries. */
    {"resize_cq", WRITE(IB_USER_VERBS_CMD_RESIZE_CQ), .run = hca_not_modelled},
    {"attach_mcast", WRITE(IB_USER_VERBS_CMD_ATTACH_MCAST), .run = hca_not_modelled},
    {"detach_mcast", WRITE(IB_USER_VERBS_CMD_DETACH_MCAST), .run = hca_not_modelled},
    {"rereg_mr", WRITE(IB_USER_VERBS_CMD_REREG_MR), .run = hca_not_modelled},
    {"alloc_mw", WRITE(IB_USER_VERBS_CMD_ALLOC_MW), .run = hca_not_modelled},
    {"open_xrcd", WRITE(IB_USER_VERBS_CMD_OPEN_XRCD), .run = hca_not_modelled},
    {"modify_cq", WRITE(IB_USER_VERBS_EX_CMD_MODIFY_CQ | HCA_WRITE_EX), .run = hca_not_modelled},
};

const unsigned int hca_n_commands = sizeof(hca_commands) / sizeof(hca_commands[0]);

int hca_not_modelled(struct hca_call *call)
{
	(void)call;
	return -EOPNOTSUPP;
}

int hca_destroy(struct hca_call *call)
{
	const struct hca_attr_spec *specs = call->command->specs;
	struct ib_uverbs_destroy_cq_resp cq;
	struct hca_object *object;
	int error = hca_call_object(call, specs[0].id, call->command->kind, &object);

	if (!error)
		error = hca_object_destroy(object, &call->work);
	if (error)
		return error;
	cq.comp_events_reported = call->work.comp_events;
	cq.async_events_reported = call->work.async_events;
	if (call->command->kind == HCA_CQ)
		HCA_CALL_OUT(call, specs[1].id, &cq);
	else if (specs[1].type)
		HCA_CALL_OUT(call, specs[1].id, &call->work.async_events);
	return 0;
}
