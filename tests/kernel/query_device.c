/* SPDX-License-Identifier: BSD-2-Clause */
/* QUERY_DEVICE without buffers, by which libibverbs probes for INVOKE_WRITE, answers ENOSPC. */
#include "kernel.h"

int main(void)
{
	int ufile = open_context();
	struct ib_uverbs_query_device_resp answer = {0};
	struct ib_uverbs_query_device in = {.response = (uintptr_t)&answer};

	EXPECT(invoke_write(ufile, IB_USER_VERBS_CMD_QUERY_DEVICE, NULL, 0, NULL, 0) == ENOSPC);
	EXPECT(invoke_write(ufile, IB_USER_VERBS_CMD_QUERY_DEVICE, &in, sizeof(in), &answer,
			    sizeof(answer)) == 0);
	EXPECT(answer.max_qp > 0);
	return 0;
}
