/* SPDX-License-Identifier: BSD-2-Clause */
/* What may be carried out for a program that nobody trusts. */
#include "cmdlog/validate.h"

#include "fixture.h"

static int judge(struct wv_cmdlog *recipe, const char **why)
{
	struct wv_cost cost;

	assert_int_equal(wv_cmdlog_check(recipe, recipe->bytes, WV_RECIPE), 0);
	return wv_validate(recipe, &cost, why);
}

static void assert_refused(struct wv_cmdlog *recipe, const char *reason)
{
	const char *why = NULL;

	assert_int_equal(judge(recipe, &why), -EPERM);
	assert_string_equal(why, reason);
}

static void assert_allowed(struct wv_cmdlog *recipe)
{
	const char *why = NULL;

	if (judge(recipe, &why))
		fail_msg("refused: %s", why);
	assert_null(why);
}

static void test_every_fixture_is_allowed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_FIXTURES; i++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe(fixture_names[i]);

		assert_allowed(recipe);
	}
}

static bool is_never_done_ahead(enum wv_class class_)
{
	return class_ == WV_DESTROY || class_ == WV_PASS || class_ == WV_DATA ||
	       class_ == WV_PRIVILEGED;
}

/* Carried out by class alone, so a new row of one of these classes has to be thought about here. */
static void test_the_whitelist(void **state)
{
	static const char *const allowed[] = {
	    "GET_CONTEXT",
	    "CQ_CREATE",
	    "QP_CREATE",
	    "SRQ_CREATE",
	    "ASYNC_EVENT_ALLOC",
	    "alloc_pd",
	    "create_comp_channel",
	    "query_device",
	    "query_device_ex",
	    "modify_qp",
	    "modify_qp_ex",
	    "query_qp",
	    "QUERY_PORT",
	    "memory",
	    "query_hca_cap",
	    "uar_obj_alloc",
	    "reg_mr",
	};
	unsigned int n, found = 0;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		if (is_never_done_ahead(rows[i].class_))
			continue;
		for (size_t k = 0; k < WV_ARRAY_SIZE(allowed); k++)
			found += !strcmp(rows[i].name, allowed[k]);
		assert_true(found-- == 1);
	}
}

/* A recipe of one step of @row, without attributes but the number of a legacy command. */
static struct wv_cmdlog *lone_step(const struct wv_command_row *row)
{
	wv_auto_free struct wv_cmdlog *memory = malloc(512);
	bool legacy = row->write_cmd != WV_NO_WRITE_CMD;
	uint64_t number = row->write_cmd;
	struct wv_cmdlog_writer w;
	struct wv_step *step;

	wv_cmdlog_begin(&w, memory, 512, WV_RECIPE,
			row->driver_id == WV_ANY_DRIVER ? RDMA_DRIVER_RXE : row->driver_id);
	step = wv_cmdlog_step(&w, row, legacy);
	if (legacy)
		wv_step_attrs(step)[0] =
		    (struct wv_attr){.id = UVERBS_ATTR_WRITE_CMD,
				     .len = sizeof(number),
				     .kind = WV_EQUAL,
				     .payload = wv_cmdlog_payload(&w, &number, sizeof(number))};
	wv_cmdlog_commit(&w);
	return copy_exactly(memory, memory->bytes);
}

static void test_other_commands_are_refused(void **state)
{
	unsigned int n, refused = 0;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		wv_auto_free struct wv_cmdlog *recipe = NULL;

		if (!is_never_done_ahead(rows[i].class_))
			continue;
		recipe = lone_step(&rows[i]);
		assert_refused(recipe, rows[i].class_ == WV_PRIVILEGED
					   ? "it needs capabilities that a lease does not give"
					   : "a command that may not be carried out ahead of time");
		refused++;
	}
	assert_true(refused > 20);
}

static void test_an_unknown_driver_is_refused(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");

	(void)state;
	recipe->driver_id = RDMA_DRIVER_HNS;
	assert_refused(recipe, "the device's driver is not known");
}

