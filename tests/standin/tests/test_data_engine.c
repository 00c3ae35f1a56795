/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data path on a model made by hand: two queue pairs and one memory region, in this process and
 * without threads. Byte by byte, the tests write what a provider library would.
 */
#include "data/cq.h"
#include "data/recv.h"
#include "data/send.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_WQE 8 /* elements of a receive queue, and half the basic blocks of a send queue */
#define N_CQE 16
#define KEY   0x77
#define DATA  4096

#define RQ_BYTES   (N_WQE * 64)
#define SQ_BYTES   (2 * N_WQE * 64)
#define ALL_RIGHTS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define ALIGNED	   __attribute__((aligned(64)))

struct end {
	struct hca *hca;
	struct hca_qp qp;
	struct hca_cq cq;
	struct hca_srq srq;
	uint32_t db[2], srq_db[1], cq_db[2];
	uint8_t ALIGNED srq_buf[N_WQE * 32];
	uint8_t ALIGNED cqe[N_CQE * 128];
	uint16_t rq_posted, sq_posted;
	uint32_t ci;
	unsigned int events, async[32];
};

static struct hca_net net;
static struct hca hca = {.net = &net, .gids = {{.valid = true}}};
static struct hca other_hca = {.net = &net, .gids = {{.valid = true, .raw = {1}}}};
static struct hca_pd pd, other_pd;
static struct hca_mr mr;
static uint8_t data[DATA];
static bool mr_is_gone; /* its process ended */
static struct end ends[2];
static struct end *const a = &ends[0], *const b = &ends[1];

/* The model. */

int hca_mem_read(const struct hca_mem *mem, uint64_t offset, void *to, size_t bytes)
{
	if (offset + bytes > mem->length)
		return -EFAULT;
	if (mem == &mr.mem && mr_is_gone)
		return -ESRCH;
	memcpy(to, mem->map + offset, bytes);
	return 0;
}

int hca_mem_write(struct hca_mem *mem, uint64_t offset, const void *from, size_t bytes)
{
	if (offset + bytes > mem->length)
		return -EFAULT;
	if (mem == &mr.mem && mr_is_gone)
		return -ESRCH;
	memcpy(mem->map + offset, from, bytes);
	return 0;
}

int hca_mem_read_be32(const struct hca_mem *mem, uint64_t offset, uint32_t *value)
{
	int ret = hca_mem_read(mem, offset, value, sizeof *value);

	*value = be32toh(*value);
	return ret;
}

struct hca_qp *hca_qp_at(struct hca *model, uint32_t qpn)
{
	for (size_t i = 0; i < 2; i++)
		if (ends[i].qp.qpn == qpn && ends[i].hca == model)
			return &ends[i].qp;
	return NULL;
}

struct hca_mr *hca_mr_at(struct hca *model, uint32_t key)
{
	(void)model;
	return key == KEY ? &mr : NULL;
}

struct hca_gid *hca_gid_at(struct hca *model, unsigned int index)
{
	return &model->gids[index];
}

struct hca *hca_at_gid(struct hca_net *model, const uint8_t gid[16], enum ib_uverbs_gid_type type)
{
	(void)model;
	if (type != hca.gids[0].type)
		return NULL;
	if (!memcmp(gid, hca.gids[0].raw, 16))
		return &hca;
	return !memcmp(gid, other_hca.gids[0].raw, 16) ? &other_hca : NULL;
}

void hca_qp_error(struct hca_qp *qp)
{
	qp->state = IBV_QPS_ERR;
}

void hca_cq_event(struct hca_cq *cq)
{
	ends[cq == &b->cq].events++;
}

void hca_cq_async(struct hca_cq *cq, enum ibv_event_type type)
{
	ends[cq == &b->cq].async[type]++;
}

void hca_qp_async(struct hca_qp *qp, enum ibv_event_type type)
{
	ends[qp == &b->qp].async[type]++;
}

/* What a program and its provider do. */

static struct hca_mem mem_of(void *at, size_t length)
{
	return (struct hca_mem){.map = at, .length = length};
}

