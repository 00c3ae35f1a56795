/* SPDX-License-Identifier: BSD-2-Clause */
#include "recv.h"

#include <errno.h>
#include <rdma/mlx5-abi.h>

#define MAX_STRIDE	512 /* the adapter's largest element of a receive queue */
#define SIGNATURE_BYTES 16  /* in front of the list, in queues that are signed */

enum { DB_RECEIVE = 0 };

/* How many posted elements are unused. */
static int posted(const struct hca_mem *db, uint16_t used, uint16_t *count)
{
	uint32_t counter;
	int ret = hca_mem_read_be32(db, DB_RECEIVE, &counter);

	if (!ret)
		*count = counter - used;
	return ret;
}

/* Reads element @index of @buf, of which 1 << @shift bytes are an element. */
static int read_element(const struct hca_mem *buf, uint32_t index, uint32_t shift, void *bytes)
{
	if (shift > 31 || 1u << shift > MAX_STRIDE)
		return -EINVAL;
	return hca_mem_read(buf, (uint64_t)index << shift, bytes, 1u << shift);
}

static int peek_srq(struct hca_srq *srq, struct recv_wqe *wqe)
{
	struct data_srq *data = data_of_srq(srq);
	uint8_t bytes[MAX_STRIDE] __attribute__((aligned(16)));
	uint16_t count;
	int ret = posted(&srq->db, data->used, &count);

	if (!ret && !count)
		ret = -EAGAIN;
	ret = ret ?: read_element(&srq->buf, data->head & (srq->n_wqe - 1), srq->wqe_shift, bytes);
	if (!ret) {
		wqe->index = data->head;
		wqe_parse_recv(bytes, 1u << srq->wqe_shift, true, wqe);
	}
	return ret;
}

static int peek_rq(struct hca_qp *qp, struct recv_wqe *wqe)
{
	size_t skip = qp->flags & MLX5_QP_FLAG_SIGNATURE ? SIGNATURE_BYTES : 0;
	struct data_qp *data = data_of_qp(qp);
	uint8_t bytes[MAX_STRIDE] __attribute__((aligned(16)));
	uint16_t count;
	int ret;

	if (!qp->rq_wqe_count)
		return -EAGAIN;
	ret = posted(&qp->db, data->rq_next, &count);
	if (!ret && !count)
		ret = -EAGAIN;
	ret = ret
		  ?: read_element(&qp->buf, data->rq_next & (qp->rq_wqe_count - 1),
				  qp->rq_wqe_shift, bytes);
	if (!ret) {
		wqe->index = data->rq_next;
		wqe_parse_recv(bytes + skip, (1u << qp->rq_wqe_shift) - skip, false, wqe);
	}
	return ret;
}

int recv_peek(struct hca_qp *qp, struct recv_wqe *wqe)
{
	return qp->srq ? peek_srq(qp->srq, wqe) : peek_rq(qp, wqe);
}

void recv_consume(struct hca_qp *qp, const struct recv_wqe *wqe)
{
	if (qp->srq) {
		struct data_srq *data = data_of_srq(qp->srq);

		data->used++;
		data->head = wqe->next;
	} else {
		data_of_qp(qp)->rq_next++;
	}
}

struct hca_pd *recv_pd(const struct hca_qp *qp)
{
	return qp->srq ? qp->srq->pd : qp->pd;
}
