/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that uses a device only if its argument says so ("release device"). When it no longer
 * needs RDMA, it gives back what is kept for it, and continues: here, until its input ends.
 *
 * cc release.c $(pkg-config --cflags --libs warmverbs)
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <warmverbs.h>

int main(int argc, char **argv)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n); /* this also requests a lease */
	struct ibv_context *verbs = NULL;

	wv_request_pool(4);
	if (argc > 1 && !strcmp(argv[1], "device") && list && *list)
		verbs = ibv_open_device(*list);
	if (verbs)
		ibv_close_device(verbs);
	wv_release();
	printf("%d device(s), none in use\n", n);
	fflush(stdout);
	while (getchar() != EOF)
		;
	if (list)
		ibv_free_device_list(list);
	return 0;
}
