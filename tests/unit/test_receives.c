/* SPDX-License-Identifier: BSD-2-Clause */
/* The receive ring of soft-RoCE, in memory: the kernel's part is played by the test. */
#include "preload/rxe/receives.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_rxe.h>
#include <stdlib.h>
#include <string.h>

#define LOG2	 4
#define ELEMENTS 8
#define BYTES	 (sizeof(struct rxe_queue_buf) + (ELEMENTS << LOG2))

static _Alignas(8) uint8_t memory[BYTES];
static struct rxe_queue_buf *const queue = (void *)memory;
static struct wv_ring ring;

static int begin(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	queue->log2_elem_size = LOG2;
	queue->index_mask = ELEMENTS - 1;
	ring = (struct wv_ring){.bytes = BYTES, .at = memory};
	return 0;
}

static void post(uint8_t what)
{
	memset(queue->data + (queue->producer_index << LOG2), what, 1 << LOG2);
	queue->producer_index = (queue->producer_index + 1) & queue->index_mask;
}

/* As the kernel takes one. */
static uint8_t take(void)
{
	uint8_t what = queue->data[queue->consumer_index << LOG2];

	assert_int_not_equal(queue->consumer_index, queue->producer_index);
	queue->consumer_index = (queue->consumer_index + 1) & queue->index_mask;
	return what;
}

static void drain(void)
{
	queue->consumer_index = queue->producer_index;
	memset(queue->data, 0xee, ELEMENTS << LOG2);
}

static void test_all_come_back_in_order(void **state)
{
	(void)state;
	for (uint32_t start = 0; start < ELEMENTS; start++) {
		for (uint8_t n = 0; n < ELEMENTS; n++) {
			void *saved;

			queue->producer_index = queue->consumer_index = start;
			for (uint8_t i = 0; i < n; i++)
				post(i + 1);
			assert_int_equal(wv_rxe_receives.save(&ring, &saved), 0);
			drain();
			wv_rxe_receives.restore(&ring, saved);
			for (uint8_t i = 0; i < n; i++)
				assert_int_equal(take(), i + 1);
			assert_int_equal(queue->consumer_index, queue->producer_index);
		}
	}
}

static void test_no_queue(void **state)
{
	void *saved = &ring;

	(void)state;
	ring.bytes = 0;
	assert_int_equal(wv_rxe_receives.save(&ring, &saved), 0);
	assert_null(saved);
	wv_rxe_receives.restore(&ring, saved);
}

static void test_mapping_not_seen(void **state)
{
	void *saved;

	(void)state;
	ring.at = NULL;
	assert_int_equal(wv_rxe_receives.save(&ring, &saved), -ENODATA);
}

static void expect_nonsense(void)
{
	void *saved;

	assert_int_equal(wv_rxe_receives.save(&ring, &saved), -ENODATA);
	assert_null(saved);
}

/* The program can write to the ring. */
static void test_nonsense(void **state)
{
	(void)state;
	queue->log2_elem_size = LOG2 + 1;
	expect_nonsense();
	queue->log2_elem_size = 60;
	expect_nonsense();
	queue->log2_elem_size = LOG2;
	queue->index_mask = 2 * ELEMENTS - 1;
	expect_nonsense();
	queue->index_mask = UINT32_MAX;
	expect_nonsense();
	queue->index_mask = ELEMENTS - 1;
	ring.bytes = sizeof(struct rxe_queue_buf) - 1;
	expect_nonsense();
}

static void test_nonsense_after_saving(void **state)
{
	void *saved;

	(void)state;
	post(1);
	assert_int_equal(wv_rxe_receives.save(&ring, &saved), 0);
	queue->index_mask = UINT32_MAX;
	wv_rxe_receives.restore(&ring, saved);
	assert_int_equal(queue->producer_index, 1);
}

/* The answer to the creation says where the ring is mapped from. */
static void test_found_in_the_answer(void **state)
{
	struct rxe_create_qp_resp resp = {.rq_mi = {.offset = 0x5000, .size = 0x1000}};
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[2];
	} cmd = {
	    .hdr = {.num_attrs = 1},
	    .attrs = {
		{.attr_id = UVERBS_ATTR_UHW_OUT, .len = sizeof(resp), .data = (uintptr_t)&resp},
		{.attr_id = UVERBS_ATTR_CREATE_QP_SRQ_HANDLE}}};

	(void)state;
	wv_rxe_receives.find(&cmd.hdr, &ring);
	assert_int_equal(ring.offset, 0x5000);
	assert_int_equal(ring.bytes, 0x1000);
	assert_null(ring.at);
	cmd.hdr.num_attrs = 2;
	wv_rxe_receives.find(&cmd.hdr, &ring);
	assert_int_equal(ring.bytes, 0);
	cmd.hdr.num_attrs = 1;
	cmd.attrs[0].len = sizeof(resp) - 1;
	wv_rxe_receives.find(&cmd.hdr, &ring);
	assert_int_equal(ring.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_all_come_back_in_order, begin),
	    cmocka_unit_test_setup(test_no_queue, begin),
	    cmocka_unit_test_setup(test_mapping_not_seen, begin),
	    cmocka_unit_test_setup(test_nonsense, begin),
	    cmocka_unit_test_setup(test_nonsense_after_saving, begin),
	    cmocka_unit_test_setup(test_found_in_the_answer, begin),
	};

	return cmocka_run_group_tests_name("receives", tests, NULL, NULL);
}
