/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection requests of clients, and the queue pairs that are created for them. */
#include "preload/pairs/requests.h"

#include "preload/client/daemon_connection.h"
#include "wire/wire.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <rdma/rdma_cma.h>
#include <string.h>

#define MANY 200

static struct rdma_cm_id ids[MANY];

static int begin(void **state)
{
	(void)state;
	wv_requests_forget();
	wv_client_note_answer(WV_ANSWER_PAIRS);
	return 0;
}

/* @number is that of the client's queue pair, and the last byte of its GID. */
static void report(struct rdma_cm_id *id, enum rdma_cm_event_type type, uint8_t number)
{
	struct rdma_cm_event event = {.id = id, .event = type, .param.conn.qp_num = number};

	id->route.addr.addr.ibaddr.dgid.raw[15] = number;
	wv_requests_note(&event);
}

/* The number that a queue pair for @id is created for; 0: for none. */
static uint32_t created_for(const struct rdma_cm_id *id)
{
	struct wv_qp_peer request;

	wv_request_begin(id);
	request = *wv_request_current();
	wv_request_end();
	assert_int_equal(wv_request_current()->qp_num, 0);
	if (request.qp_num)
		assert_int_equal(request.gid[15], request.qp_num);
	return request.qp_num;
}

static void test_each_id_has_its_own(void **state)
{
	(void)state;
	report(&ids[0], RDMA_CM_EVENT_CONNECT_REQUEST, 7);
	report(&ids[1], RDMA_CM_EVENT_CONNECT_REQUEST, 8);
	assert_int_equal(created_for(&ids[2]), 0);
	assert_int_equal(created_for(&ids[1]), 8);
	assert_int_equal(created_for(&ids[0]), 7);
}

static void test_a_request_is_for_one_queue_pair(void **state)
{
	(void)state;
	report(&ids[0], RDMA_CM_EVENT_CONNECT_REQUEST, 7);
	assert_int_equal(created_for(&ids[0]), 7);
	assert_int_equal(created_for(&ids[0]), 0);
}

/* An id whose request the program has refused may get the place in memory of another. */
static void test_the_last_request_of_an_id_counts(void **state)
{
	(void)state;
	report(&ids[0], RDMA_CM_EVENT_CONNECT_REQUEST, 7);
	report(&ids[0], RDMA_CM_EVENT_CONNECT_REQUEST, 9);
	assert_int_equal(created_for(&ids[0]), 9);
	assert_int_equal(created_for(&ids[0]), 0);
}

static void test_other_events_name_nobody(void **state)
{
	(void)state;
	report(&ids[0], RDMA_CM_EVENT_ESTABLISHED, 7);
	ids[1].ps = RDMA_PS_UDP;
	report(&ids[1], RDMA_CM_EVENT_CONNECT_REQUEST, 7);
	ids[1].ps = 0;
	assert_int_equal(created_for(&ids[0]), 0);
	assert_int_equal(created_for(&ids[1]), 0);
}

static void test_a_flood_drops_the_oldest(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < MANY; i++)
		report(&ids[i], RDMA_CM_EVENT_CONNECT_REQUEST, (uint8_t)(i + 1));
	assert_int_equal(created_for(&ids[0]), 0);
	assert_int_equal(created_for(&ids[MANY - 1]), MANY);
}

static void test_nothing_without_pairs(void **state)
{
	(void)state;
	wv_client_note_answer(0);
	report(&ids[0], RDMA_CM_EVENT_CONNECT_REQUEST, 7);
	assert_int_equal(created_for(&ids[0]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_each_id_has_its_own, begin),
	    cmocka_unit_test_setup(test_a_request_is_for_one_queue_pair, begin),
	    cmocka_unit_test_setup(test_the_last_request_of_an_id_counts, begin),
	    cmocka_unit_test_setup(test_other_events_name_nobody, begin),
	    cmocka_unit_test_setup(test_a_flood_drops_the_oldest, begin),
	    cmocka_unit_test_setup(test_nothing_without_pairs, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
