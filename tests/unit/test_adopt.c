/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program on a lease: what it receives, what it is sent to the kernel for, and that both are the
 * same to it. Commands pass through the preload's own control path
 * (src/preload/lease/control_path.c).
 *
 * A trail has one letter a command: 'a' adopted, 'k' the kernel's.
 */
#include "cmdlog/adopt.h"

#include "cmdlog/replay.h"
#include "cmdlog/writer.h"
#include "fake_kernel.h"
#include "fixture.h"
#include "preload.h"
#include "preload/core/context.h"
#include "program.h"

#define BASE 0x7f00dead0000

/* A process that was handed a lease. */
struct session {
	unsigned int fds_before;
	struct fake_kernel kernel;
	struct wv_replay replay;
	struct wv_cmdlog *cmdlog;
	struct preload preload;
	struct program program;
};

static struct session session;

static struct session *begin_with(struct wv_cmdlog *record)
{
	wv_auto_free struct wv_cmdlog *recipe = recipe_of(record);
	wv_auto_free void *memory = malloc(WV_CMDLOG_MAX_BYTES);
	struct session *s = &session;

	s->fds_before = count_fds();
	fake_kernel_init(&s->kernel);
	assert_int_equal(wv_replay(recipe, fake_kernel_issue, &s->kernel, memory,
				   WV_CMDLOG_MAX_BYTES, &s->replay),
			 0);
	s->cmdlog = copy_exactly(memory, s->replay.lease->bytes);
	assert_int_equal(wv_cmdlog_check(s->cmdlog, s->cmdlog->bytes, WV_LEASE), 0);
	preload_begin(&s->preload, &s->kernel, s->cmdlog, &s->replay);
	program_init(&s->program, preload_issue, &s->preload, BASE);
	s->program.registers_mr = true;
	return s;
}

static struct session *begin(const char *fixture)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load(fixture);

	return begin_with(record);
}

static void close_program(struct program *p)
{
	for (size_t i = 0; i < WV_ARRAY_SIZE(p->fds); i++) {
		if (p->fds[i] >= 0)
			close(p->fds[i]);
		p->fds[i] = -1;
	}
}

/* Closes all descriptors, given or not; each must be there just once. */
static void end(struct session *s)
{
	for (unsigned int i = 0; i < s->replay.n_fds; i++)
		if (!(s->preload.lease->given & 1u << i) && s->preload.lease->fds[i] >= 0)
			assert_int_equal(close(s->preload.lease->fds[i]), 0);
	close_program(&s->program);
	assert_int_equal(count_fds(), s->fds_before);
	free(s->cmdlog);
}

static uint16_t kind_made(const struct wv_step *step)
{
	if (step->write_cmd == IB_USER_VERBS_CMD_ALLOC_PD)
		return UVERBS_OBJECT_PD;
	return step->object;
}

/*
 * What well-behaved programs do at their end, unless they were recorded doing it: all destroyed,
 * last made first; all succeed.
 */
static void tear_down(struct program *p, struct wv_cmdlog *record)
{
	for (unsigned int i = record->n_steps; i--;) {
		struct wv_step *step = tape_step(record, i);

		if (step->new_handle == WV_NONE || p->handles[step->new_handle] == WV_NONE)
			continue;
		assert_int_equal(program_destroy(p, kind_made(step), p->handles[step->new_handle]),
				 0);
		p->handles[step->new_handle] = WV_NONE;
	}
}

/* How many steps there are until the program destroys what it made. */
static unsigned int until_destroyed(struct wv_cmdlog *record)
{
	wv_each_step (record, step)
		if (step->class_ == WV_DESTROY)
			return step_index(record, step);
	return record->n_steps;
}

/* Where the program moved the QP that has number @recorded in its record. */
static uint32_t state_recorded(struct wv_cmdlog *record, uint32_t recorded)
{
	uint32_t state = IBV_QPS_RESET;

	wv_each_step (record, step)
		if (step->class_ == WV_MODIFY && step->target == recorded)
			state = (uint32_t)wv_step_qp_state(step);
	return state;
}

static uint32_t state_of(struct session *s, unsigned int recorded)
{
	uint32_t handle = s->program.handles[recorded];

	assert_int_equal(s->kernel.objects[handle].kind, UVERBS_OBJECT_QP);
	assert_true(s->kernel.objects[handle].live);
	return s->kernel.objects[handle].state;
}

/* The same program without a lease. */
static void run_plainly(struct program *p, struct wv_cmdlog *record)
{
	static struct fake_kernel kernel;

	fake_kernel_init(&kernel);
	program_init(p, fake_kernel_issue, &kernel, BASE);
	p->registers_mr = true;
	program_run(p, record);
	tear_down(p, record);
	close_program(p);
}

/* Runs @record on a lease of @fixture, and tears down. */
static void run(struct session *s, struct wv_cmdlog *record, const char *trail)
{
	program_run(&s->program, record);
	assert_string_equal(s->preload.trail, trail);
}

