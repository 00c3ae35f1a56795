/* SPDX-License-Identifier: BSD-2-Clause */
/* From what a program did to what may be done ahead of it. */
#include "fake_kernel.h"
#include "fixture.h"
#include "program.h"

#define OPEN "query_device GET_CONTEXT ASYNC_EVENT_ALLOC "

static void test_recipes_of_the_fixtures(void **state)
{
	static const struct {
		const char *name, *steps;
	} expected[] = {
	    {"devinfo", OPEN "query_device_ex"},
	    {"rc_pingpong", OPEN "alloc_pd CQ_CREATE QP_CREATE query_qp modify_qp"},
	    {"rc_pingpong_events",
	     OPEN "create_comp_channel alloc_pd CQ_CREATE QP_CREATE query_qp modify_qp"},
	    /* Nothing of UD's way to RTS depends on a peer. */
	    {"ud_pingpong",
	     OPEN "alloc_pd CQ_CREATE QP_CREATE query_qp modify_qp modify_qp modify_qp"},
	    {"write_lat", OPEN "query_device query_device query_device alloc_pd CQ_CREATE "
			       "QP_CREATE modify_qp"},
	    {"send_bw_q4", OPEN "query_device query_device query_device alloc_pd CQ_CREATE "
				"CQ_CREATE QP_CREATE modify_qp QP_CREATE modify_qp QP_CREATE "
				"modify_qp QP_CREATE modify_qp"},
	    /* librdmacm moves the QP to INIT twice, with different access flags. */
	    {"rping", OPEN "query_device alloc_pd alloc_pd create_comp_channel CQ_CREATE "
			   "QP_CREATE modify_qp modify_qp"},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(expected); i++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe(expected[i].name);

		assert_steps(recipe, expected[i].steps);
		assert_int_equal(recipe->driver_id, RDMA_DRIVER_RXE);
	}
}

static void test_recipe_of_sixteen_queue_pairs(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("srq_pingpong");
	unsigned int srq = step_index(recipe, tape_find(recipe, "SRQ_CREATE", 0));

	(void)state;
	assert_int_equal(recipe->n_steps, 3 + 3 + 16 * 3);
	for (unsigned int i = 0; i < 16; i++) {
		struct wv_step *qp = tape_find(recipe, "QP_CREATE", i);
		unsigned int index = step_index(recipe, qp);

		assert_int_equal(wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)->data, srq);
		assert_int_equal(tape_find(recipe, "query_qp", i)->target, index);
		assert_int_equal(tape_find(recipe, "modify_qp", i)->target, index);
	}
}

static void test_numbers_become_references(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong_events");
	unsigned int async = step_index(recipe, tape_find(recipe, "ASYNC_EVENT_ALLOC", 0));
	unsigned int channel = step_index(recipe, tape_find(recipe, "create_comp_channel", 0));
	unsigned int pd = step_index(recipe, tape_find(recipe, "alloc_pd", 0));
	struct wv_step *cq = tape_find(recipe, "CQ_CREATE", 0);
	struct wv_step *qp = tape_find(recipe, "QP_CREATE", 0);
	struct wv_step *query = tape_find(recipe, "query_qp", 0);
	unsigned int cq_index = step_index(recipe, cq), qp_index = step_index(recipe, qp);

	(void)state;
	assert_int_equal(wv_step_attr(cq, UVERBS_ATTR_CREATE_CQ_EVENT_FD)->data, async);
	assert_int_equal(wv_step_attr(cq, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)->data, channel);
	assert_int_equal(wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_PD_HANDLE)->data, pd);
	assert_int_equal(wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE)->data, cq_index);
	assert_int_equal(wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE)->data, cq_index);
	assert_int_equal(query->target, qp_index);
	assert_int_equal(
	    ((struct ib_uverbs_query_qp *)step_input(query, UVERBS_ATTR_CORE_IN))->qp_handle,
	    qp_index);
	assert_int_equal(step_modify(tape_find(recipe, "modify_qp", 0))->qp_handle, qp_index);
	wv_each_step (recipe, step) {
		assert_int_equal(step->new_handle, WV_NONE);
		assert_int_equal(step->new_fd, WV_NONE);
		if (step->class_ == WV_CREATE) /* about no QP */
			assert_int_equal(step->target, WV_NONE);
	}
}

