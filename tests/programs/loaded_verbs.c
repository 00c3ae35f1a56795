/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs that are not linked with libibverbs: its functions, which find the real ones when
 * the program starts, as communication libraries do that must run without RDMA, too (NCCL).
 *
 * Environment:
 * LOADED_FILES: the files of libibverbs and libmlx5, with a space between them; without the latter
 *    its functions are missing
 * LOADED_MODE: letters; l: RTLD_LAZY instead of RTLD_NOW, g: RTLD_GLOBAL, d: RTLD_DEEPBIND,
 *    u: the functions are looked up without their versions
 */
#include "support/check.h"

#include <dlfcn.h>
#include <infiniband/mlx5dv.h>

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

/* Library, version, result, name, parameters, arguments. */
#define VERBS(VERB)                                                                                \
	VERB(0, "IBVERBS_1.1", struct ibv_device **, ibv_get_device_list, (int *n), (n))           \
	VERB(0, "IBVERBS_1.1", void, ibv_free_device_list, (struct ibv_device * *list), (list))    \
	VERB(0, "IBVERBS_1.1", struct ibv_context *, ibv_open_device,                              \
	     (struct ibv_device * device), (device))                                               \
	VERB(0, "IBVERBS_1.1", int, ibv_close_device, (struct ibv_context * context), (context))   \
	VERB(0, "IBVERBS_1.1", int, ibv_query_device,                                              \
	     (struct ibv_context * context, struct ibv_device_attr * attr), (context, attr))       \
	VERB(0, "IBVERBS_1.1", int, ibv_query_port,                                                \
	     (struct ibv_context * context, uint8_t port, struct _compat_ibv_port_attr * attr),    \
	     (context, port, attr))                                                                \
	VERB(0, "IBVERBS_1.1", int, ibv_query_gid,                                                 \
	     (struct ibv_context * context, uint8_t port, int index, union ibv_gid *gid),          \
	     (context, port, index, gid))                                                          \
	VERB(0, "IBVERBS_1.1", int, ibv_get_async_event,                                           \
	     (struct ibv_context * context, struct ibv_async_event * event), (context, event))     \
	VERB(0, "IBVERBS_1.1", void, ibv_ack_async_event, (struct ibv_async_event * event),        \
	     (event))                                                                              \
	VERB(0, "IBVERBS_1.1", int, ibv_fork_init, (void), ())                                     \
	VERB(0, "IBVERBS_1.13", enum ibv_fork_status, ibv_is_fork_initialized, (void), ())         \
	VERB(0, "IBVERBS_1.1", struct ibv_pd *, ibv_alloc_pd, (struct ibv_context * context),      \
	     (context))                                                                            \
	VERB(0, "IBVERBS_1.1", int, ibv_dealloc_pd, (struct ibv_pd * pd), (pd))                    \
	VERB(0, "IBVERBS_1.1", struct ibv_mr *, ibv_reg_mr,                                        \
	     (struct ibv_pd * pd, void *at, size_t bytes, int access), (pd, at, bytes, access))    \
	VERB(0, "IBVERBS_1.8", struct ibv_mr *, ibv_reg_mr_iova2,                                  \
	     (struct ibv_pd * pd, void *at, size_t bytes, uint64_t iova, unsigned int access),     \
	     (pd, at, bytes, iova, access))                                                        \
	VERB(0, "IBVERBS_1.1", int, ibv_dereg_mr, (struct ibv_mr * mr), (mr))                      \
	VERB(0, "IBVERBS_1.0", struct ibv_comp_channel *, ibv_create_comp_channel,                 \
	     (struct ibv_context * context), (context))                                            \
	VERB(0, "IBVERBS_1.0", int, ibv_destroy_comp_channel, (struct ibv_comp_channel * channel), \
	     (channel))                                                                            \
	VERB(0, "IBVERBS_1.1", struct ibv_cq *, ibv_create_cq,                                     \
	     (struct ibv_context * context, int cqe, void *cq_context,                             \
	      struct ibv_comp_channel *channel, int vector),                                       \
	     (context, cqe, cq_context, channel, vector))                                          \
	VERB(0, "IBVERBS_1.1", int, ibv_resize_cq, (struct ibv_cq * cq, int cqe), (cq, cqe))       \
	VERB(0, "IBVERBS_1.1", int, ibv_get_cq_event,                                              \
	     (struct ibv_comp_channel * channel, struct ibv_cq * *cq, void **cq_context),          \
	     (channel, cq, cq_context))                                                            \
	VERB(0, "IBVERBS_1.1", void, ibv_ack_cq_events, (struct ibv_cq * cq, unsigned int n),      \
	     (cq, n))                                                                              \
	VERB(0, "IBVERBS_1.1", int, ibv_destroy_cq, (struct ibv_cq * cq), (cq))                    \
	VERB(0, "IBVERBS_1.1", struct ibv_srq *, ibv_create_srq,                                   \
	     (struct ibv_pd * pd, struct ibv_srq_init_attr * attr), (pd, attr))                    \
	VERB(0, "IBVERBS_1.1", int, ibv_destroy_srq, (struct ibv_srq * srq), (srq))                \
	VERB(0, "IBVERBS_1.1", struct ibv_qp *, ibv_create_qp,                                     \
	     (struct ibv_pd * pd, struct ibv_qp_init_attr * attr), (pd, attr))                     \
	VERB(0, "IBVERBS_1.1", int, ibv_modify_qp,                                                 \
	     (struct ibv_qp * qp, struct ibv_qp_attr * attr, int mask), (qp, attr, mask))          \
	VERB(0, "IBVERBS_1.1", int, ibv_query_qp,                                                  \
	     (struct ibv_qp * qp, struct ibv_qp_attr * attr, int mask,                             \
	      struct ibv_qp_init_attr *init),                                                      \
	     (qp, attr, mask, init))                                                               \
	VERB(0, "IBVERBS_1.6", struct ibv_qp_ex *, ibv_qp_to_qp_ex, (struct ibv_qp * qp), (qp))    \
	VERB(0, "IBVERBS_1.1", int, ibv_destroy_qp, (struct ibv_qp * qp), (qp))                    \
	VERB(0, "IBVERBS_1.1", struct ibv_ah *, ibv_create_ah,                                     \
	     (struct ibv_pd * pd, struct ibv_ah_attr * attr), (pd, attr))                          \
	VERB(0, "IBVERBS_1.1", int, ibv_destroy_ah, (struct ibv_ah * ah), (ah))                    \
	VERB(1, "MLX5_1.7", struct ibv_context *, mlx5dv_open_device,                              \
	     (struct ibv_device * device, struct mlx5dv_context_attr * attr), (device, attr))      \
	VERB(1, "MLX5_1.2", int, mlx5dv_set_context_attr,                                          \
	     (struct ibv_context * context, enum mlx5dv_set_ctx_attr_type type, void *attr),       \
	     (context, type, attr))                                                                \
	VERB(1, "MLX5_1.1", struct ibv_cq_ex *, mlx5dv_create_cq,                                  \
	     (struct ibv_context * context, struct ibv_cq_init_attr_ex * attr,                     \
	      struct mlx5dv_cq_init_attr * more),                                                  \
	     (context, attr, more))                                                                \
	VERB(1, "MLX5_1.3", struct ibv_qp *, mlx5dv_create_qp,                                     \
	     (struct ibv_context * context, struct ibv_qp_init_attr_ex * attr,                     \
	      struct mlx5dv_qp_init_attr * more),                                                  \
	     (context, attr, more))                                                                \
	VERB(1, "MLX5_1.10", struct mlx5dv_qp_ex *, mlx5dv_qp_ex_from_ibv_qp_ex,                   \
	     (struct ibv_qp_ex * qp), (qp))                                                        \
	VERB(1, "MLX5_1.7", struct mlx5dv_devx_obj *, mlx5dv_devx_obj_create,                      \
	     (struct ibv_context * context, const void *in, size_t in_bytes, void *out,            \
	      size_t out_bytes),                                                                   \
	     (context, in, in_bytes, out, out_bytes))

