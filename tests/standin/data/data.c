/* SPDX-License-Identifier: BSD-2-Clause */
#include "data.h"

#include <stdlib.h>
#include <time.h>

static void *must_have(size_t bytes)
{
	void *made = calloc(1, bytes);

	if (!made)
		abort();
	return made;
}

struct data_qp *data_of_qp(struct hca_qp *qp)
{
	if (!qp->data)
		qp->data = must_have(sizeof(struct data_qp));
	return qp->data;
}

struct data_srq *data_of_srq(struct hca_srq *srq)
{
	if (!srq->data)
		srq->data = must_have(sizeof(struct data_srq));
	return srq->data;
}

struct data_cq *data_of_cq(struct hca_cq *cq)
{
	struct data_cq *data = cq->data;

	if (!data) {
		cq->data = data = must_have(sizeof *data);
		data->told = -1;
	}
	return data;
}

uint64_t data_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
}
