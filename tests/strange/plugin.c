/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests/strange/plugins.c loads: opens the device, makes objects, and prints how that went. */
#include <infiniband/verbs.h>
#include <stdio.h>

int use_device(void);

__attribute__((visibility("default"))) int use_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_cq *cq = pd ? ibv_create_cq(context, 100, NULL, NULL, 0) : NULL;

	if (list)
		ibv_free_device_list(list);
	printf("context %d pd %d cq %d\n", !!context, !!pd, !!cq);
	if (!cq)
		return 1;
	return ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) || ibv_close_device(context);
}