static void test_a_program_receives_its_whole_recipe(void **state)
{
	static const char *const trails[N_FIXTURES][2] = {
	    {"devinfo", "aaaa"},
	    {"rc_pingpong", "aaaakaaaa"},
	    {"rc_pingpong_events", "aaaaakaaaa"},
	    {"ud_pingpong", "aaaakaaaaaakkk"}, /* it was recorded to its end */
	    {"rping", "aaaaakakaaaaa"},
	    {"write_lat", "aaaaaaakaaa"},
	    {"send_bw_q4", "aaaaaaakaaaaaaaaaa"},
	    {"srq_pingpong", "aaaakaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	};

	(void)state;
	for (unsigned int i = 0; i < N_FIXTURES; i++) {
		wv_auto_free struct wv_cmdlog *record = fixture_load(trails[i][0]);
		struct session *s = begin(trails[i][0]);
		static struct program plain;

		run(s, record, trails[i][1]);
		run_plainly(&plain, record);
		assert_memory_equal(s->program.errors, plain.errors, sizeof(plain.errors));
		assert_memory_equal(s->program.answers, plain.answers, sizeof(plain.answers));
		tear_down(&s->program, record);
		assert_int_equal(s->preload.rollbacks, 0);
		assert_int_equal(s->preload.purges, 0);
		assert_int_equal(fake_kernel_live(&s->kernel, UVERBS_OBJECT_PD), 0);
		assert_int_equal(fake_kernel_live(&s->kernel, UVERBS_OBJECT_CQ), 0);
		assert_int_equal(fake_kernel_live(&s->kernel, UVERBS_OBJECT_QP), 0);
		end(s);
	}
}

/*
 * A record of rc_pingpong whose program is first refused a queue pair, by the fake kernel because
 * its completion queue is none; the caller frees it.
 */
static struct wv_cmdlog *with_refused_queue_pair(void)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct wv_cmdlog *copy = malloc(WV_CMDLOG_MAX_BYTES);
	struct wv_cmdlog_writer w;

	wv_cmdlog_begin(&w, copy, WV_CMDLOG_MAX_BYTES, WV_RECORD, record->driver_id);
	wv_each_step (record, step) {
		bool is_qp = wv_abi_creates(wv_step_row(step), UVERBS_OBJECT_QP);
		struct wv_step *refused = wv_cmdlog_end(copy);

		wv_cmdlog_copy(&w, step);
		if (!is_qp)
			continue;
		refused->error = EINVAL;
		refused->new_handle = refused->new_number = WV_NONE;
		wv_step_attr(refused, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE)->data =
		    tape_find(record, "alloc_pd", 0)->new_handle;
		wv_cmdlog_copy(&w, step);
	}
	assert_int_equal(wv_cmdlog_check(copy, copy->bytes, WV_RECORD), 0);
	return copy;
}

static void test_a_refused_queue_pair_is_refused_again(void **state)
{
	wv_auto_free struct wv_cmdlog *record = with_refused_queue_pair();
	struct session *s = begin_with(record);
	static struct program plain;

	(void)state;
	run(s, record, "aaaakaaaaa");
	run_plainly(&plain, record);
	assert_memory_equal(s->program.errors, plain.errors, sizeof(plain.errors));
	assert_memory_equal(s->program.answers, plain.answers, sizeof(plain.answers));
	tear_down(&s->program, record);
	assert_int_equal(s->preload.purges, 0);
	assert_int_equal(fake_kernel_live(&s->kernel, UVERBS_OBJECT_QP), 0);
	end(s);
}

/* Whatever the lease is of: no error that a program would not have had, and no wrong state. */
static void test_any_program_on_any_lease(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_FIXTURES * N_FIXTURES; i++) {
		wv_auto_free struct wv_cmdlog *record = fixture_load(fixture_names[i % N_FIXTURES]);
		struct session *s = begin(fixture_names[i / N_FIXTURES]);
		static struct program plain;

		program_run_part(&s->program, record, 0, until_destroyed(record));
		wv_each_step (record, step)
			if (step->object == UVERBS_OBJECT_QP && step->class_ == WV_CREATE)
				assert_int_equal(state_of(s, step->new_handle),
						 state_recorded(record, step->new_handle));
		program_run_part(&s->program, record, until_destroyed(record), record->n_steps);
		run_plainly(&plain, record);
		assert_memory_equal(s->program.errors, plain.errors, sizeof(plain.errors));
		tear_down(&s->program, record);
		end(s);
	}
}

static uint32_t *number(struct wv_cmdlog *record, const char *name, uint16_t attr)
{
	return step_input(tape_find(record, name, 0), attr);
}

/* The QP of the lease is in the way of the PD, and goes. */
static void test_another_depth_of_completion_queue(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");

	(void)state;
	++*number(record, "CQ_CREATE", UVERBS_ATTR_CREATE_CQ_CQE);
	run(s, record, "aaaakkkkk");
	assert_int_equal(state_of(s, 3), IBV_QPS_INIT);
	tear_down(&s->program, record);
	assert_int_equal(s->preload.purges, 1);
	end(s);
}

/* The vector matters only if the queue has a completion channel, and must be one of the device. */
static void test_another_vector(void **state)
{
	static const struct {
		const char *name, *trail;
		uint32_t plus;
		bool any_vector;
	} cases[] = {
	    {"rc_pingpong", "aaaakaaaa", 1, false},
	    {"rc_pingpong_events", "aaaaakaaaa", 0, false},
	    {"rc_pingpong_events", "aaaaakkkkk", 1, false},
	    {"rc_pingpong_events", "aaaaakaaaa", 1, true},
	    {"rc_pingpong", "aaaakkkkk", 255, false},
	    {"rc_pingpong_events", "aaaaakkkkk", 255, true},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		wv_auto_free struct wv_cmdlog *record = fixture_load(cases[i].name);
		struct session *s = begin(cases[i].name);
		uint32_t vectors = 255;
		struct wv_step *open = tape_find(s->cmdlog, "GET_CONTEXT", 0);

		memcpy(wv_step_at(
			   open,
			   wv_step_attr(open, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS)->payload),
		       &vectors, sizeof(vectors));
		s->preload.lease->any_vector = cases[i].any_vector;
		*number(record, "CQ_CREATE", UVERBS_ATTR_CREATE_CQ_COMP_VECTOR) += cases[i].plus;
		run(s, record, cases[i].trail);
		tear_down(&s->program, record);
		end(s);
	}
}

