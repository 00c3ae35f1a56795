/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests a pool of eight leases for programs like this one, waits until the leases are ready, and
 * keeps the request until its input ends. In its first run warmverbsd does not know the program
 * yet, and there are no leases.
 *
 * cc pool.c $(pkg-config --cflags --libs warmverbs)
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <warmverbs.h>

#define LEASES 8

/* The program's RDMA calls: only as many as warmverbsd needs for a recipe. */
static int use_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *verbs = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_pd *pd = verbs ? ibv_alloc_pd(verbs) : NULL;

	if (!pd) {
		perror("no device or PD");
		return 1;
	}
	ibv_dealloc_pd(pd);
	ibv_close_device(verbs);
	ibv_free_device_list(list);
	return 0;
}

/* Calling wv_request_pool() again with the same number updates the status. */
static int await_pool(struct wv_status *status)
{
	int err = wv_request_pool(LEASES);

	for (;;) {
		wv_query_status(status, sizeof(*status));
		if (err || status->pool_ready >= status->pool_granted)
			return err;
		usleep(10000);
		err = wv_request_pool(LEASES);
	}
}

int main(void)
{
	struct wv_status status;
	int failed = use_device();
	int err = await_pool(&status);

	if (err)
		fprintf(stderr, "no pool: %s\n", strerror(err));
	printf("asked for %u, granted %u, ready %u\n", status.pool_asked, status.pool_granted,
	       status.pool_ready);
	fflush(stdout);
	while (getchar() != EOF)
		;
	return failed || err;
}
