/* SPDX-License-Identifier: BSD-2-Clause */
/* A child of fork() writes to a buffer that the provider allocated; prints what its parent sees. */
#include "support/check.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 4096 /* as a doorbell page has, which is the smallest memory of a lease */

static void in_child(char *at)
{
	pid_t child = fork();

	if (!child) {
		*at = 'c';
		_exit(0);
	}
	EXPECT(child > 0 && waitpid(child, NULL, 0) == child);
}

int main(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = devices && *devices ? ibv_open_device(*devices) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_buf *buffer;
	struct ibv_cq *cq;
	char *at;

	EXPECT(pd);
	at = ibv_alloc_buf(pd, BYTES, &buffer);
	EXPECT(at);
	*at = 'p';
	in_child(at);
	cq = ibv_create_cq(context, 10, NULL, NULL, 0);
	EXPECT(cq);
	printf("%c\n", *at);
	ibv_free_buf(buffer);
	EXPECT(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd) && !ibv_close_device(context));
	ibv_free_device_list(devices);
	return 0;
}