static void test_another_depth_of_queue_pair(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");

	(void)state;
	++*number(record, "QP_CREATE", UVERBS_ATTR_CREATE_QP_CAP);
	run(s, record, "aaaakakkk");
	assert_int_equal(state_of(s, 3), IBV_QPS_INIT);
	tear_down(&s->program, record);
	assert_int_equal(s->preload.purges, 1); /* it used the CQ that the program received */
	end(s);
}

/* The queue pairs that do equal the recipe's are received all the same. */
static void test_one_queue_pair_of_four_is_other(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("send_bw_q4");
	struct session *s = begin("send_bw_q4");

	(void)state;
	++*number(record, "QP_CREATE", UVERBS_ATTR_CREATE_QP_CAP);
	run(s, record, "aaaaaaakaakkaaaaaa");
	tear_down(&s->program, record);
	assert_int_equal(s->preload.purges, 1);
	end(s);
}

static void test_other_access_at_init(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");

	(void)state;
	step_modify(tape_find(record, "modify_qp", 0))->qp_access_flags = 0x5;
	run(s, record, "aaaakaaak");
	assert_int_equal(s->preload.rollbacks, 1);
	assert_int_equal(state_of(s, 3), IBV_QPS_INIT);
	assert_int_equal(s->kernel.objects[s->program.handles[3]].access, 0x5);
	tear_down(&s->program, record);
	end(s);
}

static void test_packet_sequence_numbers_may_differ(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");

	(void)state;
	step_modify(tape_find(record, "modify_qp", 0))->rq_psn = 0x123456;
	step_modify(tape_find(record, "modify_qp", 0))->sq_psn = 0x654321;
	run(s, record, "aaaakaaaa");
	tear_down(&s->program, record);
	end(s);
}

static void test_more_queue_pairs(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");
	uint32_t first;

	(void)state;
	program_run(&s->program, record);
	first = s->program.handles[3];
	program_run_part(&s->program, record, 5, 8); /* once more from create_qp */
	assert_string_equal(s->preload.trail, "aaaakaaaakkk");
	assert_int_not_equal(s->program.handles[3], first);
	assert_int_equal(state_of(s, 3), IBV_QPS_INIT);
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_QP, first), 0);
	tear_down(&s->program, record);
	assert_int_equal(s->preload.purges, 0);
	end(s);
}

static void test_fewer_queue_pairs(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("send_bw_q4");
	struct session *s = begin("send_bw_q4");

	(void)state;
	record->bytes = (uint32_t)((uint8_t *)tape_step(record, 13) - (uint8_t *)record);
	record->n_steps = 13; /* two queue pairs of four */
	run(s, record, "aaaaaaakaaaaaa");
	tear_down(&s->program, record);
	assert_int_equal(s->preload.purges, 2);
	end(s);
}

static void test_recorded_with_events_and_run_without(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong_events");

	(void)state;
	run(s, record, "aaaakkkkk");
	assert_int_equal(s->preload.lease->given, 1); /* the channel's slot was never given */
	tear_down(&s->program, record);
	end(s);
}

static void test_recorded_without_events_and_run_with(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong_events");
	struct session *s = begin("rc_pingpong");

	(void)state;
	run(s, record, "aaakakkkkk");
	tear_down(&s->program, record);
	end(s);
}

static void test_recorded_with_an_srq_and_run_without(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("srq_pingpong");
	struct session *s = begin("srq_pingpong");
	struct wv_step *qp = tape_find(record, "QP_CREATE", 0);

	(void)state;
	program_run_part(&s->program, record, 0, 5); /* up to the CQ */
	/* The same QP without the attribute that names the SRQ, which is not the last. */
	for (unsigned int i = 0; i < qp->n_attrs; i++)
		if (wv_step_attrs(qp)[i].id == UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)
			memmove(&wv_step_attrs(qp)[i], &wv_step_attrs(qp)[i + 1],
				(qp->n_attrs - i - 1u) * sizeof(struct wv_attr));
	qp->n_attrs--;
	assert_int_equal(program_step(&s->program, qp), 0);
	assert_string_equal(s->preload.trail, "aaaakak");
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_QP, s->program.handles[4]), 0);
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_CQ, s->program.handles[2]), 0);
	assert_int_equal(s->preload.purges, 16); /* the QPs of the lease */
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_PD, s->program.handles[0]), 0);
	assert_int_equal(s->preload.purges, 17); /* and then its SRQ */
	end(s);
}

static void test_recorded_without_an_srq_and_run_with(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("srq_pingpong");
	struct session *s = begin("rc_pingpong");

	(void)state;
	*number(record, "CQ_CREATE", UVERBS_ATTR_CREATE_CQ_CQE) = 501; /* as rc_pingpong */
	program_run_part(&s->program, record, 0, 9);
	assert_string_equal(s->preload.trail, "aaaakakkkk");
	end(s);
}

