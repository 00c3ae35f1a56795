/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server whose children find their RDMA objects in place. It forks four children; each opens the
 * device, finds its objects, and says so.
 *
 * cc prefork.c $(pkg-config --cflags --libs warmverbs)
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <warmverbs.h>

#define CHILDREN 4

struct objects {
	struct ibv_device **list;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* What each child does first. */
static int make(struct objects *o)
{
	struct ibv_qp_init_attr attr = {.cap = {16, 16, 1, 1, 0}, .qp_type = IBV_QPT_RC};

	o->list = ibv_get_device_list(NULL);
	o->verbs = o->list && *o->list ? ibv_open_device(*o->list) : NULL;
	o->pd = o->verbs ? ibv_alloc_pd(o->verbs) : NULL;
	o->cq = o->pd ? ibv_create_cq(o->verbs, 32, NULL, NULL, 0) : NULL;
	attr.send_cq = attr.recv_cq = o->cq;
	o->qp = o->cq ? ibv_create_qp(o->pd, &attr) : NULL;
	return o->qp ? to_init(o->qp) : -1;
}

static void unmake(struct objects *o)
{
	if (o->qp)
		ibv_destroy_qp(o->qp);
	if (o->cq)
		ibv_destroy_cq(o->cq);
	if (o->pd)
		ibv_dealloc_pd(o->pd);
	if (o->verbs)
		ibv_close_device(o->verbs);
	if (o->list)
		ibv_free_device_list(o->list);
}

/* Called once, in the parent: creates what a child creates, and destroys it. */
static int rehearse(void *arg)
{
	struct objects o = {NULL};
	int failed = make(&o);

	(void)arg;
	unmake(&o);
	return failed ? EIO : 0;
}

static int child(void)
{
	struct wv_statistics n;
	struct objects o = {NULL};
	int failed = make(&o);

	wv_query_statistics(&n, sizeof(n));
	printf("%s\n", failed ? "failed" : n.ready ? "ready when it was born" : "made its objects");
	unmake(&o);
	return failed;
}

int main(void)
{
	int err = wv_prefork(CHILDREN, rehearse, NULL);
	int status, failed = 0;

	if (err)
		fprintf(stderr, "children will make their own objects: %s\n", strerror(err));
	for (int i = 0; i < CHILDREN; i++) {
		fflush(stdout);
		if (!fork())
			return child();
	}
	while (wait(&status) > 0)
		failed |= status;
	wv_release();
	return !!failed;
}
