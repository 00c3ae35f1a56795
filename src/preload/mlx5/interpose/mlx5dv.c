/* SPDX-License-Identifier: BSD-2-Clause */
/* The interposed functions of libmlx5 that programs call besides verbs. */
#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/interpose/prepare.h"
#include "preload/lease/device_verbs.h"
#include "preload/lease/one_thread.h"
#include "preload/mlx5/queues.h"
#include "preload/prefork/child.h"
#include "preload/spares/spares.h"

#include <errno.h>

#define LIBRARY "libmlx5.so.1"

WV_PUBLIC struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						 struct mlx5dv_context_attr *attr);
WV_PUBLIC int mlx5dv_set_context_attr(struct ibv_context *verbs, enum mlx5dv_set_ctx_attr_type type,
				      void *attr);

/* libmlx5's variant of ibv_open_device(), for programs that want special attributes. */
WV_PUBLIC struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						 struct mlx5dv_context_attr *attr)
{
	__typeof__(&mlx5dv_open_device) real =
	    wv_real_symbol(LIBRARY, "mlx5dv_open_device", "MLX5_1.7");

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	wv_prepare();
	wv_open_begin();
	return wv_open_end(real(device, attr));
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
	if (type == MLX5DV_CTX_ATTR_BUF_ALLOCATORS)
		wv_one_thread_note(verbs);
	if (type == MLX5DV_CTX_ATTR_BUF_ALLOCATORS && c && wv_mlx5_delegate_queues(c, attr))
		return 0;
	return real(verbs, type, attr);
}

/*
 * Defines mlx5dv_NAME(), which creates a TYPE, or calls libmlx5's own, after FIRST, ON a context.
 */
#define CREATOR(type, name, version, on, params, args, first)                                      \
	WV_PUBLIC struct type *mlx5dv_##name params;                                               \
	WV_PUBLIC struct type *mlx5dv_##name params                                                \
	{                                                                                          \
		__typeof__(&mlx5dv_##name) real =                                                  \
		    wv_real_symbol(LIBRARY, "mlx5dv_" #name, version);                             \
                                                                                                   \
		if (!real) {                                                                       \
			errno = ENOSYS;                                                            \
			return NULL;                                                               \
		}                                                                                  \
		first;                                                                             \
		return WV_WITH_ROOM(on, real args);                                                \
	}

/* clang-format off */
CREATOR(ibv_qp, create_qp, "MLX5_1.3", context,
	(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
	 struct mlx5dv_qp_init_attr *own),
	(context, attr, own), (void)0)
CREATOR(ibv_cq_ex, create_cq, "MLX5_1.1", context,
	(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr,
	 struct mlx5dv_cq_init_attr *own),
	(context, attr, own), wv_one_thread_note_cq(context, attr))
CREATOR(ibv_wq, create_wq, "MLX5_1.3", context,
	(struct ibv_context *context, struct ibv_wq_init_attr *attr,
	 struct mlx5dv_wq_init_attr *own),
	(context, attr, own), (void)0)
CREATOR(mlx5dv_mkey, create_mkey, "MLX5_1.10", attr->pd->context,
	(struct mlx5dv_mkey_init_attr *attr), (attr), (void)0)
CREATOR(mlx5dv_devx_obj, devx_obj_create, "MLX5_1.7", context,
	(struct ibv_context *context, const void *in, size_t in_bytes, void *out,
	 size_t out_bytes),
	(context, in, in_bytes, out, out_bytes), (void)0)
CREATOR(mlx5dv_devx_umem, devx_umem_reg, "MLX5_1.7", context,
	(struct ibv_context *context, void *at, size_t bytes, uint32_t access),
	(context, at, bytes, access), (void)0)
/* clang-format on */
