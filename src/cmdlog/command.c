#include "cmdlog/command.h"

#include <string.h>

static void fill_attr(struct ib_uverbs_attr *to, struct wv_step *step, const struct wv_attr *attr,
		      const int *fds, uint64_t token)
{
	*to = (struct ib_uverbs_attr){
	    .attr_id = attr->id,
	    .len = attr->len,
	    .flags = attr->flags & UVERBS_ATTR_F_MANDATORY,
	};
	switch (attr->kind) {
	case WV_EQUAL:
		if (attr->len <= sizeof(to->data))
			memcpy(&to->data, wv_step_at(step, attr->payload), sizeof(to->data));
		else
			to->data = (uintptr_t)wv_step_at(step, attr->payload);
		break;
	case WV_OUT:
		to->data = (uintptr_t)wv_step_at(step, attr->payload);
		break;
	case WV_HANDLE:
		to->data = attr->data;
		break;
	case WV_FD:
		to->data_s64 = fds[attr->data];
		break;
	case WV_TOKEN:
		to->data = token;
		break;
	default: /* WV_NEW_HANDLE, WV_NEW_FD: the kernel's to fill */
		break;
	}
}

void wv_command_fill(struct wv_command *cmd, struct wv_step *step, uint32_t driver_id,
		     const int *fds, uint64_t token)
{
	cmd->hdr = (struct ib_uverbs_ioctl_hdr){
	    .length = (uint16_t)(sizeof(cmd->hdr) + step->n_attrs * sizeof(cmd->attrs[0])),
	    .object_id = step->object,
	    .method_id = step->method,
	    .num_attrs = step->n_attrs,
	    .driver_id = driver_id,
	};
	for (unsigned int i = 0; i < step->n_attrs; i++)
		fill_attr(&cmd->attrs[i], step, &wv_step_attrs(step)[i], fds, token);
}
