/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values in the commands of the uverbs core.
 */
#define WHOLE(object, method, id, format, name)                                                    \
	{                                                                                          \
		WV_ANY_DRIVER, UVERBS_OBJECT_##object, UVERBS_METHOD_##method, UVERBS_ATTR_##id,   \
		    WV_NO_WRITE_CMD, WV_##format, 0, 0, name                                       \
	}
#define CAP(field)                                                                                 \
	VALUE(WV_ANY_DRIVER, QP, QP_CREATE, WV_NO_WRITE_CMD, CREATE_QP_CAP, DECIMAL,               \
	      ib_uverbs_qp_cap, field)
#define MOVE(cmd, field, format)                                                                   \
	VALUE(WV_ANY_DRIVER, DEVICE, INVOKE_WRITE, cmd, CORE_IN, format, ib_uverbs_modify_qp, field)
/* MODIFY_QP and its extended form begin alike (ib_user_verbs.h). */
#define BOTH_MOVES(field, format)                                                                  \
	MOVE(IB_USER_VERBS_CMD_MODIFY_QP, field, format),                                          \
	    MOVE(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP, field, format)

{WV_ANY_DRIVER, WV_OBJECT_MEMORY, 0, WV_ATTR_MEMORY_SIZE, WV_NO_WRITE_CMD, WV_DECIMAL, 0, 0,
 "bytes"},
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_CQE, DECIMAL, "cqe"),
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_COMP_CHANNEL, MAKER, "comp_channel"),
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_COMP_VECTOR, DECIMAL, "comp_vector"),
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_FLAGS, HEX, "flags"),
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_EVENT_FD, HIDDEN, "async event descriptor"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_PD_HANDLE, MAKER, "pd"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_MAX_WR, DECIMAL, "max_wr"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_MAX_SGE, DECIMAL, "max_sge"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_LIMIT, DECIMAL, "srq_limit"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_TYPE, HIDDEN, "srq_type"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_EVENT_FD, HIDDEN, "async event descriptor"),
    WHOLE(QP, QP_CREATE, CREATE_QP_TYPE, QP_TYPE, "qp_type"),
    WHOLE(QP, QP_CREATE, CREATE_QP_PD_HANDLE, MAKER, "pd"),
    WHOLE(QP, QP_CREATE, CREATE_QP_SEND_CQ_HANDLE, MAKER, "send_cq"),
    WHOLE(QP, QP_CREATE, CREATE_QP_RECV_CQ_HANDLE, MAKER, "recv_cq"),
    WHOLE(QP, QP_CREATE, CREATE_QP_SRQ_HANDLE, MAKER, "srq"),
    WHOLE(QP, QP_CREATE, CREATE_QP_FLAGS, HEX, "flags"),
    WHOLE(QP, QP_CREATE, CREATE_QP_EVENT_FD, HIDDEN, "async event descriptor"), CAP(max_send_wr),
    CAP(max_recv_wr), CAP(max_send_sge), CAP(max_recv_sge), CAP(max_inline_data),
    BOTH_MOVES(qp_handle, MAKER), BOTH_MOVES(qp_state, QP_STATE), BOTH_MOVES(attr_mask, HIDDEN),
    BOTH_MOVES(port_num, DECIMAL), BOTH_MOVES(pkey_index, DECIMAL),
    BOTH_MOVES(qp_access_flags, HEX), BOTH_MOVES(qkey, HIDDEN), BOTH_MOVES(path_mtu, HIDDEN),
    BOTH_MOVES(max_rd_atomic, HIDDEN), BOTH_MOVES(max_dest_rd_atomic, HIDDEN),
    BOTH_MOVES(min_rnr_timer, HIDDEN), BOTH_MOVES(timeout, HIDDEN), BOTH_MOVES(retry_cnt, HIDDEN),
    BOTH_MOVES(rnr_retry, HIDDEN), BOTH_MOVES(dest_qp_num, HIDDEN),
