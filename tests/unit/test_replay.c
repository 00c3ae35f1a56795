/* SPDX-License-Identifier: BSD-2-Clause */
/* Carrying a recipe out, in a kernel that keeps handles and descriptors as the real one does. */
#include "cmdlog/replay.h"

#include "cmdlog/validate.h"
#include "fake_kernel.h"
#include "fixture.h"

#include <fcntl.h>

struct bench {
	struct fake_kernel kernel;
	struct wv_replay out;
	unsigned int fds_before;
	_Alignas(8) uint8_t memory[WV_CMDLOG_MAX_BYTES];
};

static int play_in(struct bench *b, struct wv_cmdlog *recipe, size_t capacity)
{
	return wv_replay(recipe, fake_kernel_issue, &b->kernel, b->memory, capacity, &b->out);
}

static void begin(struct bench *b)
{
	b->fds_before = count_fds();
	fake_kernel_init(&b->kernel);
	memset(b->memory, 0xee, sizeof(b->memory));
}

/* What was made is in the caller's hands, and nothing else. */
static void end(struct bench *b)
{
	for (unsigned int i = 0; i < b->out.n_fds; i++)
		assert_int_equal(close(b->out.fds[i]), 0);
	assert_int_equal(count_fds(), b->fds_before);
}

/* A lease of @recipe. */
static struct wv_cmdlog *play(struct bench *b, struct wv_cmdlog *recipe)
{
	begin(b);
	assert_int_equal(play_in(b, recipe, sizeof(b->memory)), 0);
	assert_ptr_equal(b->out.lease, b->memory);
	assert_int_equal(wv_cmdlog_check(b->out.lease, b->out.lease->bytes, WV_LEASE), 0);
	return b->out.lease;
}

static struct bench bench;

static void test_every_fixture(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_FIXTURES; i++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe(fixture_names[i]);
		struct wv_cmdlog *lease = play(&bench, recipe);

		assert_int_equal(lease->n_steps, recipe->n_steps);
		assert_int_equal(lease->n_fds, bench.out.n_fds);
		assert_int_equal(bench.kernel.issued, recipe->n_steps);
		for (unsigned int k = 0; k < recipe->n_steps; k++) {
			struct wv_step *step = tape_step(lease, k);

			assert_string_equal(step_name(step), step_name(tape_step(recipe, k)));
			assert_int_equal(step->error, tape_step(recipe, k)->error);
		}
		end(&bench);
	}
}

/* rc_pingpong had PD 0, MR 1, CQ 2, QP 3; nobody registers memory ahead of it. */
static void test_handles_are_the_kernel_s(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
	struct wv_cmdlog *lease = play(&bench, recipe);
	struct wv_step *qp = tape_find(lease, "QP_CREATE", 0);
	struct wv_step *query = tape_find(lease, "query_qp", 0);
	struct wv_step *modify = tape_find(lease, "modify_qp", 0);

	(void)state;
	assert_int_equal(tape_find(lease, "alloc_pd", 0)->new_handle, 0);
	assert_int_equal(tape_find(lease, "CQ_CREATE", 0)->new_handle, 1);
	assert_int_equal(qp->new_handle, 2);
	assert_int_equal(wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_PD_HANDLE)->data, 0);
	assert_int_equal(wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE)->data, 1);
	assert_int_equal(query->target, 2);
	assert_int_equal(
	    ((struct ib_uverbs_query_qp *)step_input(query, UVERBS_ATTR_CORE_IN))->qp_handle, 2);
	assert_int_equal(modify->target, 2);
	assert_int_equal(step_modify(modify)->qp_handle, 2);
	assert_int_equal(bench.kernel.objects[2].state, IBV_QPS_INIT);
	end(&bench);
}

static void test_descriptors_become_slots(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong_events");
	struct wv_cmdlog *lease = play(&bench, recipe);
	struct wv_step *cq = tape_find(lease, "CQ_CREATE", 0);

	(void)state;
	assert_int_equal(tape_find(lease, "ASYNC_EVENT_ALLOC", 0)->new_fd, 0);
	assert_int_equal(tape_find(lease, "create_comp_channel", 0)->new_fd, 1);
	assert_int_equal(wv_step_attr(cq, UVERBS_ATTR_CREATE_CQ_EVENT_FD)->data, 0);
	assert_int_equal(wv_step_attr(cq, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)->data, 1);
	assert_int_equal(lease->n_fds, 2);
	end(&bench);
}