/* Objects that were skipped are still there for one who asks for them later. */
static void test_skipping_is_not_losing(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("srq_pingpong");
	struct session *s = begin("srq_pingpong");
	struct wv_step *qp = tape_find(record, "QP_CREATE", 0);
	struct wv_step *srq = tape_find(record, "SRQ_CREATE", 0);

	(void)state;
	program_run_part(&s->program, record, 0, 5);
	++*(uint32_t *)step_input(qp, UVERBS_ATTR_CREATE_QP_CAP); /* a QP of another depth first */
	s->program.handles[3] = s->program.handles[2]; /* its SRQ is none: the kernel refuses */
	assert_int_equal(program_step(&s->program, qp), EINVAL);
	assert_int_equal(program_step(&s->program, srq), 0);
	assert_int_equal(program_step(&s->program, tape_find(record, "QP_CREATE", 1)), 0);
	assert_string_equal(s->preload.trail, "aaaakakaa");
	end(s);
}

/*
 * The lowest number is free at once: the new QP has the handle of the one that was received, and
 * its move to INIT is the very command that the lease still holds for the old one.
 */
static void test_a_handle_used_again_after_destroy(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");
	uint32_t first;

	(void)state;
	program_run_part(&s->program, record, 0, 6);
	first = s->program.handles[3];
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_QP, first), 0);
	program_run_part(&s->program, record, 5, 6);
	assert_int_equal(s->program.handles[3], first);
	program_run_part(&s->program, record, 7, 8);
	assert_string_equal(s->preload.trail, "aaaakaakkk");
	assert_int_equal(state_of(s, 3), IBV_QPS_INIT);
	tear_down(&s->program, record);
	end(s);
}

/* The QP was moved in the kernel since: what the lease did ahead of that is history. */
static void test_a_queue_pair_reset_before_init(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");

	(void)state;
	program_run_part(&s->program, record, 0, 6);
	assert_int_equal(program_move(&s->program, s->program.handles[3], IBV_QPS_RESET), 0);
	program_run_part(&s->program, record, 7, 8);
	assert_string_equal(s->preload.trail, "aaaakaakk");
	assert_int_equal(state_of(s, 3), IBV_QPS_INIT);
	end(s);
}

/* An object that stood in the way is gone, and its number with it. */
static void test_a_handle_used_again_after_a_purge(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");
	uint32_t leased_cq, leased_qp = tape_find(s->cmdlog, "QP_CREATE", 0)->new_handle;

	(void)state;
	program_run_part(&s->program, record, 0, 5);
	leased_cq = s->program.handles[2];
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_CQ, leased_cq), 0);
	assert_int_equal(s->preload.purges, 1);
	program_run_part(&s->program, record, 4, 6); /* CQ and QP anew: their numbers again */
	assert_int_equal(s->program.handles[2], leased_cq);
	assert_int_equal(s->program.handles[3], leased_qp);
	program_run_part(&s->program, record, 7, 8);
	assert_string_equal(s->preload.trail, "aaaakakkkk");
	assert_int_equal(state_of(s, 3), IBV_QPS_INIT);
	tear_down(&s->program, record);
	end(s);
}

/* A received QP that is destroyed and made again, while the lease has more: the next one. */
static void test_created_again_from_the_lease(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("send_bw_q4");
	struct session *s = begin("send_bw_q4");
	uint32_t first;

	(void)state;
	program_run_part(&s->program, record, 0, 11);
	first = s->program.handles[4];
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_QP, first), 0);
	program_run_part(&s->program, record, 9, 11);
	assert_string_equal(s->preload.trail, "aaaaaaakaaaakaa");
	assert_int_not_equal(s->program.handles[4], first);
	assert_int_equal(state_of(s, 4), IBV_QPS_INIT);
	end(s);
}

/* INIT done ahead must not show: neither to a query nor to a move that RESET does not allow. */
static void test_the_program_s_state_is_its_own(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("send_bw_q4");
	struct session *s = begin("send_bw_q4");

	(void)state;
	program_run_part(&s->program, record, 0, 10);
	assert_int_equal(program_query(&s->program, s->program.handles[4]), IBV_QPS_RESET);
	assert_int_equal(s->preload.rollbacks, 1);
	program_run_part(&s->program, record, 10, 12);
	assert_int_equal(state_of(s, 4), IBV_QPS_INIT);
	assert_int_equal(program_move(&s->program, s->program.handles[5], IBV_QPS_RTR), EINVAL);
	assert_string_equal(s->preload.trail, "aaaaaaakaaakkak");
	end(s);
}

/* RTR is done ahead too, but what the program says without INIT is wrong, and it is told so. */
static void test_a_move_that_skips_another_is_not_adopted(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("ud_pingpong");
	struct session *s = begin("ud_pingpong");
	struct wv_step *rtr = tape_find(record, "modify_qp", 1);

	(void)state;
	program_run_part(&s->program, record, 0, 7);
	assert_int_equal(program_step(&s->program, rtr), EINVAL);
	assert_string_equal(s->preload.trail, "aaaakaaak");
	assert_int_equal(s->preload.rollbacks, 1);
	program_run_part(&s->program, record, 7, 10);
	assert_string_equal(s->preload.trail, "aaaakaaakkkk");
	assert_int_equal(state_of(s, 3), IBV_QPS_RTS);
	end(s);
}

/* A program that goes its own way half way: it is where it left the QP, not where the lease is. */
static void test_a_queue_pair_is_put_back_to_where_the_program_was(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("ud_pingpong");
	struct session *s = begin("ud_pingpong");
	uint32_t qp;

	(void)state;
	program_run_part(&s->program, record, 0, 8); /* up to INIT */
	qp = s->program.handles[3];
	assert_int_equal(state_of(s, 3), IBV_QPS_RTS);
	assert_int_equal(program_query(&s->program, qp), IBV_QPS_INIT);
	assert_int_equal(s->preload.rollbacks, 1);
	assert_int_equal(state_of(s, 3), IBV_QPS_INIT);
	program_run_part(&s->program, record, 8, 10);
	assert_int_equal(state_of(s, 3), IBV_QPS_RTS);
	assert_string_equal(s->preload.trail, "aaaakaaaakkk");
	end(s);
}