/* The number in the attribute is what the kernel does; the step's is how it was judged. */
static void test_a_legacy_command_that_is_another(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
	struct wv_step *pd = tape_find(recipe, "alloc_pd", 0);
	uint64_t *number = step_input(pd, UVERBS_ATTR_WRITE_CMD);

	(void)state;
	*number = IB_USER_VERBS_CMD_REG_MR;
	assert_refused(recipe, "a step's command differs from its attributes");
	*number = IB_USER_VERBS_CMD_ALLOC_PD | 1ull << 32;
	assert_refused(recipe, "a step's command differs from its attributes");
	*number = IB_USER_VERBS_CMD_ALLOC_PD;
	assert_allowed(recipe);
	wv_step_attr(pd, UVERBS_ATTR_WRITE_CMD)->len = 4; /* of the eight that are sent */
	assert_refused(recipe, "a step's command differs from its attributes");
}

static void test_a_legacy_command_without_its_number(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe =
	    lone_step(wv_abi_find(WV_ANY_DRIVER, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE,
				  IB_USER_VERBS_CMD_QUERY_DEVICE));

	(void)state;
	assert_allowed(recipe);
	wv_step_attrs(tape_step(recipe, 0))->id = UVERBS_ATTR_UHW_IN;
	assert_refused(recipe, "a step's command differs from its attributes");
}

static void test_an_attribute_given_twice(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
	struct wv_step *cq = tape_find(recipe, "CQ_CREATE", 0);

	(void)state; /* the second could be any size */
	wv_step_attr(cq, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR)->id = UVERBS_ATTR_CREATE_CQ_CQE;
	assert_refused(recipe, "an attribute is given twice");
}

#define BACKWARDS "a reference to something that no earlier step makes"

static void test_references_point_back(void **state)
{
	static const uint32_t wrong[] = {5, 6, 7, 99, WV_NONE}; /* itself, later, none */
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
	struct wv_step *qp = tape_find(recipe, "QP_CREATE", 0);

	(void)state;
	assert_int_equal(step_index(recipe, qp), 5);
	for (size_t i = 0; i < WV_ARRAY_SIZE(wrong); i++) {
		struct wv_attr *pd = wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_PD_HANDLE);
		struct wv_attr *fd = wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_EVENT_FD);
		uint32_t was_pd = pd->data, was_fd = fd->data;

		pd->data = wrong[i];
		assert_refused(recipe, BACKWARDS);
		pd->data = was_pd;
		fd->data = wrong[i];
		assert_refused(recipe, BACKWARDS);
		fd->data = was_fd;
		assert_allowed(recipe);
	}
	wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_PD_HANDLE)->data = 0; /* query_device */
	assert_refused(recipe, BACKWARDS);
}

static void set_target(struct wv_step *step, uint32_t qp)
{
	step->target = qp;
	if (step->class_ == WV_MODIFY)
		step_modify(step)->qp_handle = qp;
	else
		((struct ib_uverbs_query_qp *)step_input(step, UVERBS_ATTR_CORE_IN))->qp_handle =
		    qp;
}

static void test_steps_are_about_an_earlier_queue_pair(void **state)
{
	static const uint32_t wrong[] = {3, 4, 6, 7, 99, WV_NONE}; /* PD, CQ, later, none */
	static const char *const names[] = {"query_qp", "modify_qp"};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(wrong); i++)
		for (size_t k = 0; k < WV_ARRAY_SIZE(names); k++) {
			wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");

			set_target(tape_find(recipe, names[k], 0), wrong[i]);
			assert_refused(recipe, "a step about a queue pair that no step makes");
		}
}

#define OTHER "a step's target differs from its attributes"

static void test_a_target_is_what_the_command_names(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("send_bw_q4");
	struct wv_step *second = tape_find(recipe, "modify_qp", 1);
	struct wv_step *first_qp = tape_find(recipe, "QP_CREATE", 0);

	(void)state;
	second->target = step_index(recipe, first_qp);
	assert_refused(recipe, OTHER);
}

/* Replay looks every target up. */
static void test_what_is_about_nothing_has_no_target(void **state)
{
	static const char *const names[] = {"GET_CONTEXT", "query_device", "alloc_pd", "QP_CREATE"};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(names); i++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");

		tape_find(recipe, names[i], 0)->target = 0x7fffffff;
		assert_refused(recipe, OTHER);
	}
}

#define TOO_FAR "a queue pair may not be moved so far ahead"