/* A record put together from steps of others. */
struct cut {
	struct wv_cmdlog_writer w;
	_Alignas(8) uint8_t memory[WV_CMDLOG_MAX_BYTES];
};

static void cut_begin(struct cut *c)
{
	wv_cmdlog_begin(&c->w, c->memory, sizeof(c->memory), WV_RECORD, RDMA_DRIVER_RXE);
}

static struct wv_step *cut_add(struct cut *c, const struct wv_step *step)
{
	struct wv_cmdlog *cmdlog = c->w.cmdlog;
	struct wv_step *copy = wv_cmdlog_end(cmdlog);

	assert_true(cmdlog->bytes + step->bytes <= sizeof(c->memory));
	memcpy(copy, step, step->bytes);
	cmdlog->bytes += step->bytes;
	cmdlog->n_steps++;
	return copy;
}

static struct wv_step *cut_command(struct cut *c, struct command *cmd)
{
	struct wv_step *step = wv_cmdlog_end(c->w.cmdlog);

	assert_int_equal(wv_record_command(&c->w, &cmd->hdr, command_row(cmd), NULL), 0);
	wv_record_answer(&c->w, &cmd->hdr, command_row(cmd), 0);
	return step;
}

static void cut_destroy(struct cut *c, uint16_t object, uint16_t method, uint32_t handle)
{
	struct command cmd;

	command_init(&cmd, object, method);
	command_object(&cmd, UVERBS_ATTR_DESTROY_QP_HANDLE, handle); /* 0 in each of them */
	cut_command(c, &cmd);
}

static void cut_move(struct cut *c, uint32_t qp, uint32_t mask, uint8_t to)
{
	struct ib_uverbs_modify_qp in = {.qp_handle = qp, .attr_mask = mask, .qp_state = to};
	struct command cmd;

	command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, &in, sizeof(in), NULL, 0);
	cut_command(c, &cmd);
}

static struct wv_cmdlog *cut_recipe(struct cut *c)
{
	assert_int_equal(wv_cmdlog_check(c->w.cmdlog, c->w.cmdlog->bytes, WV_RECORD), 0);
	return recipe_of(c->w.cmdlog);
}

/* The steps of rc_pingpong up to its QP, which has handle 3; its CQ has 2. */
static void cut_up_to_qp(struct cut *c, struct wv_cmdlog *pingpong)
{
	cut_begin(c);
	for (unsigned int i = 0; i < 6; i++)
		cut_add(c, tape_step(pingpong, i));
}

static void test_a_number_used_again_means_the_new_object(void **state)
{
	wv_auto_free struct wv_cmdlog *pingpong = fixture_load("rc_pingpong");
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	struct wv_step *cq, *qp;
	static struct cut c;

	(void)state;
	cut_up_to_qp(&c, pingpong);
	cut_destroy(&c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, 3);
	cq = cut_add(&c, tape_find(pingpong, "CQ_CREATE", 0));
	cq->new_handle = 3;
	qp = cut_add(&c, tape_find(pingpong, "QP_CREATE", 0));
	qp->new_handle = 5;
	wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE)->data = 3;
	cut_move(&c, 5, IBV_QP_STATE, IBV_QPS_INIT);
	recipe = cut_recipe(&c);
	assert_steps(recipe, OPEN "alloc_pd CQ_CREATE QP_CREATE CQ_CREATE QP_CREATE modify_qp");
	qp = tape_step(recipe, 7);
	assert_int_equal(wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE)->data, 4);
	assert_int_equal(wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE)->data, 6);
	assert_int_equal(tape_step(recipe, 8)->target, 7);
}

/* Objects that no record shows (memory regions) take numbers too. */
static void test_a_number_of_a_destroyed_object_means_nothing(void **state)
{
	wv_auto_free struct wv_cmdlog *pingpong = fixture_load("rc_pingpong");
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	static struct cut c;

	(void)state;
	cut_begin(&c);
	for (unsigned int i = 0; i < 5; i++)
		cut_add(&c, tape_step(pingpong, i));
	cut_destroy(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, 2);
	cut_add(&c, tape_find(pingpong, "QP_CREATE", 0)); /* needs CQ 2 */
	recipe = cut_recipe(&c);
	assert_steps(recipe, OPEN "alloc_pd CQ_CREATE");
}

