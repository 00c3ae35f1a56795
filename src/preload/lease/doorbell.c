#include "preload/lease/doorbell.h"

#include "preload/core/context.h"

#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Commands without a private part, so that the whole request is CORE_IN. */
static bool can_be_ioctl(uint32_t command)
{
	return command == IB_USER_VERBS_CMD_POST_SEND || command == IB_USER_VERBS_CMD_POST_RECV ||
	       command == IB_USER_VERBS_CMD_POST_SRQ_RECV ||
	       command == IB_USER_VERBS_CMD_REQ_NOTIFY_CQ;
}

static ssize_t ring_by_ioctl(int fd, uint32_t driver_id, const struct ib_uverbs_cmd_hdr *hdr,
			     size_t bytes)
{
	const uint8_t *request = (const uint8_t *)(hdr + 1);
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[3];
	} cmd = {
	    .hdr = {.length = sizeof(cmd),
		    .object_id = UVERBS_OBJECT_DEVICE,
		    .method_id = UVERBS_METHOD_INVOKE_WRITE,
		    .driver_id = driver_id},
	    .attrs = {{.attr_id = UVERBS_ATTR_WRITE_CMD,
		       .len = sizeof(uint64_t),
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .data = hdr->command},
		      {.attr_id = UVERBS_ATTR_CORE_IN,
		       .len = (uint16_t)(bytes - sizeof(*hdr)),
		       .flags = UVERBS_ATTR_F_MANDATORY},
		      {.attr_id = UVERBS_ATTR_CORE_OUT,
		       .len = (uint16_t)(hdr->out_words * 4),
		       .flags = UVERBS_ATTR_F_MANDATORY}},
	};

	if (cmd.attrs[1].len <= sizeof(cmd.attrs[1].data))
		memcpy(&cmd.attrs[1].data, request, cmd.attrs[1].len);
	else
		cmd.attrs[1].data = (uintptr_t)request;
	/* Every legacy request that has an answer begins with its address. */
	if (cmd.attrs[2].len)
		memcpy(&cmd.attrs[2].data, request, sizeof(cmd.attrs[2].data));
	cmd.hdr.num_attrs = cmd.attrs[2].len ? 3 : 2;
	cmd.hdr.length = (uint16_t)(sizeof(cmd.hdr) + cmd.hdr.num_attrs * sizeof(cmd.attrs[0]));
	return ioctl(fd, RDMA_VERBS_IOCTL, &cmd) < 0 ? -1 : (ssize_t)bytes;
}

static bool is_of_another(const struct wv_context *c)
{
	return c->mode == WV_LEASED || wv_context_is_inherited(c);
}

ssize_t wv_doorbell(int fd, const void *buffer, size_t bytes)
{
	const struct wv_context *c = wv_context_at(wv_fd_get(fd).context);
	const struct ib_uverbs_cmd_hdr *hdr = buffer;

	if (!is_of_another(c) || bytes < sizeof(*hdr) + sizeof(uint64_t) ||
	    !can_be_ioctl(hdr->command))
		return write(fd, buffer, bytes);
	return ring_by_ioctl(fd, c->driver_id, hdr, bytes);
}
