/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that carries out what was posted, and the functions by which the model calls it.
 */
#include "cq.h"
#include "data.h"
#include "deliver.h"
#include "send.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

/*
 * How long to sleep between two rounds; it grows while nothing moves. 0 only yields the processor:
 * the programs at both ends often spin, and there may be only two processors.
 */
static const struct pace {
	uint64_t idle_ns;
	uint64_t sleep_ns;
} paces[] = {
    {100000, 0}, {5000000, 10000}, {1000000000, 50000}, {3000000000, 100000}, {UINT64_MAX, 500000}};

static pthread_cond_t awake = PTHREAD_COND_INITIALIZER;

static void sleep_ns(uint64_t ns)
{
	struct timespec time = {.tv_nsec = ns};

	if (ns)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	else
		sched_yield();
}

static void pause_for(uint64_t idle_ns)
{
	const struct pace *pace = paces;

	while (pace->idle_ns < idle_ns)
		pace++;
	sleep_ns(pace->sleep_ns);
}

/* From RTR on a queue pair moves data, or has to be flushed. */
static bool is_live(const struct hca_qp *qp)
{
	return qp->state > IBV_QPS_INIT && qp->state <= IBV_QPS_ERR;
}

/* One round over the queues of an adapter. Sets @live if there is reason for another. */
static bool go_round(struct hca *hca, bool *live)
{
	struct hca_qp *qp;
	struct hca_cq *cq;
	bool moved = false;

	LIST_FOREACH (qp, &hca->qps, of_hca) {
		if (is_live(qp)) {
			*live = true;
			moved |= send_serve(hca, qp);
		}
	}
	LIST_FOREACH (cq, &hca->cqs, of_hca)
		cq_tell(cq);
	return moved;
}

static bool go_round_all(struct hca_net *net, bool *live)
{
	struct hca *hca;
	bool moved = false;

	*live = false;
	LIST_FOREACH (hca, &net->hcas, of_net)
		moved |= go_round(hca, live);
	return moved;
}

static void *run(void *arg)
{
	struct hca_net *net = arg;
	uint64_t last_moved = data_now(), now;
	bool live;

	prctl(PR_SET_TIMERSLACK, 1);
	pthread_setname_np(pthread_self(), "data");
	while (true) {
		pthread_mutex_lock(&net->lock);
		if (go_round_all(net, &live))
			last_moved = data_now();
		if (!live)
			pthread_cond_wait(&awake, &net->lock);
		pthread_mutex_unlock(&net->lock);
		now = data_now();
		/* The mutex is not fair: a thread that waits would hardly ever get it. */
		while (hca_is_wanted(net) && data_now() - now < 1000000)
			sched_yield();
		pause_for(now - last_moved);
	}
	return NULL;
}

int hca_data_start(struct hca_net *net)
{
	pthread_t thread;
	int ret = pthread_create(&thread, NULL, run, net);

	if (!ret)
		pthread_detach(thread);
	return -ret;
}

void hca_data_reset_qp(struct hca *hca, struct hca_qp *qp)
{
	(void)hca;
	*data_of_qp(qp) = (struct data_qp){0};
}

void hca_data_forget_qp(struct hca *hca, struct hca_qp *qp)
{
	(void)hca;
	free(qp->data);
	qp->data = NULL;
}

void hca_data_forget_cq(struct hca *hca, struct hca_cq *cq)
{
	(void)hca;
	free(cq->data);
	cq->data = NULL;
}

void hca_data_forget_srq(struct hca *hca, struct hca_srq *srq)
{
	(void)hca;
	free(srq->data);
	srq->data = NULL;
}

void hca_data_modified_qp(struct hca *hca, struct hca_qp *qp, enum ibv_qp_state from)
{
	(void)hca;
	if (qp->state == IBV_QPS_ERR && from != IBV_QPS_ERR)
		deliver_last(qp);
	pthread_cond_signal(&awake);
}