static void make_end(struct end *end, enum hca_qp_type type, uint32_t qpn, uint32_t dest)
{
	static uint8_t ALIGNED bytes[2][RQ_BYTES + SQ_BYTES];
	uint8_t *buf = bytes[end == b];

	*end = (struct end){.hca = &hca};
	end->cq = (struct hca_cq){
	    .n_cqe = N_CQE,
	    .cqe_size = 64,
	    .buf = mem_of(end->cqe, sizeof end->cqe),
	    .db = mem_of(end->cq_db, sizeof end->cq_db),
	};
	end->srq = (struct hca_srq){
	    .n_wqe = N_WQE,
	    .wqe_shift = 5,
	    .pd = &pd,
	    .buf = mem_of(end->srq_buf, sizeof end->srq_buf),
	    .db = mem_of(end->srq_db, sizeof end->srq_db),
	};
	end->qp = (struct hca_qp){
	    .type = type,
	    .state = type == HCA_DCT ? IBV_QPS_RTR : IBV_QPS_RTS,
	    .qpn = qpn,
	    .uidx = qpn + 1000,
	    .rq_wqe_count = N_WQE,
	    .rq_wqe_shift = 6,
	    .sq_wqe_count = 2 * N_WQE,
	    .sq_offset = RQ_BYTES,
	    .pd = &pd,
	    .send_cq = &end->cq,
	    .recv_cq = &end->cq,
	    .buf = mem_of(buf, sizeof *bytes),
	    .db = mem_of(end->db, sizeof end->db),
	    .attr = {.dest_qpn = dest,
		     .qkey = 0x1111,
		     .access = ALL_RIGHTS,
		     .timeout = 1,
		     .retry_cnt = 2,
		     .rnr_retry = 7,
		     .min_rnr_timer = 1,
		     .dc_key = 5},
	    .gid = &hca.gids[0],
	};
	for (uint16_t i = 0; i < N_WQE; i++)
		((struct mlx5_wqe_srq_next_seg *)(end->srq_buf + i * 32))->next_wqe_index =
		    htobe16((i + 3) % N_WQE);
}

static void free_end(struct end *end)
{
	free(end->qp.data);
	free(end->cq.data);
	free(end->srq.data);
}

static int use_type(enum hca_qp_type type_a, enum hca_qp_type type_b)
{
	make_end(a, type_a, 10, 20);
	make_end(b, type_b, 20, 10);
	mr = (struct hca_mr){
	    .pd = &pd,
	    .key = KEY,
	    .access = IBV_ACCESS_LOCAL_WRITE | ALL_RIGHTS,
	    .iova = 0x10000,
	    .length = DATA,
	    .mem = mem_of(data, DATA),
	};
	mr_is_gone = false;
	for (size_t i = 0; i < DATA; i++)
		data[i] = i * 7;
	return 0;
}

static int set_up_rc(void **state)
{
	(void)state;
	return use_type(HCA_RC, HCA_RC);
}

static int set_up_uc(void **state)
{
	(void)state;
	return use_type(HCA_UC, HCA_UC);
}

static int set_up_ud(void **state)
{
	(void)state;
	return use_type(HCA_UD, HCA_UD);
}

static int set_up_dc(void **state)
{
	(void)state;
	use_type(HCA_DCI, HCA_DCT);
	b->qp.srq = &b->srq;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free_end(a);
	free_end(b);
	return 0;
}

static void put(struct end *end, size_t *at, const void *bytes, size_t len)
{
	uint8_t *sq = end->qp.buf.map + end->qp.sq_offset;

	for (size_t i = 0; i < len; i++, (*at)++)
		sq[*at % SQ_BYTES] = ((const uint8_t *)bytes)[i];
}

static void put_address(struct end *end, size_t *at, uint64_t key, uint32_t qpn)
{
	struct mlx5_wqe_datagram_seg seg = {0};
	uint8_t zero[16] = {0};

	mlx5dv_set_dgram_seg(&seg, key, qpn, 1, 0, 0, 0, zero, 0, 1, 0, zero);
	put(end, at, &seg, sizeof seg);
}