/* close() is no command: a channel is gone when its number is another's. */
static void test_a_descriptor_used_again_means_the_new_file(void **state)
{
	wv_auto_free struct wv_cmdlog *events = fixture_load("rc_pingpong_events");
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	static struct cut c;

	(void)state;
	cut_begin(&c);
	for (unsigned int i = 0; i < 5; i++)
		cut_add(&c, tape_step(events, i));
	cut_add(&c, tape_find(events, "create_comp_channel", 0));
	cut_add(&c, tape_find(events, "CQ_CREATE", 0));
	recipe = cut_recipe(&c);
	assert_steps(recipe, OPEN "create_comp_channel alloc_pd create_comp_channel CQ_CREATE");
	assert_int_equal(
	    wv_step_attr(tape_step(recipe, 6), UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)->data, 5);
}

static void test_a_destroy_that_failed_destroyed_nothing(void **state)
{
	wv_auto_free struct wv_cmdlog *pingpong = fixture_load("rc_pingpong");
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	static struct cut c;

	(void)state;
	cut_up_to_qp(&c, pingpong);
	cut_destroy(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, 2);
	tape_find(c.w.cmdlog, "CQ_DESTROY", 0)->error = EBUSY;
	cut_add(&c, tape_find(pingpong, "QP_CREATE", 0))->new_handle = 5;
	recipe = cut_recipe(&c);
	assert_steps(recipe, OPEN "alloc_pd CQ_CREATE QP_CREATE QP_CREATE");
}

static void test_what_depends_on_a_failed_step_is_left_out(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct wv_step *cq = tape_find(record, "CQ_CREATE", 0);
	wv_auto_free struct wv_cmdlog *recipe = NULL;

	(void)state;
	cq->error = ENOMEM;
	cq->new_handle = WV_NONE;
	recipe = recipe_of(record); /* no CQ, so no QP, so nothing about the QP */
	assert_steps(recipe, OPEN "alloc_pd");
}

static void test_a_failed_open_leaves_its_event_users_out(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong_events");
	struct wv_step *channel = tape_find(record, "create_comp_channel", 0);
	wv_auto_free struct wv_cmdlog *recipe = NULL;

	(void)state;
	channel->error = EMFILE;
	channel->new_fd = WV_NONE;
	recipe = recipe_of(record);
	assert_steps(recipe, OPEN "alloc_pd");
}

/* A refused queue pair is kept if others of its size could be prepared, and needs nothing. */
static void test_a_refused_queue_pair_is_kept(void **state)
{
	static const struct {
		int error;
		uint32_t inline_bytes;
		bool kept;
	} cases[] = {{EINVAL, 512, true}, {EINVAL, 1 << 20, false}, {ENOMEM, 512, false}};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		wv_auto_free struct wv_cmdlog *pingpong = fixture_load("rc_pingpong");
		wv_auto_free struct wv_cmdlog *recipe = NULL;
		struct wv_step *probe;
		struct ib_uverbs_qp_cap *cap;
		static struct cut c;

		cut_up_to_qp(&c, pingpong);
		probe = cut_add(&c, tape_find(pingpong, "QP_CREATE", 0));
		probe->error = cases[i].error;
		probe->new_handle = probe->new_number = WV_NONE;
		cap = step_input(probe, UVERBS_ATTR_CREATE_QP_CAP);
		cap->max_inline_data = cases[i].inline_bytes;
		cut_move(&c, 3, IBV_QP_STATE, IBV_QPS_INIT);
		recipe = cut_recipe(&c);
		assert_steps(recipe, cases[i].kept ? OPEN
					 "alloc_pd CQ_CREATE QP_CREATE QP_CREATE modify_qp"
						   : OPEN "alloc_pd CQ_CREATE QP_CREATE modify_qp");
		assert_int_equal(tape_step(recipe, 6)->error, cases[i].kept ? EINVAL : 0);
	}
}

