#include "cli/names.h"

#include "base/base.h"

#include <infiniband/verbs.h>
#include <stdio.h>

int wv_is_modify_qp(uint32_t write_cmd)
{
	return write_cmd == IB_USER_VERBS_CMD_MODIFY_QP ||
	       write_cmd == (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP);
}

const char *wv_command_name(uint16_t object, uint16_t method, uint32_t write_cmd, char *buffer,
			    size_t capacity)
{
	const struct wv_command_row *row = wv_abi_find_any(object, method, write_cmd);

	if (row)
		return row->name;
	if (write_cmd != WV_NO_WRITE_CMD)
		snprintf(buffer, capacity, "command %#x", write_cmd);
	else
		snprintf(buffer, capacity, "object %#x method %#x", object, method);
	return buffer;
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