/* What a QP was before its move is not what it is after. */
static void test_a_skipped_query_is_not_answered_later(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");

	(void)state;
	program_run_part(&s->program, record, 0, 6);
	program_run_part(&s->program, record, 7, 8);
	program_run_part(&s->program, record, 6, 7);
	assert_string_equal(s->preload.trail, "aaaakaaak");
	assert_int_equal(program_query(&s->program, s->program.handles[3]), IBV_QPS_INIT);
	end(s);
}

/* The order of steps about different QPs is free. */
static void test_queue_pairs_are_moved_in_any_order(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("srq_pingpong");
	struct session *s = begin("srq_pingpong");

	(void)state;
	program_run_part(&s->program, record, 0, 38);
	for (unsigned int i = 54; i-- > 38;)
		program_run_part(&s->program, record, i, i + 1);
	assert_null(strchr(s->preload.trail + 5, 'k'));
	assert_int_equal(s->preload.rollbacks, 0);
	tear_down(&s->program, record);
	end(s);
}

static void test_a_step_is_given_once(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("ud_pingpong");
	struct session *s = begin("ud_pingpong");
	static struct program again;

	(void)state;
	program_run_part(&s->program, record, 0, until_destroyed(record));
	program_init(&again, preload_issue, &s->preload, 0x560000000000);
	program_run_part(&again, record, 0, until_destroyed(record));
	assert_string_equal(s->preload.trail, "aaaakaaaaaa"
					      "kkkkkkkkkk");
	close_program(&again);
	end(s);
}

static void test_after_an_unknown_command_nothing_is_adopted(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");
	struct command cmd;

	(void)state;
	program_run_part(&s->program, record, 0, 4);
	command_init(&cmd, 0x1001, 0); /* a driver's own */
	assert_int_equal(preload_issue(&s->preload, &cmd.hdr), EINVAL);
	program_run_part(&s->program, record, 4, 6);
	assert_string_equal(s->preload.trail, "aaaakkkk");
	end(s);
}

/*
 * Neither is what the kernel refuses, nor a PD that librdmacm allocates for one more connection.
 * The same PD of the program itself is one.
 */
static void test_what_is_no_divergence(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");
	const struct wv_msg_report *report = &wv_context_of(PRELOAD_UFILE)->report;

	(void)state;
	program_run_part(&s->program, record, 0, 4);
	assert_int_equal(report->kernel, 1); /* a memory region */
	++*number(record, "CQ_CREATE", UVERBS_ATTR_CREATE_CQ_CQE);
	s->kernel.fail_at = (int)s->kernel.issued;
	s->kernel.fail_errno = EINVAL;
	assert_int_equal(program_step(&s->program, tape_find(record, "CQ_CREATE", 0)), EINVAL);
	wv_scope.why = WV_WHY_PASS; /* as in rdma_get_cm_event() */
	assert_int_equal(program_step(&s->program, tape_find(record, "alloc_pd", 0)), 0);
	assert_int_equal(s->preload.why, WV_WHY_PASS);
	wv_scope.why = WV_WHY_NONE;
	assert_int_equal(report->diverged, 0);
	assert_int_equal(report->kernel, 4);
	assert_int_equal(program_step(&s->program, tape_find(record, "alloc_pd", 0)), 0);
	assert_int_equal(report->diverged, 1);
	end(s);
}