/* What the kernel will say in events names the step, and is no address. */
static void test_tokens_name_the_step(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("srq_pingpong");
	struct wv_cmdlog *lease = play(&bench, recipe);
	unsigned int index = 0, seen = 0;

	(void)state;
	wv_each_step (lease, step) {
		if (wv_step_row(step)->write_cmd == WV_NO_WRITE_CMD &&
		    step->new_handle != WV_NONE) {
			uint64_t token = bench.kernel.objects[step->new_handle].user_handle;

			assert_int_equal(token, WV_TOKEN(index));
			assert_true(WV_IS_TOKEN(token));
			seen++;
		}
		index++;
	}
	assert_int_equal(seen, 18); /* CQ, SRQ, 16 QPs */
	end(&bench);
}

static void assert_answer(struct wv_step *step, uint16_t id, uint16_t kind, unsigned int ordinal)
{
	struct wv_attr *attr = wv_step_attr(step, id);

	assert_int_equal(attr->valid_output, 1);
	for (unsigned int i = 0; i < attr->len; i++)
		assert_int_equal(*wv_step_at(step, attr->payload + i),
				 fake_answer_byte(kind, ordinal, id, i));
}

static void test_answers_are_kept(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("srq_pingpong");
	struct wv_cmdlog *lease = play(&bench, recipe);
	struct wv_step *cq = tape_find(lease, "CQ_CREATE", 0);

	(void)state;
	assert_answer(cq, UVERBS_ATTR_CREATE_CQ_RESP_CQE, UVERBS_OBJECT_CQ, 0);
	assert_answer(cq, UVERBS_ATTR_UHW_OUT, UVERBS_OBJECT_CQ, 0);
	assert_int_equal(wv_step_attr(cq, UVERBS_ATTR_CREATE_CQ_HANDLE)->valid_output, 0);
	assert_int_equal(wv_step_attr(cq, UVERBS_ATTR_CREATE_CQ_CQE)->valid_output, 0);
	for (unsigned int i = 0; i < 16; i++) {
		struct wv_step *qp = tape_find(lease, "QP_CREATE", i);

		assert_answer(qp, UVERBS_ATTR_CREATE_QP_RESP_CAP, UVERBS_OBJECT_QP, i);
		assert_answer(qp, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, UVERBS_OBJECT_QP, i);
		assert_answer(qp, UVERBS_ATTR_UHW_OUT, UVERBS_OBJECT_QP, i);
	}
	end(&bench);
}

/* The answer must not be written over the question, which is still to be compared. */
static void test_questions_are_kept(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
	struct wv_cmdlog *lease = play(&bench, recipe);
	struct wv_step *asked = tape_find(recipe, "QP_CREATE", 0);
	struct wv_step *played = tape_find(lease, "QP_CREATE", 0);

	(void)state;
	assert_memory_equal(step_input(played, UVERBS_ATTR_CREATE_QP_CAP),
			    step_input(asked, UVERBS_ATTR_CREATE_QP_CAP),
			    sizeof(struct ib_uverbs_qp_cap));
	end(&bench);
}

static void test_the_probe_s_error_is_kept(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("devinfo");
	struct wv_cmdlog *lease = play(&bench, recipe);

	(void)state;
	assert_int_equal(tape_step(lease, 0)->error, ENOSPC);
	end(&bench);
}

static void test_every_step_can_fail(void **state)
{
	static const int errors[] = {ENOMEM, EINVAL, EMFILE, EIO, ENODEV};

	(void)state;
	for (unsigned int i = 0; i < N_FIXTURES; i++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe(fixture_names[i]);

		for (int k = 0; k < recipe->n_steps; k++) {
			begin(&bench);
			bench.kernel.fail_at = k;
			bench.kernel.fail_errno = errors[k % (int)WV_ARRAY_SIZE(errors)];
			assert_int_equal(play_in(&bench, recipe, sizeof(bench.memory)), -EPROTO);
			assert_int_equal(bench.out.failed_step, k);
			assert_int_equal(bench.out.failed_errno, bench.kernel.fail_errno);
			assert_int_equal(bench.kernel.issued, k + 1); /* and no further */
			end(&bench);
		}
	}
}

