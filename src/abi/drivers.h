/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel drivers: the user-space provider library of each, and what each needs of the kernel.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WV_NO_DRIVER 0u /* RDMA_DRIVER_UNKNOWN */

/* The provider's name in rdma-core ("mlx5"), or NULL. */
const char *wv_provider_name(uint32_t driver_id);

/*
 * The enum rdma_driver_id of a device whose parent is bound to the kernel driver @name
 * ("mlx5_core"); WV_NO_DRIVER if the parent's driver does not tell.
 */
uint32_t wv_driver_of_parent(const char *name);

/*
 * The provider whose queues the environment variable @name puts into other memory than usual; NULL:
 * none reads it.
 */
const char *wv_provider_of_variable(const char *name);

/*
 * Something that only some kernels do, without which a process cannot use what another one made in
 * the same ufile. It shows in the kernel's types: the structure has the member where the kernel
 * does it.
 */
struct wv_driver_need {
	uint32_t driver_id;
	const char *module, *type, *member;
	const char *purpose;	    /* "keep ... apart" */
	const char *remedy;	    /* for a kernel that does not do it */
	const char *remedy_unknown; /* for a kernel that does not tell */
};

/* What devices of a driver need, or NULL: nothing. */
const struct wv_driver_need *wv_driver_need(uint32_t driver_id);

/*
 * The kernel module for RDMA of the PCI vendor, written as in sysfs ("0x15b3"); NULL: none is
 * known.
 */
const char *wv_module_of_vendor(const char *vendor);

/* Writes the commands that make a software RDMA device on the network device @netdev. */
void wv_software_device(const char *netdev, char *command, size_t capacity);