static void test_a_queue_pair_is_moved_to_init_only(void **state)
{
	(void)state;
	for (uint8_t to = IBV_QPS_RESET; to <= IBV_QPS_ERR; to++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");

		step_modify(tape_find(recipe, "modify_qp", 0))->qp_state = to;
		if (to == IBV_QPS_INIT)
			assert_allowed(recipe);
		else
			assert_refused(recipe, TOO_FAR);
	}
}

/* UD's moves to the states given, one after the other. */
static void judge_moves(const uint8_t to[3], bool allowed)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("ud_pingpong");

	for (unsigned int i = 0; i < 3; i++)
		step_modify(tape_find(recipe, "modify_qp", i))->qp_state = to[i];
	if (allowed)
		assert_allowed(recipe);
	else
		assert_refused(recipe, TOO_FAR);
}

static void test_a_queue_pair_is_moved_one_state_after_the_other(void **state)
{
	static const uint8_t wrong[][3] = {
	    {IBV_QPS_INIT, IBV_QPS_RTS, IBV_QPS_RTR},	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_INIT},
	    {IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD},	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTR},
	    {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_SQD},	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RESET},
	    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR},
	};
	static const uint8_t right[][3] = {
	    {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS},
	    {IBV_QPS_INIT, IBV_QPS_INIT, IBV_QPS_RTR},
	    {IBV_QPS_INIT, IBV_QPS_INIT, IBV_QPS_INIT},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(right); i++)
		judge_moves(right[i], true);
	for (size_t i = 0; i < WV_ARRAY_SIZE(wrong); i++)
		judge_moves(wrong[i], false);
}

/* How far depends on what the kernel is told to make, which comes with the same recipe. */
static void test_a_queue_pair_goes_as_far_as_its_type(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("ud_pingpong");
	uint32_t *type = step_input(tape_find(recipe, "QP_CREATE", 0), UVERBS_ATTR_CREATE_QP_TYPE);

	(void)state;
	assert_int_equal(*type, IBV_QPT_UD);
	*type = IBV_QPT_RC;
	assert_refused(recipe, TOO_FAR);
}

static void test_types_of_queue_pair(void **state)
{
	(void)state;
	for (uint64_t type = 0; type < 0x110; type++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");

		memcpy(step_input(tape_find(recipe, "QP_CREATE", 0), UVERBS_ATTR_CREATE_QP_TYPE),
		       &type, sizeof(type));
		if (type == IBV_QPT_RC || type == IBV_QPT_UC || type == IBV_QPT_UD)
			assert_allowed(recipe);
		else /* XRC, driver's own; above all IBV_QPT_RAW_PACKET */
			assert_refused(recipe, "this type of queue pair is not prepared");
	}
}

static void test_a_step_that_failed_makes_nothing(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");

	(void)state;
	tape_find(recipe, "alloc_pd", 0)->error = ENOMEM;
	assert_refused(recipe, "a step that failed cannot make an object");
}

/* A program may ask for a queue pair that is too large, but nothing can be about that one. */
static void test_a_queue_pair_that_is_refused(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("send_bw_q4");
	struct wv_step *last = tape_find(recipe, "QP_CREATE", 3);
	struct wv_step *move = tape_find(recipe, "modify_qp", 3);

	(void)state;
	last->error = EINVAL;
	assert_refused(recipe, "a step about a queue pair that no step makes");
	recipe->n_steps--; /* the move, which is the last */
	recipe->bytes -= move->bytes;
	assert_allowed(recipe);
	last->error = EMFILE;
	assert_refused(recipe, "a step that failed cannot make an object");
}

/* Sets the number of attribute @id, which may not be there: then in place of @instead. */
static struct wv_cmdlog *with(const char *fixture, const char *step_name_, uint16_t id,
			      uint16_t instead, uint32_t number)
{
	struct wv_cmdlog *recipe = fixture_recipe(fixture);
	struct wv_step *step = tape_find(recipe, step_name_, 0);

	if (!wv_step_attr(step, id))
		wv_step_attr(step, instead)->id = id;
	memcpy(step_input(step, id), &number, sizeof(number));
	return recipe;
}

