/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection domains, memory regions and address handles. */
#include "commands.h"
#include "port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int hca_alloc_pd(struct hca_call *call)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct mlx5_ib_alloc_pd_resp driver;
	struct hca_pd *pd;
	int error = hca_call_firmware(call);

	if (error)
		return error;
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return -ENOMEM;
	pd->pdn = hca_number_take(&call->hca->pdns, pd);
	error = hca_object_add(call->ufile, HCA_PD, &pd->object);
	resp.pd_handle = pd->object.handle;
	driver.pdn = pd->pdn;
	HCA_CALL_OUT(call, UVERBS_ATTR_CORE_OUT, &resp);
	HCA_CALL_OUT(call, UVERBS_ATTR_UHW_OUT, &driver);
	return error;
}

#define ACCESS_KNOWN                                                                               \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                            \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                           \
	 IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_OPTIONAL_RANGE)

static int check_mr(const struct ib_uverbs_reg_mr *req)
{
	bool remote_change =
	    req->access_flags & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC);

	if (req->start % HCA_PAGE != req->hca_va % HCA_PAGE)
		return -EINVAL;
	/* Paging on demand is not modelled; a device without it answers so. */
	if (req->access_flags & IB_UVERBS_ACCESS_ON_DEMAND)
		return -EOPNOTSUPP;
	if (req->access_flags & ~(uint32_t)ACCESS_KNOWN)
		return -EINVAL;
	if (remote_change && !(req->access_flags & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return req->length && req->start + req->length > req->start ? 0 : -EINVAL;
}

static int add_mr(struct hca_call *call, const struct ib_uverbs_reg_mr *req, struct hca_mr *mr)
{
	struct ib_uverbs_reg_mr_resp resp;
	int error = hca_call_pin(call, STANDIN_BUF, req->start, req->length, &mr->mem);

	if (error)
		return error;
	error = hca_call_firmware(call);
	if (error) {
		hca_mem_unpin(&mr->mem);
		return error;
	}
	/* The low byte is for the library to vary, and starts as zero. */
	mr->key = hca_number_take(&call->hca->keys, mr) << 8;
	mr->access = req->access_flags;
	mr->iova = req->hca_va;
	mr->length = req->length;
	mr->pd->object.users++;
	error = hca_object_add(call->ufile, HCA_MR, &mr->object);
	resp = (struct ib_uverbs_reg_mr_resp){mr->object.handle, mr->key, mr->key};
	HCA_CALL_OUT(call, UVERBS_ATTR_CORE_OUT, &resp);
	return error;
}

int hca_reg_mr(struct hca_call *call)
{
	struct ib_uverbs_reg_mr req;
	struct hca_mr *mr;
	struct hca_pd *pd;
	int error;

	HCA_CALL_IN(call, UVERBS_ATTR_CORE_IN, &req);
	error = check_mr(&req);
	if (!error)
		error = hca_object_get(call->ufile, req.pd_handle, HCA_PD, &pd);
	if (error)
		return error;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->pd = pd;
	error = add_mr(call, &req, mr);
	if (error)
		free(mr);
	return error;
}

static struct ibv_ah_attr ah_attr_of(const struct ib_uverbs_ah_attr *from)
{
	struct ibv_ah_attr attr = {.dlid = from->dlid,
				   .sl = from->sl,
				   .src_path_bits = from->src_path_bits,
				   .static_rate = from->static_rate,
				   .is_global = from->is_global,
				   .port_num = from->port_num};

	memcpy(&attr.grh.dgid, from->grh.dgid, sizeof(attr.grh.dgid));
	attr.grh.flow_label = from->grh.flow_label;
	attr.grh.sgid_index = from->grh.sgid_index;
	attr.grh.hop_limit = from->grh.hop_limit;
	attr.grh.traffic_class = from->grh.traffic_class;
	return attr;
}

/* As neighbour discovery finds it; zero if nobody answers. */
static void resolve(struct hca *hca, const struct ibv_ah_attr *attr, uint8_t mac[6])
{
	const struct hca_gid *own = hca_gid_at(hca, attr->grh.sgid_index);
	const struct hca *peer = hca_at_gid(hca->net, attr->grh.dgid.raw, own->type);

	if (peer)
		hca_mac(peer->number, mac);
}

static int add_ah(struct hca_call *call, const struct ibv_ah_attr *attr, struct hca_ah *ah)
{
	struct mlx5_ib_create_ah_resp driver = {.response_length = sizeof(driver)};
	struct ib_uverbs_create_ah_resp resp;
	int error = hca_object_add(call->ufile, HCA_AH, &ah->object);

	ah->pd->object.users++;
	resolve(call->hca, attr, driver.dmac);
	resp.ah_handle = ah->object.handle;
	HCA_CALL_OUT(call, UVERBS_ATTR_CORE_OUT, &resp);
	HCA_CALL_OUT(call, UVERBS_ATTR_UHW_OUT, &driver);
	return error;
}

int hca_create_ah(struct hca_call *call)
{
	struct ib_uverbs_create_ah req;
	struct ibv_ah_attr attr;
	struct hca_ah *ah;
	struct hca_pd *pd;
	int error;

	HCA_CALL_IN(call, UVERBS_ATTR_CORE_IN, &req);
	attr = ah_attr_of(&req.attr);
	error = hca_object_get(call->ufile, req.pd_handle, HCA_PD, &pd);
	if (!error)
		error = hca_check_address(call->hca, &attr, true);
	if (error)
		return error;
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return -ENOMEM;
	ah->gid = hca_gid_hold(call->hca, &attr);
	ah->pd = pd;
	return add_ah(call, &attr, ah);
}
