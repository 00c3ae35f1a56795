/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/compose.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#define NO_HANDLE 0xffffffffu

static void begin(struct wv_small_command *cmd, uint32_t driver_id, uint16_t object,
		  uint16_t method, uint16_t n_attrs)
{
	cmd->hdr = (struct ib_uverbs_ioctl_hdr){
	    .length = (uint16_t)(sizeof(cmd->hdr) + n_attrs * sizeof(cmd->attrs[0])),
	    .object_id = object,
	    .method_id = method,
	    .num_attrs = n_attrs,
	    .driver_id = driver_id,
	};
}

static struct ib_uverbs_attr mandatory(uint16_t id, size_t len, uint64_t data)
{
	return (struct ib_uverbs_attr){
	    .attr_id = id,
	    .len = (uint16_t)len,
	    .flags = UVERBS_ATTR_F_MANDATORY,
	    .data = data,
	};
}

/* An answer ends with the last of its fields. */
static size_t answer_bytes(const struct wv_attr_row *attr)
{
	const struct wv_field *f = attr->fields;

	return attr->n_fields ? f[attr->n_fields - 1].offset + f[attr->n_fields - 1].size : 0;
}

int wv_compose_destroy(struct wv_small_command *cmd, uint32_t driver_id,
		       const struct wv_command_row *create, uint32_t handle)
{
	const struct wv_command_row *row = wv_abi_destroyer(driver_id, create);

	if (!row)
		return -EOPNOTSUPP;
	begin(cmd, driver_id, row->object, row->method, row->n_attrs);
	for (unsigned int i = 0; i < row->n_attrs; i++) {
		const struct wv_attr_row *attr = &row->attrs[i];

		cmd->attrs[i] = attr->kind == WV_HANDLE ? mandatory(attr->id, 0, handle)
							: mandatory(attr->id, answer_bytes(attr),
								    (uintptr_t)cmd->answer);
	}
	return 0;
}

void wv_compose_reset(struct wv_small_command *cmd, uint32_t driver_id, uint32_t qp_handle)
{
	cmd->modify = (struct ib_uverbs_modify_qp){
	    .qp_handle = qp_handle,
	    .attr_mask = IBV_QP_STATE,
	    .qp_state = IBV_QPS_RESET,
	};
	begin(cmd, driver_id, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, 2);
	cmd->attrs[0] =
	    mandatory(UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t), IB_USER_VERBS_CMD_MODIFY_QP);
	cmd->attrs[1] =
	    mandatory(UVERBS_ATTR_CORE_IN, sizeof(cmd->modify), (uintptr_t)&cmd->modify);
}

void wv_compose_query(struct wv_small_command *cmd, uint32_t driver_id, uint32_t qp_handle)
{
	cmd->query = (struct ib_uverbs_query_qp){
	    .qp_handle = qp_handle,
	    .attr_mask = IBV_QP_STATE | IBV_QP_RQ_PSN,
	};
	memset(&cmd->queried, 0, sizeof(cmd->queried));
	begin(cmd, driver_id, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, 3);
	cmd->attrs[0] =
	    mandatory(UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t), IB_USER_VERBS_CMD_QUERY_QP);
	cmd->attrs[1] = mandatory(UVERBS_ATTR_CORE_IN, sizeof(cmd->query), (uintptr_t)&cmd->query);
	cmd->attrs[2] =
	    mandatory(UVERBS_ATTR_CORE_OUT, sizeof(cmd->queried), (uintptr_t)&cmd->queried);
}

static void answer_attr(struct ib_uverbs_attr *attr, enum wv_kind kind)
{
	switch (kind) {
	case WV_OUT:
		memset((void *)(uintptr_t)attr->data, 0, attr->len);
		break;
	case WV_NEW_HANDLE:
		attr->data = NO_HANDLE;
		break;
	case WV_NEW_FD:
		attr->data_s64 = -1;
		break;
	default:
		return;
	}
	attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

void wv_answer_empty(struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row)
{
	for (unsigned int i = 0; i < cmd->num_attrs; i++) {
		const struct wv_attr_row *known = wv_abi_attr(row, cmd->attrs[i].attr_id);

		if (known)
			answer_attr(&cmd->attrs[i], known->kind);
	}
}
