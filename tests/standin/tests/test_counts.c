/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The firmware commands of each verb, as the driver of Linux 6.1 gives them. They are the measure
 * of what a program saves that adopts a lease.
 */
#include "shared_kit.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct ibv_qp *qps[QP_KINDS];
static struct ibv_ah *ah;
static struct ibv_mr *mr;
static char buffer[4096];

/* Each step uses objects that the steps before it made. */
static void do_open(void)
{
	kit.context = open_device();
}

static void do_alloc_pd(void)
{
	kit.pd = ibv_alloc_pd(kit.context);
}

static void do_create_channel(void)
{
	kit.channel = ibv_create_comp_channel(kit.context);
}

static void do_create_cq(void)
{
	kit.cq = ibv_create_cq(kit.context, 10, NULL, kit.channel, 0);
}

static void do_create_srq(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 10, .max_sge = 1}};

	kit.srq = ibv_create_srq(kit.pd, &attr);
}

static void do_reg_mr(void)
{
	mr = ibv_reg_mr(kit.pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
}

static void do_create_ah(void)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

	attr.grh.sgid_index = 1;
	ibv_query_gid(kit.context, 1, 1, &attr.grh.dgid);
	ah = ibv_create_ah(kit.pd, &attr);
}

static void do_query_device(void)
{
	struct ibv_device_attr attr;

	ibv_query_device(kit.context, &attr);
}

static void do_query_port(void)
{
	struct ibv_port_attr attr;

	ibv_query_port(kit.context, 1, &attr);
}

static void do_query_qp(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ibv_query_qp(qps[RC], &attr, IBV_QP_STATE, &init);
}

static void do_query_srq(void)
{
	struct ibv_srq_attr attr;

	ibv_query_srq(kit.srq, &attr);
}

static void do_limit_srq(void)
{
	struct ibv_srq_attr attr = {.srq_limit = 2};

	ibv_modify_srq(kit.srq, &attr, IBV_SRQ_LIMIT);
}

#define QP_STEPS(kind)                                                                             \
	static void do_create_##kind(void)                                                         \
	{                                                                                          \
		qps[kind] = make_qp(&kit, kind);                                                   \
	}                                                                                          \
	static void do_init_##kind(void)                                                           \
	{                                                                                          \
		step_qp(qps[kind], kind, IBV_QPS_INIT);                                            \
	}                                                                                          \
	static void do_rtr_##kind(void)                                                            \
	{                                                                                          \
		step_qp(qps[kind], kind, IBV_QPS_RTR);                                             \
	}                                                                                          \
	static void do_destroy_##kind(void)                                                        \
	{                                                                                          \
		ibv_destroy_qp(qps[kind]);                                                         \
	}
#define RTS_STEP(kind)                                                                             \
	static void do_rts_##kind(void)                                                            \
	{                                                                                          \
		step_qp(qps[kind], kind, IBV_QPS_RTS);                                             \
	}
QP_STEPS(RC)
QP_STEPS(UC)
QP_STEPS(UD)
QP_STEPS(DCI)
QP_STEPS(DCT)
RTS_STEP(RC)
RTS_STEP(UC)
RTS_STEP(UD)
RTS_STEP(DCI)

static void do_error_RC(void)
{
	step_qp_masked(qps[RC], IBV_QPS_ERR, 0);
}

static void do_reset_RC(void)
{
	step_qp_masked(qps[RC], IBV_QPS_RESET, 0);
}

static void do_destroy_ah(void)
{
	ibv_destroy_ah(ah);
}

static void do_dereg_mr(void)
{
	ibv_dereg_mr(mr);
}

static void do_destroy_srq(void)
{
	ibv_destroy_srq(kit.srq);
}

static void do_destroy_cq(void)
{
	ibv_destroy_cq(kit.cq);
}

static void do_destroy_channel(void)
{
	ibv_destroy_comp_channel(kit.channel);
}

static void do_dealloc_pd(void)
{
	ibv_dealloc_pd(kit.pd);
}

