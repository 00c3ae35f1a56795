/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors as a program sees them through the provider library: two queue pairs of this process, on
 * the stand-in.
 */
#include <infiniband/verbs.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PORT	     1
#define QKEY	     0x1234
#define SIZE	     4096
#define DEPTH	     16
#define RNR_FOR_EVER 7
#define MIN_RNR	     1 /* 0.01 ms */
#define TIMEOUT	     8 /* 1 ms */
#define RIGHTS	     (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_ah *ah;
static uint8_t *data;
static struct end a, b;

static int open_device(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	(void)state;
	if (!list || !*list)
		return -1;
	context = ibv_open_device(*list);
	ibv_free_device_list(list);
	return context ? 0 : -1;
}

static int close_device(void **state)
{
	(void)state;
	return ibv_close_device(context);
}

static void make_end(struct end *end, enum ibv_qp_type type, int n_cqe)
{
	struct ibv_qp_init_attr attr = {
	    .cap = {.max_send_wr = DEPTH,
		    .max_recv_wr = DEPTH,
		    .max_send_sge = 1,
		    .max_recv_sge = 1},
	    .qp_type = type,
	};

	end->cq = ibv_create_cq(context, n_cqe, NULL, NULL, 0);
	assert_non_null(end->cq);
	attr.send_cq = attr.recv_cq = end->cq;
	end->qp = ibv_create_qp(pd, &attr);
	assert_non_null(end->qp);
}

static struct ibv_ah_attr address(void)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = PORT, .grh = {.hop_limit = 1}};

	assert_int_equal(ibv_query_gid(context, PORT, 0, &attr.grh.dgid), 0);
	return attr;
}

static void connect_rc(struct end *end, uint32_t peer, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_INIT,
	    .port_num = PORT,
	    .qp_access_flags = RIGHTS,
	    .path_mtu = IBV_MTU_1024,
	    .dest_qp_num = peer,
	    .max_dest_rd_atomic = 1,
	    .min_rnr_timer = MIN_RNR,
	    .ah_attr = address(),
	    .timeout = TIMEOUT,
	    .retry_cnt = 2,
	    .rnr_retry = rnr_retry,
	    .max_rd_atomic = 1,
	};

	assert_int_equal(
	    ibv_modify_qp(end->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    0);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(end->qp, &attr,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(end->qp, &attr,
				       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					   IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

static void ready_ud(struct end *end)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = PORT, .qkey = QKEY};

	assert_int_equal(
	    ibv_modify_qp(end->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
	    0);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static int set_up_memory(void)
{
	struct ibv_ah_attr attr = address();

	data = calloc(1, SIZE);
	pd = ibv_alloc_pd(context);
	mr = ibv_reg_mr(pd, data, SIZE, RIGHTS);
	ah = ibv_create_ah(pd, &attr);
	return data && mr && ah ? 0 : -1;
}

static int set_up(enum ibv_qp_type type, uint8_t rnr_retry, int n_cqe)
{
	if (set_up_memory())
		return -1;
	make_end(&a, type, n_cqe);
	make_end(&b, type, n_cqe);
	if (type == IBV_QPT_UD) {
		ready_ud(&a);
		ready_ud(&b);
	} else {
		connect_rc(&a, b.qp->qp_num, rnr_retry);
		connect_rc(&b, a.qp->qp_num, rnr_retry);
	}
	return 0;
}

static int set_up_rc(void **state)
{
	(void)state;
	return set_up(IBV_QPT_RC, RNR_FOR_EVER, 2 * DEPTH);
}

static int set_up_rc_with_one_retry(void **state)
{
	(void)state;
	return set_up(IBV_QPT_RC, 1, 2 * DEPTH);
}

static int set_up_rc_with_small_cqs(void **state)
{
	(void)state;
	return set_up(IBV_QPT_RC, RNR_FOR_EVER, 3);
}

static int set_up_unconnected(void **state)
{
	(void)state;
	if (set_up_memory())
		return -1;
	make_end(&a, IBV_QPT_RC, 2 * DEPTH);
	make_end(&b, IBV_QPT_RC, 2 * DEPTH);
	return 0;
}

static int set_up_ud(void **state)
{
	(void)state;
	return set_up(IBV_QPT_UD, 0, 2 * DEPTH);
}

/* Each test also checks that all objects can be destroyed. */
static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(ibv_destroy_qp(a.qp), 0);
	assert_int_equal(ibv_destroy_qp(b.qp), 0);
	assert_int_equal(ibv_destroy_cq(a.cq), 0);
	assert_int_equal(ibv_destroy_cq(b.cq), 0);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	free(data);
	return 0;
}

static struct ibv_sge sge_of(uint32_t offset, uint32_t len)
{
	return (struct ibv_sge){(uintptr_t)data + offset, len, mr->lkey};
}

static void post(struct end *end, uint64_t id, enum ibv_wr_opcode opcode, struct ibv_sge sge,
		 uint32_t rkey)
{
	struct ibv_send_wr wr = {
	    .wr_id = id,
	    .sg_list = &sge,
	    .num_sge = 1,
	    .opcode = opcode,
	    .send_flags = IBV_SEND_SIGNALED,
	    .wr = {.rdma = {.remote_addr = (uintptr_t)data, .rkey = rkey}},
	};
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_post_send(end->qp, &wr, &bad), 0);
}

static void post_datagram(struct end *end, uint64_t id, struct ibv_sge sge, uint32_t qpn)
{
	struct ibv_send_wr wr = {
	    .wr_id = id,
	    .sg_list = &sge,
	    .num_sge = 1,
	    .opcode = IBV_WR_SEND,
	    .send_flags = IBV_SEND_SIGNALED,
	    .wr = {.ud = {.ah = ah, .remote_qpn = qpn, .remote_qkey = QKEY}},
	};
	struct ibv_send_wr *bad;

	assert_int_equal(ibv_post_send(end->qp, &wr, &bad), 0);
}

static void post_receive(struct end *end, uint64_t id, struct ibv_sge sge)
{
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
}

/* Waits until the test's time limit. */
static void expect(struct end *end, uint64_t id, enum ibv_wc_status status)
{
	struct ibv_wc wc;
	int count;

	do
		count = ibv_poll_cq(end->cq, 1, &wc);
	while (!count);
	assert_int_equal(count, 1);
	assert_int_equal(wc.status, status);
	assert_int_equal(wc.wr_id, id);
	assert_int_equal(wc.qp_num, end->qp->qp_num);
}

static void expect_state(struct end *end, enum ibv_qp_state state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, state);
}

