/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stopwatch for unmodified programs, preloaded in front of all other libraries: measures the time
 * from the first ibv_get_device_list(), and from the start if stamp.c started the program, until
 * the first QP is in INIT, RTR and RTS, as the program sees it. It is the same for every program,
 * knows nothing of warmverbs, and writes its result to the file that BENCH_TIMER names.
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

static void report_state(int fd, const char *name, enum ibv_qp_state state)
{
	if (reached[state])
		dprintf(fd, "list_to_%s %lu\n", name, (unsigned long)(reached[state] - listed));
}

/* Written at RTS, because a program may be killed; and at its end, because some never reach RTS. */
__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("BENCH_TIMER"), *stamp = getenv(STAMP_ENV);
	int fd = path && listed ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) : -1;

	if (fd < 0)
		return;
	if (stamp)
		dprintf(fd, "start_to_list %lu\n",
			(unsigned long)(listed - strtoull(stamp, NULL, 10)));
	report_state(fd, "init", IBV_QPS_INIT);
	report_state(fd, "rtr", IBV_QPS_RTR);
	report_state(fd, "rts", IBV_QPS_RTS);
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
