/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of adapter and port: a ConnectX-5 on Ethernet, with the link up. */
#include "commands.h"

#include <arpa/inet.h>
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

static struct ib_uverbs_query_device_resp device(void)
{
	struct ib_uverbs_query_device_resp resp = device_resp;

	resp.node_guid = resp.sys_image_guid = htobe64(HCA_GUID);
	return resp;
}

int hca_query_device(struct hca_call *call)
{
	struct ib_uverbs_query_device_resp resp = device();
	int error = call->ufile->has_context ? hca_call_firmware(call) : -EINVAL;

	if (!error)
		HCA_CALL_OUT(call, UVERBS_ATTR_CORE_OUT, &resp);
	return error;
}

int hca_query_device_ex(struct hca_call *call)
{
	struct ib_uverbs_ex_query_device_resp resp = {
	    .base = device(),
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
	if (!error)
		HCA_CALL_OUT(call, UVERBS_ATTR_QUERY_PORT_RESP, &resp);
	return error;
}

/* Link-local and IPv4-mapped, each for RoCE v1 and v2, as a port with one IPv4 address has them. */
#define N_USED_GIDS 4

void hca_gid(unsigned int index, uint8_t gid[16])
{
	memset(gid, 0, 16);
	if (index < 2) {
		inet_pton(AF_INET6, "fe80::200:ff:fe00:1", gid);
	} else if (index < N_USED_GIDS) {
		inet_pton(AF_INET6, "::ffff:192.0.2.1", gid);
	}
}

static struct ib_uverbs_gid_entry gid_entry(unsigned int index)
{
	struct ib_uverbs_gid_entry entry = {.gid_index = index, .port_num = HCA_PORT};

	hca_gid(index, (uint8_t *)entry.gid);
	entry.gid_type = index % 2 ? IB_UVERBS_GID_TYPE_ROCE_V2 : IB_UVERBS_GID_TYPE_ROCE_V1;
	return entry;
}

int hca_query_gid_table(struct hca_call *call)
{
	struct ib_uverbs_gid_entry entries[N_USED_GIDS];
	uint32_t room = hca_call_length(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	uint64_t n = N_USED_GIDS;

	if (hca_call_number(call, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0))
		return -EINVAL;
	if (hca_call_number(call, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, 0) != sizeof(entries[0]))
		return -EOPNOTSUPP;
	if (room < sizeof(entries))
		return -EINVAL;
	for (unsigned int i = 0; i < N_USED_GIDS; i++)
		entries[i] = gid_entry(i);
	HCA_CALL_OUT(call, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, &entries);
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
	if (index >= N_USED_GIDS)
		return -ENODATA;
	entry = gid_entry((unsigned int)index);
	HCA_CALL_OUT(call, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry);
	return 0;
}