static void expect_event(enum ibv_event_type type)
{
	struct ibv_async_event event;

	assert_int_equal(ibv_get_async_event(context, &event), 0);
	assert_int_equal(event.event_type, type);
	ibv_ack_async_event(&event);
}

static void test_remote_access(void **state)
{
	(void)state;
	post_receive(&a, 1, sge_of(0, 64));
	post(&a, 2, IBV_WR_RDMA_WRITE, sge_of(0, 64), mr->rkey + 0x100);
	expect(&a, 2, IBV_WC_REM_ACCESS_ERR);
	expect(&a, 1, IBV_WC_WR_FLUSH_ERR);
	expect_state(&a, IBV_QPS_ERR);
	expect_state(&b, IBV_QPS_ERR);
	expect_event(IBV_EVENT_QP_ACCESS_ERR);
	post(&a, 3, IBV_WR_SEND, sge_of(0, 64), 0);
	expect(&a, 3, IBV_WC_WR_FLUSH_ERR);
}

/* RESET takes a queue pair out of error. */
static void test_reset_and_reuse(void **state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	test_remote_access(state);
	assert_int_equal(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE), 0);
	connect_rc(&a, b.qp->qp_num, RNR_FOR_EVER);
	connect_rc(&b, a.qp->qp_num, RNR_FOR_EVER);
	strcpy((char *)data, "once more");
	post_receive(&b, 4, sge_of(1024, 64));
	post(&a, 5, IBV_WR_SEND, sge_of(0, 64), 0);
	expect(&a, 5, IBV_WC_SUCCESS);
	expect(&b, 4, IBV_WC_SUCCESS);
	assert_string_equal((char *)data + 1024, "once more");
}

static void test_local_protection(void **state)
{
	struct ibv_sge sge = sge_of(SIZE - 63, 64);

	(void)state;
	post_receive(&b, 1, sge_of(0, 64));
	post(&a, 2, IBV_WR_SEND, sge, 0);
	expect(&a, 2, IBV_WC_LOC_PROT_ERR);
	expect_state(&a, IBV_QPS_ERR);
	expect_state(&b, IBV_QPS_RTS);
}

