/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates and destroys some verbs objects, and prints who answered the commands for that.
 *
 * cc statistics.c $(pkg-config --cflags --libs warmverbs)
 */
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <stdio.h>
#include <warmverbs.h>

static void print_statistics(void)
{
	struct wv_statistics s;

	wv_query_statistics(&s, sizeof(s));
	printf("opens: %" PRIu64 ", of these from a lease: %" PRIu64 "\n", s.opens, s.leased);
	printf("commands answered from it: %" PRIu64 ", by the kernel: %" PRIu64 "\n",
	       s.commands_adopted, s.commands_kernel);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *verbs = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_pd *pd = verbs ? ibv_alloc_pd(verbs) : NULL;
	struct ibv_cq *cq = verbs ? ibv_create_cq(verbs, 100, NULL, NULL, 0) : NULL;

	if (!pd || !cq) {
		perror("no device, PD or CQ");
		return 1;
	}
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(verbs);
	ibv_free_device_list(list);
	print_statistics();
	return 0;
}