/* A request for @len bytes at offset @from of the memory; @remote is another offset in it. */
static void post_to(struct end *end, uint8_t opcode, uint32_t from, uint32_t len, uint32_t remote,
		    uint64_t key, uint32_t qpn)
{
	bool addressed = end->qp.type == HCA_UD || end->qp.type == HCA_DCI;
	struct mlx5_wqe_raddr_seg raddr = {.raddr = htobe64(mr.iova + remote),
					   .rkey = htobe32(KEY)};
	size_t start = end->sq_posted * 64u, at = start + 16;
	struct mlx5_wqe_ctrl_seg ctrl = {0};
	struct mlx5_wqe_data_seg seg;

	mlx5dv_set_data_seg(&seg, len, KEY, mr.iova + from);
	if (addressed)
		put_address(end, &at, key, qpn);
	if (opcode != MLX5_OPCODE_SEND && opcode != MLX5_OPCODE_SEND_IMM)
		put(end, &at, &raddr, sizeof raddr);
	put(end, &at, &seg, sizeof seg);
	mlx5dv_set_ctrl_seg(&ctrl, end->sq_posted, opcode, 0, end->qp.qpn, MLX5_WQE_CTRL_CQ_UPDATE,
			    (at - start) / 16, 0, htobe32(0xabcd));
	put(end, &start, &ctrl, sizeof ctrl);
	end->sq_posted = (at + 63) / 64;
	end->db[1] = htobe32(end->sq_posted);
}

static void post_atomic(struct end *end, uint8_t opcode, uint32_t from, uint32_t remote,
			uint64_t swap_add, uint64_t compare)
{
	struct mlx5_wqe_atomic_seg atomic = {htobe64(swap_add), htobe64(compare)};
	struct mlx5_wqe_raddr_seg raddr = {.raddr = htobe64(mr.iova + remote),
					   .rkey = htobe32(KEY)};
	size_t start = end->sq_posted * 64u, at = start + 16;
	struct mlx5_wqe_ctrl_seg ctrl = {0};
	struct mlx5_wqe_data_seg seg;

	mlx5dv_set_data_seg(&seg, sizeof swap_add, KEY, mr.iova + from);
	put(end, &at, &raddr, sizeof raddr);
	put(end, &at, &atomic, sizeof atomic);
	put(end, &at, &seg, sizeof seg);
	mlx5dv_set_ctrl_seg(&ctrl, end->sq_posted, opcode, 0, end->qp.qpn, MLX5_WQE_CTRL_CQ_UPDATE,
			    4, 0, 0);
	put(end, &start, &ctrl, sizeof ctrl);
	end->db[1] = htobe32(++end->sq_posted);
}

static void post(struct end *end, uint8_t opcode, uint32_t from, uint32_t len, uint32_t remote)
{
	post_to(end, opcode, from, len, remote, 0, 0);
}

static void post_receive(struct end *end, uint32_t to, uint32_t len)
{
	struct mlx5_wqe_data_seg *seg = (void *)(end->qp.buf.map + end->rq_posted % N_WQE * 64);

	mlx5dv_set_data_seg(&seg[0], len, KEY, mr.iova + to);
	mlx5dv_set_data_seg(&seg[1], 0, MLX5_INVALID_LKEY, 0);
	end->db[0] = htobe32(++end->rq_posted);
}

static void post_srq_receive(struct end *end, uint16_t index, uint32_t to, uint32_t len)
{
	mlx5dv_set_data_seg((void *)(end->srq_buf + index * 32 + 16), len, KEY, mr.iova + to);
	end->srq_db[0] = htobe32(be32toh(end->srq_db[0]) + 1);
}

/* Rounds until nothing moves. */
static void settle(void)
{
	bool moved;

	do {
		moved = send_serve(a->hca, &a->qp);
		moved |= send_serve(b->hca, &b->qp);
	} while (moved);
}

/* Rounds until @end has completed something: a queue pair that waits does so in the end. */
static void settle_waiting(struct end *end)
{
	do
		settle();
	while (!end->cq.data);
}

static struct mlx5_cqe64 *next_cqe(struct end *end)
{
	uint32_t entries = end->cq.n_cqe, size = end->cq.cqe_size;
	struct mlx5_cqe64 *cqe = (void *)(end->cqe + end->ci % entries * size + size - 64);
	struct data_cq *written = end->cq.data;

	if (!written || written->pi == end->ci)
		return NULL;
	assert_int_equal(mlx5dv_get_cqe_owner(cqe), !!(end->ci & entries));
	end->cq_db[0] = htobe32(++end->ci & 0xffffff);
	return cqe;
}

