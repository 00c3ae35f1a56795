/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event carries the user handle that its object was made with, even if that is no address: this
 * test replaces the library's handle on its way to the kernel.
 */
#include "traffic.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#define TOKEN 0x7a9e000000000001ull

static int replaced;

static void replace_user_handle(struct ib_uverbs_ioctl_hdr *cmd)
{
	if (cmd->object_id != UVERBS_OBJECT_CQ || cmd->method_id != UVERBS_METHOD_CQ_CREATE)
		return;
	for (unsigned int i = 0; i < cmd->num_attrs; i++)
		if (cmd->attrs[i].attr_id == UVERBS_ATTR_CREATE_CQ_USER_HANDLE) {
			cmd->attrs[i].data = TOKEN;
			replaced++;
		}
}

/* What libibverbs calls. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, void *) = dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL)
		replace_user_handle(arg);
	return real(fd, request, arg);
}

int main(void)
{
	struct traffic t = traffic_new();
	struct pollfd wait = {.fd = t.channel->fd, .events = POLLIN};
	struct ib_uverbs_comp_event_desc event;

	EXPECT(replaced == 1);
	EXPECT(traffic_send(&t) == 0);
	EXPECT(poll(&wait, 1, 10000) == 1);
	EXPECT(read(t.channel->fd, &event, sizeof(event)) == sizeof(event));
	EXPECT(event.cq_handle == TOKEN);
	traffic_check(&t);
	return 0;
}
