/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/bounds.h"

#include "base/base.h"

#include <rdma/rdma_user_rxe.h>
#include <rdma/siw-abi.h>

/* Above every device's own limit that is published; they keep the estimate of the cost sound. */
#define MAX_CQE	   (1u << 22)
#define MAX_WR	   (1u << 17)
#define MAX_SGE	   256u
#define MAX_INLINE 4096u

/* Of the kernel's struct rxe_cqe, which no header for users has. */
#define RXE_CQE_BYTES 128u

#define WHOLE(id)                                                                                  \
	{                                                                                          \
		UVERBS_ATTR_CREATE_##id                                                            \
	}
#define CAP(field)                                                                                 \
	{                                                                                          \
		UVERBS_ATTR_CREATE_QP_CAP, offsetof(struct ib_uverbs_qp_cap, field),               \
		    sizeof(((struct ib_uverbs_qp_cap *)0)->field)                                  \
	}
#define NONE                                                                                       \
	{                                                                                          \
		UINT16_MAX                                                                         \
	}
#define MOST(object, number, limit)                                                                \
	{                                                                                          \
		UVERBS_OBJECT_##object, number, false, limit, "a size or flag is out of bounds"    \
	}
#define ONLY(object, number, flags)                                                                \
	{                                                                                          \
		UVERBS_OBJECT_##object, number, true, flags, "a size or flag is out of bounds"     \
	}
#define MOST_CAP(field, limit)                                                                     \
	{                                                                                          \
		UVERBS_OBJECT_QP, CAP(field), false, limit, "a queue pair is too large"            \
	}

static const struct wv_bound_row bounds[] = {
    MOST(CQ, WHOLE(CQ_CQE), MAX_CQE),
    MOST(CQ, WHOLE(CQ_COMP_VECTOR), 1023),
    ONLY(CQ, WHOLE(CQ_FLAGS),
	 IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN),
    MOST(SRQ, WHOLE(SRQ_MAX_WR), MAX_WR),
    MOST(SRQ, WHOLE(SRQ_MAX_SGE), MAX_SGE),
    MOST(SRQ, WHOLE(SRQ_LIMIT), MAX_WR),
    MOST(SRQ, WHOLE(SRQ_TYPE), IB_UVERBS_SRQT_BASIC),
    ONLY(QP, WHOLE(QP_FLAGS), IB_UVERBS_QP_CREATE_SQ_SIG_ALL),
    MOST_CAP(max_send_wr, MAX_WR),
    MOST_CAP(max_recv_wr, MAX_WR),
    MOST_CAP(max_send_sge, MAX_SGE),
    MOST_CAP(max_recv_sge, MAX_SGE),
    MOST_CAP(max_inline_data, MAX_INLINE),
};

#define COST(driver, object, bytes, ...)                                                           \
	{                                                                                          \
		RDMA_DRIVER_##driver, UVERBS_OBJECT_##object, bytes, __VA_ARGS__                   \
	}

static const struct wv_cost_row costs[] = {
    COST(RXE, CQ, RXE_CQE_BYTES, WHOLE(CQ_CQE), NONE, NONE),
    COST(RXE, SRQ, sizeof(struct rxe_recv_wqe), WHOLE(SRQ_MAX_WR), WHOLE(SRQ_MAX_SGE), NONE),
    COST(RXE, QP, sizeof(struct rxe_send_wqe), CAP(max_send_wr), CAP(max_send_sge),
	 CAP(max_inline_data)),
    COST(RXE, QP, sizeof(struct rxe_recv_wqe), CAP(max_recv_wr), CAP(max_recv_sge), NONE),
    COST(SIW, CQ, sizeof(struct siw_cqe), WHOLE(CQ_CQE), NONE, NONE),
    COST(SIW, SRQ, sizeof(struct siw_rqe), WHOLE(SRQ_MAX_WR), NONE, NONE),
};

const struct wv_bound_row *wv_abi_bounds(unsigned int *n)
{
	*n = WV_ARRAY_SIZE(bounds);
	return bounds;
}

const struct wv_cost_row *wv_abi_costs(unsigned int *n)
{
	*n = WV_ARRAY_SIZE(costs);
	return costs;
}
