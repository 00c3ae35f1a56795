/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/drivers.h"

#include "base/base.h"

#include <fnmatch.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdio.h>
#include <string.h>

static const struct {
	uint32_t driver_id;
	const char *provider; /* NULL: rdma-core no longer has one */
	const char *parent;   /* driver of the parent device, where it tells */
} drivers[] = {
    {RDMA_DRIVER_MLX5, "mlx5", "mlx5_core"},
    {RDMA_DRIVER_MLX4, "mlx4", "mlx4_core"},
    {RDMA_DRIVER_CXGB3, NULL, "cxgb3"},
    {RDMA_DRIVER_CXGB4, "cxgb4", "cxgb4"},
    {RDMA_DRIVER_MTHCA, "mthca", "ib_mthca"},
    {RDMA_DRIVER_BNXT_RE, "bnxt_re", "bnxt_en"},
    {RDMA_DRIVER_OCRDMA, "ocrdma", "be2net"},
    {RDMA_DRIVER_NES, NULL, "iw_nes"},
    {RDMA_DRIVER_IRDMA, "irdma", "ice"},
    {RDMA_DRIVER_IRDMA, "irdma", "i40e"},
    {RDMA_DRIVER_VMW_PVRDMA, "vmw_pvrdma", "vmw_pvrdma"},
    {RDMA_DRIVER_QEDR, "qedr", "qede"},
    {RDMA_DRIVER_HNS, "hns", "hns3"},
    {RDMA_DRIVER_USNIC, NULL, "enic"},
    {RDMA_DRIVER_RXE, "rxe", NULL},
    {RDMA_DRIVER_HFI1, "hfi1verbs", "hfi1"},
    {RDMA_DRIVER_QIB, "ipathverbs", "ib_qib"},
    {RDMA_DRIVER_EFA, "efa", "efa"},
    {RDMA_DRIVER_SIW, "siw", NULL},
    {RDMA_DRIVER_ERDMA, "erdma", "erdma"},
};

static const struct wv_driver_need needs[] = {
    /*
     * Without the member the driver looks doorbell pages up by their address alone, not by process
     * and address (hw/mlx5/doorbell.c). An object that a program makes in a leased ufile may then
     * get a page of the daemon's. Linux 5.4 does that; 5.15 and later, and some older kernels with
     * backports, do not.
     */
    {RDMA_DRIVER_MLX5, "mlx5_ib", "mlx5_ib_user_db_page", "mm",
     "keep the doorbell pages of processes apart",
     "use Linux 5.15 or later, or an older kernel to which that was ported back",
     "use a kernel with BTF of its modules (CONFIG_DEBUG_INFO_BTF_MODULES); or, if it does, as "
     "Linux 5.15 and later do, set --trust-kernel=yes"},
};

/* Patterns of fnmatch(3), extended. */
static const struct {
	uint32_t driver_id;
	const char *pattern;
} queue_variables[] = {
    {RDMA_DRIVER_MLX5, "MLX_@(CQ|QP|SRQ|RWQ|MR)_ALLOC_TYPE"},
    {RDMA_DRIVER_MLX5, "HUGE_@(CQ|QP|SRQ|RWQ)"},
};

const char *wv_provider_name(uint32_t driver_id)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(drivers); i++)
		if (drivers[i].driver_id == driver_id)
			return drivers[i].provider;
	return NULL;
}

uint32_t wv_driver_of_parent(const char *name)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(drivers); i++)
		if (drivers[i].parent && !strcmp(drivers[i].parent, name))
			return drivers[i].driver_id;
	return WV_NO_DRIVER;
}

const char *wv_provider_of_variable(const char *name)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(queue_variables); i++)
		if (!fnmatch(queue_variables[i].pattern, name, FNM_EXTMATCH))
			return wv_provider_name(queue_variables[i].driver_id);
	return NULL;
}

const struct wv_driver_need *wv_driver_need(uint32_t driver_id)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(needs); i++)
		if (needs[i].driver_id == driver_id)
			return &needs[i];
	return NULL;
}

const char *wv_module_of_vendor(const char *vendor)
{
	return strcmp(vendor, "0x15b3") ? NULL : "mlx5_ib";
}

void wv_software_device(const char *netdev, char *command, size_t capacity)
{
	snprintf(command, capacity, "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev %s",
		 netdev);
}
