/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of work queues and completion queues: from bytes to plain structs, and back. */
#include "data/cqe.h"
#include "data/wqe.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* An element that grows from the control segment on. */
struct built {
	uint8_t bytes[1024] __attribute__((aligned(64)));
	size_t len;
};

static void *add(struct built *built, size_t len)
{
	void *at = built->bytes + built->len;

	built->len += len;
	return at;
}

static void begin(struct built *built)
{
	memset(built, 0, sizeof *built);
	add(built, sizeof(struct mlx5_wqe_ctrl_seg));
}

static void add_raddr(struct built *built, uint64_t addr, uint32_t rkey)
{
	*(struct mlx5_wqe_raddr_seg *)add(built, sizeof(struct mlx5_wqe_raddr_seg)) =
	    (struct mlx5_wqe_raddr_seg){.raddr = htobe64(addr), .rkey = htobe32(rkey)};
}

static void add_pointer(struct built *built, uint32_t len, uint32_t lkey, uint64_t addr)
{
	mlx5dv_set_data_seg(add(built, sizeof(struct mlx5_wqe_data_seg)), len, lkey, addr);
}

static void add_inline(struct built *built, const void *data, uint32_t len)
{
	uint8_t *seg = add(built, (4 + len + 15) / 16 * 16);

	*(uint32_t *)seg = htobe32(len | MLX5_INLINE_SEG);
	memcpy(seg + 4, data, len);
}

static void finish(struct built *built, uint8_t opcode, uint16_t index, uint8_t flags)
{
	mlx5dv_set_ctrl_seg((void *)built->bytes, index, opcode, 0, 0xabcdef, flags,
			    built->len / 16, 0, htobe32(0x01020304));
}

static int parse(const struct built *built, bool addressed, struct send_wqe *wqe)
{
	return wqe_parse_send(built->bytes, built->len, addressed, wqe);
}

static void test_send_with_pointers(void **state)
{
	struct send_wqe wqe;
	struct built built;

	(void)state;
	begin(&built);
	add_pointer(&built, 100, 7, 0x1000);
	add_pointer(&built, 24, 8, 0x123456789abc);
	finish(&built, MLX5_OPCODE_SEND_IMM, 0xfffe,
	       MLX5_WQE_CTRL_CQ_UPDATE | MLX5_WQE_CTRL_SOLICITED);
	assert_int_equal(parse(&built, false, &wqe), 0);
	assert_int_equal(wqe.opcode, MLX5_OPCODE_SEND_IMM);
	assert_int_equal(wqe.index, 0xfffe);
	assert_int_equal(wqe.blocks, 1);
	assert_int_equal(wqe.qpn, 0xabcdef);
	assert_true(wqe.signalled && wqe.solicited && !wqe.fence && !wqe.inlined);
	assert_int_equal(be32toh(wqe.imm), 0x01020304);
	assert_int_equal(wqe.length, 124);
	assert_int_equal(wqe.num_sge, 2);
	assert_int_equal(wqe.sge[1].addr, 0x123456789abc);
	assert_int_equal(wqe.sge[1].len, 24);
	assert_int_equal(wqe.sge[1].lkey, 8);
}

static void test_write_and_read(void **state)
{
	struct send_wqe wqe;
	struct built built;

	(void)state;
	begin(&built);
	add_raddr(&built, 0xdeadbeef000, 0x1234);
	add_pointer(&built, 16, 7, 0x1000);
	finish(&built, MLX5_OPCODE_RDMA_READ, 3, MLX5_WQE_CTRL_FENCE);
	assert_int_equal(parse(&built, false, &wqe), 0);
	assert_int_equal(wqe.raddr, 0xdeadbeef000);
	assert_int_equal(wqe.rkey, 0x1234);
	assert_true(wqe.fence && !wqe.signalled);
	finish(&built, MLX5_OPCODE_RDMA_WRITE, 3, 0);
	assert_int_equal(parse(&built, false, &wqe), 0);
	assert_int_equal(wqe.num_sge, 1);
}

static void test_inline_in_two_segments(void **state)
{
	struct send_wqe wqe;
	struct built built;

	(void)state;
	begin(&built);
	add_inline(&built, "to be or not", 12);
	add_inline(&built, " to be", 6);
	finish(&built, MLX5_OPCODE_SEND, 0, 0);
	assert_int_equal(parse(&built, false, &wqe), 0);
	assert_int_equal(wqe.inlined, 18);
	assert_int_equal(wqe.length, 18);
	assert_memory_equal(wqe.data, "to be or not to be", 18);
}

/* As UCX sends: a header of its own, then the data of its user. */
static void test_inline_before_pointers(void **state)
{
	struct send_wqe wqe;
	struct built built;

	(void)state;
	begin(&built);
	add_inline(&built, "to be", 5);
	add_pointer(&built, 100, 7, 0x1000);
	finish(&built, MLX5_OPCODE_SEND, 0, 0);
	assert_int_equal(parse(&built, false, &wqe), 0);
	assert_int_equal(wqe.inlined, 5);
	assert_int_equal(wqe.length, 105);
	assert_int_equal(wqe.num_sge, 1);
	assert_int_equal(wqe.sge[0].lkey, 7);
}

