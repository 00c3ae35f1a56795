/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/stock/aside_qp.h"

#include "abi/compose.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/core/scope.h"

#include <errno.h>
#include <string.h>

/* What @call returns, with its commands aside. */
#define ASIDE(call)                                                                                \
	({                                                                                         \
		__typeof__(call) result_;                                                          \
		wv_scope.aside = true;                                                             \
		result_ = (call);                                                                  \
		wv_scope.aside = false;                                                            \
		result_;                                                                           \
	})

struct ibv_qp *wv_aside_create_qp(const struct wv_qp_key *key, struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr attr = {
	    .send_cq = key->send_cq,
	    .recv_cq = key->recv_cq,
	    .srq = key->srq,
	    .cap = key->cap,
	    .qp_type = key->type,
	    .sq_sig_all = (int)key->sq_sig_all,
	};
	struct ibv_qp *qp;

	qp = ASIDE(wv_real_verbs()->create_qp(key->pd, &attr));
	*cap = attr.cap;
	return qp;
}

int wv_aside_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return ASIDE(wv_real_verbs()->modify_qp(qp, attr, mask));
}

int wv_aside_make_move(struct ibv_qp *qp, const struct wv_verb *move)
{
	struct ibv_qp_attr attr;
	int mask = wv_verb_get_move(move, &attr);

	return wv_aside_modify_qp(qp, &attr, mask);
}

int wv_aside_destroy_qp(struct ibv_qp *qp)
{
	return ASIDE(wv_real_verbs()->destroy_qp(qp));
}

int wv_aside_end_qp(int fd, uint32_t handle)
{
	uint32_t driver_id = wv_context_driver(fd);
	const struct wv_command_row *create =
	    wv_abi_find(driver_id, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, WV_NO_WRITE_CMD);
	struct wv_small_command cmd;

	if (!create || wv_compose_destroy(&cmd, driver_id, create, handle))
		return ENOSYS;
	return ioctl(fd, RDMA_VERBS_IOCTL, &cmd.hdr) ? errno : 0;
}

int wv_aside_query_gid(struct ibv_context *context, uint8_t port, int index, uint8_t gid[16])
{
	union ibv_gid found;
	int failed = ASIDE(wv_real_verbs()->query_gid(context, port, index, &found));

	if (failed)
		return errno ?: EIO;
	memcpy(gid, &found, sizeof(found));
	return 0;
}