static void expect(struct end *end, uint8_t kind, uint16_t counter)
{
	struct mlx5_cqe64 *cqe = next_cqe(end);

	assert_non_null(cqe);
	assert_int_equal(mlx5dv_get_cqe_opcode(cqe), kind);
	assert_int_equal(be16toh(cqe->wqe_counter), counter);
	assert_int_equal(be32toh(cqe->sop_drop_qpn) & 0xffffff, end->qp.qpn);
	assert_int_equal(be32toh(cqe->srqn_uidx), end->qp.uidx);
}

static void expect_error(struct end *end, uint8_t kind, uint8_t syndrome)
{
	struct mlx5_err_cqe *cqe = (struct mlx5_err_cqe *)next_cqe(end);

	assert_non_null(cqe);
	assert_int_equal(cqe->op_own >> 4, kind);
	assert_int_equal(cqe->syndrome, syndrome);
}

static void expect_nothing(struct end *end)
{
	assert_null(next_cqe(end));
}

/* Messages. */

static void test_send(void **state)
{
	struct mlx5_cqe64 *cqe;

	(void)state;
	post_receive(b, 2048, 100);
	post(a, MLX5_OPCODE_SEND_IMM, 0, 60, 0);
	settle();
	assert_memory_equal(data + 2048, data, 60);
	expect(a, MLX5_CQE_REQ, 0);
	cqe = next_cqe(b);
	assert_int_equal(mlx5dv_get_cqe_opcode(cqe), MLX5_CQE_RESP_SEND_IMM);
	assert_int_equal(be32toh(cqe->byte_cnt), 60);
	assert_int_equal(be32toh(cqe->imm_inval_pkey), 0xabcd);
	expect_nothing(a);
	expect_nothing(b);
}

/* Through both ends of all rings, with entries of 128 bytes. */
static void test_wrap(void **state)
{
	(void)state;
	a->cq.cqe_size = b->cq.cqe_size = 128;
	for (unsigned int i = 0; i < 3 * N_CQE; i++) {
		post_receive(b, 2048, 64);
		data[0] = i;
		post(a, MLX5_OPCODE_SEND, 0, 64, 0);
		settle();
		assert_int_equal(data[2048], (uint8_t)i);
		expect(a, MLX5_CQE_REQ, i);
		expect(b, MLX5_CQE_RESP_SEND, i);
	}
}

static void test_unsignalled(void **state)
{
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)(a->qp.buf.map + a->qp.sq_offset);

	(void)state;
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 8, 1000);
	ctrl->fm_ce_se = 0;
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 8, 1000);
	settle();
	expect(a, MLX5_CQE_REQ, 1);
	expect_nothing(a);
}

static void test_write_and_read(void **state)
{
	(void)state;
	post_receive(b, 0, 0);
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 200, 1000);
	post(a, MLX5_OPCODE_RDMA_READ, 3000, 200, 1000);
	post(a, MLX5_OPCODE_RDMA_WRITE_IMM, 0, 10, 2000);
	settle();
	assert_memory_equal(data + 1000, data, 200);
	assert_memory_equal(data + 3000, data, 200);
	assert_memory_equal(data + 2000, data, 10);
	for (unsigned int i = 0; i < 3; i++)
		expect(a, MLX5_CQE_REQ, i);
	expect(b, MLX5_CQE_RESP_WR_IMM, 0);
	expect_nothing(b);
}

static uint64_t word_at(uint32_t offset)
{
	uint64_t word;

	memcpy(&word, data + offset, sizeof word);
	return word;
}

/* Both write the old word to the sender's memory. */
static void test_atomics(void **state)
{
	uint64_t first = word_at(1000);

	(void)state;
	post_atomic(a, MLX5_OPCODE_ATOMIC_FA, 0, 1000, 5, 0);
	post_atomic(a, MLX5_OPCODE_ATOMIC_CS, 8, 1000, 77, first + 5);
	post_atomic(a, MLX5_OPCODE_ATOMIC_CS, 16, 1000, 88, first);
	settle();
	for (unsigned int i = 0; i < 3; i++)
		expect(a, MLX5_CQE_REQ, i);
	assert_true(word_at(0) == first);
	assert_true(word_at(8) == first + 5);
	assert_true(word_at(16) == 77);
	assert_true(word_at(1000) == 77);
}

