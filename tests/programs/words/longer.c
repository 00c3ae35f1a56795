/* SPDX-License-Identifier: BSD-2-Clause */
/* The word that makes the program's libmlx5 look like a later version. */
#include "words.h"

#include <dlfcn.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#define MORE 8 /* bytes that libmlx5 64 asks of QUERY_DEVICE_EX beyond what 44 does */

static bool is_longer;

int do_longer(struct program *p, struct options o)
{
	(void)p;
	(void)o;
	is_longer = true;
	return 0;
}

static struct ib_uverbs_attr *find(struct ib_uverbs_ioctl_hdr *cmd, uint16_t id)
{
	for (unsigned int i = 0; i < cmd->num_attrs; i++)
		if (cmd->attrs[i].attr_id == id)
			return &cmd->attrs[i];
	return NULL;
}

static struct ib_uverbs_attr *provider_answer(struct ib_uverbs_ioctl_hdr *cmd)
{
	const uint32_t query = IB_USER_VERBS_EX_CMD_QUERY_DEVICE | IB_USER_VERBS_CMD_FLAG_EXTENDED;
	struct ib_uverbs_attr *number = find(cmd, UVERBS_ATTR_WRITE_CMD);

	if (cmd->object_id != UVERBS_OBJECT_DEVICE || cmd->method_id != UVERBS_METHOD_INVOKE_WRITE)
		return NULL;
	return number && (uint32_t)number->data == query ? find(cmd, UVERBS_ATTR_UHW_OUT) : NULL;
}

/* libibverbs calls this definition: the program's comes before those of preloaded libraries. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long number, ...)
{
	int (*next)(int, unsigned long, void *) =
	    (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	struct ib_uverbs_attr *attr = NULL;
	uint8_t answer[256];
	uint64_t asked;
	va_list args;
	void *arg;
	int result;

	va_start(args, number);
	arg = va_arg(args, void *);
	va_end(args);
	if (is_longer && number == RDMA_VERBS_IOCTL)
		attr = provider_answer(arg);
	if (!attr)
		return next(fd, number, arg);
	asked = attr->data;
	attr->data = (uintptr_t)answer;
	attr->len += MORE;
	result = next(fd, number, arg);
	attr->len -= MORE;
	attr->data = asked;
	if (!result)
		/* cppcheck-suppress uninitvar ; the call filled it in */
		memcpy((void *)(uintptr_t)asked, answer, attr->len);
	return result;
}