static void test_another_driver_s_commands(void **state)
{
	struct session *s = begin("devinfo");
	uint64_t probe = IB_USER_VERBS_CMD_QUERY_DEVICE;
	struct command cmd;

	(void)state;
	command_init(&cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	command_in(&cmd, UVERBS_ATTR_WRITE_CMD, &probe, sizeof(probe));
	cmd.hdr.driver_id = RDMA_DRIVER_MLX5;
	assert_null(wv_lease_claim(s->preload.lease, &cmd.hdr, (uint32_t)probe));
	cmd.hdr.driver_id = RDMA_DRIVER_RXE;
	assert_non_null(wv_lease_claim(s->preload.lease, &cmd.hdr, (uint32_t)probe));
	end(s);
}

static void test_one_memory_for_question_and_answer(void **state)
{
	struct session *s = begin("rc_pingpong");
	struct wv_step *step = tape_find(s->cmdlog, "QP_CREATE", 0);
	struct ib_uverbs_qp_cap cap;
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");

	(void)state;
	/* program_step() shares it: the answer is right only if written after comparing. */
	program_run_part(&s->program, record, 0, 6);
	assert_int_equal(s->preload.trail[6], 'a');
	memcpy(&cap, step_input(step, UVERBS_ATTR_CREATE_QP_CAP), sizeof(cap));
	assert_memory_equal(
	    &cap, step_input(tape_find(record, "QP_CREATE", 0), UVERBS_ATTR_CREATE_QP_CAP),
	    sizeof(cap));
	end(s);
}

/* Builds a create_cq that equals the lease's, on channel @fd. */
static void build_cq(struct session *s, struct command *cmd, int async, int channel)
{
	static uint8_t uhw[16];
	static uint32_t resp;
	uint64_t token = BASE;

	command_init(cmd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	wv_each_attr (tape_find(s->cmdlog, "CQ_CREATE", 0), attr) {
		struct wv_step *step = tape_find(s->cmdlog, "CQ_CREATE", 0);
		struct ib_uverbs_attr *to;

		if (attr->kind == WV_EQUAL)
			to = command_in(cmd, attr->id, wv_attr_bytes(step, attr), attr->len);
		else if (attr->kind == WV_TOKEN)
			to = command_in(cmd, attr->id, &token, sizeof(token));
		else if (attr->kind == WV_OUT)
			to = command_out(cmd, attr->id, attr->len > 4 ? (void *)uhw : &resp,
					 attr->len);
		else
			to = command_object(
			    cmd, attr->id,
			    (uint64_t)(attr->id == UVERBS_ATTR_CREATE_CQ_EVENT_FD	? async
				       : attr->id == UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL ? channel
											: 0));
		to->flags = attr->flags;
	}
}

static void test_only_descriptors_that_were_given_are_known(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong_events");
	struct session *s = begin("rc_pingpong_events");
	struct wv_lease *lease = s->preload.lease;
	struct command cmd;

	(void)state;
	program_run_part(&s->program, record, 0, 3); /* no channel yet, but its number is known */
	build_cq(s, &cmd, lease->fds[0], lease->fds[1]);
	assert_null(wv_lease_claim(lease, &cmd.hdr, WV_NO_WRITE_CMD));
	program_run_part(&s->program, record, 3, 4);
	build_cq(s, &cmd, lease->fds[1], lease->fds[0]); /* the wrong way round */
	assert_null(wv_lease_claim(lease, &cmd.hdr, WV_NO_WRITE_CMD));
	build_cq(s, &cmd, lease->fds[0], lease->fds[1]);
	assert_non_null(wv_lease_claim(lease, &cmd.hdr, WV_NO_WRITE_CMD));
	end(s);
}

static void test_a_closed_channel_s_steps_die(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong_events");
	struct session *s = begin("rc_pingpong_events");
	struct wv_lease *lease = s->preload.lease;
	int channel = lease->fds[1];
	struct command cmd;

	(void)state;
	program_run_part(&s->program, record, 0, 4);
	assert_int_equal(s->program.fds[6], channel);
	wv_lease_kill_slot(lease, 1);
	assert_int_equal(lease->fds[1], -1);
	assert_int_equal(lease->given, 1);
	assert_int_equal(tape_find(s->cmdlog, "CQ_CREATE", 0)->state, WV_DEAD);
	lease->fds[1] = channel; /* a new channel has the number of the old */
	lease->given |= 2;
	build_cq(s, &cmd, lease->fds[0], channel);
	assert_null(wv_lease_claim(lease, &cmd.hdr, WV_NO_WRITE_CMD));
	end(s);
}

static void test_moves_that_are_killed_are_told_of(void **state)
{
	struct session *s = begin("srq_pingpong");
	struct wv_lease *lease = s->preload.lease;
	uint32_t first = tape_find(s->cmdlog, "QP_CREATE", 0)->new_handle;
	uint32_t cq = tape_find(s->cmdlog, "CQ_CREATE", 0)->new_handle;

	(void)state;
	assert_int_equal(wv_lease_kill_moves(lease, cq), 0);
	assert_int_equal(wv_lease_kill_moves(lease, first), 1);
	assert_int_equal(wv_lease_kill_moves(lease, first), 0);
	assert_int_equal(tape_find(s->cmdlog, "query_qp", 0)->state, WV_DEAD);
	assert_int_equal(tape_find(s->cmdlog, "modify_qp", 0)->state, WV_DEAD);
	assert_int_equal(tape_find(s->cmdlog, "query_qp", 1)->state, WV_FREE);
	assert_int_equal(tape_find(s->cmdlog, "modify_qp", 1)->state, WV_FREE);
	assert_int_equal(tape_find(s->cmdlog, "QP_CREATE", 0)->state, WV_FREE);
	tape_find(s->cmdlog, "modify_qp", 1)->state = WV_TAKEN; /* the program did move it */
	assert_int_equal(wv_lease_kill_moves(lease, first + 1), 0);
	end(s);
}

static void test_users_are_found_last_made_first(void **state)
{
	struct session *s = begin("srq_pingpong");
	struct wv_lease *lease = s->preload.lease;
	uint32_t pd = tape_find(s->cmdlog, "alloc_pd", 0)->new_handle;
	struct wv_step *srq = tape_find(s->cmdlog, "SRQ_CREATE", 0);

	(void)state;
	for (unsigned int i = 16; i--;) {
		struct wv_step *qp = tape_find(s->cmdlog, "QP_CREATE", i);

		assert_ptr_equal(wv_lease_user(lease, pd), qp);
		assert_ptr_equal(wv_lease_user(lease, srq->new_handle), qp);
		assert_null(wv_lease_user(lease, qp->new_handle)); /* its moves make nothing */
		qp->state = i % 2 ? WV_GONE : WV_TAKEN;
	}
	assert_null(wv_lease_user(lease, srq->new_handle));
	assert_ptr_equal(wv_lease_user(lease, pd), srq);
	srq->state = WV_DEAD; /* never to be matched, but it exists */
	assert_ptr_equal(wv_lease_user(lease, pd), srq);
	end(s);
}

static void test_purging_takes_users_of_users_first(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("srq_pingpong");
	struct session *s = begin("srq_pingpong");

	(void)state;
	program_run_part(&s->program, record, 0, 6); /* up to the SRQ, no QP */
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_SRQ, s->program.handles[3]), 0);
	assert_int_equal(s->preload.purges, 16);
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_CQ, s->program.handles[2]), 0);
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_PD, s->program.handles[0]), 0);
	assert_int_equal(s->preload.purges, 16);
	end(s);

	s = begin("srq_pingpong");
	program_run_part(&s->program, record, 0, 4); /* only the PD: SRQ after its QPs */
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_PD, s->program.handles[0]), 0);
	assert_int_equal(s->preload.purges, 17);
	end(s);
}

