/* SPDX-License-Identifier: BSD-2-Clause */
/* The interposed functions of libmlx5 that programs call besides verbs. */
#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/interpose/prepare.h"
#include "preload/lease/device_verbs.h"
#include "preload/mlx5/queues.h"
#include "preload/prefork/child.h"

#include <errno.h>

#define LIBRARY "libmlx5.so.1"

WV_PUBLIC struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						 struct mlx5dv_context_attr *attr);
WV_PUBLIC int mlx5dv_set_context_attr(struct ibv_context *verbs, enum mlx5dv_set_ctx_attr_type type,
				      void *attr);

struct opening {
	__typeof__(&mlx5dv_open_device) real;
	struct mlx5dv_context_attr *attr;
};

static struct ibv_context *open_by(struct ibv_device *device, void *arg)
{
	const struct opening *opening = arg;

	return opening->real(device, opening->attr);
}

/* libmlx5's variant of ibv_open_device(), for programs that want special attributes. */
WV_PUBLIC struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						 struct mlx5dv_context_attr *attr)
{
	struct opening opening = {wv_real_symbol(LIBRARY, "mlx5dv_open_device", "MLX5_1.7"), attr};

	if (!opening.real) {
		errno = ENOSYS;
		return NULL;
	}
	wv_prepare();
	return wv_open_device_by(open_by, device, &opening);
}

/* Without this, the program would free memory that the provider has from this library. */
WV_PUBLIC int mlx5dv_set_context_attr(struct ibv_context *verbs, enum mlx5dv_set_ctx_attr_type type,
				      void *attr)
{
	__typeof__(&mlx5dv_set_context_attr) real =
	    wv_real_symbol(LIBRARY, "mlx5dv_set_context_attr", "MLX5_1.2");
	struct wv_context *c;

	if (!real)
		return ENOSYS;
	wv_prepare();
	wv_lock();
	c = wv_context_of(verbs->cmd_fd);
	wv_unlock();
	wv_child_stop(verbs);
	if (type == MLX5DV_CTX_ATTR_BUF_ALLOCATORS && c && wv_mlx5_delegate_queues(c, attr))
		return 0;
	return real(verbs, type, attr);
}
