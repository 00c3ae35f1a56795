/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that is linked with libwarmverbs, for copies that have more rights than their caller.
 * Lists the devices, asks for a pool, and prints what warmverbs knows.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <warmverbs.h>

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct wv_status status;

	if (list)
		ibv_free_device_list(list);
	wv_request_pool(1);
	wv_query_status(&status, sizeof(status));
	printf("secure %lu\nenabled %u\ndaemon %u\n", getauxval(AT_SECURE), status.enabled,
	       status.daemon);
	return 0;
}
