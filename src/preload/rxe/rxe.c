/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/rxe/rxe.h"

#include "preload/rxe/receives.h"

#include <rdma/ib_user_ioctl_verbs.h>

const struct wv_provider wv_rxe = {
    .driver_id = RDMA_DRIVER_RXE,
    .receives = &wv_rxe_receives,
};
