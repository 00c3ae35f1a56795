/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/rxe/rxe.h"

#include "preload/rxe/receives.h"

#include <rdma/ib_user_ioctl_verbs.h>

/* Queues are memory of the kernel (drivers/infiniband/sw/rxe/rxe_mmap.c, rxe_mmap()). */
const struct wv_provider wv_rxe = {
    .driver_id = RDMA_DRIVER_RXE,
    .ufile_memory = WV_RANGE_KERNEL,
    .receives = &wv_rxe_receives,
};