static void test_atomic_is_not_granted(void **state)
{
	uint64_t before = word_at(1000);

	(void)state;
	b->qp.attr.access &= ~IBV_ACCESS_REMOTE_ATOMIC;
	post_atomic(a, MLX5_OPCODE_ATOMIC_FA, 0, 1000, 5, 0);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
	assert_true(word_at(1000) == before);
}

/* The provider decides the order: each element names the next one. */
static void test_srq_follows_links(void **state)
{
	(void)state;
	b->qp.srq = &b->srq;
	post_srq_receive(b, 0, 2048, 64);
	post_srq_receive(b, 3, 2112, 64);
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	post(a, MLX5_OPCODE_SEND, 64, 64, 0);
	settle();
	expect(b, MLX5_CQE_RESP_SEND, 0);
	expect(b, MLX5_CQE_RESP_SEND, 3);
	assert_memory_equal(data + 2048, data, 128);
}

static void test_datagram(void **state)
{
	struct mlx5_cqe64 *cqe;

	(void)state;
	post_receive(b, 2048, 140);
	post_to(a, MLX5_OPCODE_SEND, 0, 100, 0, 0x1111ull << 32, 20);
	settle();
	expect(a, MLX5_CQE_REQ, 0);
	cqe = next_cqe(b);
	assert_int_equal(be32toh(cqe->byte_cnt), 140);
	assert_int_equal(be32toh(cqe->flags_rqpn), 1 << 28 | 10);
	assert_int_equal(data[2048] >> 4, 6);
	assert_memory_equal(data + 2048 + 40, data, 100);
}

static void test_datagram_is_dropped(void **state)
{
	(void)state;
	post_to(a, MLX5_OPCODE_SEND, 0, 100, 0, 0x1111ull << 32, 20);
	settle();
	post_receive(b, 2048, 140);
	post_to(a, MLX5_OPCODE_SEND, 0, 100, 0, 0x2222ull << 32, 20);
	post_to(a, MLX5_OPCODE_SEND, 0, 100, 0, 0x1111ull << 32, 99);
	settle();
	for (unsigned int i = 0; i < 3; i++)
		expect(a, MLX5_CQE_REQ, i * 2);
	expect_nothing(b);
	assert_int_equal(a->qp.state, IBV_QPS_RTS);
}

/* Datagrams are single packets. */
static void test_datagram_is_too_long(void **state)
{
	(void)state;
	post_receive(b, 0, 2048);
	post_to(a, MLX5_OPCODE_SEND, 0, 1025, 0, 0x1111ull << 32, 20);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	expect_nothing(b);
}

static void test_dc(void **state)
{
	(void)state;
	post_srq_receive(b, 0, 2048, 64);
	post_to(a, MLX5_OPCODE_SEND, 0, 64, 0, 5, 20);
	post_to(a, MLX5_OPCODE_RDMA_READ, 3000, 64, 0, 5, 20);
	settle();
	expect(a, MLX5_CQE_REQ, 0);
	expect(a, MLX5_CQE_REQ, 2);
	expect(b, MLX5_CQE_RESP_SEND, 0);
	assert_memory_equal(data + 2048, data, 64);
	assert_memory_equal(data + 3000, data, 64);
}

/* An element of two blocks, the first of which is the ring's last. */
static void test_dc_wraps_within_an_element(void **state)
{
	(void)state;
	a->sq_posted = 2 * N_WQE - 1;
	data_of_qp(&a->qp)->sq_next = a->sq_posted;
	post_srq_receive(b, 0, 2048, 64);
	post_to(a, MLX5_OPCODE_SEND, 0, 64, 0, 5, 20);
	settle();
	expect(a, MLX5_CQE_REQ, 2 * N_WQE - 1);
	expect(b, MLX5_CQE_RESP_SEND, 0);
	assert_memory_equal(data + 2048, data, 64);
}