/* So are refused CQs and SRQs, within the same bounds. */
static void test_other_refused_queues_are_kept(void **state)
{
	static const struct {
		const char *name, *steps;
		uint16_t size;
		int error;
		uint32_t number;
		bool kept;
	} cases[] = {
	    {"CQ_CREATE", OPEN "alloc_pd CQ_CREATE", UVERBS_ATTR_CREATE_CQ_CQE, EINVAL, 1 << 20,
	     true},
	    {"CQ_CREATE", OPEN "alloc_pd", UVERBS_ATTR_CREATE_CQ_CQE, EINVAL, 1 << 23, false},
	    {"CQ_CREATE", OPEN "alloc_pd", UVERBS_ATTR_CREATE_CQ_CQE, ENOMEM, 100, false},
	    {"SRQ_CREATE", OPEN "alloc_pd CQ_CREATE SRQ_CREATE", UVERBS_ATTR_CREATE_SRQ_MAX_SGE,
	     EINVAL, 200, true},
	    {"SRQ_CREATE", OPEN "alloc_pd CQ_CREATE", UVERBS_ATTR_CREATE_SRQ_MAX_SGE, EINVAL, 300,
	     false},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		wv_auto_free struct wv_cmdlog *record = fixture_load("srq_pingpong");
		wv_auto_free struct wv_cmdlog *recipe = NULL;
		struct wv_step *probe = tape_find(record, cases[i].name, 0);
		static struct cut c;

		probe->error = cases[i].error;
		probe->new_handle = probe->new_number = WV_NONE;
		memcpy(step_input(probe, cases[i].size), &cases[i].number, sizeof(uint32_t));
		cut_begin(&c);
		wv_each_step (record, step) {
			cut_add(&c, step);
			if (step->object == UVERBS_OBJECT_SRQ || step == probe)
				break;
		}
		recipe = cut_recipe(&c);
		assert_steps(recipe, cases[i].steps);
	}
}

static void test_a_constant_keeps_its_error(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");

	(void)state;
	assert_string_equal(step_name(tape_step(recipe, 0)), "query_device");
	assert_int_equal(tape_step(recipe, 0)->error, ENOSPC);
}

static void test_a_queue_pair_is_read_only_as_created(void **state)
{
	wv_auto_free struct wv_cmdlog *pingpong = fixture_load("rc_pingpong");
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	struct wv_step *query = tape_find(pingpong, "query_qp", 0);
	static struct cut c;

	(void)state;
	cut_up_to_qp(&c, pingpong);
	cut_add(&c, query);
	cut_add(&c, query);
	cut_move(&c, 3, IBV_QP_STATE, IBV_QPS_INIT);
	cut_add(&c, query);
	recipe = cut_recipe(&c);
	assert_steps(recipe, OPEN "alloc_pd CQ_CREATE QP_CREATE query_qp query_qp modify_qp");
}

static void expect_move(uint32_t mask, uint8_t to, bool kept)
{
	wv_auto_free struct wv_cmdlog *pingpong = fixture_load("rc_pingpong");
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	static struct cut c;

	cut_up_to_qp(&c, pingpong);
	cut_move(&c, 3, mask, to);
	recipe = cut_recipe(&c);
	assert_int_equal(recipe->n_steps, kept ? 7 : 6);
}

static void test_a_queue_pair_is_moved_to_init_and_no_further(void **state)
{
	(void)state;
	for (uint8_t to = IBV_QPS_RESET; to <= IBV_QPS_ERR; to++)
		expect_move(IBV_QP_STATE, to, to == IBV_QPS_INIT);
	expect_move(IBV_QP_ACCESS_FLAGS, IBV_QPS_INIT, false);
}

static void set_qp_type(struct wv_cmdlog *record, uint32_t type)
{
	memcpy(step_input(tape_find(record, "QP_CREATE", 0), UVERBS_ATTR_CREATE_QP_TYPE), &type,
	       sizeof(type));
}