#define POINTER(library, version, result, name, params, args) result(*name) params;
static struct {
	VERBS(POINTER)
} loaded;

#define FUNCTION(library, version, result, name, params, args)                                     \
	result name params                                                                         \
	{                                                                                          \
		return loaded.name args;                                                           \
	}
#pragma GCC diagnostic ignored "-Wpedantic" /* A void function returns another's result. */
VERBS(FUNCTION)

static void *open_file(const char *file, const char *mode)
{
	int how = strchr(mode, 'l') ? RTLD_LAZY : RTLD_NOW;
	void *library;

	how |= strchr(mode, 'g') ? RTLD_GLOBAL : RTLD_LOCAL;
	how |= strchr(mode, 'd') ? RTLD_DEEPBIND : 0;
	library = dlopen(file, how);
	if (!library)
		give_up(__FILE__, __LINE__, "%s", dlerror());
	return library;
}

static void *find(void *library, const char *name, const char *version)
{
	void *fn;
	char *error;

	dlerror();
	fn = version ? dlvsym(library, name, version) : dlsym(library, name);
	error = dlerror();
	if (error || !fn)
		give_up(__FILE__, __LINE__, "%s: %s", name, error ? error : "is NULL");
	return fn;
}

__attribute__((constructor)) static void load(void)
{
	char files[1024];
	const char *mode = getenv("LOADED_MODE") ?: "", *file;
	void *libraries[2] = {NULL};

	snprintf(files, sizeof(files), "%s", getenv("LOADED_FILES") ?: "libibverbs.so.1");
	libraries[0] = open_file(strtok(files, " "), mode);
	file = strtok(NULL, " ");
	if (file)
		libraries[1] = open_file(file, mode);
#define FIND(library, version, result, name, params, args)                                         \
	if (libraries[library])                                                                    \
		loaded.name = find(libraries[library], #name, strchr(mode, 'u') ? NULL : version);
	VERBS(FIND)
}