/* A target serves many initiators: it goes on after an error of one of them. */
static void test_dc_target_survives(void **state)
{
	(void)state;
	post_srq_receive(b, 0, 2048, 63);
	post_to(a, MLX5_OPCODE_SEND, 0, 64, 0, 5, 20);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	expect_error(b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	assert_int_equal(a->qp.state, IBV_QPS_ERR);
	assert_int_equal(b->qp.state, IBV_QPS_RTR);
}

static void test_dc_wrong_key(void **state)
{
	(void)state;
	post_srq_receive(b, 0, 2048, 64);
	post_to(a, MLX5_OPCODE_SEND, 0, 64, 0, 6, 20);
	settle_waiting(a);
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	expect_nothing(b);
	assert_int_equal(a->qp.state, IBV_QPS_ERR);
	assert_int_equal(b->qp.state, IBV_QPS_RTR);
}

/* Errors. */

static void test_remote_access(void **state)
{
	(void)state;
	post_receive(b, 0, 64);
	post_receive(a, 0, 64);
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 64, DATA - 63);
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	expect_error(a, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	expect_error(b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	assert_int_equal(b->async[IBV_EVENT_QP_ACCESS_ERR], 1);
	/* What is posted later is flushed as well. */
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
	expect_nothing(a);
}

static void expect_refused(void)
{
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 64, 128);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
}

static void test_not_granted_by_the_queue_pair(void **state)
{
	(void)state;
	b->qp.attr.access = IBV_ACCESS_REMOTE_READ;
	expect_refused();
}

static void test_not_granted_by_the_region(void **state)
{
	(void)state;
	mr.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	expect_refused();
}

static void test_region_of_another_domain(void **state)
{
	(void)state;
	b->qp.pd = &other_pd;
	expect_refused();
}

static void test_local_protection(void **state)
{
	(void)state;
	post_receive(b, 0, 64);
	post(a, MLX5_OPCODE_SEND, DATA - 10, 64, 0);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
	expect_nothing(b);
	assert_int_equal(b->qp.state, IBV_QPS_RTS);
}

/* A region without local write access receives no data. */
static void test_receive_protection(void **state)
{
	(void)state;
	mr.access = 0;
	post_receive(b, 0, 64);
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
	expect_error(b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
}

static void test_too_long(void **state)
{
	(void)state;
	post_receive(b, 2048, 63);
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	expect_error(b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	assert_int_equal(data[2048], (uint8_t)(2048 * 7));
}

static void test_receiver_not_ready(void **state)
{
	(void)state;
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	settle();
	expect_nothing(a);
	post_receive(b, 2048, 64);
	settle_waiting(a);
	expect(a, MLX5_CQE_REQ, 0);
	expect(b, MLX5_CQE_RESP_SEND, 0);
}

static void test_receiver_never_ready(void **state)
{
	(void)state;
	a->qp.attr.rnr_retry = 2;
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	settle_waiting(a);
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
	assert_int_equal(b->qp.state, IBV_QPS_RTS);
}

static void test_nobody_answers(void **state)
{
	(void)state;
	b->qp.attr.dest_qpn = 99;
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	settle_waiting(a);
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
}

/* A write whose packets @b does not take. */
static void expect_dropped(void)
{
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 64, 128);
	settle_waiting(a);
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	assert_int_equal(data[128], (uint8_t)(128 * 7));
	assert_int_equal(b->qp.state, IBV_QPS_RTS);
}

static void test_wrong_packet_number(void **state)
{
	(void)state;
	b->qp.attr.rq_psn = 1;
	expect_dropped();
}

static void test_wrong_address(void **state)
{
	(void)state;
	b->qp.attr.ah.grh.dgid.raw[0] = 1;
	expect_dropped();
}

static void test_address_of_nobody(void **state)
{
	(void)state;
	a->qp.attr.ah.grh.dgid.raw[0] = 2;
	expect_dropped();
}

/* Gone from the port, although the queue pair keeps the entry. */
static void test_address_is_removed(void **state)
{
	struct hca_gid removed = {.users = 1};

	(void)state;
	b->qp.gid = &removed;
	expect_dropped();
}

static void expect_numbers(uint32_t psn)
{
	assert_int_equal(a->qp.attr.sq_psn, psn);
	assert_int_equal(b->qp.attr.rq_psn, psn);
}

/* One for each packet; what a READ brings counts as well. */
static void test_packet_numbers(void **state)
{
	(void)state;
	a->qp.attr.path_mtu = b->qp.attr.path_mtu = IBV_MTU_1024;
	a->qp.attr.sq_psn = b->qp.attr.rq_psn = 0xfffffe;
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 1, 1000);
	settle();
	expect_numbers(0xffffff);
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 1024, 1024);
	settle();
	expect_numbers(0);
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 1025, 2048);
	settle();
	expect_numbers(2);
	post(a, MLX5_OPCODE_RDMA_READ, 0, 1025, 2048);
	settle();
	expect_numbers(4);
	/* A receiver that is not ready has taken nothing. */
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	settle();
	expect_numbers(4);
}