/* One state after the other, as far as the type goes, and nothing after what was left out. */
static void test_moves_are_kept_in_order_as_far_as_the_type_goes(void **state)
{
	static const struct {
		uint32_t type;
		uint8_t to[5];
		unsigned int kept;
	} cases[] = {
	    {IB_UVERBS_QPT_UD, {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD}, 3},
	    {IB_UVERBS_QPT_UD, {IBV_QPS_INIT, IBV_QPS_INIT, IBV_QPS_RTR}, 3},
	    {IB_UVERBS_QPT_UD, {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_INIT}, 2},
	    {IB_UVERBS_QPT_UD, {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTR, IBV_QPS_RTS}, 2},
	    {IB_UVERBS_QPT_UD, {IBV_QPS_INIT, IBV_QPS_RTS}, 1},
	    {IB_UVERBS_QPT_UD, {IBV_QPS_RTR, IBV_QPS_RTS}, 0},
	    {IB_UVERBS_QPT_UD, {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_ERR}, 2},
	    {IB_UVERBS_QPT_RC, {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}, 1},
	    {IB_UVERBS_QPT_RC, {IBV_QPS_INIT, IBV_QPS_INIT, IBV_QPS_INIT, IBV_QPS_RTR}, 3},
	    {IB_UVERBS_QPT_UC, {IBV_QPS_INIT, IBV_QPS_RTR}, 1},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		wv_auto_free struct wv_cmdlog *pingpong = fixture_load("rc_pingpong");
		wv_auto_free struct wv_cmdlog *recipe = NULL;
		static struct cut c;

		set_qp_type(pingpong, cases[i].type);
		cut_up_to_qp(&c, pingpong);
		for (unsigned int k = 0; cases[i].to[k]; k++)
			cut_move(&c, 3, IBV_QP_STATE, cases[i].to[k]);
		recipe = cut_recipe(&c);
		assert_int_equal(recipe->n_steps, 6 + cases[i].kept);
	}
}

/* Two runs differ in them, and are the same program. */
static void test_no_packet_sequence_number_is_kept(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("ud_pingpong");
	wv_auto_free struct wv_cmdlog *a = recipe_of(record), *b = NULL;

	(void)state;
	step_modify(tape_find(record, "modify_qp", 2))->sq_psn ^= 0x123456;
	step_modify(tape_find(record, "modify_qp", 1))->rq_psn ^= 0x123456;
	b = recipe_of(record);
	assert_int_equal(a->bytes, b->bytes);
	assert_memory_equal(a, b, a->bytes);
	assert_int_equal(step_modify(tape_find(b, "modify_qp", 2))->sq_psn, 0);
}

static void test_only_a_fresh_queue_pair_is_moved(void **state)
{
	static const uint8_t first[] = {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_ERR};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(first); i++) {
		wv_auto_free struct wv_cmdlog *pingpong = fixture_load("rc_pingpong");
		wv_auto_free struct wv_cmdlog *recipe = NULL;
		static struct cut c;

		cut_up_to_qp(&c, pingpong);
		cut_move(&c, 3, IBV_QP_STATE, first[i]);
		cut_move(&c, 3, IBV_QP_STATE, IBV_QPS_RESET);
		cut_move(&c, 3, IBV_QP_STATE, IBV_QPS_INIT);
		recipe = cut_recipe(&c);
		assert_int_equal(recipe->n_steps, first[i] == IBV_QPS_INIT ? 7 : 6);
	}
}

static void test_too_little_memory(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	wv_auto_free struct wv_cmdlog *recipe = recipe_of(record);

	(void)state;
	for (size_t capacity = sizeof(*recipe); capacity <= recipe->bytes; capacity++) {
		wv_auto_free void *memory = malloc(capacity);

		assert_int_equal(wv_normalise(record, memory, capacity),
				 capacity < recipe->bytes ? -ENOSPC : 0);
	}
}

/* Records what a program does to a kernel. */
struct recording {
	struct fake_kernel kernel;
	struct wv_cmdlog_writer w;
	_Alignas(8) uint8_t memory[WV_CMDLOG_MAX_BYTES];
};

static int record_and_issue(void *recording, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct recording *r = recording;
	const struct wv_command_row *row =
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd));
	int error;

	assert_int_equal(wv_record_command(&r->w, cmd, row, NULL), 0);
	error = fake_kernel_issue(&r->kernel, cmd);
	wv_record_answer(&r->w, cmd, row, error);
	return error;
}

static void close_fds(const struct program *p)
{
	for (size_t i = 0; i < WV_ARRAY_SIZE(p->fds); i++)
		if (p->fds[i] >= 0)
			close(p->fds[i]);
}

/*
 * The recipe of a program that does what @name did, with memory, numbers and registrations of its
 * own.
 */