static void test_bounds(void **state)
{
	static const struct {
		const char *fixture, *step;
		uint16_t id, instead;
		uint32_t most, too_much;
	} bounds[] = {
	    {"rc_pingpong", "CQ_CREATE", UVERBS_ATTR_CREATE_CQ_CQE, 0, 1u << 22, (1u << 22) + 1},
	    {"rc_pingpong", "CQ_CREATE", UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 1023, 1024},
	    {"rc_pingpong", "CQ_CREATE", UVERBS_ATTR_CREATE_CQ_FLAGS,
	     UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 3, 4},
	    {"srq_pingpong", "SRQ_CREATE", UVERBS_ATTR_CREATE_SRQ_MAX_WR, 0, 1u << 17,
	     (1u << 17) + 1},
	    {"srq_pingpong", "SRQ_CREATE", UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 0, 256, 257},
	    {"srq_pingpong", "SRQ_CREATE", UVERBS_ATTR_CREATE_SRQ_LIMIT, 0, 1u << 17, 0xffffffff},
	    {"srq_pingpong", "SRQ_CREATE", UVERBS_ATTR_CREATE_SRQ_TYPE, 0, IB_UVERBS_SRQT_BASIC,
	     IB_UVERBS_SRQT_XRC},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(bounds); i++) {
		wv_auto_free struct wv_cmdlog *most =
		    with(bounds[i].fixture, bounds[i].step, bounds[i].id, bounds[i].instead,
			 bounds[i].most);
		wv_auto_free struct wv_cmdlog *more =
		    with(bounds[i].fixture, bounds[i].step, bounds[i].id, bounds[i].instead,
			 bounds[i].too_much);

		assert_allowed(most);
		assert_refused(more, "a size or flag is out of bounds");
	}
}

/* Bits, not a number: below the highest allowed one there are others. */
static void test_flags_of_a_queue_pair(void **state)
{
	(void)state;
	for (unsigned int bit = 0; bit < 32; bit++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
		struct wv_step *qp = tape_find(recipe, "QP_CREATE", 0);
		struct wv_attr *attr = wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM);
		struct wv_attr *type = wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_TYPE);
		wv_auto_free struct wv_cmdlog *grown = NULL;
		uint64_t flags = 1ull << bit;
		struct wv_step *last;

		/* Make room for one more input behind the QP, which is then the last step. */
		grown = calloc(1, recipe->bytes + 8);
		memcpy(grown, recipe, recipe->bytes);
		last = tape_find(grown, "QP_CREATE", 0);
		attr = wv_step_attr(last, attr->id);
		grown->n_steps = (uint16_t)(step_index(grown, last) + 1);
		*attr = *type;
		attr->id = UVERBS_ATTR_CREATE_QP_FLAGS;
		attr->len = 4;
		attr->payload = last->bytes;
		memcpy((uint8_t *)last + last->bytes, &flags, sizeof(flags));
		last->bytes += 8;
		grown->bytes = (uint32_t)((uint8_t *)last - (uint8_t *)grown) + last->bytes;
		if (flags == IB_UVERBS_QP_CREATE_SQ_SIG_ALL)
			assert_allowed(grown);
		else
			assert_refused(grown, "a size or flag is out of bounds");
	}
}

static void test_capacities_of_a_queue_pair(void **state)
{
	static const size_t fields[] = {
	    offsetof(struct ib_uverbs_qp_cap, max_send_wr),
	    offsetof(struct ib_uverbs_qp_cap, max_recv_wr),
	    offsetof(struct ib_uverbs_qp_cap, max_send_sge),
	    offsetof(struct ib_uverbs_qp_cap, max_recv_sge),
	    offsetof(struct ib_uverbs_qp_cap, max_inline_data),
	};
	static const uint32_t most[] = {1u << 17, 1u << 17, 256, 256, 4096};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(fields); i++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
		struct wv_step *qp = tape_find(recipe, "QP_CREATE", 0);
		uint8_t *cap = step_input(qp, UVERBS_ATTR_CREATE_QP_CAP);
		uint32_t number = most[i];

		memcpy(cap + fields[i], &number, sizeof(number));
		assert_allowed(recipe);
		number++;
		memcpy(cap + fields[i], &number, sizeof(number));
		assert_refused(recipe, "a queue pair is too large");
		wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_CAP)->len = 16;
		assert_refused(recipe, "a queue pair without capacities");
	}
}

/* A recipe of @n completion channels. */
static struct wv_cmdlog *channels(unsigned int n)
{
	wv_auto_free struct wv_cmdlog *one = fixture_recipe("rc_pingpong_events");
	struct wv_step *channel = tape_find(one, "create_comp_channel", 0);
	struct wv_cmdlog *many = malloc(sizeof(*many) + n * channel->bytes);