/* A message of one packet is the same to both; a longer one is cut in another way. */
static void test_wrong_mtu(void **state)
{
	(void)state;
	a->qp.attr.path_mtu = IBV_MTU_256;
	b->qp.attr.path_mtu = IBV_MTU_1024;
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 256, 1024);
	settle();
	expect(a, MLX5_CQE_REQ, 0);
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 257, 1024);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
	assert_int_equal(b->qp.state, IBV_QPS_ERR);
	assert_int_equal(b->async[IBV_EVENT_QP_REQ_ERR], 1);
}

/* Packets don't name the sender: the data arrives, and another queue pair hears of it. */
static void test_answer_goes_elsewhere(void **state)
{
	(void)state;
	b->qp.attr.dest_qpn = 99;
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 64, 1024);
	settle_waiting(a);
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	assert_memory_equal(data + 1024, data, 64);
	assert_int_equal(b->qp.attr.rq_psn, 1);
}

static void test_read_by_another(void **state)
{
	(void)state;
	b->qp.attr.dest_qpn = 99;
	post(a, MLX5_OPCODE_RDMA_READ, 1024, 64, 0);
	settle_waiting(a);
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
	assert_int_equal(data[1024 + 1], (uint8_t)(1025 * 7));
}

/* Each adapter counts its queue pairs on its own: both have number 10 here. */
static void test_other_adapter(void **state)
{
	(void)state;
	b->hca = &other_hca;
	b->qp.qpn = a->qp.attr.dest_qpn = b->qp.attr.dest_qpn = 10;
	b->qp.uidx = 1010;
	b->qp.gid = &other_hca.gids[0];
	a->qp.attr.ah.grh.dgid.raw[0] = 1;
	post_receive(b, 2048, 64);
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	post_receive(a, 3072, 64);
	post(b, MLX5_OPCODE_SEND, 0, 64, 0);
	settle();
	for (size_t i = 0; i < 2; i++) {
		expect(&ends[i], i ? MLX5_CQE_RESP_SEND : MLX5_CQE_REQ, 0);
		expect(&ends[i], i ? MLX5_CQE_REQ : MLX5_CQE_RESP_SEND, 0);
	}
	assert_memory_equal(data + 2048, data, 64);
	assert_memory_equal(data + 3072, data, 64);
}

static void test_unreliable_loses(void **state)
{
	(void)state;
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 64, DATA);
	settle();
	expect(a, MLX5_CQE_REQ, 0);
	expect(a, MLX5_CQE_REQ, 1);
	expect_nothing(b);
	assert_int_equal(b->qp.state, IBV_QPS_RTS);
	post(a, MLX5_OPCODE_RDMA_READ, 0, 64, 0);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
}

static void test_process_ends(void **state)
{
	(void)state;
	mr_is_gone = true;
	post_receive(b, 2048, 64);
	post(a, MLX5_OPCODE_SEND, 0, 64, 0);
	settle();
	expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
	assert_int_equal(a->qp.state, IBV_QPS_ERR);
	b->qp.db.length = 0;
	settle();
	assert_int_equal(b->qp.state, IBV_QPS_ERR);
	assert_int_equal(b->async[IBV_EVENT_QP_FATAL], 1);
}

/* A counter value that no provider writes. */
static void test_nonsense_counter(void **state)
{
	(void)state;
	a->db[1] = htobe32(2 * N_WQE + 1);
	settle();
	assert_int_equal(a->qp.state, IBV_QPS_ERR);
	assert_int_equal(a->async[IBV_EVENT_QP_FATAL], 1);
	expect_nothing(a);
}

static void test_overrun(void **state)
{
	(void)state;
	a->cq.n_cqe = 2;
	for (unsigned int i = 0; i < 4; i++)
		post(a, MLX5_OPCODE_RDMA_WRITE, 0, 8, 128);
	settle();
	assert_int_equal(a->async[IBV_EVENT_CQ_ERR], 1);
	assert_int_equal(((struct data_cq *)a->cq.data)->pi, 2);
	assert_int_equal(a->qp.state, IBV_QPS_ERR);
}

