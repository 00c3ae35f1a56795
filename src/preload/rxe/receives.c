/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drivers/infiniband/sw/rxe: rxe_queue.h (the ring, and who writes which index), rxe_resp.c
 * (rxe_drain_req_pkts()), rxe_qp.c (the answer to the creation).
 */
#include "preload/rxe/receives.h"

#include "cmdlog/command.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_rxe.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LOG2 16 /* of an element's bytes, and of the number of elements */

/* The elements, in the order in which they were posted. */
struct saved {
	uint32_t n, log2_elem_size;
	uint8_t data[];
};

static void find(const struct ib_uverbs_ioctl_hdr *create, struct wv_ring *ring)
{
	const struct ib_uverbs_attr *answer = wv_command_attr(create, UVERBS_ATTR_UHW_OUT);
	struct rxe_create_qp_resp resp;

	*ring = (struct wv_ring){.bytes = 0};
	if (wv_command_attr(create, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE) || !answer ||
	    answer->len < sizeof(resp))
		return;
	memcpy(&resp, (const void *)(uintptr_t)answer->data, sizeof(resp));
	ring->offset = resp.rq_mi.offset;
	ring->bytes = resp.rq_mi.size;
}

/* The ring as it is now; the program can write to it. False: it makes no sense. */
static bool read_ring(const struct wv_ring *ring, struct rxe_queue_buf *head)
{
	const struct rxe_queue_buf *q = ring->at;

	if (!q || ring->bytes < sizeof(*q))
		return false;
	head->log2_elem_size = q->log2_elem_size;
	head->index_mask = q->index_mask;
	head->producer_index = __atomic_load_n(&q->producer_index, __ATOMIC_ACQUIRE);
	head->consumer_index = __atomic_load_n(&q->consumer_index, __ATOMIC_ACQUIRE);
	return head->log2_elem_size <= MAX_LOG2 && head->index_mask < 1u << MAX_LOG2 &&
	       ((uint64_t)head->index_mask + 1) << head->log2_elem_size <= ring->bytes - sizeof(*q);
}

static uint8_t *element(const struct wv_ring *ring, const struct rxe_queue_buf *head, uint32_t i)
{
	struct rxe_queue_buf *q = ring->at;

	return q->data + ((size_t)(i & head->index_mask) << head->log2_elem_size);
}

static int save(const struct wv_ring *ring, void **saved)
{
	struct rxe_queue_buf head;
	struct saved *copy;
	uint32_t n;

	*saved = NULL;
	if (!ring->bytes)
		return 0;
	if (!read_ring(ring, &head))
		return -ENODATA;
	n = (head.producer_index - head.consumer_index) & head.index_mask;
	if (!n)
		return 0;
	copy = malloc(sizeof(*copy) + ((size_t)n << head.log2_elem_size));
	if (!copy)
		return -ENOMEM;
	copy->n = n;
	copy->log2_elem_size = head.log2_elem_size;
	for (uint32_t i = 0; i < n; i++)
		memcpy(copy->data + ((size_t)i << head.log2_elem_size),
		       element(ring, &head, head.consumer_index + i),
		       (size_t)1 << head.log2_elem_size);
	*saved = copy;
	return 0;
}

static void restore(const struct wv_ring *ring, void *data)
{
	struct rxe_queue_buf head;
	struct saved *saved = data;
	uint32_t at;

	if (!saved || !read_ring(ring, &head) || saved->log2_elem_size != head.log2_elem_size ||
	    saved->n > head.index_mask) {
		free(saved);
		return;
	}
	at = head.producer_index;
	for (uint32_t i = 0; i < saved->n; i++, at++)
		memcpy(element(ring, &head, at), saved->data + ((size_t)i << head.log2_elem_size),
		       (size_t)1 << head.log2_elem_size);
	__atomic_store_n(&((struct rxe_queue_buf *)ring->at)->producer_index, at & head.index_mask,
			 __ATOMIC_RELEASE);
	free(saved);
}

const struct wv_receives wv_rxe_receives = {.find = find, .save = save, .restore = restore};
