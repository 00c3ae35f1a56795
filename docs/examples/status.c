/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens an RDMA device, and prints why it was or was not opened from a lease.
 *
 * cc status.c $(pkg-config --cflags --libs warmverbs)
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <warmverbs.h>

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *verbs = list && *list ? ibv_open_device(*list) : NULL;
	struct wv_status status;

	if (!verbs) {
		perror("no device");
		return 1;
	}
	wv_query_status(&status, sizeof(status));
	printf("%s: %s\n", ibv_get_device_name(verbs->device),
	       wv_reason_str((enum wv_reason)status.reason));
	ibv_close_device(verbs);
	ibv_free_device_list(list);
	return 0;
}