static void add_address(struct built *built)
{
	static const uint8_t dgid[16] = {0xfe, 0x80, [15] = 9};
	static uint8_t mac[6];

	mlx5dv_set_dgram_seg(add(built, sizeof(struct mlx5_wqe_datagram_seg)), 0x1122334455667788,
			     0x42, 1, 0, 0, 0, mac, 5, 64, 3 << 20 | 0x77, (uint8_t *)dgid);
}

static void test_addressed(void **state)
{
	struct send_wqe wqe;
	struct built built;

	(void)state;
	begin(&built);
	add_address(&built);
	add_raddr(&built, 0x5000, 6);
	add_pointer(&built, 8, 7, 0x1000);
	finish(&built, MLX5_OPCODE_RDMA_WRITE, 0, 0);
	assert_int_equal(parse(&built, true, &wqe), 0);
	assert_int_equal(wqe.blocks, 2);
	assert_int_equal(wqe.to.qpn, 0x42);
	assert_true(wqe.to.dc_key == 0x1122334455667788);
	assert_int_equal(wqe.to.qkey, 0x11223344);
	assert_int_equal(wqe.to.sgid_index, 3);
	assert_int_equal(wqe.to.flow_label, 0x77);
	assert_int_equal(wqe.to.tclass, 5);
	assert_int_equal(wqe.to.hop_limit, 64);
	assert_int_equal(wqe.to.dgid[15], 9);
	assert_int_equal(wqe.raddr, 0x5000);
	assert_int_equal(wqe.num_sge, 1);
}

static void test_malformed(void **state)
{
	struct send_wqe wqe;
	struct built built;

	(void)state;
	begin(&built);
	finish(&built, MLX5_OPCODE_RDMA_WRITE, 5, MLX5_WQE_CTRL_CQ_UPDATE);
	assert_int_equal(parse(&built, false, &wqe), -EINVAL);
	assert_int_equal(wqe.index, 5);
	assert_true(wqe.signalled);
	finish(&built, MLX5_OPCODE_TSO, 0, 0);
	assert_int_equal(parse(&built, false, &wqe), -EOPNOTSUPP);
	finish(&built, 0xff, 0, 0);
	assert_int_equal(parse(&built, false, &wqe), -EOPNOTSUPP);
	finish(&built, MLX5_OPCODE_SEND, 0, 0);
	assert_int_equal(parse(&built, true, &wqe), -EINVAL);
	add_pointer(&built, 8, 7, 0x1000);
	add_inline(&built, "x", 1);
	finish(&built, MLX5_OPCODE_SEND, 0, 0);
	assert_int_equal(parse(&built, false, &wqe), -EINVAL);
	assert_int_equal(wqe_parse_send(built.bytes, 32, false, &wqe), -EINVAL);
	begin(&built);
	add_raddr(&built, 0, 0);
	add_inline(&built, "x", 1);
	finish(&built, MLX5_OPCODE_RDMA_READ, 0, 0);
	assert_int_equal(parse(&built, false, &wqe), -EINVAL);
	((struct mlx5_wqe_ctrl_seg *)built.bytes)->qpn_ds = 0;
	assert_int_equal(wqe_blocks(built.bytes), -EINVAL);
	assert_int_equal(parse(&built, false, &wqe), -EINVAL);
}

/* A length of more than the element has room for. */
static void test_inline_too_long(void **state)
{
	struct send_wqe wqe;
	struct built built;

	(void)state;
	begin(&built);
	add_inline(&built, "x", 1);
	*(uint32_t *)(built.bytes + 16) = htobe32(13 | MLX5_INLINE_SEG);
	finish(&built, MLX5_OPCODE_SEND, 0, 0);
	assert_int_equal(parse(&built, false, &wqe), -EINVAL);
	*(uint32_t *)(built.bytes + 16) = htobe32(UINT32_MAX);
	assert_int_equal(parse(&built, false, &wqe), -EINVAL);
}

static void test_spans(void **state)
{
	struct wqe_spans spans = wqe_spans(1024, 17, 128);

	(void)state;
	assert_int_equal(spans.offset[0], 64);
	assert_int_equal(spans.len[0], 128);
	assert_int_equal(spans.len[1], 0);
	spans = wqe_spans(1024, 0xffff, 176);
	assert_int_equal(spans.offset[0], 960);
	assert_int_equal(spans.len[0], 64);
	assert_int_equal(spans.offset[1], 0);
	assert_int_equal(spans.len[1], 112);
	spans = wqe_spans(64, 9, 64);
	assert_int_equal(spans.offset[0], 0);
	assert_int_equal(spans.len[0], 64);
}