static struct wv_cmdlog *run_and_normalise(const char *name, uint64_t base, bool registers_mr,
					   unsigned int taken_fds)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load(name);
	static struct recording r;
	static struct program p;
	int taken[8];

	for (unsigned int i = 0; i < taken_fds; i++)
		taken[i] = dup(0);
	fake_kernel_init(&r.kernel);
	wv_cmdlog_begin(&r.w, r.memory, sizeof(r.memory), WV_RECORD, RDMA_DRIVER_RXE);
	program_init(&p, record_and_issue, &r, base);
	p.registers_mr = registers_mr;
	program_run(&p, record);
	close_fds(&p);
	for (unsigned int i = 0; i < taken_fds; i++)
		close(taken[i]);
	return recipe_of(r.w.cmdlog);
}

static void test_equal_programs_have_equal_recipes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_FIXTURES; i++) {
		const char *name = fixture_names[i];
		wv_auto_free struct wv_cmdlog *fixture = fixture_recipe(name);
		wv_auto_free struct wv_cmdlog *a = run_and_normalise(name, 0x7f1200000000, true, 0);
		wv_auto_free struct wv_cmdlog *b =
		    run_and_normalise(name, 0x5581abcd0000, false, 3);

		assert_int_equal(a->bytes, b->bytes);
		assert_memory_equal(a, b, a->bytes);
		assert_int_equal(a->bytes, fixture->bytes);
		assert_memory_equal(a, fixture, a->bytes);
	}
}

static void test_programs_that_differ_have_other_recipes(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	wv_auto_free struct wv_cmdlog *a = recipe_of(record), *b = NULL;

	(void)state;
	++*(uint32_t *)step_input(tape_find(record, "CQ_CREATE", 0), UVERBS_ATTR_CREATE_CQ_CQE);
	b = recipe_of(record);
	assert_int_equal(a->bytes, b->bytes);
	assert_memory_not_equal(a, b, a->bytes);
}

/* A record comes from a program that nobody trusts: as many numbers as steps, of both kinds. */
static void test_as_many_numbers_as_can_be(void **state)
{
	const struct wv_command_row *row = wv_abi_find(WV_ANY_DRIVER, UVERBS_OBJECT_DEVICE,
						       UVERBS_METHOD_GET_CONTEXT, WV_NO_WRITE_CMD);
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	static struct cut c;

	(void)state;
	cut_begin(&c);
	for (unsigned int i = 0; i < WV_CMDLOG_MAX_STEPS; i++) {
		struct wv_step *step = wv_cmdlog_step(&c.w, row, 0);

		step->new_handle = step->new_fd = i;
		wv_cmdlog_commit(&c.w);
	}
	recipe = cut_recipe(&c);
	assert_int_equal(recipe->n_steps, WV_CMDLOG_MAX_STEPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_recipes_of_the_fixtures),
	    cmocka_unit_test(test_recipe_of_sixteen_queue_pairs),
	    cmocka_unit_test(test_numbers_become_references),
	    cmocka_unit_test(test_a_number_used_again_means_the_new_object),
	    cmocka_unit_test(test_a_number_of_a_destroyed_object_means_nothing),
	    cmocka_unit_test(test_a_descriptor_used_again_means_the_new_file),
	    cmocka_unit_test(test_a_destroy_that_failed_destroyed_nothing),
	    cmocka_unit_test(test_what_depends_on_a_failed_step_is_left_out),
	    cmocka_unit_test(test_a_failed_open_leaves_its_event_users_out),
	    cmocka_unit_test(test_a_refused_queue_pair_is_kept),
	    cmocka_unit_test(test_other_refused_queues_are_kept),
	    cmocka_unit_test(test_a_constant_keeps_its_error),
	    cmocka_unit_test(test_a_queue_pair_is_read_only_as_created),
	    cmocka_unit_test(test_a_queue_pair_is_moved_to_init_and_no_further),
	    cmocka_unit_test(test_moves_are_kept_in_order_as_far_as_the_type_goes),
	    cmocka_unit_test(test_no_packet_sequence_number_is_kept),
	    cmocka_unit_test(test_only_a_fresh_queue_pair_is_moved),
	    cmocka_unit_test(test_too_little_memory),
	    cmocka_unit_test(test_equal_programs_have_equal_recipes),
	    cmocka_unit_test(test_programs_that_differ_have_other_recipes),
	    cmocka_unit_test(test_as_many_numbers_as_can_be),
	};

	return cmocka_run_group_tests_name("normalise", tests, NULL, NULL);
}