static void test_too_long(void **state)
{
	(void)state;
	post_receive(&b, 1, sge_of(0, 63));
	post(&a, 2, IBV_WR_SEND, sge_of(1024, 64), 0);
	expect(&a, 2, IBV_WC_REM_INV_REQ_ERR);
	expect(&b, 1, IBV_WC_LOC_LEN_ERR);
}

static void test_receiver_becomes_ready(void **state)
{
	(void)state;
	post(&a, 2, IBV_WR_SEND, sge_of(0, 64), 0);
	usleep(1000);
	post_receive(&b, 1, sge_of(1024, 64));
	expect(&a, 2, IBV_WC_SUCCESS);
	expect(&b, 1, IBV_WC_SUCCESS);
}

static void test_receiver_is_never_ready(void **state)
{
	(void)state;
	post(&a, 2, IBV_WR_SEND, sge_of(0, 64), 0);
	expect(&a, 2, IBV_WC_RNR_RETRY_EXC_ERR);
}

static void test_nobody_answers(void **state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	(void)state;
	assert_int_equal(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE), 0);
	post(&a, 2, IBV_WR_SEND, sge_of(0, 64), 0);
	expect(&a, 2, IBV_WC_RETRY_EXC_ERR);
}

/* The second message arrives, and the first receive takes it. */
static void test_datagram_without_receive(void **state)
{
	(void)state;
	strcpy((char *)data, "lost");
	post_datagram(&a, 2, sge_of(0, 64), b.qp->qp_num);
	expect(&a, 2, IBV_WC_SUCCESS);
	post_receive(&b, 1, sge_of(1024, 64 + 40));
	strcpy((char *)data, "found");
	post_datagram(&a, 3, sge_of(0, 64), b.qp->qp_num);
	expect(&a, 3, IBV_WC_SUCCESS);
	expect(&b, 1, IBV_WC_SUCCESS);
	assert_string_equal((char *)data + 1024 + 40, "found");
}

/* More completions than the queue has room for, none of them polled. */
static void test_overrun(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < DEPTH - 1; i++)
		post(&a, i, IBV_WR_RDMA_WRITE, sge_of(64, 8), mr->rkey);
	expect_event(IBV_EVENT_CQ_ERR);
	expect_state(&a, IBV_QPS_ERR);
}

/* The other side, in a process with a context of its own; waits to be killed. */
static void __attribute__((noreturn)) be_peer(int fd)
{
	uint32_t qpn;

	if (open_device(NULL) || set_up_memory())
		_exit(1);
	make_end(&b, IBV_QPT_RC, 2 * DEPTH);
	if (read(fd, &qpn, sizeof qpn) != sizeof qpn)
		_exit(1);
	connect_rc(&b, qpn, RNR_FOR_EVER);
	post_receive(&b, 1, sge_of(0, 64));
	post_receive(&b, 2, sge_of(0, 64));
	if (write(fd, &b.qp->qp_num, sizeof qpn) != sizeof qpn)
		_exit(1);
	pause();
	_exit(0);
}

/* Its receives are still posted, but nobody is there. */
static void test_peer_dies(void **state)
{
	uint32_t qpn = a.qp->qp_num;
	int fds[2];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = fork();
	if (!pid)
		be_peer(fds[1]);
	assert_int_equal(write(fds[0], &qpn, sizeof qpn), sizeof qpn);
	assert_int_equal(read(fds[0], &qpn, sizeof qpn), sizeof qpn);
	connect_rc(&a, qpn, RNR_FOR_EVER);
	post(&a, 3, IBV_WR_SEND, sge_of(0, 64), 0);
	expect(&a, 3, IBV_WC_SUCCESS);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	post(&a, 4, IBV_WR_SEND, sge_of(0, 64), 0);
	expect(&a, 4, IBV_WC_RETRY_EXC_ERR);
	close(fds[0]);
	close(fds[1]);
}

#define WITH(set_up, test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH(set_up_rc, test_remote_access),
	    WITH(set_up_rc, test_reset_and_reuse),
	    WITH(set_up_rc, test_local_protection),
	    WITH(set_up_rc, test_too_long),
	    WITH(set_up_rc, test_receiver_becomes_ready),
	    WITH(set_up_rc_with_one_retry, test_receiver_is_never_ready),
	    WITH(set_up_rc, test_nobody_answers),
	    WITH(set_up_ud, test_datagram_without_receive),
	    WITH(set_up_rc_with_small_cqs, test_overrun),
	    WITH(set_up_unconnected, test_peer_dies),
	};

	return cmocka_run_group_tests(tests, open_device, close_device);
}
