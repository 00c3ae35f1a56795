/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words about a peer in another program, to which the test carries the address. Messages leave from
 * the first half of a memory that the peer may read, and arrive in the second, which the peer may
 * write.
 */
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HALF	  65536
#define IMMEDIATE 0x1234

static uint8_t *memory;
static struct ibv_mr *mr;
static struct peer peer;

const struct peer *met(void)
{
	return &peer;
}

static void fill(struct options o)
{
	for (size_t i = 0; i < HALF; i++)
		memory[i] = (uint8_t)((size_t)option(o, "fill", 1) * (i + 1));
}

static int make_memory(struct ibv_pd *pd)
{
	memory = aligned_alloc(4096, 2 * HALF);
	if (!memory)
		return ENOMEM;
	memset(memory, 0, 2 * HALF);
	mr = ibv_reg_mr(pd, memory, 2 * HALF,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	return mr ? 0 : errno;
}

/* "address:gid=N,psn=N,fill=N": what a peer needs to know, in a line that begins with '#'. */
int do_address(struct program *p, struct options o)
{
	union ibv_gid gid;
	int error = mr ? 0 : make_memory(p->pd);

	if (!error && ibv_query_gid(p->context, PORT, (int)option(o, "gid", 1), &gid))
		error = errno;
	if (error)
		return error;
	fill(o);
	printf("# address %u,%lu,%u,%" PRIuPTR ",", chosen_qp(p, o)->qp->qp_num,
	       (unsigned long)option(o, "psn", 0), mr->rkey, (uintptr_t)memory);
	for (size_t i = 0; i < sizeof(gid); i++)
		printf("%02x", gid.raw[i]);
	putchar('\n');
	return 0;
}

static int parse(const char *address)
{
	int at = 0;

	if (sscanf(address, "%" SCNu32 ",%" SCNu32 ",%" SCNu32 ",%" SCNu64 ",%n", &peer.qpn,
		   &peer.psn, &peer.rkey, &peer.memory, &at) != 4)
		return EBADMSG;
	for (size_t i = 0; i < sizeof(peer.gid); i++)
		if (sscanf(address + at + 2 * i, "%2hhx", &peer.gid.raw[i]) != 1)
			return EBADMSG;
	return 0;
}

/* "meet": waits for the peer's address. */
int do_meet(struct program *p, struct options o)
{
	char address[256];
	ssize_t n;

	(void)p;
	(void)o;
	puts("@meet");
	fflush(stdout);
	n = read(STDIN_FILENO, address, sizeof(address) - 1);
	if (n <= 0)
		return EPIPE;
	address[n] = '\0';
	return parse(address);
}

static int post_receive(const struct qp *qp, uint32_t bytes)
{
	struct ibv_sge sge = {(uintptr_t)memory + HALF, bytes, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return qp->qp->srq ? ibv_post_srq_recv(qp->qp->srq, &wr, &bad)
			   : ibv_post_recv(qp->qp, &wr, &bad);
}

static int post_request(const struct qp *qp, enum ibv_wr_opcode opcode, uint32_t bytes)
{
	bool is_read = opcode == IBV_WR_RDMA_READ;
	struct ibv_sge sge = {(uintptr_t)memory + (is_read ? HALF : 0), bytes, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	wr.send_flags = IBV_SEND_SIGNALED;
	wr.imm_data = IMMEDIATE;
	wr.wr.rdma.remote_addr = peer.memory + (is_read ? 0 : HALF);
	wr.wr.rdma.rkey = peer.rkey;
	return ibv_post_send(qp->qp, &wr, &bad);
}

/*
 * "post:receive", "post:send", "post:write", "post:write-immediate" or "post:read"; "bytes=N". With
 * "fill=N", fills with other bytes first.
 */
int do_post(struct program *p, struct options o)
{
	static const struct {
		const char *name;
		enum ibv_wr_opcode opcode;
	} requests[] = {{"send", IBV_WR_SEND},
			{"write", IBV_WR_RDMA_WRITE},
			{"write-immediate", IBV_WR_RDMA_WRITE_WITH_IMM},
			{"read", IBV_WR_RDMA_READ}};
	uint32_t bytes = (uint32_t)option(o, "bytes", 5000);

	if (!mr)
		return ENOENT;
	if (has(o, "fill"))
		fill(o);
	if (has(o, "receive"))
		return post_receive(chosen_qp(p, o), bytes);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (has(o, requests[i].name))
			return post_request(chosen_qp(p, o), requests[i].opcode, bytes);
	return EINVAL;
}

/* "await:n=N": says of each of N completions how it ended, what it is of, and what it brought. */
int do_await(struct program *p, struct options o)
{
	struct ibv_cq *cq = chosen_qp(p, o)->cq->cq;
	time_t end = time(NULL) + LIMIT_S;
	struct ibv_wc wc;

	for (long n = option(o, "n", 1); n;) {
		if (time(NULL) > end)
			return ETIMEDOUT;
		if (!ibv_poll_cq(cq, 1, &wc))
			continue;
		n--;
		say(" status %d", wc.status);
		if (wc.status != IBV_WC_SUCCESS)
			continue;
		say(" opcode %d", wc.opcode);
		if (!(wc.opcode & IBV_WC_RECV))
			continue;
		say(" %u bytes", wc.byte_len);
		if (wc.wc_flags & IBV_WC_WITH_IMM)
			say(" immediate %x", wc.imm_data);
	}
	return 0;
}

/* "arrived": a sum over all that has arrived. */
int do_arrived(struct program *p, struct options o)
{
	uint32_t sum = 0;

	(void)p;
	(void)o;
	if (!mr)
		return ENOENT;
	for (size_t i = HALF; i < 2ul * HALF; i++)
		sum = sum * 31 + memory[i];
	say(" %x", sum);
	return 0;
}
