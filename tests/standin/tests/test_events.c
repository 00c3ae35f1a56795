/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion channels and async event files, as programs read them. */
#include "shared_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static uint32_t number_of(struct ibv_cq *cq)
{
	struct mlx5dv_cq dv;
	struct mlx5dv_obj object = {.cq = {.in = cq, .out = &dv}};

	assert_int_equal(mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ), 0);
	return dv.cqn;
}

static void notify(struct ibv_cq *cq)
{
	tell("notify %u", number_of(cq));
}

static bool is_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

static void test_completion_event(void **state)
{
	struct ibv_cq *cq;
	void *context;

	(void)state;
	assert_false(is_readable(kit.channel->fd));
	notify(kit.cq);
	assert_true(is_readable(kit.channel->fd));
	assert_int_equal(ibv_get_cq_event(kit.channel, &cq, &context), 0);
	assert_ptr_equal(cq, kit.cq);
	ibv_ack_cq_events(cq, 1);
	assert_false(is_readable(kit.channel->fd));
}

static void test_not_blocking(void **state)
{
	struct ibv_cq *cq;
	void *context;

	(void)state;
	fcntl(kit.channel->fd, F_SETFL, O_NONBLOCK);
	assert_int_equal(ibv_get_cq_event(kit.channel, &cq, &context), -1);
	assert_int_equal(errno, EAGAIN);
}

/* A read gets one record, whatever its size. */
static void test_one_record_a_read(void **state)
{
	struct ib_uverbs_comp_event_desc records[4];

	(void)state;
	notify(kit.cq);
	notify(kit.cq);
	assert_int_equal(read(kit.channel->fd, records, sizeof(records)), sizeof(records[0]));
	assert_int_equal(records[0].cq_handle, (uintptr_t)kit.cq);
	assert_int_equal(read(kit.channel->fd, records, sizeof(records)), sizeof(records[0]));
	ibv_ack_cq_events(kit.cq, 2);
}

/* Records that do not fit the pipe are kept, in order. */
static void test_many(void **state)
{
	struct ibv_cq *other = ibv_create_cq(kit.context, 1, NULL, kit.channel, 0), *cq;
	void *context;

	(void)state;
	for (int i = 0; i < 20; i++) {
		notify(kit.cq);
		notify(other);
	}
	for (int i = 0; i < 40; i++) {
		assert_int_equal(ibv_get_cq_event(kit.channel, &cq, &context), 0);
		assert_ptr_equal(cq, i % 2 ? other : kit.cq);
		ibv_ack_cq_events(cq, 1);
	}
	assert_int_equal(ibv_destroy_cq(other), 0);
}

/*
 * The end of a queue drops its unread events and does not wait for them; those that were read have
 * been acknowledged.
 */
static void test_unread_end_with_queue(void **state)
{
	struct ibv_cq *other = ibv_create_cq(kit.context, 1, NULL, kit.channel, 0), *cq;
	void *context;

	(void)state;
	notify(other);
	assert_int_equal(ibv_get_cq_event(kit.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	notify(other);
	notify(kit.cq);
	notify(other);
	assert_int_equal(ibv_destroy_cq(other), 0);
	assert_int_equal(ibv_get_cq_event(kit.channel, &cq, &context), 0);
	assert_ptr_equal(cq, kit.cq);
	ibv_ack_cq_events(cq, 1);
	assert_false(is_readable(kit.channel->fd));
}

static void test_async_event(void **state)
{
	struct ibv_qp *qp = must_make_qp(&kit, RC);
	struct ibv_async_event event;

	(void)state;
	tell("event %u %d", qp->qp_num, IBV_EVENT_COMM_EST);
	assert_int_equal(ibv_get_async_event(kit.context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_COMM_EST);
	assert_ptr_equal(event.element.qp, qp);
	ibv_ack_async_event(&event);
	tell("event %u %d", qp->qp_num, IBV_EVENT_QP_FATAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_false(is_readable(kit.context->async_fd));
}

/* Another process reads, under another descriptor number. */
static void test_passed(void **state)
{
	struct ib_uverbs_comp_event_desc record;
	int pair[2], fd;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	send_fds(pair[0], &kit.channel->fd, 1);
	receive_fds(pair[1], &fd, 1);
	notify(kit.cq);
	assert_int_equal(read(fd, &record, sizeof(record)), sizeof(record));
	assert_int_equal(record.cq_handle, (uintptr_t)kit.cq);
	ibv_ack_cq_events(kit.cq, 1);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

static void test_closed_channel(void **state)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(kit.context);

	(void)state;
	assert_int_equal(count_objects("channels"), 2);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	wait_objects("channels", 1);
}

/* A queue outlives the descriptor of its channel; its events then go nowhere. */
static void test_channel_closed_under_queue(void **state)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(kit.context);
	struct ibv_cq *cq = ibv_create_cq(kit.context, 1, NULL, channel, 0);

	(void)state;
	close(channel->fd);
	notify(cq);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	wait_objects("channels", 1);
	channel->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    KIT_TEST(test_completion_event),
	    KIT_TEST(test_not_blocking),
	    KIT_TEST(test_one_record_a_read),
	    KIT_TEST(test_many),
	    KIT_TEST(test_unread_end_with_queue),
	    KIT_TEST(test_async_event),
	    KIT_TEST(test_passed),
	    KIT_TEST(test_closed_channel),
	    KIT_TEST(test_channel_closed_under_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