#define N_COMMANDS 9

static const struct {
	const char *verb;
	void (*run)(void);
	const char *firmware[N_COMMANDS]; /* a name twice: given twice */
} steps[] = {
    {"ibv_open_device",
     do_open,
     {"CREATE_UCTX", "ALLOC_TRANSPORT_DOMAIN", "QUERY_SPECIAL_CONTEXTS", "QUERY_HCA_CAP",
      "QUERY_NIC_VPORT_CONTEXT", "QUERY_ADAPTER", "ACCESS_REG", "QUERY_NIC_VPORT_CONTEXT",
      "ALLOC_UAR"}},
    {"ibv_query_device", do_query_device, {"QUERY_NIC_VPORT_CONTEXT", "QUERY_ADAPTER"}},
    {"ibv_query_port", do_query_port, {"ACCESS_REG", "QUERY_NIC_VPORT_CONTEXT"}},
    {"ibv_alloc_pd", do_alloc_pd, {"ALLOC_PD"}},
    {"ibv_create_comp_channel", do_create_channel, {NULL}},
    {"ibv_create_cq", do_create_cq, {"CREATE_CQ"}},
    {"ibv_create_srq", do_create_srq, {"CREATE_RMP"}},
    {"ibv_query_srq", do_query_srq, {"QUERY_RMP"}},
    {"ibv_modify_srq", do_limit_srq, {"ARM_RQ"}},
    {"ibv_reg_mr", do_reg_mr, {"CREATE_MKEY"}},
    {"ibv_create_ah", do_create_ah, {NULL}},
    {"RC, with a region", do_create_RC, {"ALLOC_UAR", "CREATE_QP"}},
    {"RC to INIT", do_init_RC, {"RST2INIT_QP"}},
    {"RC to RTR", do_rtr_RC, {"INIT2RTR_QP"}},
    {"RC to RTS", do_rts_RC, {"RTR2RTS_QP"}},
    {"ibv_query_qp", do_query_qp, {"QUERY_QP"}},
    {"RC to ERR", do_error_RC, {"2ERR_QP"}},
    {"RC to RESET", do_reset_RC, {"2RST_QP"}},
    {"UC, in the same region", do_create_UC, {"CREATE_QP"}},
    {"UC to INIT", do_init_UC, {"RST2INIT_QP"}},
    {"UC to RTR", do_rtr_UC, {"INIT2RTR_QP"}},
    {"UC to RTS", do_rts_UC, {"RTR2RTS_QP"}},
    {"UD, with a region", do_create_UD, {"ALLOC_UAR", "CREATE_QP"}},
    {"UD to INIT", do_init_UD, {"RST2INIT_QP"}},
    {"UD to RTR", do_rtr_UD, {"INIT2RTR_QP"}},
    {"UD to RTS", do_rts_UD, {"RTR2RTS_QP"}},
    {"DCI, in the same region", do_create_DCI, {"CREATE_QP"}},
    {"DCI to INIT", do_init_DCI, {"RST2INIT_QP"}},
    {"DCI to RTR", do_rtr_DCI, {"INIT2RTR_QP"}},
    {"DCI to RTS", do_rts_DCI, {"RTR2RTS_QP"}},
    {"DCT", do_create_DCT, {NULL}},
    {"DCT to INIT", do_init_DCT, {NULL}},
    {"DCT to RTR", do_rtr_DCT, {"CREATE_DCT"}},
    {"destroy a DCT", do_destroy_DCT, {"DRAIN_DCT", "DESTROY_DCT"}},
    {"destroy a DCI", do_destroy_DCI, {"2RST_QP", "DESTROY_QP"}},
    {"destroy a UD", do_destroy_UD, {"2RST_QP", "DESTROY_QP"}},
    {"destroy a UC", do_destroy_UC, {"2RST_QP", "DESTROY_QP"}},
    {"destroy an RC in RESET", do_destroy_RC, {"DESTROY_QP"}},
    {"ibv_destroy_ah", do_destroy_ah, {NULL}},
    {"ibv_dereg_mr", do_dereg_mr, {"DESTROY_MKEY"}},
    {"ibv_destroy_srq", do_destroy_srq, {"DESTROY_RMP"}},
    {"ibv_destroy_cq", do_destroy_cq, {"DESTROY_CQ"}},
    {"ibv_destroy_comp_channel", do_destroy_channel, {NULL}},
    {"ibv_dealloc_pd", do_dealloc_pd, {"DEALLOC_PD"}},
};

