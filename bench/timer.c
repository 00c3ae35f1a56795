/*
 * A stopwatch to preload into an unmodified program, outermost: how long after its first
 * ibv_get_device_list(), and after its start if stamp.c started it, its first QP was in INIT, RTR
 * and RTS, as the program saw it. It is the same for every program measured, knows nothing of
 * warmverbs, and writes its result to the file that BENCH_TIMER names when the QP is in RTS.
 */
#include "measure.h"
#include "stamp.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT	__attribute__((visibility("default")))
#define VERSION "IBVERBS_1.1"

#undef ibv_get_device_list

static uint64_t listed;
static uint64_t reached[IBV_QPS_ERR + 1]; /* by the first QP, per state */

static void report(void)
{
	const char *path = getenv("BENCH_TIMER"), *stamp = getenv(STAMP_ENV);
	uint64_t started = stamp ? strtoull(stamp, NULL, 10) : listed;
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "start_to_list %lu\nlist_to_init %lu\nlist_to_rtr %lu\nlist_to_rts %lu\n",
		(unsigned long)(listed - started), (unsigned long)(reached[IBV_QPS_INIT] - listed),
		(unsigned long)(reached[IBV_QPS_RTR] - listed),
		(unsigned long)(reached[IBV_QPS_RTS] - listed));
	close(fd);
}

EXPORT struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **(*next)(int *) = dlvsym(RTLD_NEXT, "ibv_get_device_list", VERSION);

	if (!listed)
		listed = clock_ns();
	return next(n);
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	static int (*next)(struct ibv_qp *, struct ibv_qp_attr *, int);
	int err;

	if (!next)
		next = dlvsym(RTLD_NEXT, "ibv_modify_qp", VERSION);
	err = next(qp, attr, mask);
	if (err || !(mask & IBV_QP_STATE) || attr->qp_state > IBV_QPS_ERR ||
	    reached[attr->qp_state])
		return err;
	reached[attr->qp_state] = clock_ns();
	if (attr->qp_state == IBV_QPS_RTS)
		report();
	return 0;
}
