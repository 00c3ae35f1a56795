/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of adapter and port: a ConnectX-5 on Ethernet, with the link up. */
#include "commands.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

static const struct ib_uverbs_query_device_resp device_resp = {
    .fw_ver = 16ull << 32 | 35ull << 16 | 3502,
    .max_mr_size = UINT64_MAX,
    .page_size_cap = 0xfffff000,
    .vendor_id = 0x15b3,
    .vendor_part_id = 0x1017,
    .max_qp = 1u << 16,
    .max_qp_wr = HCA_MAX_WQEBB,
    .device_cap_flags = IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_PORT_ACTIVE_EVENT |
			IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_XRC,
    .max_sge = 30,
    .max_sge_rd = 30,
    .max_cq = 1u << 16,
    .max_cqe = (1u << 22) - 1,
    .max_mr = 1u << 16,
    .max_pd = 1u << 16,
    .max_qp_rd_atom = 16,
    .max_res_rd_atom = 1u << 20,
    .max_qp_init_rd_atom = 16,
    .atomic_cap = IBV_ATOMIC_HCA,
    .max_ah = INT32_MAX,
    .max_srq = 1u << 16,
    .max_srq_wr = (1u << 15) - 1,
    .max_srq_sge = 31,
    .max_pkeys = 128,
    .local_ca_ack_delay = 16,
    .phys_port_cnt = 1,
};

static struct ib_uverbs_query_device_resp device(const struct hca *hca)
{
	struct ib_uverbs_query_device_resp resp = device_resp;

	resp.node_guid = resp.sys_image_guid = htobe64(0x0200000000000000ull + hca->number);
	return resp;
}

int hca_query_device(struct hca_call *call)
{
	struct ib_uverbs_query_device_resp resp = device(call->hca);
	int error = call->ufile->has_context ? hca_call_firmware(call) : -EINVAL;

	if (!error)
		HCA_CALL_OUT(call, UVERBS_ATTR_CORE_OUT, &resp);
	return error;
}

int hca_query_device_ex(struct hca_call *call)
{
	struct ib_uverbs_ex_query_device_resp resp = {
	    .base = device(call->hca),
	    .response_length = sizeof(resp),
	    .timestamp_mask = UINT64_MAX >> 1,
	    .hca_core_clock = 78125,
	};
	struct mlx5_ib_query_device_resp driver = {.response_length = sizeof(driver)};
	struct ib_uverbs_ex_query_device req;
	int error = HCA_CALL_IN(call, UVERBS_ATTR_CORE_IN, &req);

	if (!error && (req.comp_mask || req.reserved || hca_call_has(call, UVERBS_ATTR_UHW_IN)))
		error = -EINVAL;
	if (!error)
		error = hca_call_firmware(call);
	if (error)
		return error;
	HCA_CALL_OUT(call, UVERBS_ATTR_CORE_OUT, &resp);
	HCA_CALL_OUT(call, UVERBS_ATTR_UHW_OUT, &driver);
	return 0;
}

int hca_query_port(struct hca_call *call)
{
	struct ib_uverbs_query_port_resp_ex resp = {
	    .legacy_resp = {.port_cap_flags = IB_UVERBS_PCF_CM_SUP | IB_UVERBS_PCF_IP_BASED_GIDS,
			    .max_msg_sz = 1u << 30,
			    .gid_tbl_len = HCA_N_GIDS,
			    .pkey_tbl_len = 1,
			    .state = IBV_PORT_ACTIVE,
			    .max_mtu = IBV_MTU_4096,
			    .active_mtu = HCA_MTU,
			    .max_vl_num = 1,
			    .active_width = 2,	/* 4x */
			    .active_speed = 32, /* EDR */
			    .phys_state = 5,	/* link up */
			    .link_layer = IBV_LINK_LAYER_ETHERNET,
			    .flags = IB_UVERBS_QPF_GRH_REQUIRED},
	};
	int error;

	if ((uint8_t)hca_call_number(call, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 0) != HCA_PORT)
		return -EINVAL;
	error = hca_call_firmware(call);
	if (call->hca->link_down) {
		resp.legacy_resp.state = IBV_PORT_DOWN;
		resp.legacy_resp.phys_state = 3; /* disabled, as Ethernet has it */
	}
	if (!error)
		HCA_CALL_OUT(call, UVERBS_ATTR_QUERY_PORT_RESP, &resp);
	return error;
}

static struct ib_uverbs_gid_entry gid_entry(const struct hca *hca, unsigned int index)
{
	struct ib_uverbs_gid_entry entry = {.gid_index = index, .port_num = HCA_PORT};

	memcpy(entry.gid, hca->gids[index].raw, sizeof(entry.gid));
	entry.gid_type = hca->gids[index].type;
	return entry;
}

/* The valid entries, without the gaps between them. */
int hca_query_gid_table(struct hca_call *call)
{
	struct ib_uverbs_gid_entry entries[HCA_N_GIDS];
	uint32_t room = hca_call_length(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	uint64_t n = 0;

	if (hca_call_number(call, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0))
		return -EINVAL;
	if (hca_call_number(call, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 0) != sizeof(entries[0]))
		return -EOPNOTSUPP;
	for (unsigned int i = 0; i < HCA_N_GIDS; i++) {
		if (hca_gid_at(call->hca, i))
			entries[n++] = gid_entry(call->hca, i);
	}
	if (room < n * sizeof(entries[0]))
		return -EINVAL;
	hca_call_out(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries,
		     n * sizeof(entries[0]));
	HCA_CALL_OUT(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n);
	return 0;
}

int hca_query_gid_entry(struct hca_call *call)
{
	uint64_t port = hca_call_number(call, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 0);
	uint64_t index = hca_call_number(call, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 0);
	struct ib_uverbs_gid_entry entry;

	if (hca_call_number(call, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0) || port != HCA_PORT ||
	    index >= HCA_N_GIDS)
		return -EINVAL;
	if (!hca_gid_at(call->hca, (unsigned int)index))
		return -ENODATA;
	entry = gid_entry(call->hca, (unsigned int)index);
	HCA_CALL_OUT(call, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry);
	return 0;
}