/* Open makes the region for no doorbells; a new region serves the next two queue pairs. */
static void test_each_verb(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int n = 0;

		reset_counts();
		last_error = 0;
		steps[i].run();
		if (last_error)
			fail_msg("%s: %s", steps[i].verb, strerror(last_error));
		for (; n < N_COMMANDS && steps[i].firmware[n]; n++) {
			int64_t want = 0;

			for (int j = 0; j < N_COMMANDS && steps[i].firmware[j]; j++)
				want += !strcmp(steps[i].firmware[j], steps[i].firmware[n]);
			if (count_firmware(steps[i].firmware[n]) != want)
				fail_msg("%s: %s not %d times", steps[i].verb, steps[i].firmware[n],
					 (int)want);
		}
		if (count_firmware(NULL) != n)
			fail_msg("%s: %d firmware commands instead of %d", steps[i].verb,
				 (int)count_firmware(NULL), n);
	}
	ibv_close_device(kit.context);
}

/* With a second context on the device, loopback between the two is switched on. */
static void test_second_context(void **state)
{
	struct ibv_context *first = open_device(), *second;

	(void)state;
	reset_counts();
	second = open_device();
	assert_int_equal(count_firmware("MODIFY_NIC_VPORT_CONTEXT"), 1);
	ibv_close_device(second);
	ibv_close_device(first);
	wait_objects("contexts", 0);
}

/* Objects that a program leaves behind are destroyed without it, and count for no process. */
static void test_cleanup_is_not_the_programs(void **state)
{
	json_t *counts, *cleanup;
	pid_t child;

	(void)state;
	reset_counts();
	child = fork();
	if (!child) {
		open_kit(&kit);
		must_make_qp(&kit, RC);
		_exit(0);
	}
	must_succeed(child);
	wait_objects("ufiles", 0);
	counts = ask("counts");
	cleanup = json_object_get(json_object_get(counts, "cleanup"), "firmware");
	assert_int_equal(json_integer_value(json_object_get(cleanup, "DESTROY_QP")), 1);
	assert_int_equal(json_integer_value(json_object_get(cleanup, "DESTROY_CQ")), 1);
	assert_int_equal(json_integer_value(json_object_get(cleanup, "DESTROY_UCTX")), 1);
	assert_int_equal(json_object_size(counts), 2); /* the child, and the cleanup */
	json_decref(counts);
}

/* A child whose number is @pid, or -1. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
	    .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* What a process was given, and was to be refused, is not a later one's that gets its number. */
static void test_number_comes_again(void **state)
{
	const useconds_t tick = 1000000 / (useconds_t)sysconf(_SC_CLK_TCK);
	pid_t first, second;

	(void)state;
	first = fork();
	if (!first) {
		open_kit(&kit);
		must_make_qp(&kit, RC);
		tell("fail create_qp %d 1 1 %d", ENOMEM, getpid());
		_exit(0);
	}
	must_succeed(first);
	usleep(2 * tick); /* processes are told apart by the ticks at which they began */
	second = fork_as(first);
	if (second < 0 && errno == EPERM)
		skip();
	if (!second) {
		open_kit(&kit);
		must_make_qp(&kit, RC);
		_exit(count_firmware("CREATE_QP") != 1);
	}
	must_succeed(second);
	wait_objects("ufiles", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_verb),
	    cmocka_unit_test(test_second_context),
	    cmocka_unit_test(test_cleanup_is_not_the_programs),
	    cmocka_unit_test(test_number_comes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