/* An SRQ of one PD, used by a QP of another: the first PD's user has a user that is not its own. */
static void test_purging_takes_users_in_another_protection_domain(void **state)
{
	wv_auto_free struct wv_cmdlog *pingpong = fixture_load("srq_pingpong");
	wv_auto_free struct wv_cmdlog *record = malloc(pingpong->bytes);
	struct session *s;

	(void)state;
	*record = *pingpong;
	record->n_steps = 0;
	record->bytes = sizeof(*record);
	for (unsigned int i = 0; i < 8; i++) { /* up to the SRQ, a second PD, a QP in it */
		struct wv_step *step = tape_step(pingpong, i < 6 ? i : i == 6 ? 3 : 6);
		struct wv_step *copy = wv_cmdlog_end(record);

		memcpy(copy, step, step->bytes);
		record->bytes += step->bytes;
		record->n_steps++;
	}
	tape_step(record, 6)->new_handle = 100;
	wv_step_attr(tape_step(record, 7), UVERBS_ATTR_CREATE_QP_PD_HANDLE)->data = 100;
	s = begin_with(record);
	program_run_part(&s->program, record, 0, 4);
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_PD, s->program.handles[0]), 0);
	assert_int_equal(s->preload.purges, 2);
	end(s);
}

/* No recipe results in such a lease, but the preload takes leases from whoever owns the socket. */
static void test_purging_what_uses_itself(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("srq_pingpong");
	struct session *s = begin("srq_pingpong");
	struct wv_step *qp = tape_find(s->cmdlog, "QP_CREATE", 0);

	(void)state;
	wv_step_attr(qp, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE)->data = qp->new_handle;
	program_run_part(&s->program, record, 0, 6); /* up to the SRQ, no QP */
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_SRQ, s->program.handles[3]), 0);
	assert_int_equal(s->preload.purges, 16);
	end(s);
}

/* A program's own mistake stays one. */
static void test_busy_with_the_program_s_own_objects(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");

	(void)state;
	program_run(&s->program, record);
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_CQ, s->program.handles[2]),
			 EBUSY);
	assert_int_equal(s->preload.purges, 0);
	tear_down(&s->program, record);
	end(s);
}

static uint64_t event_about(struct session *s, unsigned int recorded)
{
	return s->kernel.objects[s->program.handles[recorded]].user_handle;
}

static void test_events_are_about_the_program_s_objects(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("srq_pingpong");
	struct session *s = begin("srq_pingpong");
	struct wv_lease *lease = s->preload.lease;

	(void)state;
	program_run(&s->program, record);
	wv_each_step (record, step) {
		unsigned int index = step_index(record, step);
		uint64_t value;

		if (step->new_handle == WV_NONE || step->write_cmd != WV_NO_WRITE_CMD)
			continue;
		value = event_about(s, step->new_handle);
		assert_true(WV_IS_TOKEN(value));
		assert_int_equal(wv_lease_translate(lease, &value), 1);
		assert_int_equal(value, program_token(&s->program, index));
	}
	end(s);
}

static void test_events_of_other_objects(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");
	struct wv_lease *lease = s->preload.lease;
	uint32_t cq;
	uint64_t value;

	(void)state;
	program_run_part(&s->program, record, 0, 5);
	cq = s->program.handles[2];

	value = WV_TOKEN(5); /* the QP, which the program has not asked for */
	assert_int_equal(wv_lease_translate(lease, &value), 0);
	value = WV_TOKEN(s->cmdlog->n_steps);
	assert_int_equal(wv_lease_translate(lease, &value), 0);
	value = WV_TOKEN(0xffffffffffff);
	assert_int_equal(wv_lease_translate(lease, &value), 0);
	value = 0x7ffffffff000; /* the address of an object that the program made itself */
	assert_int_equal(wv_lease_translate(lease, &value), 1);
	assert_int_equal(value, 0x7ffffffff000);

	value = s->kernel.objects[cq].user_handle;
	assert_int_equal(program_destroy(&s->program, UVERBS_OBJECT_CQ, cq), 0);
	assert_int_equal(wv_lease_translate(lease, &value), 1); /* late, and still to be acked */
	assert_int_equal(value, program_token(&s->program, 4));
	end(s);
}

static struct wv_difference explain(struct session *s, struct command *cmd)
{
	return wv_lease_explain(s->preload.lease, &cmd->hdr, wv_abi_write_cmd(&cmd->hdr));
}

