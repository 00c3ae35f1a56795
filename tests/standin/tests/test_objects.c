/* SPDX-License-Identifier: BSD-2-Clause */
/* Each kind of object can be made and destroyed, but not destroyed while it is used. */
#include "shared_kit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void test_kit(void **state)
{
	(void)state;
	assert_int_equal(count_objects("ufiles"), 1);
	assert_int_equal(count_objects("contexts"), 1);
	assert_int_equal(count_objects("pd"), 1);
	assert_int_equal(count_objects("cq"), 1);
	assert_int_equal(count_objects("srq"), 1);
	assert_int_equal(count_objects("channels"), 1);
	assert_int_equal(count_objects("async_files"), 1);
	assert_int_equal(count_objects("uar"), 1);
}

static void test_queue_pairs(void **state)
{
	struct ibv_qp *qps[QP_KINDS];

	(void)state;
	for (enum qp_kind kind = RC; kind < QP_KINDS; kind++)
		qps[kind] = must_make_qp(&kit, kind);
	assert_int_equal(count_objects("qp"), QP_KINDS);
	for (enum qp_kind kind = RC; kind < QP_KINDS; kind++)
		assert_int_equal(ibv_destroy_qp(qps[kind]), 0);
	assert_int_equal(count_objects("qp"), 0);
}

static void test_completion_queue_forms(void **state)
{
	struct ibv_cq_init_attr_ex ex = {
	    .cqe = 100, .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct ibv_cq *cq = ibv_create_cq(kit.context, 100, NULL, NULL, 3);
	struct ibv_cq_ex *cq_ex = ibv_create_cq_ex(kit.context, &ex);

	(void)state;
	assert_non_null(cq);
	assert_non_null(cq_ex);
	assert_int_equal(cq->cqe, 127);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq_ex)), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_null(ibv_create_cq(kit.context, 100, NULL, NULL, 4));
	assert_int_equal(errno, EINVAL);
}

static void test_receive_queue(void **state)
{
	struct ibv_srq_attr attr = {.srq_limit = 5};

	(void)state;
	assert_int_equal(ibv_modify_srq(kit.srq, &attr, IBV_SRQ_LIMIT), 0);
	memset(&attr, 0, sizeof(attr));
	assert_int_equal(ibv_query_srq(kit.srq, &attr), 0);
	assert_int_equal(attr.srq_limit, 5);
	attr.srq_limit = 1000;
	assert_int_equal(ibv_modify_srq(kit.srq, &attr, IBV_SRQ_LIMIT), EINVAL);
}

static void test_memory_regions(void **state)
{
	static char memory[2 * 4096];
	struct ibv_mr *a = ibv_reg_mr(kit.pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mr *b = ibv_reg_mr(kit.pd, memory, sizeof(memory), IBV_ACCESS_REMOTE_READ);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_int_not_equal(a->lkey, b->lkey);
	assert_int_equal(count_objects("mr"), 2);
	assert_int_equal(ibv_dereg_mr(b), 0);
	assert_int_equal(ibv_dereg_mr(a), 0);
	/* Remote write access without local; memory that is not mapped. */
	assert_null(ibv_reg_mr(kit.pd, memory, sizeof(memory), IBV_ACCESS_REMOTE_WRITE));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_mr(kit.pd, (void *)4096, 4096, IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(errno, EFAULT);
}

static void test_address_handles(void **state)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	(void)state;
	attr.grh.sgid_index = 1;
	ibv_query_gid(kit.context, 1, 1, &attr.grh.dgid);
	ah = ibv_create_ah(kit.pd, &attr);
	assert_non_null(ah);
	assert_int_equal(count_objects("ah"), 1);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	attr.is_global = 0;
	assert_null(ibv_create_ah(kit.pd, &attr));
	assert_int_equal(errno, EINVAL);
}

/* The kernel counts users: an object with users cannot be destroyed. */
static void test_busy(void **state)
{
	struct ibv_qp *rc = must_make_qp(&kit, RC), *dct = must_make_qp(&kit, DCT);
	/* Without the library, which would free its part of the object. */
	struct ibv_pd pd = *kit.pd;

	(void)state;
	assert_int_equal(ibv_destroy_cq(kit.cq), EBUSY);
	assert_int_equal(ibv_destroy_srq(kit.srq), EBUSY);
	assert_int_equal(ibv_dealloc_pd(kit.pd), EBUSY);
	assert_int_equal(ibv_destroy_qp(dct), 0);
	assert_int_equal(ibv_destroy_cq(kit.cq), EBUSY);
	assert_int_equal(ibv_destroy_qp(rc), 0);
	assert_int_equal(pd.handle, kit.pd->handle);
}

/* One table of handles for all kinds, the lowest free first. */
static void test_handles(void **state)
{
	struct ibv_pd *a = ibv_alloc_pd(kit.context), *b = ibv_alloc_pd(kit.context), *c;
	struct ibv_cq *cq;
	uint32_t freed = a->handle;

	(void)state;
	assert_int_equal(b->handle, a->handle + 1);
	assert_int_equal(ibv_dealloc_pd(a), 0);
	cq = ibv_create_cq(kit.context, 1, NULL, NULL, 0);
	assert_int_equal(cq->handle, freed);
	c = ibv_alloc_pd(kit.context);
	assert_int_equal(c->handle, b->handle + 1);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(b), 0);
	assert_int_equal(ibv_dealloc_pd(c), 0);
}

/* The library's regions: two queue pairs in each of the first two, then one in each. */
static void test_regions(void **state)
{
	static const int64_t want[] = {2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 9};
	struct ibv_qp *qps[sizeof(want) / sizeof(want[0])];
	size_t n = sizeof(want) / sizeof(want[0]);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		qps[i] = must_make_qp(&kit, RC);
		assert_int_equal(count_objects("uar"), want[i]);
	}
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ibv_destroy_qp(qps[i]), 0);
}

/* Numbers are unique on the device: two contexts get different ones. */
static void test_numbers(void **state)
{
	struct ibv_qp *qp = must_make_qp(&kit, RC), *other_qp;
	struct kit other;

	(void)state;
	open_kit(&other);
	other_qp = must_make_qp(&other, RC);
	assert_int_equal(other_qp->handle, qp->handle);
	assert_int_not_equal(other_qp->qp_num, qp->qp_num);
	ibv_destroy_qp(other_qp);
	close_kit(&other);
	ibv_destroy_qp(qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    KIT_TEST(test_kit),
	    KIT_TEST(test_queue_pairs),
	    KIT_TEST(test_completion_queue_forms),
	    KIT_TEST(test_receive_queue),
	    KIT_TEST(test_memory_regions),
	    KIT_TEST(test_address_handles),
	    KIT_TEST(test_busy),
	    KIT_TEST(test_handles),
	    KIT_TEST(test_regions),
	    KIT_TEST(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
