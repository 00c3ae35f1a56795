/* SPDX-License-Identifier: BSD-2-Clause */
/* Words about registered memory: does the adapter use the parent's or the child's? */
#include "words.h"

#include "warmverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES  16384
#define OFFSET 100 /* so that the first and last page are not whole */

struct buffer {
	uint8_t *bytes;
	struct ibv_mr *mr;
};

/* The buffer under test, and memory that parent and child share. */
static struct buffer looked_at, seen;
static struct ibv_mr *again; /* of the buffer under test */

static int make(struct ibv_pd *pd, int flags, size_t offset, struct buffer *b)
{
	uint8_t *at = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return errno;
	b->bytes = at + offset;
	b->mr = ibv_reg_mr(pd, b->bytes, BYTES, IBV_ACCESS_LOCAL_WRITE);
	return b->mr ? 0 : errno;
}

/* Only there if warmverbs is preloaded. */
#pragma weak wv_alloc_mr
#pragma weak wv_free_mr

static bool is_zeroed(const uint8_t *at, size_t n)
{
	return !*at && !memcmp(at, at + 1, n - 1);
}

/* As wv_alloc_mr() does it, where there is no warmverbs. */
static int alloc_plainly(struct ibv_pd *pd, size_t bytes, int access, struct ibv_mr **mr)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return errno;
	*mr = ibv_reg_mr(pd, at, bytes, access);
	return *mr ? 0 : errno ?: EINVAL;
}

static int make_ready(struct ibv_pd *pd, struct options o)
{
	size_t bytes = (size_t)option(o, "bytes", BYTES);
	int access = (int)option(o, "access", IBV_ACCESS_LOCAL_WRITE);
	int error = (wv_alloc_mr ?: alloc_plainly)(pd, bytes, access, &looked_at.mr);

	if (error)
		return error;
	looked_at.bytes = looked_at.mr->addr;
	say(" %zu zeroed: %d", looked_at.mr->length, is_zeroed(looked_at.bytes, bytes));
	return 0;
}

static int register_again(struct ibv_pd *pd)
{
	again = ibv_reg_mr(pd, looked_at.bytes, BYTES, IBV_ACCESS_LOCAL_WRITE);
	return again ? 0 : errno;
}

/* The memory outlasts its registration and the device. */
static int end_and_close(struct program *p)
{
	int error = ibv_dereg_mr(looked_at.mr) ?: ibv_close_device(p->pd->context);

	if (!error)
		say(" %d", looked_at.bytes[0]);
	return error;
}

static int end(struct program *p, struct options o)
{
	if (has(o, "closed"))
		return end_and_close(p);
	if (has(o, "ready"))
		return (wv_free_mr ?: ibv_dereg_mr)(looked_at.mr);
	if (has(o, "unmapped") && munmap(looked_at.bytes, BYTES))
		return errno;
	return ibv_dereg_mr(has(o, "again") ? again : looked_at.mr);
}

/*
 * "buffer:private" or "buffer:shared", perhaps "aligned" to pages: makes and registers it.
 * "buffer:ready" asks wv_alloc_mr() for it, perhaps of other "bytes=N" and "access=N";
 * "buffer:end,ready" frees it. "buffer:again" registers it once more; "buffer:end" and
 * "buffer:end,again" deregister, after unmapping with "unmapped"; with "closed", the device is
 * closed then.
 */
int do_buffer(struct program *p, struct options o)
{
	size_t offset = has(o, "aligned") ? 0 : OFFSET;
	int error = 0;

	if (has(o, "end"))
		return end(p, o);
	if (has(o, "again"))
		return register_again(p->pd);
	if (!seen.mr)
		error = make(p->pd, MAP_SHARED, OFFSET, &seen);
	if (has(o, "ready"))
		return error ?: make_ready(p->pd, o);
	return error
		   ?: make(p->pd, has(o, "shared") ? MAP_SHARED : MAP_PRIVATE, offset, &looked_at);
}

static int await(struct ibv_cq *cq, int n)
{
	struct ibv_wc wc;

	while (n) {
		if (!ibv_poll_cq(cq, 1, &wc))
			continue;
		if (wc.status != IBV_WC_SUCCESS)
			return EBADMSG;
		n--;
	}
	return 0;
}

/* Sends all of one region to the other, by a queue pair that is connected to itself. */
static int carry(const struct qp *qp, struct buffer *from, struct buffer *to)
{
	struct ibv_sge source = {(uintptr_t)from->bytes, BYTES, from->mr->lkey};
	struct ibv_sge target = {(uintptr_t)to->bytes, BYTES, to->mr->lkey};
	struct ibv_send_wr send = {.sg_list = &source,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED},
			   *bad_send;
	struct ibv_recv_wr receive = {.sg_list = &target, .num_sge = 1}, *bad_receive;
	int error = ibv_post_recv(qp->qp, &receive, &bad_receive);

	if (!error)
		error = ibv_post_send(qp->qp, &send, &bad_send);
	return error ?: await(qp->cq->cq, 2);
}

/* The middle and both edges. */
static void say_bytes(const struct buffer *b)
{
	say(" %u %u %u", b->bytes[0], b->bytes[BYTES / 2], b->bytes[BYTES - 1]);
}

/* "send:fill=N": what the adapter sees of the buffer that this process has filled with N. */
int do_send(struct program *p, struct options o)
{
	int error;

	memset(looked_at.bytes, (int)option(o, "fill", 0), BYTES);
	error = carry(chosen_qp(p, o), &looked_at, &seen);
	say_bytes(&seen);
	return error;
}

/* "receive:fill=N": what this process sees of the buffer that the adapter has filled with N. */
int do_receive(struct program *p, struct options o)
{
	int error;

	memset(seen.bytes, (int)option(o, "fill", 0), BYTES);
	error = carry(chosen_qp(p, o), &seen, &looked_at);
	say_bytes(&looked_at);
	return error;
}

/* "see": what this process sees in the buffer; with "fill=N" it fills it with N first. */
int do_see(struct program *p, struct options o)
{
	(void)p;
	if (has(o, "fill"))
		memset(looked_at.bytes, (int)option(o, "fill", 0), BYTES);
	say_bytes(&looked_at);
	return 0;
}

/* "fork-init": ibv_fork_init(), which keeps registered memory from children. */
int do_fork_init(struct program *p, struct options o)
{
	int error = ibv_fork_init();

	(void)p;
	(void)o;
	say(" %d", ibv_is_fork_initialized());
	return error;
}