/* The kernel has learnt something since: what it made must not be lost. */
static void test_a_step_that_used_to_fail_succeeds(void **state)
{
	static const char *const names[] = {"ASYNC_EVENT_ALLOC", "create_comp_channel", "alloc_pd"};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(names); i++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong_events");
		struct wv_step *step = tape_find(recipe, names[i], 0);

		step->error = EMFILE;
		begin(&bench);
		assert_int_equal(play_in(&bench, recipe, sizeof(bench.memory)), -EPROTO);
		assert_int_equal(bench.out.failed_step, step_index(recipe, step));
		assert_int_equal(bench.out.failed_errno, 0);
		assert_int_equal(bench.out.n_fds, i < 2 ? i + 1 : 2);
		end(&bench);
	}
}

static void test_too_little_memory(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong_events");
	uint32_t needed = play(&bench, recipe)->bytes;

	(void)state;
	end(&bench);
	for (size_t capacity = sizeof(*recipe); capacity < needed; capacity += 8) {
		wv_auto_free void *memory = malloc(capacity);

		begin(&bench);
		assert_int_equal(wv_replay(recipe, fake_kernel_issue, &bench.kernel, memory,
					   capacity, &bench.out),
				 -ENOSPC);
		end(&bench);
	}
}

/* More than a lease can carry: wv_validate() refuses it, and replay does not rely on that. */
static void test_too_many_descriptors(void **state)
{
	wv_auto_free struct wv_cmdlog *one = fixture_recipe("rc_pingpong_events");
	struct wv_step *channel = tape_find(one, "create_comp_channel", 0);
	wv_auto_free struct wv_cmdlog *recipe =
	    malloc(sizeof(*recipe) + (WV_CMDLOG_MAX_FDS + 1) * channel->bytes);

	(void)state;
	*recipe = *one;
	recipe->n_steps = WV_CMDLOG_MAX_FDS + 1;
	recipe->bytes = (uint32_t)(sizeof(*recipe) + recipe->n_steps * channel->bytes);
	for (unsigned int i = 0; i < recipe->n_steps; i++)
		memcpy((uint8_t *)(recipe + 1) + i * channel->bytes, channel, channel->bytes);
	begin(&bench);
	assert_int_equal(play_in(&bench, recipe, sizeof(bench.memory)), -ENOSPC);
	assert_int_equal(bench.out.n_fds, WV_CMDLOG_MAX_FDS);
	end(&bench);
}

/* A reference to a step that makes a descriptor, where a handle is wanted, and the reverse. */
static void test_references_of_the_wrong_kind(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
	struct wv_step *qp = tape_find(recipe, "QP_CREATE", 0);
	unsigned int pd = step_index(recipe, tape_find(recipe, "alloc_pd", 0));
	struct wv_cost cost;
	const char *why;

	(void)state;
	wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_PD_HANDLE)->data = 1; /* the context */
	assert_int_equal(wv_validate(recipe, &cost, &why), 0);
	begin(&bench);
	assert_int_equal(play_in(&bench, recipe, sizeof(bench.memory)), -EPROTO);
	assert_int_equal(bench.kernel.issued, step_index(recipe, qp)); /* it was not even asked */
	end(&bench);
	wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_PD_HANDLE)->data = pd;
	wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_EVENT_FD)->data = pd;
	begin(&bench);
	assert_int_equal(play_in(&bench, recipe, sizeof(bench.memory)), -EPROTO);
	end(&bench);
}

static const struct wv_qp_peer peer = {
    .qp_num = 0x1234, .gid = {[10] = 0xff, [11] = 0xff, [15] = 7}, .psn = 11, .peer_psn = 22};
static const struct wv_qp_peer earlier = {.qp_num = 0x99, .gid = {1}, .psn = 1, .peer_psn = 2};

static int connect_qp(struct bench *b, uint32_t create, struct wv_cmdlog *moves, size_t capacity)
{
	return wv_replay_moves(b->out.lease, capacity, create, moves, &peer, fake_kernel_issue,
			       &b->kernel);
}

