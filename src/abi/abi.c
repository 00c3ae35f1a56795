#include "abi/abi.h"

#include "base/base.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <stddef.h>

#define EX(cmd)	   (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_##cmd)
#define WRITE(cmd) IB_USER_VERBS_CMD_##cmd
#define FIELD(s, f, k)                                                                             \
	{                                                                                          \
		offsetof(struct s, f), sizeof(((struct s *)0)->f), k                               \
	}
#define COUNT(type, ...) sizeof((const struct type[]){__VA_ARGS__}) / sizeof(struct type)
#define FIELDS(...)                                                                                \
	COUNT(wv_field, __VA_ARGS__),                                                              \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define NO_FIELDS                                                                                  \
	0,                                                                                         \
	{                                                                                          \
	}
#define ATTR(id, kind)                                                                             \
	{                                                                                          \
		UVERBS_ATTR_##id, WV_##kind, NO_FIELDS                                             \
	}
#define IOCTL(object, method, class, ...)                                                          \
	{                                                                                          \
		UVERBS_OBJECT_##object, UVERBS_METHOD_##method, WV_NO_WRITE_CMD, WV_##class,       \
		    COUNT(wv_attr_row, __VA_ARGS__), #method,                                      \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
/* CORE_IN and CORE_OUT of a legacy command: the kinds inside the two structs. */
#define LEGACY(cmd, name, class, in, out)                                                          \
	{                                                                                          \
		UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, cmd, WV_##class, 5, name,        \
		{                                                                                  \
			{UVERBS_ATTR_CORE_IN, WV_EQUAL, in}, {UVERBS_ATTR_CORE_OUT, WV_OUT, out},  \
			    ATTR(WRITE_CMD, EQUAL), ATTR(UHW_IN, EQUAL), ATTR(UHW_OUT, OUT)        \
		}                                                                                  \
	}
/* Every legacy request begins with the address of its response (ib_user_verbs.h). */
#define RESPONSE(s) FIELD(s, response, WV_POINTER)
#define UHW	    ATTR(UHW_IN, EQUAL), ATTR(UHW_OUT, OUT)

/*
 * Keep sorted: ioctl methods by object, then legacy commands by number. A method that is not here
 * is unknown: nothing after it is recorded, and a lease in use is not followed any further.
 */
static const struct wv_command_row rows[] = {
    IOCTL(DEVICE, QUERY_PORT, PASS, ATTR(QUERY_PORT_PORT_NUM, EQUAL), ATTR(QUERY_PORT_RESP, OUT)),
    IOCTL(DEVICE, GET_CONTEXT, CREATE, ATTR(GET_CONTEXT_NUM_COMP_VECTORS, OUT),
	  ATTR(GET_CONTEXT_CORE_SUPPORT, OUT), UHW),
    IOCTL(DEVICE, QUERY_CONTEXT, PASS, ATTR(QUERY_CONTEXT_NUM_COMP_VECTORS, OUT),
	  ATTR(QUERY_CONTEXT_CORE_SUPPORT, OUT), UHW),
    IOCTL(DEVICE, INFO_HANDLES, PASS, ATTR(INFO_OBJECT_ID, EQUAL), ATTR(INFO_TOTAL_HANDLES, OUT),
	  ATTR(INFO_HANDLES_LIST, OUT)),
    IOCTL(DEVICE, QUERY_GID_TABLE, PASS, ATTR(QUERY_GID_TABLE_ENTRY_SIZE, EQUAL),
	  ATTR(QUERY_GID_TABLE_FLAGS, EQUAL), ATTR(QUERY_GID_TABLE_RESP_ENTRIES, OUT),
	  ATTR(QUERY_GID_TABLE_RESP_NUM_ENTRIES, OUT)),
    IOCTL(DEVICE, QUERY_GID_ENTRY, PASS, ATTR(QUERY_GID_ENTRY_PORT, EQUAL),
	  ATTR(QUERY_GID_ENTRY_GID_INDEX, EQUAL), ATTR(QUERY_GID_ENTRY_FLAGS, EQUAL),
	  ATTR(QUERY_GID_ENTRY_RESP_ENTRY, OUT)),
    IOCTL(PD, PD_DESTROY, DESTROY, ATTR(DESTROY_PD_HANDLE, HANDLE)),
    IOCTL(CQ, CQ_CREATE, CREATE, ATTR(CREATE_CQ_HANDLE, NEW_HANDLE), ATTR(CREATE_CQ_CQE, EQUAL),
	  ATTR(CREATE_CQ_USER_HANDLE, TOKEN), ATTR(CREATE_CQ_COMP_CHANNEL, FD),
	  ATTR(CREATE_CQ_COMP_VECTOR, EQUAL), ATTR(CREATE_CQ_FLAGS, EQUAL),
	  ATTR(CREATE_CQ_RESP_CQE, OUT), ATTR(CREATE_CQ_EVENT_FD, FD), UHW),
    IOCTL(CQ, CQ_DESTROY, DESTROY, ATTR(DESTROY_CQ_HANDLE, HANDLE), ATTR(DESTROY_CQ_RESP, OUT)),
    IOCTL(QP, QP_CREATE, CREATE, ATTR(CREATE_QP_HANDLE, NEW_HANDLE),
	  ATTR(CREATE_QP_XRCD_HANDLE, HANDLE), ATTR(CREATE_QP_PD_HANDLE, HANDLE),
	  ATTR(CREATE_QP_SRQ_HANDLE, HANDLE), ATTR(CREATE_QP_SEND_CQ_HANDLE, HANDLE),
	  ATTR(CREATE_QP_RECV_CQ_HANDLE, HANDLE), ATTR(CREATE_QP_IND_TABLE_HANDLE, HANDLE),
	  ATTR(CREATE_QP_USER_HANDLE, TOKEN), ATTR(CREATE_QP_CAP, EQUAL),
	  ATTR(CREATE_QP_TYPE, EQUAL), ATTR(CREATE_QP_FLAGS, EQUAL),
	  ATTR(CREATE_QP_SOURCE_QPN, EQUAL), ATTR(CREATE_QP_EVENT_FD, FD),
	  ATTR(CREATE_QP_RESP_CAP, OUT), ATTR(CREATE_QP_RESP_QP_NUM, OUT), UHW),
    IOCTL(QP, QP_DESTROY, DESTROY, ATTR(DESTROY_QP_HANDLE, HANDLE), ATTR(DESTROY_QP_RESP, OUT)),
    IOCTL(SRQ, SRQ_CREATE, CREATE, ATTR(CREATE_SRQ_HANDLE, NEW_HANDLE),
	  ATTR(CREATE_SRQ_PD_HANDLE, HANDLE), ATTR(CREATE_SRQ_XRCD_HANDLE, HANDLE),
	  ATTR(CREATE_SRQ_CQ_HANDLE, HANDLE), ATTR(CREATE_SRQ_USER_HANDLE, TOKEN),
	  ATTR(CREATE_SRQ_MAX_WR, EQUAL), ATTR(CREATE_SRQ_MAX_SGE, EQUAL),
	  ATTR(CREATE_SRQ_LIMIT, EQUAL), ATTR(CREATE_SRQ_MAX_NUM_TAGS, EQUAL),
	  ATTR(CREATE_SRQ_TYPE, EQUAL), ATTR(CREATE_SRQ_EVENT_FD, FD),
	  ATTR(CREATE_SRQ_RESP_MAX_WR, OUT), ATTR(CREATE_SRQ_RESP_MAX_SGE, OUT),
	  ATTR(CREATE_SRQ_RESP_SRQ_NUM, OUT), UHW),
    IOCTL(SRQ, SRQ_DESTROY, DESTROY, ATTR(DESTROY_SRQ_HANDLE, HANDLE), ATTR(DESTROY_SRQ_RESP, OUT)),
    IOCTL(AH, AH_DESTROY, DESTROY, ATTR(DESTROY_AH_HANDLE, HANDLE)),
    IOCTL(MR, DM_MR_REG, PASS, ATTR(REG_DM_MR_HANDLE, NEW_HANDLE)),
    IOCTL(MR, MR_DESTROY, DESTROY, ATTR(DESTROY_MR_HANDLE, HANDLE)),
    IOCTL(MR, ADVISE_MR, PASS, ATTR(ADVISE_MR_PD_HANDLE, HANDLE)),
    IOCTL(MR, QUERY_MR, PASS, ATTR(QUERY_MR_HANDLE, HANDLE)),
    IOCTL(MR, REG_DMABUF_MR, PASS, ATTR(REG_DMABUF_MR_HANDLE, NEW_HANDLE)),
    IOCTL(MW, MW_DESTROY, DESTROY, ATTR(DESTROY_MW_HANDLE, HANDLE)),
    IOCTL(FLOW, FLOW_DESTROY, DESTROY, ATTR(DESTROY_FLOW_HANDLE, HANDLE)),
    IOCTL(XRCD, XRCD_DESTROY, DESTROY, ATTR(DESTROY_XRCD_HANDLE, HANDLE)),
    IOCTL(RWQ_IND_TBL, RWQ_IND_TBL_DESTROY, DESTROY, ATTR(DESTROY_RWQ_IND_TBL_HANDLE, HANDLE)),
    IOCTL(WQ, WQ_CREATE, PASS, ATTR(CREATE_WQ_HANDLE, NEW_HANDLE)),
    IOCTL(WQ, WQ_DESTROY, DESTROY, ATTR(DESTROY_WQ_HANDLE, HANDLE), ATTR(DESTROY_WQ_RESP, OUT)),
    IOCTL(DM, DM_ALLOC, PASS, ATTR(ALLOC_DM_HANDLE, NEW_HANDLE)),
    IOCTL(DM, DM_FREE, DESTROY, ATTR(FREE_DM_HANDLE, HANDLE)),
    IOCTL(COUNTERS, COUNTERS_CREATE, PASS, ATTR(CREATE_COUNTERS_HANDLE, NEW_HANDLE)),
    IOCTL(COUNTERS, COUNTERS_DESTROY, DESTROY, ATTR(DESTROY_COUNTERS_HANDLE, HANDLE)),
    IOCTL(COUNTERS, COUNTERS_READ, PASS, ATTR(READ_COUNTERS_HANDLE, HANDLE)),
    IOCTL(ASYNC_EVENT, ASYNC_EVENT_ALLOC, CREATE, ATTR(ASYNC_EVENT_ALLOC_FD_HANDLE, NEW_FD)),

    /* libibverbs asks QUERY_DEVICE without buffers to learn whether INVOKE_WRITE exists. */
    LEGACY(WRITE(QUERY_DEVICE), "query_device", CONSTANT, FIELDS(RESPONSE(ib_uverbs_query_device)),
	   NO_FIELDS),
    LEGACY(WRITE(QUERY_PORT), "query_port", PASS, FIELDS(RESPONSE(ib_uverbs_query_port)),
	   NO_FIELDS),
    LEGACY(WRITE(ALLOC_PD), "alloc_pd", CREATE, FIELDS(RESPONSE(ib_uverbs_alloc_pd)),
	   FIELDS(FIELD(ib_uverbs_alloc_pd_resp, pd_handle, WV_NEW_HANDLE))),
    LEGACY(WRITE(DEALLOC_PD), "dealloc_pd", DESTROY,
	   FIELDS(FIELD(ib_uverbs_dealloc_pd, pd_handle, WV_HANDLE)), NO_FIELDS),
    LEGACY(WRITE(CREATE_AH), "create_ah", PASS, FIELDS(RESPONSE(ib_uverbs_create_ah)),
	   FIELDS(FIELD(ib_uverbs_create_ah_resp, ah_handle, WV_NEW_HANDLE))),
    LEGACY(WRITE(DESTROY_AH), "destroy_ah", DESTROY,
	   FIELDS(FIELD(ib_uverbs_destroy_ah, ah_handle, WV_HANDLE)), NO_FIELDS),
    LEGACY(WRITE(REG_MR), "reg_mr", PASS, FIELDS(RESPONSE(ib_uverbs_reg_mr)),
	   FIELDS(FIELD(ib_uverbs_reg_mr_resp, mr_handle, WV_NEW_HANDLE))),
    LEGACY(WRITE(REREG_MR), "rereg_mr", PASS, FIELDS(RESPONSE(ib_uverbs_rereg_mr)), NO_FIELDS),
    LEGACY(WRITE(DEREG_MR), "dereg_mr", DESTROY,
	   FIELDS(FIELD(ib_uverbs_dereg_mr, mr_handle, WV_HANDLE)), NO_FIELDS),
    LEGACY(WRITE(ALLOC_MW), "alloc_mw", PASS, FIELDS(RESPONSE(ib_uverbs_alloc_mw)),
	   FIELDS(FIELD(ib_uverbs_alloc_mw_resp, mw_handle, WV_NEW_HANDLE))),
    LEGACY(WRITE(DEALLOC_MW), "dealloc_mw", DESTROY,
	   FIELDS(FIELD(ib_uverbs_dealloc_mw, mw_handle, WV_HANDLE)), NO_FIELDS),
    LEGACY(WRITE(CREATE_COMP_CHANNEL), "create_comp_channel", CREATE,
	   FIELDS(RESPONSE(ib_uverbs_create_comp_channel)),
	   FIELDS(FIELD(ib_uverbs_create_comp_channel_resp, fd, WV_NEW_FD))),
    LEGACY(WRITE(RESIZE_CQ), "resize_cq", PASS, FIELDS(RESPONSE(ib_uverbs_resize_cq)), NO_FIELDS),
    LEGACY(
	WRITE(DESTROY_CQ), "destroy_cq", DESTROY,
	FIELDS(RESPONSE(ib_uverbs_destroy_cq), FIELD(ib_uverbs_destroy_cq, cq_handle, WV_HANDLE)),
	NO_FIELDS),
    LEGACY(WRITE(POLL_CQ), "poll_cq", DATA, NO_FIELDS, NO_FIELDS),
    LEGACY(WRITE(REQ_NOTIFY_CQ), "req_notify_cq", DATA, NO_FIELDS, NO_FIELDS),
    LEGACY(WRITE(QUERY_QP), "query_qp", QUERY,
	   FIELDS(RESPONSE(ib_uverbs_query_qp), FIELD(ib_uverbs_query_qp, qp_handle, WV_HANDLE)),
	   NO_FIELDS),
    LEGACY(WRITE(MODIFY_QP), "modify_qp", MODIFY,
	   FIELDS(FIELD(ib_uverbs_modify_qp, qp_handle, WV_HANDLE),
		  FIELD(ib_uverbs_modify_qp, rq_psn, WV_VOLATILE),
		  FIELD(ib_uverbs_modify_qp, sq_psn, WV_VOLATILE)),
	   NO_FIELDS),
    LEGACY(
	WRITE(DESTROY_QP), "destroy_qp", DESTROY,
	FIELDS(RESPONSE(ib_uverbs_destroy_qp), FIELD(ib_uverbs_destroy_qp, qp_handle, WV_HANDLE)),
	NO_FIELDS),
    LEGACY(WRITE(POST_SEND), "post_send", DATA, NO_FIELDS, NO_FIELDS),
    LEGACY(WRITE(POST_RECV), "post_recv", DATA, NO_FIELDS, NO_FIELDS),
    LEGACY(WRITE(ATTACH_MCAST), "attach_mcast", PASS,
	   FIELDS(FIELD(ib_uverbs_attach_mcast, qp_handle, WV_HANDLE)), NO_FIELDS),
    LEGACY(WRITE(DETACH_MCAST), "detach_mcast", PASS,
	   FIELDS(FIELD(ib_uverbs_detach_mcast, qp_handle, WV_HANDLE)), NO_FIELDS),
    LEGACY(WRITE(MODIFY_SRQ), "modify_srq", PASS, NO_FIELDS, NO_FIELDS),
    LEGACY(WRITE(QUERY_SRQ), "query_srq", PASS, FIELDS(RESPONSE(ib_uverbs_query_srq)), NO_FIELDS),
    LEGACY(WRITE(DESTROY_SRQ), "destroy_srq", DESTROY,
	   FIELDS(RESPONSE(ib_uverbs_destroy_srq),
		  FIELD(ib_uverbs_destroy_srq, srq_handle, WV_HANDLE)),
	   NO_FIELDS),
    LEGACY(WRITE(POST_SRQ_RECV), "post_srq_recv", DATA, NO_FIELDS, NO_FIELDS),
    LEGACY(WRITE(OPEN_XRCD), "open_xrcd", PASS, FIELDS(RESPONSE(ib_uverbs_open_xrcd)),
	   FIELDS(FIELD(ib_uverbs_open_xrcd_resp, xrcd_handle, WV_NEW_HANDLE))),
    LEGACY(WRITE(CLOSE_XRCD), "close_xrcd", DESTROY,
	   FIELDS(FIELD(ib_uverbs_close_xrcd, xrcd_handle, WV_HANDLE)), NO_FIELDS),
    LEGACY(WRITE(OPEN_QP), "open_qp", PASS, FIELDS(RESPONSE(ib_uverbs_open_qp)),
	   FIELDS(FIELD(ib_uverbs_create_qp_resp, qp_handle, WV_NEW_HANDLE))),
    LEGACY(EX(QUERY_DEVICE), "query_device_ex", CONSTANT, NO_FIELDS, NO_FIELDS),
    LEGACY(EX(MODIFY_QP), "modify_qp_ex", MODIFY,
	   FIELDS(FIELD(ib_uverbs_ex_modify_qp, base.qp_handle, WV_HANDLE),
		  FIELD(ib_uverbs_ex_modify_qp, base.rq_psn, WV_VOLATILE),
		  FIELD(ib_uverbs_ex_modify_qp, base.sq_psn, WV_VOLATILE)),
	   NO_FIELDS),
    LEGACY(EX(CREATE_FLOW), "create_flow", PASS, NO_FIELDS,
	   FIELDS(FIELD(ib_uverbs_create_flow_resp, flow_handle, WV_NEW_HANDLE))),
    LEGACY(EX(MODIFY_WQ), "modify_wq", PASS, NO_FIELDS, NO_FIELDS),
    LEGACY(EX(CREATE_RWQ_IND_TBL), "create_rwq_ind_tbl", PASS, NO_FIELDS,
	   FIELDS(FIELD(ib_uverbs_ex_create_rwq_ind_table_resp, ind_tbl_handle, WV_NEW_HANDLE))),
    LEGACY(EX(MODIFY_CQ), "modify_cq", PASS, NO_FIELDS, NO_FIELDS),
};

/*
 * rxe's requests carry nothing private and its answers only mmap offsets of the ufile
 * (rdma_user_rxe.h), so the core's rows describe it in full.
 */
static const struct wv_driver_row drivers[] = {
    {RDMA_DRIVER_RXE, "rxe"},
};

_Static_assert(sizeof(struct ib_uverbs_modify_qp) == 112, "as uverbs_cmd.c reads it");
_Static_assert(sizeof(struct ib_uverbs_ioctl_hdr) == 24, "ioctl header");
_Static_assert(sizeof(struct ib_uverbs_attr) == 16, "ioctl attribute");
_Static_assert(offsetof(struct ib_uverbs_query_qp, qp_handle) == 8, "query_qp");
_Static_assert(sizeof(((struct ib_uverbs_alloc_pd_resp *)0)->pd_handle) == 4, "handles are u32");

const struct wv_command_row *wv_abi_rows(unsigned int *n)
{
	*n = WV_ARRAY_SIZE(rows);
	return rows;
}

_Static_assert(WV_ARRAY_SIZE(rows) <= UINT8_MAX, "a row's number fits a byte");

uint8_t wv_abi_index(const struct wv_command_row *row)
{
	return (uint8_t)(row - rows);
}

const struct wv_command_row *wv_abi_at(uint8_t index)
{
	return index < WV_ARRAY_SIZE(rows) ? &rows[index] : NULL;
}

const struct wv_command_row *wv_abi_find(uint16_t object, uint16_t method, uint32_t write_cmd)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(rows); i++)
		if (rows[i].object == object && rows[i].method == method &&
		    rows[i].write_cmd == write_cmd)
			return &rows[i];
	return NULL;
}

