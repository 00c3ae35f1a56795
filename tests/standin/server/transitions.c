/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As the kernel has them: for RC, UC, UD and raw packets in the table of drivers/infiniband/core/
 * verbs.c, for DCI and DCT in drivers/infiniband/hw/mlx5/qp.c.
 */
#include "transitions.h"

#define RC  (1u << HCA_RC)
#define UC  (1u << HCA_UC)
#define UD  (1u << HCA_UD)
#define DCI (1u << HCA_DCI)
#define DCT (1u << HCA_DCT)
#define RAW (1u << HCA_RAW)
#define QPS (RC | UC | UD | DCI | RAW)

#define RESET IBV_QPS_RESET
#define INIT  IBV_QPS_INIT
#define RTR   IBV_QPS_RTR
#define RTS   IBV_QPS_RTS
#define SQD   IBV_QPS_SQD
#define SQE   IBV_QPS_SQE
#define ERR   IBV_QPS_ERR

#define PKEY	IBV_QP_PKEY_INDEX
#define PORT	IBV_QP_PORT
#define QKEY	IBV_QP_QKEY
#define ACCESS	IBV_QP_ACCESS_FLAGS
#define AV	IBV_QP_AV
#define MTU	IBV_QP_PATH_MTU
#define DEST	IBV_QP_DEST_QPN
#define RQ_PSN	IBV_QP_RQ_PSN
#define SQ_PSN	IBV_QP_SQ_PSN
#define DEST_RD IBV_QP_MAX_DEST_RD_ATOMIC
#define RD	IBV_QP_MAX_QP_RD_ATOMIC
#define RNR_MIN IBV_QP_MIN_RNR_TIMER
#define TIMEOUT IBV_QP_TIMEOUT
#define RETRY	IBV_QP_RETRY_CNT
#define RNR	IBV_QP_RNR_RETRY
#define ALT	IBV_QP_ALT_PATH
#define MIG	IBV_QP_PATH_MIG_STATE
#define CUR	IBV_QP_CUR_STATE
#define NOTIFY	IBV_QP_EN_SQD_ASYNC_NOTIFY
#define RATE	IBV_QP_RATE_LIMIT

#define TIMERS (TIMEOUT | RETRY | RNR | RD | SQ_PSN)

static const struct hca_transition transitions[] = {
    {RESET, INIT, RC | UC, PKEY | PORT | ACCESS, 0, FW_RST2INIT_QP},
    {RESET, INIT, UD, PKEY | PORT | QKEY, 0, FW_RST2INIT_QP},
    {RESET, INIT, RAW, PORT, 0, FW_RST2INIT_QP},
    {RESET, INIT, DCI, PKEY | PORT, 0, FW_RST2INIT_QP},
    {RESET, INIT, DCT, PKEY | PORT | ACCESS, 0, FW_N},

    {INIT, INIT, RC | UC, 0, PKEY | PORT | ACCESS, FW_INIT2INIT_QP},
    {INIT, INIT, UD, 0, PKEY | PORT | QKEY, FW_INIT2INIT_QP},
    {INIT, INIT, RAW, 0, 0, FW_INIT2INIT_QP},
    {INIT, INIT, DCI, 0, PKEY | PORT, FW_INIT2INIT_QP},

    {INIT, RTR, RC, AV | MTU | DEST | RQ_PSN | DEST_RD | RNR_MIN, ALT | ACCESS | PKEY,
     FW_INIT2RTR_QP},
    {INIT, RTR, UC, AV | MTU | DEST | RQ_PSN, ALT | ACCESS | PKEY, FW_INIT2RTR_QP},
    {INIT, RTR, UD, 0, PKEY | QKEY, FW_INIT2RTR_QP},
    {INIT, RTR, RAW, 0, 0, FW_INIT2RTR_QP},
    {INIT, RTR, DCI, MTU, PKEY | AV, FW_INIT2RTR_QP},
    {INIT, RTR, DCT, RNR_MIN | AV | MTU, 0, FW_CREATE_DCT},

    {RTR, RTS, RC, TIMERS, CUR | ALT | ACCESS | RNR_MIN | MIG, FW_RTR2RTS_QP},
    {RTR, RTS, UC, SQ_PSN, CUR | ALT | ACCESS | MIG, FW_RTR2RTS_QP},
    {RTR, RTS, UD, SQ_PSN, CUR | QKEY, FW_RTR2RTS_QP},
    {RTR, RTS, RAW, 0, RATE, FW_RTR2RTS_QP},
    {RTR, RTS, DCI, TIMERS, RNR_MIN, FW_RTR2RTS_QP},

    {RTS, RTS, RC, 0, CUR | ACCESS | ALT | MIG | RNR_MIN, FW_RTS2RTS_QP},
    {RTS, RTS, UC, 0, CUR | ACCESS | ALT | MIG, FW_RTS2RTS_QP},
    {RTS, RTS, UD, 0, CUR | QKEY, FW_RTS2RTS_QP},
    {RTS, RTS, RAW, 0, RATE, FW_RTS2RTS_QP},
    {RTS, RTS, DCI, 0, RNR_MIN, FW_RTS2RTS_QP},

    /* The driver has no firmware command for SQD, so the move gives none. */
    {RTS, SQD, RC | UC | UD, 0, NOTIFY, FW_N},
    {SQD, SQD, RC, 0,
     PORT | AV | TIMEOUT | RETRY | RNR | RD | DEST_RD | ALT | ACCESS | PKEY | RNR_MIN | MIG, FW_N},
    {SQD, SQD, UC, 0, AV | ALT | ACCESS | PKEY | MIG, FW_N},
    {SQD, SQD, UD, 0, PKEY | QKEY, FW_N},
    {SQD, RTS, RC, 0, CUR | ALT | ACCESS | RNR_MIN | MIG, FW_RTS2RTS_QP},
    {SQD, RTS, UC, 0, CUR | ALT | ACCESS | MIG, FW_RTS2RTS_QP},
    {SQD, RTS, UD, 0, CUR | QKEY, FW_RTS2RTS_QP},
    {SQE, RTS, UC, 0, CUR | ACCESS, FW_RTS2RTS_QP},
    {SQE, RTS, UD, 0, CUR | QKEY, FW_RTS2RTS_QP},

    {INIT, ERR, QPS, 0, 0, FW_2ERR_QP},
    {RTR, ERR, QPS, 0, 0, FW_2ERR_QP},
    {RTS, ERR, QPS, 0, 0, FW_2ERR_QP},
    {SQD, ERR, QPS, 0, 0, FW_2ERR_QP},
    {SQE, ERR, QPS, 0, 0, FW_2ERR_QP},
    {ERR, ERR, QPS, 0, 0, FW_2ERR_QP},

    {RESET, RESET, QPS, 0, 0, FW_N},
    {INIT, RESET, QPS, 0, 0, FW_2RST_QP},
    {RTR, RESET, QPS, 0, 0, FW_2RST_QP},
    {RTS, RESET, QPS, 0, 0, FW_2RST_QP},
    {SQD, RESET, QPS, 0, 0, FW_2RST_QP},
    {SQE, RESET, QPS, 0, 0, FW_2RST_QP},
    {ERR, RESET, QPS, 0, 0, FW_2RST_QP},
};

const struct hca_transition *hca_transition_find(enum hca_qp_type type, enum ibv_qp_state from,
						 enum ibv_qp_state to)
{
	for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
		const struct hca_transition *t = &transitions[i];

		if (t->from == from && t->to == to && t->types & 1u << type)
			return t;
	}
	return NULL;
}