static void test_explains_a_value(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	struct session *s = begin("rc_pingpong");
	struct ib_uverbs_modify_qp modify;
	struct wv_difference d;
	struct command cmd;

	(void)state;
	program_run_part(&s->program, record, 0, 6);
	modify = *step_modify(tape_find(s->cmdlog, "modify_qp", 0));
	modify.qp_access_flags ^= 0x100;
	command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof(modify), NULL, 0);
	d = explain(s, &cmd);
	assert_int_equal(d.why, WV_WHY_VALUE);
	assert_int_equal(d.attr, UVERBS_ATTR_CORE_IN);
	assert_int_equal(d.offset, offsetof(struct ib_uverbs_modify_qp, qp_access_flags) + 1);
	modify.qp_access_flags ^= 0x100;
	modify.dest.is_global ^= 1; /* beyond the sequence numbers or before: found either way */
	modify.rq_psn ^= 77;
	command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof(modify), NULL, 0);
	d = explain(s, &cmd);
	assert_int_equal(d.offset, offsetof(struct ib_uverbs_modify_qp, dest.is_global));
	modify.dest.is_global ^= 1;
	command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, &modify, sizeof(modify), NULL, 0);
	assert_int_equal(explain(s, &cmd).why, WV_WHY_NONE);
	end(s);
}

static void test_explains_shapes_and_handles(void **state)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong_events");
	struct session *s = begin("rc_pingpong_events");
	struct wv_lease *lease = s->preload.lease;
	struct wv_difference d;
	struct command cmd;

	(void)state;
	program_run_part(&s->program, record, 0, 5);
	build_cq(s, &cmd, lease->fds[0], lease->fds[1]);
	assert_int_equal(explain(s, &cmd).why, WV_WHY_NONE);
	command_attr(&cmd, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)->data_s64 = lease->fds[0];
	d = explain(s, &cmd);
	assert_int_equal(d.why, WV_WHY_VALUE);
	assert_int_equal(d.attr, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);

	build_cq(s, &cmd, lease->fds[0], lease->fds[1]);
	command_attr(&cmd, UVERBS_ATTR_CREATE_CQ_RESP_CQE)->len = 8;
	d = explain(s, &cmd);
	assert_int_equal(d.why, WV_WHY_SHAPE);
	assert_int_equal(d.attr, UVERBS_ATTR_CREATE_CQ_RESP_CQE);

	build_cq(s, &cmd, lease->fds[0], lease->fds[1]);
	cmd.hdr.num_attrs--;
	assert_int_equal(explain(s, &cmd).why, WV_WHY_SHAPE);

	command_init(&cmd, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
	assert_int_equal(explain(s, &cmd).why, WV_WHY_NO_STEP);
	end(s);
}

static void test_every_reason_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < WV_WHYS; i++)
		assert_string_not_equal(wv_why_name(i), "?");
	assert_string_equal(wv_why_name(WV_WHYS), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_program_receives_its_whole_recipe),
	    cmocka_unit_test(test_a_refused_queue_pair_is_refused_again),
	    cmocka_unit_test(test_any_program_on_any_lease),
	    cmocka_unit_test(test_another_depth_of_completion_queue),
	    cmocka_unit_test(test_another_vector),
	    cmocka_unit_test(test_another_depth_of_queue_pair),
	    cmocka_unit_test(test_one_queue_pair_of_four_is_other),
	    cmocka_unit_test(test_other_access_at_init),
	    cmocka_unit_test(test_packet_sequence_numbers_may_differ),
	    cmocka_unit_test(test_more_queue_pairs),
	    cmocka_unit_test(test_fewer_queue_pairs),
	    cmocka_unit_test(test_recorded_with_events_and_run_without),
	    cmocka_unit_test(test_recorded_without_events_and_run_with),
	    cmocka_unit_test(test_recorded_with_an_srq_and_run_without),
	    cmocka_unit_test(test_recorded_without_an_srq_and_run_with),
	    cmocka_unit_test(test_skipping_is_not_losing),
	    cmocka_unit_test(test_a_handle_used_again_after_destroy),
	    cmocka_unit_test(test_a_queue_pair_reset_before_init),
	    cmocka_unit_test(test_a_handle_used_again_after_a_purge),
	    cmocka_unit_test(test_created_again_from_the_lease),
	    cmocka_unit_test(test_the_program_s_state_is_its_own),
	    cmocka_unit_test(test_a_move_that_skips_another_is_not_adopted),
	    cmocka_unit_test(test_a_queue_pair_is_put_back_to_where_the_program_was),
	    cmocka_unit_test(test_a_skipped_query_is_not_answered_later),
	    cmocka_unit_test(test_queue_pairs_are_moved_in_any_order),
	    cmocka_unit_test(test_a_step_is_given_once),
	    cmocka_unit_test(test_after_an_unknown_command_nothing_is_adopted),
	    cmocka_unit_test(test_what_is_no_divergence),
	    cmocka_unit_test(test_another_driver_s_commands),
	    cmocka_unit_test(test_one_memory_for_question_and_answer),
	    cmocka_unit_test(test_only_descriptors_that_were_given_are_known),
	    cmocka_unit_test(test_a_closed_channel_s_steps_die),
	    cmocka_unit_test(test_moves_that_are_killed_are_told_of),
	    cmocka_unit_test(test_users_are_found_last_made_first),
	    cmocka_unit_test(test_purging_takes_users_of_users_first),
	    cmocka_unit_test(test_purging_takes_users_in_another_protection_domain),
	    cmocka_unit_test(test_purging_what_uses_itself),
	    cmocka_unit_test(test_busy_with_the_program_s_own_objects),
	    cmocka_unit_test(test_events_are_about_the_program_s_objects),
	    cmocka_unit_test(test_events_of_other_objects),
	    cmocka_unit_test(test_explains_a_value),
	    cmocka_unit_test(test_explains_shapes_and_handles),
	    cmocka_unit_test(test_every_reason_has_a_name),
	};

	return cmocka_run_group_tests_name("adopt", tests, NULL, NULL);
}
