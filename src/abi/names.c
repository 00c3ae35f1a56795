/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/names.h"

#include "base/base.h"

#include <infiniband/verbs.h>
#include <rdma/mlx5-abi.h>

#define VALUE(driver, object, method, write_cmd, attr, format, s, field)                           \
	{                                                                                          \
		driver, UVERBS_OBJECT_##object, UVERBS_METHOD_##method, UVERBS_ATTR_##attr,        \
		    write_cmd, WV_##format, offsetof(struct s, field),                             \
		    sizeof(((struct s *)0)->field), #field                                         \
	}

static const struct wv_value_row values[] = {
#include "abi/core_names.h"

#include "abi/mlx5_names.h"
};

const struct wv_value_row *wv_abi_values(unsigned int *n)
{
	*n = WV_ARRAY_SIZE(values);
	return values;
}

bool wv_abi_value_is_of(const struct wv_value_row *row, uint32_t driver_id, uint16_t object,
			uint16_t method, uint32_t write_cmd)
{
	return row->object == object && row->method == method && row->write_cmd == write_cmd &&
	       (row->driver_id == WV_ANY_DRIVER || row->driver_id == driver_id);
}

const char *wv_qp_state_name(unsigned int state)
{
	static const char *const names[] = {
	    [IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT", [IBV_QPS_RTR] = "RTR",
	    [IBV_QPS_RTS] = "RTS",     [IBV_QPS_SQD] = "SQD",	[IBV_QPS_SQE] = "SQE",
	    [IBV_QPS_ERR] = "ERR",
	};

	return state < WV_ARRAY_SIZE(names) ? names[state] : "?";
}

const char *wv_qp_type_name(unsigned int type)
{
	static const char *const names[] = {
	    [IB_UVERBS_QPT_RC] = "RC",
	    [IB_UVERBS_QPT_UC] = "UC",
	    [IB_UVERBS_QPT_UD] = "UD",
	};

	if (type == IB_UVERBS_QPT_DRIVER)
		return "DRIVER";
	return type < WV_ARRAY_SIZE(names) && names[type] ? names[type] : "?";
}

const char *wv_object_name(uint16_t object)
{
	switch (object) {
	case UVERBS_OBJECT_QP:
		return "QP";
	case UVERBS_OBJECT_CQ:
		return "CQ";
	case UVERBS_OBJECT_SRQ:
		return "SRQ";
	default:
		return "object";
	}
}

const char *wv_kind_name(enum wv_kind kind)
{
	static const char *const names[WV_KINDS] = {
	    [WV_EQUAL] = "equal",	    [WV_OUT] = "out",	      [WV_HANDLE] = "handle",
	    [WV_NEW_HANDLE] = "new handle", [WV_FD] = "fd",	      [WV_NEW_FD] = "new fd",
	    [WV_TOKEN] = "token",	    [WV_POINTER] = "pointer", [WV_NUMBER] = "number",
	    [WV_NEW_NUMBER] = "new number", [WV_BUFFER] = "buffer",   [WV_DOORBELL] = "doorbell",
	    [WV_VOLATILE] = "volatile",	    [WV_VECTOR] = "vector",   [WV_IOVA] = "iova",
	};

	return (unsigned int)kind < WV_KINDS ? names[kind] : "?";
}

const char *wv_class_name(enum wv_class class_)
{
	static const char *const names[WV_CLASSES] = {
	    [WV_CREATE] = "create",	    [WV_CONSTANT] = "constant", [WV_MODIFY] = "modify",
	    [WV_QUERY] = "query",	    [WV_DESTROY] = "destroy",	[WV_PASS] = "pass",
	    [WV_DATA] = "data path",	    [WV_OPENING] = "opening",	[WV_MEMORY] = "memory",
	    [WV_PRIVILEGED] = "privileged", [WV_REGISTER] = "register",
	};

	return (unsigned int)class_ < WV_CLASSES ? names[class_] : "?";
}