const struct wv_attr_row *wv_abi_attr(const struct wv_command_row *row, uint16_t id)
{
	for (unsigned int i = 0; i < row->n_attrs; i++)
		if (row->attrs[i].id == id)
			return &row->attrs[i];
	return NULL;
}

const struct wv_driver_row *wv_abi_driver(uint32_t driver_id)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(drivers); i++)
		if (drivers[i].driver_id == driver_id)
			return &drivers[i];
	return NULL;
}

uint32_t wv_abi_write_cmd(const struct ib_uverbs_ioctl_hdr *cmd)
{
	if (cmd->object_id != UVERBS_OBJECT_DEVICE || cmd->method_id != UVERBS_METHOD_INVOKE_WRITE)
		return WV_NO_WRITE_CMD;
	for (unsigned int i = 0; i < cmd->num_attrs; i++)
		if (cmd->attrs[i].attr_id == UVERBS_ATTR_WRITE_CMD)
			return (uint32_t)cmd->attrs[i].data;
	return WV_NO_WRITE_CMD;
}

const char *wv_kind_name(enum wv_kind kind)
{
	static const char *const names[WV_KINDS] = {
	    [WV_EQUAL] = "equal",	    [WV_OUT] = "out",	      [WV_HANDLE] = "handle",
	    [WV_NEW_HANDLE] = "new handle", [WV_FD] = "fd",	      [WV_NEW_FD] = "new fd",
	    [WV_TOKEN] = "token",	    [WV_POINTER] = "pointer", [WV_IGNORED] = "ignored",
	    [WV_VOLATILE] = "volatile",
	};

	return (unsigned int)kind < WV_KINDS ? names[kind] : "?";
}

const char *wv_class_name(enum wv_class class_)
{
	static const char *const names[WV_CLASSES] = {
	    [WV_CREATE] = "create",  [WV_CONSTANT] = "constant", [WV_MODIFY] = "modify",
	    [WV_QUERY] = "query",    [WV_DESTROY] = "destroy",	 [WV_PASS] = "pass",
	    [WV_DATA] = "data path",
	};

	return (unsigned int)class_ < WV_CLASSES ? names[class_] : "?";
}
