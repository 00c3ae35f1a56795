/* The verbs that open and close the scope of a request, and of an opening. */
#include "preload/interpose/verbs_device.h"
#include "base/base.h"
#include "preload/client/lease_request.h"
#include "preload/client/provider_list.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/core/real_verbs.h"
#include "preload/core/scope.h"
#include "preload/core/settings.h"
#include "preload/core/trace.h"
#include "preload/mlx5/queues.h"
#include "preload/prefork/child.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

WV_PUBLIC struct ibv_context *ibv_open_device(struct ibv_device *device);
WV_PUBLIC struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						 struct mlx5dv_context_attr *attr);
WV_PUBLIC int mlx5dv_set_context_attr(struct ibv_context *verbs, enum mlx5dv_set_ctx_attr_type type,
				      void *attr);
WV_PUBLIC struct ibv_device **ibv_get_device_list(int *num_devices);
WV_PUBLIC void ibv_free_device_list(struct ibv_device **list);

/* A lease takes a moment to arrive, which the listing hides. */
static void get_ready(bool ask)
{
	char only[64];
	int saved = errno;

	wv_providers_read();
	if (ask && wv_only_device(only, sizeof(only)))
		wv_client_request(only);
	wv_providers_load(true);
	errno = saved;
}

struct ibv_device **wv_list_plainly(int *num_devices, bool ask)
{
	const struct wv_real_verbs *real = wv_real_verbs();
	struct ibv_device **list;
	uint64_t start;

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	if (!wv_settings()->enabled)
		return real->get_device_list(num_devices);
	start = wv_trace_now();
	get_ready(ask);
	list = real->get_device_list(num_devices);
	wv_trace_list(start);
	return list;
}

WV_PUBLIC struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list = wv_child_is_following() ? wv_child_list(num_devices) : NULL;

	return list ? list : wv_list_plainly(num_devices, true);
}

/* A program that gives the list back has opened what it wants: a lease still waiting is not for it.
 */
WV_PUBLIC void ibv_free_device_list(struct ibv_device **list)
{
	const struct wv_real_verbs *real = wv_real_verbs();

	if (wv_child_is_following() && wv_child_end_list(list))
		return;
	wv_client_drop_request();
	if (real)
		real->free_device_list(list);
}

__thread bool wv_opening;

/* What a provider makes from now on is the program's wish. */
static struct ibv_context *opened(struct ibv_context *verbs)
{
	struct wv_context *c;
	int saved = errno;

	wv_opening = false;
	if (!verbs)
		return NULL;
	wv_context_prepare();
	wv_lock();
	c = wv_context_of(verbs->cmd_fd);
	if (c)
		wv_context_opened(c);
	wv_unlock();
	if (c)
		wv_queues_place(verbs, c);
	errno = saved;
	return verbs;
}

struct ibv_context *wv_open_plainly(struct ibv_device *device)
{
	const struct wv_real_verbs *real = wv_real_verbs();

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	wv_opening = wv_settings()->enabled;
	return opened(real->open_device(device));
}

WV_PUBLIC struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return wv_child_is_following() ? wv_child_open(device) : wv_open_plainly(device);
}

/* libmlx5's twin, for those who ask for more than a context of its default. */
WV_PUBLIC struct ibv_context *mlx5dv_open_device(struct ibv_device *device,
						 struct mlx5dv_context_attr *attr)
{
	struct ibv_context *(*real)(struct ibv_device *, struct mlx5dv_context_attr *) =
	    real_symbol("libmlx5.so.1", "mlx5dv_open_device", "MLX5_1.7");

	if (!real) {
		errno = ENOSYS;
		return NULL;
	}
	wv_opening = wv_settings()->enabled;
	return opened(real(device, attr));
}

/* Memory that the provider has from us must not come to be freed by the program. */
WV_PUBLIC int mlx5dv_set_context_attr(struct ibv_context *verbs, enum mlx5dv_set_ctx_attr_type type,
				      void *attr)
{
	int (*real)(struct ibv_context *, enum mlx5dv_set_ctx_attr_type, void *) =
	    real_symbol("libmlx5.so.1", "mlx5dv_set_context_attr", "MLX5_1.2");
	struct wv_context *c;

	if (!real)
		return ENOSYS;
	wv_context_prepare();
	wv_lock();
	c = wv_context_of(verbs->cmd_fd);
	wv_unlock();
	wv_child_stop(verbs);
	if (type == MLX5DV_CTX_ATTR_BUF_ALLOCATORS && c && wv_queues_delegate(c, attr))
		return 0;
	return real(verbs, type, attr);
}