	*many = *one;
	many->n_steps = (uint16_t)n;
	many->bytes = (uint32_t)(sizeof(*many) + n * channel->bytes);
	for (unsigned int i = 0; i < n; i++)
		memcpy((uint8_t *)(many + 1) + i * channel->bytes, channel, channel->bytes);
	return many;
}

static void test_descriptors_are_limited(void **state)
{
	wv_auto_free struct wv_cmdlog *most = channels(WV_CMDLOG_MAX_FDS - 1); /* and the ufile */
	wv_auto_free struct wv_cmdlog *more = channels(WV_CMDLOG_MAX_FDS);

	(void)state;
	assert_allowed(most);
	assert_refused(more, "too many completion channels");
}

static struct wv_cost cost_of(struct wv_cmdlog *recipe)
{
	struct wv_cost cost;
	const char *why;

	assert_int_equal(wv_validate(recipe, &cost, &why), 0);
	return cost;
}

static void test_what_a_lease_costs(void **state)
{
	wv_auto_free struct wv_cmdlog *one = fixture_recipe("rc_pingpong_events");
	wv_auto_free struct wv_cmdlog *sixteen = fixture_recipe("srq_pingpong");
	struct wv_cost a = cost_of(one), b = cost_of(sixteen);

	(void)state;
	assert_int_equal(a.pds, 1);
	assert_int_equal(a.cqs, 1);
	assert_int_equal(a.qps, 1);
	assert_int_equal(a.srqs, 0);
	assert_int_equal(a.fds, 3); /* ufile, async events, channel */
	assert_int_equal(b.pds, 1);
	assert_int_equal(b.cqs, 1);
	assert_int_equal(b.qps, 16);
	assert_int_equal(b.srqs, 1);
	assert_int_equal(b.fds, 2);
	assert_true(b.bytes > a.bytes);
}

/* As the kernel allocates them: numbers and sizes of entries are powers of two, and one is free. */
static void test_what_size_costs(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
	uint64_t before = cost_of(recipe).bytes;
	struct ib_uverbs_qp_cap *cap =
	    step_input(tape_find(recipe, "QP_CREATE", 0), UVERBS_ATTR_CREATE_QP_CAP);
	uint32_t *cqe = step_input(tape_find(recipe, "CQ_CREATE", 0), UVERBS_ATTR_CREATE_CQ_CQE);

	(void)state;
	assert_int_equal(*cqe, 501);
	*cqe = 511; /* 512 with the free one, as before */
	assert_int_equal(cost_of(recipe).bytes, before);
	*cqe = 512;
	assert_int_equal(cost_of(recipe).bytes, before + 512 * 128);
	*cqe = 501;
	assert_int_equal(cap->max_send_wr, 1);
	cap->max_send_wr = 1000;
	assert_int_equal(cost_of(recipe).bytes, before + (1024 - 2) * 256);
	cap->max_send_wr = 1;
	assert_int_equal(cap->max_recv_wr, 500);
	cap->max_recv_wr = 0; /* no queue */
	assert_int_equal(cost_of(recipe).bytes, before - 4096 - 512 * 64);
	cap->max_recv_wr = 500;
	cap->max_recv_sge = 4;
	assert_int_equal(cost_of(recipe).bytes, before + 512 * (128 - 64));
	cap->max_inline_data = 100; /* for sends; more than the room for one address */
	assert_int_equal(cost_of(recipe).bytes, before + 512 * (128 - 64) + 2 * (512 - 256));
}

static const struct wv_qp_peer peer = {
    .qp_num = 0x1234, .gid = {[10] = 0xff, [11] = 0xff, [15] = 7}, .psn = 11, .peer_psn = 22};

static void assert_moves_refused(struct wv_cmdlog *moves, const char *reason)
{
	const char *why = NULL;

	assert_int_equal(wv_cmdlog_check(moves, moves->bytes, WV_RECORD), 0);
	assert_int_equal(wv_validate_moves(moves, &why), -EPERM);
	assert_string_equal(why, reason);
	free(moves);
}

/* The moves of a queue pair that has the handle 3, and what is changed in one of them. */
static struct ib_uverbs_modify_qp move_rtr, move_rts;

