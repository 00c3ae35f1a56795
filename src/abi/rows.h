/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Macros that the rows of the ABI table are written with. Only for abi.c, which includes abi.h
 * first.
 */
#pragma once

#include "abi/data_path.h"

#include <stddef.h>

#define EX(cmd)	   (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_##cmd)
#define WRITE(cmd) IB_USER_VERBS_CMD_##cmd
#define FIELD(s, f, k)                                                                             \
	{                                                                                          \
		offsetof(struct s, f), sizeof(((struct s *)0)->f), k                               \
	}
/* Two fields that follow each other. */
#define FIELD_AND_NEXT(s, f, next, k)                                                              \
	{                                                                                          \
		offsetof(struct s, f),                                                             \
		    offsetof(struct s, next) + sizeof(((struct s *)0)->next) -                     \
			offsetof(struct s, f),                                                     \
		    k                                                                              \
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
#define ROW(driver, object, method, cmd, about, class, name, ...)                                  \
	{                                                                                          \
		driver, object, method, cmd, about, WV_##class, COUNT(wv_attr_row, __VA_ARGS__),   \
		    name,                                                                          \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define IOCTL(object, method, class, ...)                                                          \
	ROW(WV_ANY_DRIVER, UVERBS_OBJECT_##object, UVERBS_METHOD_##method, WV_NO_WRITE_CMD,        \
	    UVERBS_OBJECT_##object, class, #method, __VA_ARGS__)
/* The same, of what older headers lack (abi.h). */
#define NEWER_IOCTL(object, method, class, ...)                                                    \
	ROW(WV_ANY_DRIVER, object, WV_METHOD_##method, WV_NO_WRITE_CMD, object, class, #method,    \
	    __VA_ARGS__)
#define NEWER_ATTR(id, kind)                                                                       \
	{                                                                                          \
		WV_ATTR_##id, WV_##kind, NO_FIELDS                                                 \
	}
/* @in, @out: the kinds inside the structs of CORE_IN and CORE_OUT. */
#define LEGACY(cmd, about, name, class, in, out)                                                   \
	ROW(WV_ANY_DRIVER, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, cmd,                  \
	    UVERBS_OBJECT_##about, class, name, {UVERBS_ATTR_CORE_IN, WV_EQUAL, in},               \
	    {UVERBS_ATTR_CORE_OUT, WV_OUT, out}, ATTR(WRITE_CMD, EQUAL), ATTR(UHW_IN, EQUAL),      \
	    ATTR(UHW_OUT, OUT))
#define DATA_ROW(cmd, about, name, as_ioctl)                                                       \
	LEGACY(WRITE(cmd), about, name, DATA, NO_FIELDS, NO_FIELDS),
/* Every legacy request begins with the address of its response (ib_user_verbs.h). */
#define RESPONSE(s) FIELD(s, response, WV_POINTER)
#define UHW	    ATTR(UHW_IN, EQUAL), ATTR(UHW_OUT, OUT)
/* An answer of known size. */
#define ANSWER(id, ...)                                                                            \
	{                                                                                          \
		UVERBS_ATTR_##id, WV_OUT, FIELDS(__VA_ARGS__)                                      \
	}
/* Attributes that every driver has, beside its own payload. */
#define CQ_CREATE_ATTRS                                                                            \
	ATTR(CREATE_CQ_HANDLE, NEW_HANDLE), ATTR(CREATE_CQ_CQE, EQUAL),                            \
	    ATTR(CREATE_CQ_USER_HANDLE, TOKEN), ATTR(CREATE_CQ_COMP_CHANNEL, FD),                  \
	    {UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, WV_EQUAL,                                          \
	     FIELDS({0, sizeof(uint32_t), WV_VECTOR})},                                            \
	    ATTR(CREATE_CQ_FLAGS, EQUAL), ATTR(CREATE_CQ_RESP_CQE, OUT),                           \
	    ATTR(CREATE_CQ_EVENT_FD, FD)
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

/* Methods and attributes in a driver's name space; @cmd: the command that the method carries. */
#define DRIVER(driver, object, method, cmd, class, name, ...)                                      \
	ROW(RDMA_DRIVER_##driver, object, method, cmd, object, class, name, __VA_ARGS__)
#define DRIVER_ATTR(id, kind)                                                                      \
	{                                                                                          \
		id, WV_##kind, NO_FIELDS                                                           \
	}