/* The lease moves its own queue pair to the given peer, whatever the recorded one was. */
static void test_connected_ahead(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
	wv_auto_free struct wv_cmdlog *moves = moves_of(77, &earlier);
	wv_auto_free struct wv_cmdlog *before = copy_exactly(moves, moves->bytes);
	struct wv_cmdlog *lease = play(&bench, recipe);
	uint32_t create = step_index(lease, tape_find(lease, "QP_CREATE", 0));
	uint32_t handle = tape_step(lease, create)->new_handle;
	struct wv_qp_peer named;
	struct wv_step *rtr, *rts;

	(void)state;
	assert_int_equal(connect_qp(&bench, create, moves, sizeof(bench.memory)), 0);
	assert_memory_equal(moves, before, before->bytes);
	assert_int_equal(wv_cmdlog_check(lease, lease->bytes, WV_LEASE), 0);
	assert_int_equal(lease->n_steps, recipe->n_steps + 2);
	assert_int_equal(bench.kernel.objects[handle].state, IBV_QPS_RTS);
	rtr = tape_step(lease, recipe->n_steps);
	rts = wv_step_next(rtr);
	assert_int_equal(rtr->target, handle);
	assert_int_equal(rts->target, handle);
	assert_int_equal(step_modify(rtr)->qp_handle, handle);
	assert_int_equal(step_modify(rtr)->qp_state, IBV_QPS_RTR);
	assert_int_equal(step_modify(rts)->qp_state, IBV_QPS_RTS);
	named = wv_qp_named(step_modify(rtr), sizeof(struct ib_uverbs_modify_qp));
	assert_true(wv_qp_peer_is(&named, &peer));
	assert_int_equal(step_modify(rtr)->rq_psn, peer.peer_psn);
	assert_int_equal(step_modify(rts)->sq_psn, peer.psn);
	assert_int_equal(step_modify(rts)->dest_qp_num, 0); /* its mask has no peer */
	assert_int_equal(step_modify(rts)->timeout, 14);
	end(&bench);
}

static void test_only_rc_is_connected(void **state)
{
	static const char *const types[] = {"rc_pingpong", "ud_pingpong"};
	wv_auto_free struct wv_cmdlog *moves = moves_of(77, &earlier);

	(void)state;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(types); i++) {
		wv_auto_free struct wv_cmdlog *recipe = fixture_recipe(types[i]);
		struct wv_cmdlog *lease = play(&bench, recipe);
		uint32_t create = step_index(lease, tape_find(lease, "QP_CREATE", 0));
		int expected = i ? -EINVAL : 0;

		for (uint32_t n = 0; n < recipe->n_steps + 2u; n++)
			if (n != create)
				assert_int_equal(connect_qp(&bench, n, moves, sizeof(bench.memory)),
						 -EINVAL);
		assert_int_equal(connect_qp(&bench, create, moves, sizeof(bench.memory)), expected);
		end(&bench);
	}
}

/* The lease holds no move that was not made. */
static void test_not_connected(void **state)
{
	wv_auto_free struct wv_cmdlog *recipe = fixture_recipe("rc_pingpong");
	wv_auto_free struct wv_cmdlog *moves = moves_of(77, &earlier);

	(void)state;
	for (int failing = 0; failing < 3; failing++) {
		struct wv_cmdlog *lease = play(&bench, recipe);
		uint32_t create = step_index(lease, tape_find(lease, "QP_CREATE", 0));
		uint32_t bytes = lease->bytes;
		size_t capacity = failing < 2 ? sizeof(bench.memory) : bytes + 8;

		if (failing < 2)
			bench.kernel.fail_at = (int)bench.kernel.issued + failing;
		bench.kernel.fail_errno = ENETUNREACH;
		assert_int_equal(connect_qp(&bench, create, moves, capacity),
				 failing < 2 ? -ENETUNREACH : -ENOSPC);
		assert_int_equal(lease->n_steps, recipe->n_steps);
		assert_int_equal(lease->bytes, bytes);
		assert_int_equal(wv_cmdlog_check(lease, bytes, WV_LEASE), 0);
		end(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_fixture),
	    cmocka_unit_test(test_handles_are_the_kernel_s),
	    cmocka_unit_test(test_descriptors_become_slots),
	    cmocka_unit_test(test_tokens_name_the_step),
	    cmocka_unit_test(test_answers_are_kept),
	    cmocka_unit_test(test_questions_are_kept),
	    cmocka_unit_test(test_the_probe_s_error_is_kept),
	    cmocka_unit_test(test_every_step_can_fail),
	    cmocka_unit_test(test_a_step_that_used_to_fail_succeeds),
	    cmocka_unit_test(test_too_little_memory),
	    cmocka_unit_test(test_too_many_descriptors),
	    cmocka_unit_test(test_references_of_the_wrong_kind),
	    cmocka_unit_test(test_connected_ahead),
	    cmocka_unit_test(test_only_rc_is_connected),
	    cmocka_unit_test(test_not_connected),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