static void make_moves(void)
{
	move_rtr = connecting_move(IBV_QPS_RTR, 3, &peer);
	move_rts = connecting_move(IBV_QPS_RTS, 3, &peer);
}

static void test_moves(void **state)
{
	const char *why = "";
	struct wv_cmdlog *moves = moves_of(3, &peer);

	(void)state;
	assert_int_equal(wv_validate_moves(moves, &why), 0);
	assert_null(why);
	free(moves);
}

static void test_moves_with_other_attributes(void **state)
{
	static const char *const reason = "a move with other attributes than programs connect with";

	(void)state;
	make_moves();
	move_rtr.attr_mask |= IBV_QP_ALT_PATH;
	assert_moves_refused(record_of_moves(&move_rtr, &move_rts), reason);
	make_moves();
	move_rtr.attr_mask &= ~(uint32_t)IBV_QP_DEST_QPN;
	assert_moves_refused(record_of_moves(&move_rtr, &move_rts), reason);
	make_moves();
	move_rtr.dest.is_global = 0;
	assert_moves_refused(record_of_moves(&move_rtr, &move_rts), reason);
	make_moves();
	move_rts.attr_mask |= IBV_QP_PATH_MIG_STATE;
	assert_moves_refused(record_of_moves(&move_rtr, &move_rts), reason);
	make_moves();
	assert_moves_refused(record_of_moves(&move_rts, &move_rtr), reason);
	assert_moves_refused(record_of_moves(&move_rtr, &move_rtr), reason);
}

static void test_moves_of_two_queue_pairs(void **state)
{
	struct wv_cmdlog *moves;

	(void)state;
	make_moves();
	move_rts.qp_handle = 4;
	assert_moves_refused(record_of_moves(&move_rtr, &move_rts), "moves of two queue pairs");
	moves = moves_of(3, &peer);
	wv_cmdlog_first(moves)->target = 4;
	assert_moves_refused(moves, "a step's target differs from its attributes");
}

static void test_what_is_not_two_moves(void **state)
{
	struct wv_cmdlog *moves = moves_of(3, &peer);

	(void)state;
	moves->n_steps = 1;
	moves->bytes -= wv_step_next(wv_cmdlog_first(moves))->bytes;
	assert_moves_refused(moves, "not the moves to RTR and RTS");
	moves = moves_of(3, &peer);
	wv_cmdlog_first(moves)->error = EINVAL;
	assert_moves_refused(moves, "a step that does not move a queue pair");
	assert_moves_refused(fixture_load("rc_pingpong"), "not the moves to RTR and RTS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_fixture_is_allowed),
	    cmocka_unit_test(test_the_whitelist),
	    cmocka_unit_test(test_other_commands_are_refused),
	    cmocka_unit_test(test_an_unknown_driver_is_refused),
	    cmocka_unit_test(test_a_legacy_command_that_is_another),
	    cmocka_unit_test(test_a_legacy_command_without_its_number),
	    cmocka_unit_test(test_an_attribute_given_twice),
	    cmocka_unit_test(test_references_point_back),
	    cmocka_unit_test(test_steps_are_about_an_earlier_queue_pair),
	    cmocka_unit_test(test_a_target_is_what_the_command_names),
	    cmocka_unit_test(test_what_is_about_nothing_has_no_target),
	    cmocka_unit_test(test_a_queue_pair_is_moved_to_init_only),
	    cmocka_unit_test(test_a_queue_pair_is_moved_one_state_after_the_other),
	    cmocka_unit_test(test_a_queue_pair_goes_as_far_as_its_type),
	    cmocka_unit_test(test_types_of_queue_pair),
	    cmocka_unit_test(test_a_step_that_failed_makes_nothing),
	    cmocka_unit_test(test_a_queue_pair_that_is_refused),
	    cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_flags_of_a_queue_pair),
	    cmocka_unit_test(test_capacities_of_a_queue_pair),
	    cmocka_unit_test(test_descriptors_are_limited),
	    cmocka_unit_test(test_what_a_lease_costs),
	    cmocka_unit_test(test_what_size_costs),
	    cmocka_unit_test(test_moves),
	    cmocka_unit_test(test_moves_with_other_attributes),
	    cmocka_unit_test(test_moves_of_two_queue_pairs),
	    cmocka_unit_test(test_what_is_not_two_moves),
	};

	return cmocka_run_group_tests_name("validate", tests, NULL, NULL);
}