static void test_last_of_srq(void **state)
{
	(void)state;
	b->qp.srq = &b->srq;
	post_srq_receive(b, 0, 2048, 64);
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 64, DATA);
	settle();
	assert_int_equal(b->async[IBV_EVENT_QP_LAST_WQE_REACHED], 1);
	expect_nothing(b);
}

/* Events. */

static void arm(struct end *end, unsigned int sn, bool solicited)
{
	end->cq_db[1] = htobe32(sn << 28 | (solicited ? MLX5_CQ_DB_REQ_NOT_SOL : 0) | end->ci);
	cq_tell(&end->cq);
}

static void write_one(void)
{
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 8, 128);
	settle();
	cq_tell(&a->cq);
}

static void test_one_event_for_each_arming(void **state)
{
	(void)state;
	a->cq.channel = (struct hca_events *)a;
	arm(a, 0, false);
	assert_int_equal(a->events, 0);
	write_one();
	write_one();
	assert_int_equal(a->events, 1);
	/* Armed again while one completion was not polled. */
	next_cqe(a);
	arm(a, 1, false);
	assert_int_equal(a->events, 2);
	next_cqe(a);
	arm(a, 2, false);
	write_one();
	assert_int_equal(a->events, 3);
}

static void test_solicited_only(void **state)
{
	(void)state;
	a->cq.channel = b->cq.channel = (struct hca_events *)a;
	arm(a, 0, true);
	write_one();
	assert_int_equal(a->events, 0);
	/* Any error is. */
	post(a, MLX5_OPCODE_RDMA_WRITE, 0, 64, DATA);
	settle();
	assert_int_equal(a->events, 1);
}

#define WITH(set_up, test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH(set_up_rc, test_send),
	    WITH(set_up_rc, test_wrap),
	    WITH(set_up_rc, test_unsignalled),
	    WITH(set_up_rc, test_write_and_read),
	    WITH(set_up_rc, test_atomics),
	    WITH(set_up_rc, test_atomic_is_not_granted),
	    WITH(set_up_rc, test_srq_follows_links),
	    WITH(set_up_ud, test_datagram),
	    WITH(set_up_ud, test_datagram_is_dropped),
	    WITH(set_up_ud, test_datagram_is_too_long),
	    WITH(set_up_dc, test_dc),
	    WITH(set_up_dc, test_dc_wraps_within_an_element),
	    WITH(set_up_dc, test_dc_target_survives),
	    WITH(set_up_dc, test_dc_wrong_key),
	    WITH(set_up_rc, test_remote_access),
	    WITH(set_up_rc, test_not_granted_by_the_queue_pair),
	    WITH(set_up_rc, test_not_granted_by_the_region),
	    WITH(set_up_rc, test_region_of_another_domain),
	    WITH(set_up_rc, test_local_protection),
	    WITH(set_up_rc, test_receive_protection),
	    WITH(set_up_rc, test_too_long),
	    WITH(set_up_rc, test_receiver_not_ready),
	    WITH(set_up_rc, test_receiver_never_ready),
	    WITH(set_up_rc, test_nobody_answers),
	    WITH(set_up_rc, test_wrong_packet_number),
	    WITH(set_up_rc, test_wrong_address),
	    WITH(set_up_rc, test_address_of_nobody),
	    WITH(set_up_rc, test_address_is_removed),
	    WITH(set_up_rc, test_packet_numbers),
	    WITH(set_up_rc, test_wrong_mtu),
	    WITH(set_up_rc, test_answer_goes_elsewhere),
	    WITH(set_up_rc, test_read_by_another),
	    WITH(set_up_rc, test_other_adapter),
	    WITH(set_up_uc, test_unreliable_loses),
	    WITH(set_up_rc, test_process_ends),
	    WITH(set_up_rc, test_nonsense_counter),
	    WITH(set_up_rc, test_overrun),
	    WITH(set_up_rc, test_last_of_srq),
	    WITH(set_up_rc, test_one_event_for_each_arming),
	    WITH(set_up_rc, test_solicited_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
