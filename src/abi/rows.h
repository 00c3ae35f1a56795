/*
 * How the rows of the ABI table are written. Only for the files of the table itself.
 */
#pragma once

#include "abi/abi.h"

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
		WV_ANY_DRIVER, UVERBS_OBJECT_##object, UVERBS_METHOD_##method, WV_NO_WRITE_CMD,    \
		    WV_##class, COUNT(wv_attr_row, __VA_ARGS__), #method,                          \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
/* CORE_IN and CORE_OUT of a legacy command: the kinds inside the two structs. */
#define LEGACY(cmd, name, class, in, out)                                                          \
	{                                                                                          \
		WV_ANY_DRIVER, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, cmd, WV_##class,  \
		    5, name,                                                                       \
		{                                                                                  \
			{UVERBS_ATTR_CORE_IN, WV_EQUAL, in}, {UVERBS_ATTR_CORE_OUT, WV_OUT, out},  \
			    ATTR(WRITE_CMD, EQUAL), ATTR(UHW_IN, EQUAL), ATTR(UHW_OUT, OUT)        \
		}                                                                                  \
	}
/* Every legacy request begins with the address of its response (ib_user_verbs.h). */
#define RESPONSE(s) FIELD(s, response, WV_POINTER)
#define UHW	    ATTR(UHW_IN, EQUAL), ATTR(UHW_OUT, OUT)
/* What every driver is asked beside its own payload. */
#define CQ_CREATE_ATTRS                                                                            \
	ATTR(CREATE_CQ_HANDLE, NEW_HANDLE), ATTR(CREATE_CQ_CQE, EQUAL),                            \
	    ATTR(CREATE_CQ_USER_HANDLE, TOKEN), ATTR(CREATE_CQ_COMP_CHANNEL, FD),                  \
	    ATTR(CREATE_CQ_COMP_VECTOR, EQUAL), ATTR(CREATE_CQ_FLAGS, EQUAL),                      \
	    ATTR(CREATE_CQ_RESP_CQE, OUT), ATTR(CREATE_CQ_EVENT_FD, FD)
#define QP_CREATE_ATTRS                                                                            \
	ATTR(CREATE_QP_HANDLE, NEW_HANDLE), ATTR(CREATE_QP_XRCD_HANDLE, HANDLE),                   \
	    ATTR(CREATE_QP_PD_HANDLE, HANDLE), ATTR(CREATE_QP_SRQ_HANDLE, HANDLE),                 \
	    ATTR(CREATE_QP_SEND_CQ_HANDLE, HANDLE), ATTR(CREATE_QP_RECV_CQ_HANDLE, HANDLE),        \
	    ATTR(CREATE_QP_IND_TABLE_HANDLE, HANDLE), ATTR(CREATE_QP_USER_HANDLE, TOKEN),          \
	    ATTR(CREATE_QP_CAP, EQUAL), ATTR(CREATE_QP_TYPE, EQUAL), ATTR(CREATE_QP_FLAGS, EQUAL), \
	    ATTR(CREATE_QP_SOURCE_QPN, EQUAL), ATTR(CREATE_QP_EVENT_FD, FD),                       \
	    ATTR(CREATE_QP_RESP_CAP, OUT), ATTR(CREATE_QP_RESP_QP_NUM, OUT)
#define SRQ_CREATE_ATTRS                                                                           \
	ATTR(CREATE_SRQ_HANDLE, NEW_HANDLE), ATTR(CREATE_SRQ_PD_HANDLE, HANDLE),                   \
	    ATTR(CREATE_SRQ_XRCD_HANDLE, HANDLE), ATTR(CREATE_SRQ_CQ_HANDLE, HANDLE),              \
	    ATTR(CREATE_SRQ_USER_HANDLE, TOKEN), ATTR(CREATE_SRQ_MAX_WR, EQUAL),                   \
	    ATTR(CREATE_SRQ_MAX_SGE, EQUAL), ATTR(CREATE_SRQ_LIMIT, EQUAL),                        \
	    ATTR(CREATE_SRQ_MAX_NUM_TAGS, EQUAL), ATTR(CREATE_SRQ_TYPE, EQUAL),                    \
	    ATTR(CREATE_SRQ_EVENT_FD, FD), ATTR(CREATE_SRQ_RESP_MAX_WR, OUT),                      \
	    ATTR(CREATE_SRQ_RESP_MAX_SGE, OUT), ATTR(CREATE_SRQ_RESP_SRQ_NUM, OUT)

/* Methods and attributes in a driver's own name space; @cmd: what a method carries. */
#define DRIVER(driver, object, method, cmd, class, name, ...)                                      \
	{                                                                                          \
		RDMA_DRIVER_##driver, object, method, cmd, WV_##class,                             \
		    COUNT(wv_attr_row, __VA_ARGS__), name,                                         \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define DRIVER_ATTR(id, kind)                                                                      \
	{                                                                                          \
		id, WV_##kind, NO_FIELDS                                                           \
	}