static void test_receive(void **state)
{
	struct mlx5_wqe_data_seg list[4];
	struct recv_wqe wqe;

	(void)state;
	mlx5dv_set_data_seg(&list[0], 40, 7, 0x1000);
	mlx5dv_set_data_seg(&list[1], 60, 8, 0x2000);
	mlx5dv_set_data_seg(&list[2], 0, MLX5_INVALID_LKEY, 0);
	mlx5dv_set_data_seg(&list[3], 99, 9, 0x3000);
	wqe_parse_recv(list, sizeof list, false, &wqe);
	assert_int_equal(wqe.num_sge, 2);
	assert_int_equal(wqe.length, 100);
	assert_int_equal(wqe.sge[1].addr, 0x2000);
	/* A full list has no end mark. */
	wqe_parse_recv(list, 2 * sizeof *list, false, &wqe);
	assert_int_equal(wqe.num_sge, 2);
}

static void test_linked_receive(void **state)
{
	struct {
		struct mlx5_wqe_srq_next_seg link;
		struct mlx5_wqe_data_seg list[1];
	} element = {.link.next_wqe_index = htobe16(513)};
	struct recv_wqe wqe;

	(void)state;
	mlx5dv_set_data_seg(&element.list[0], 0, 7, 0x1000);
	wqe_parse_recv(&element, sizeof element, true, &wqe);
	assert_int_equal(wqe.next, 513);
	assert_int_equal(wqe.num_sge, 1);
	assert_true(wqe.length == 1ull << 31);
}

static void test_completion(void **state)
{
	struct completion done = {.kind = MLX5_CQE_RESP_SEND_IMM,
				  .solicited = true,
				  .grh = true,
				  .counter = 0x1234,
				  .qpn = 0x112233,
				  .uidx = 5,
				  .src_qpn = 0x445566,
				  .byte_cnt = 77,
				  .imm = htobe32(0xcafe),
				  .timestamp = 99};
	struct mlx5_cqe64 cqe;
	uint8_t sum = 0;

	(void)state;
	cqe_fill(&cqe, &done, 1);
	assert_int_equal(mlx5dv_get_cqe_opcode(&cqe), MLX5_CQE_RESP_SEND_IMM);
	assert_int_equal(mlx5dv_get_cqe_owner(&cqe), 1);
	assert_int_equal(mlx5dv_get_cqe_se(&cqe), 1);
	assert_int_equal(mlx5dv_get_cqe_format(&cqe), 0);
	assert_int_equal(be32toh(cqe.srqn_uidx), 5);
	assert_int_equal(be32toh(cqe.sop_drop_qpn), 0x112233);
	assert_int_equal(be32toh(cqe.flags_rqpn), 1 << 28 | 0x445566);
	assert_int_equal(be16toh(cqe.wqe_counter), 0x1234);
	assert_int_equal(be32toh(cqe.byte_cnt), 77);
	assert_int_equal(be32toh(cqe.imm_inval_pkey), 0xcafe);
	assert_int_equal(be64toh(cqe.timestamp), 99);
	for (size_t i = 0; i < sizeof cqe; i++)
		sum ^= ((uint8_t *)&cqe)[i];
	assert_int_equal(sum ^ 1, 0xff);
}

static void test_requester_and_error(void **state)
{
	struct completion done = {
	    .kind = MLX5_CQE_REQ, .opcode = MLX5_OPCODE_RDMA_READ, .qpn = 9, .byte_cnt = 8};
	struct mlx5_err_cqe *err;
	struct mlx5_cqe64 cqe;

	(void)state;
	cqe_fill(&cqe, &done, 0);
	assert_int_equal(be32toh(cqe.sop_drop_qpn), MLX5_OPCODE_RDMA_READ << 24 | 9);
	assert_int_equal(cqe.op_own, 0);
	assert_false(cqe_solicited(&done));
	done.kind = MLX5_CQE_REQ_ERR;
	done.syndrome = MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR;
	done.timestamp = UINT64_MAX;
	cqe_fill(&cqe, &done, 1);
	err = (struct mlx5_err_cqe *)&cqe;
	assert_int_equal(err->syndrome, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
	assert_int_equal(err->vendor_err_synd, 0);
	assert_int_equal(err->op_own, MLX5_CQE_REQ_ERR << 4 | 1);
	assert_true(cqe_solicited(&done));
}

static void test_places_in_the_queue(void **state)
{
	(void)state;
	assert_int_equal(cqe_offset(5, 4, 64), 64);
	assert_int_equal(cqe_offset(3, 4, 128), 384);
	assert_int_equal(cqe_owner(3, 4), 0);
	assert_int_equal(cqe_owner(4, 4), 1);
	assert_int_equal(cqe_owner(8, 4), 0);
	assert_int_equal(cqe_owner(UINT32_MAX, 4), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_send_with_pointers),
	    cmocka_unit_test(test_write_and_read),
	    cmocka_unit_test(test_inline_in_two_segments),
	    cmocka_unit_test(test_inline_before_pointers),
	    cmocka_unit_test(test_addressed),
	    cmocka_unit_test(test_malformed),
	    cmocka_unit_test(test_inline_too_long),
	    cmocka_unit_test(test_spans),
	    cmocka_unit_test(test_receive),
	    cmocka_unit_test(test_linked_receive),
	    cmocka_unit_test(test_completion),
	    cmocka_unit_test(test_requester_and_error),
	    cmocka_unit_test(test_places_in_the_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
