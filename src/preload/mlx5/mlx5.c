/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/mlx5/mlx5.h"

#include "preload/mlx5/cpuinfo.h"
#include "preload/mlx5/doorbell_records.h"
#include "preload/mlx5/queues.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <string.h>

/* As libmlx5 reads it (single_threaded_app()). */
static bool is_for_one_thread(void)
{
	const char *value = getenv("MLX5_SINGLE_THREADED");

	return value && !strcmp(value, "1");
}

static const struct wv_library direct = {"libmlx5.so.1", "mlx5dv_"};

const struct wv_provider wv_mlx5 = {
    .driver_id = RDMA_DRIVER_MLX5,
    .direct = &direct,
    .queues_are_chosen = wv_mlx5_queues_are_chosen,
    .place_queues = wv_mlx5_place_queues,
    .is_for_one_thread = is_for_one_thread,
    .hides_file = wv_mlx5_hides_file,
    .forked = wv_dbrec_forked,
};
