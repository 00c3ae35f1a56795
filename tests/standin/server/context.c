/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts, and the event files that belong to one. */
#include "commands.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool hca_call_is_capable(const struct hca_call *call, unsigned int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3,
						  .pid = call->tid};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

static const struct mlx5_ib_alloc_ucontext_resp context_resp = {
    .qp_tab_size = 1u << 18,
    .bf_reg_size = 512,
    .tot_bfregs = 0, /* user access regions are made one by one, as by every driver since 4.20 */
    .cache_line_size = 64,
    .max_sq_desc_sz = 1024,
    .max_rq_desc_sz = 512,
    .max_send_wqebb = HCA_MAX_WQEBB,
    .max_recv_wr = 32768,
    .max_srq_recv_wr = 32768,
    .num_ports = 1,
    .comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET |
		 MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY |
		 MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE | MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS |
		 MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG,
    .response_length = sizeof(context_resp),
    .cqe_version = 1,
    .cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
    .eth_min_inline = MLX5_USER_INLINE_MODE_NONE,
    .clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1,
    .log_uar_size = 12,
    .num_uars_per_page = 1,
    .dump_fill_mkey = 0x300,
};

static void answer(struct hca_call *call, uint16_t attr)
{
	uint32_t n_vectors = HCA_N_VECTORS;
	uint64_t support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;

	HCA_CALL_OUT(call, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &n_vectors);
	HCA_CALL_OUT(call, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &support);
	HCA_CALL_OUT(call, attr, &context_resp);
}

static int check_request(const struct hca_call *call, struct mlx5_ib_alloc_ucontext_req_v2 *req)
{
	const uint64_t known = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR;
	int error;

	if (hca_call_length(call, UVERBS_ATTR_UHW_IN) <
	    offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version))
		return -EINVAL;
	error = HCA_CALL_IN(call, UVERBS_ATTR_UHW_IN, req);
	if (error)
		return error;
	if (req->flags & ~(uint32_t)MLX5_IB_ALLOC_UCTX_DEVX)
		return -EINVAL;
	if (req->comp_mask || req->reserved0 || req->reserved1 || req->reserved2)
		return -EOPNOTSUPP;
	if (!req->total_num_bfregs || req->num_low_latency_bfregs > req->total_num_bfregs - 1)
		return -EINVAL;
	/* Only older libraries lack these. */
	return (req->lib_caps & known) == known && req->max_cqe_version ? 0 : -EOPNOTSUPP;
}

static int make_firmware_objects(struct hca_call *call, bool devx)
{
	int error = devx ? hca_fw(&call->work, FW_CREATE_UCTX) : 0;

	if (!error)
		error = hca_fw(&call->work, FW_ALLOC_TRANSPORT_DOMAIN);
	/* Two transport domains reach each other only with loopback on. */
	if (!error && call->hca->n_contexts == 1)
		error = hca_fw(&call->work, FW_MODIFY_NIC_VPORT_CONTEXT);
	if (!error)
		error = hca_fw(&call->work, FW_QUERY_SPECIAL_CONTEXTS);
	return error;
}

int hca_get_context(struct hca_call *call)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct hca_ufile *ufile = call->ufile;
	bool devx;
	int error;

	if (ufile->has_context)
		return -EINVAL;
	error = check_request(call, &req);
	if (error)
		return error;
	devx = req.flags & MLX5_IB_ALLOC_UCTX_DEVX;
	error = make_firmware_objects(call, devx);
	if (error)
		return error;
	call->hca->n_contexts++;
	ufile->has_context = true;
	ufile->has_devx = devx;
	ufile->net_raw = hca_call_is_capable(call, CAP_NET_RAW);
	ufile->sys_rawio = hca_call_is_capable(call, CAP_SYS_RAWIO);
	answer(call, UVERBS_ATTR_UHW_OUT);
	return 0;
}

int hca_query_context(struct hca_call *call)
{
	answer(call, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);
	return 0;
}

void hca_context_fini(struct hca_ufile *ufile, struct hca_work *work)
{
	if (!ufile->has_context)
		return;
	ufile->hca->n_contexts--;
	if (ufile->hca->n_contexts == 1)
		hca_fw(work, FW_MODIFY_NIC_VPORT_CONTEXT);
	hca_fw(work, FW_DEALLOC_TRANSPORT_DOMAIN);
	if (ufile->has_devx)
		hca_fw(work, FW_DESTROY_UCTX);
}

int hca_alloc_async(struct hca_call *call)
{
	struct hca_events *events;
	int reader = -1, error;

	error = hca_events_new(call->ufile, false, &events, &reader);
	if (error)
		return error;
	if (!call->ufile->async)
		call->ufile->async = events;
	hca_call_out_fd(call, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, reader, false);
	return 0;
}

int hca_create_channel(struct hca_call *call)
{
	struct hca_events *events;
	int reader = -1, error;

	error = hca_events_new(call->ufile, true, &events, &reader);
	if (!error)
		hca_call_out_fd(call, UVERBS_ATTR_CORE_OUT, reader, true);
	return error;
}
