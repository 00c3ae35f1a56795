/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/qp_steps.h"

#include <string.h>

const struct wv_ahead_row *wv_step_ahead(const struct wv_cmdlog *cmdlog, struct wv_step *create)
{
	struct wv_attr *type = wv_step_attr(create, UVERBS_ATTR_CREATE_QP_TYPE);
	struct wv_attr *uhw = wv_step_attr(create, UVERBS_ATTR_UHW_IN);
	uint64_t number = 0;

	if (!wv_abi_creates(wv_step_row(create), UVERBS_OBJECT_QP) || !type ||
	    type->len > sizeof(number))
		return NULL;
	memcpy(&number, wv_attr_bytes(create, type), type->len);
	return wv_qp_ahead(cmdlog->driver_id, (uint32_t)number,
			   uhw ? wv_attr_bytes(create, uhw) : NULL, uhw ? uhw->len : 0);
}

/* The kernel reuses handles as soon as they are free, so the last step that made @handle counts. */
const struct wv_ahead_row *wv_cmdlog_ahead(struct wv_cmdlog *cmdlog, uint32_t handle)
{
	const struct wv_ahead_row *ahead = NULL;

	wv_each_step (cmdlog, step)
		if (step->new_handle == handle && step->class_ == WV_CREATE)
			ahead = wv_step_ahead(cmdlog, step);
	return ahead;
}

uint32_t wv_step_qp_num(struct wv_step *create)
{
	struct wv_attr *attr = wv_step_attr(create, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM);
	uint32_t number = 0;

	if (attr && attr->payload && attr->len == sizeof(number))
		memcpy(&number, wv_attr_bytes(create, attr), sizeof(number));
	return number;
}

int wv_step_qp_state(struct wv_step *step)
{
	struct wv_attr *in = wv_step_attr(step, UVERBS_ATTR_CORE_IN);

	return in ? wv_qp_state_asked(wv_attr_bytes(step, in), in->len) : -1;
}
