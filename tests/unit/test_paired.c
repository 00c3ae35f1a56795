/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose lease has a queue pair that is connected already: it connects it as it was, to
 * its peer but otherwise, or to another one. The peer decides with which packet sequence numbers.
 */
#include "preload/pairs/paired.h"

#include "cmdlog/replay.h"
#include "cmdlog/validate.h"
#include "fake_kernel.h"
#include "fixture.h"
#include "preload.h"
#include "preload/core/provider.h"
#include "preload/core/scope.h"
#include "program.h"

#include <rdma/rdma_user_rxe.h>
#include <sys/socket.h>

#define PAIR 77

static const struct wv_qp_peer peer = {
    .qp_num = 0x1234, .gid = {[10] = 0xff, [11] = 0xff, [15] = 7}, .psn = 1100, .peer_psn = 2200};
/* Of the program itself, with the PSNs that it chooses. */
static const struct wv_qp_peer asked = {
    .qp_num = 0x1234, .gid = {[10] = 0xff, [11] = 0xff, [15] = 7}, .psn = 31, .peer_psn = 42};
static const struct wv_qp_peer other = {
    .qp_num = 0x4321, .gid = {[10] = 0xff, [11] = 0xff, [15] = 7}, .psn = 31, .peer_psn = 42};

static struct fake_kernel kernel;
static struct wv_replay replay;
static struct preload preload;
static struct program program;
static struct wv_cmdlog *lease, *record;
static struct wv_lease_pair pair;
static int sock; /* the daemon's end */
static uint32_t qp;
static unsigned int given; /* commands to the kernel, before the program connects */

static void make_lease(const char *fixture)
{
	wv_auto_free struct wv_cmdlog *recipe = NULL;
	wv_auto_free struct wv_cmdlog *moves = moves_of(9, &other);
	wv_auto_free void *memory = malloc(WV_CMDLOG_MAX_BYTES);
	uint32_t create;

	record = fixture_load(fixture);
	recipe = recipe_of(record);
	fake_kernel_init(&kernel);
	assert_int_equal(
	    wv_replay(recipe, fake_kernel_issue, &kernel, memory, WV_CMDLOG_MAX_BYTES, &replay), 0);
	create = step_index(memory, tape_find(memory, "QP_CREATE", 0));
	assert_int_equal(wv_replay_moves(memory, WV_CMDLOG_MAX_BYTES, create, moves, &peer,
					 fake_kernel_issue, &kernel),
			 0);
	lease = copy_exactly(memory, ((struct wv_cmdlog *)memory)->bytes);
	assert_int_equal(wv_cmdlog_check(lease, lease->bytes, WV_LEASE), 0);
	pair = (struct wv_lease_pair){
	    .pair = PAIR,
	    .create = create,
	    .peer_qp_num = peer.qp_num,
	    .psn = peer.psn,
	    .peer_psn = peer.peer_psn,
	};
	memcpy(pair.peer_gid, peer.gid, sizeof(pair.peer_gid));
	qp = tape_step(lease, create)->new_handle;
}

/* A program with a lease has its queue pair in INIT. */
static void begin_with(uint32_t flags)
{
	make_lease("rc_pingpong");
	preload_begin(&preload, &kernel, lease, &replay);
	sock = preload_pair(&pair, flags);
	program_init(&program, preload_issue, &preload, 0x7f00dead0000);
	program_run(&program, record);
	assert_int_equal(kernel.objects[qp].state, IBV_QPS_RTS);
	given = kernel.issued;
}

static void begin(void)
{
	begin_with(WV_ANSWER_CONNECTED);
}

/* Settles, and forgets what is left. */
static void end(void)
{
	preload_settle();
	wv_close_fd(&sock);
	free(lease);
	free(record);
}

static int issue_move(const struct ib_uverbs_modify_qp *move)
{
	const struct ib_uverbs_modify_qp before = *move;
	struct command cmd;
	int error;

	command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, move, sizeof(*move), NULL, 0);
	error = preload_issue(&preload, &cmd.hdr);
	assert_memory_equal(move, &before, sizeof(before)); /* it is the program's */
	return error;
}

static void move_to(enum ibv_qp_state state, const struct wv_qp_peer *to)
{
	struct ib_uverbs_modify_qp move = connecting_move(state, qp, to);

	assert_int_equal(issue_move(&move), 0);
}

static void connect_to(const struct wv_qp_peer *to)
{
	move_to(IBV_QPS_RTR, to);
	move_to(IBV_QPS_RTS, to);
}

/* How the last @n commands were answered. */
static void assert_trail(const char *trail)
{
	assert_string_equal(preload.trail + preload.n_trail - strlen(trail), trail);
}

static void assert_connected(const struct wv_qp_peer *to, const struct wv_qp_peer *psns)
{
	const struct fake_object *o = &kernel.objects[qp];

	assert_int_equal(o->state, IBV_QPS_RTS);
	assert_int_equal(o->peer, to->qp_num);
	assert_int_equal(o->rq_psn, psns->peer_psn);
	assert_int_equal(o->sq_psn, psns->psn);
}

static void assert_given(unsigned int n)
{
	assert_int_equal(kernel.issued - given, n);
}

static _Alignas(8) uint8_t said[WV_WIRE_MAX];

/* The next message to the daemon, as a type; 0: none, or the end. */
static int next_message(void)
{
	ssize_t got = recv(sock, said, sizeof(said), 0);

	return got > 0 ? wv_msg_check(said, (size_t)got) : 0;
}

/* What the daemon is told once; the moves if there are any. */
static struct wv_cmdlog *assert_told(uint16_t why)
{
	const struct wv_msg_connected *message = (const void *)said;
	struct wv_cmdlog *moves = (void *)(said + sizeof(*message));

	assert_int_equal(next_message(), WV_MSG_CONNECTED);
	assert_int_equal(message->create, pair.create);
	assert_int_equal(message->why, why);
	assert_int_equal(wv_cmdlog_check(moves, message->msg.bytes - sizeof(*message), WV_RECORD),
			 0);
	assert_int_equal(moves->driver_id, lease->driver_id);
	return moves;
}

/* The moves are what the program asked for, not what the kernel was given. */
static void assert_told_moves(uint16_t why, const struct wv_qp_peer *to)
{
	struct wv_cmdlog *moves = assert_told(why);
	struct wv_step *rtr = wv_cmdlog_first(moves);
	const char *reason;

	assert_int_equal(wv_validate_moves(moves, &reason), 0);
	assert_int_equal(step_modify(rtr)->dest_qp_num, to->qp_num);
	assert_int_equal(step_modify(rtr)->rq_psn, to->peer_psn);
	assert_int_equal(step_modify(wv_step_next(rtr))->sq_psn, to->psn);
}

static void test_as_it_was(void **state)
{
	const struct wv_msg_report *report = (const void *)said;

	(void)state;
	begin();
	connect_to(&asked);
	assert_trail("aa");
	assert_given(0);
	assert_connected(&peer, &peer);
	preload_settle();
	assert_int_equal(next_message(), WV_MSG_REPORT);
	assert_int_equal(report->diverged, 0);
	assert_int_equal(report->unused, 0);
	assert_int_equal(report->reached, lease->n_steps - 2); /* the steps of the recipe */
	end();
}

/* Its moves are no part of the recipe, used or not. The number may be another queue pair's. */
static void test_not_connected_at_all(void **state)
{
	const struct wv_msg_report *report = (const void *)said;
	const struct wv_msg_connected *connected = (const void *)said;

	(void)state;
	begin();
	assert_int_equal(program_destroy(&program, UVERBS_OBJECT_QP, qp), 0);
	assert_int_equal(next_message(), WV_MSG_CONNECTED);
	assert_int_equal(connected->create, pair.create);
	assert_int_equal(connected->why, WV_PAIR_ENDED);
	preload_settle();
	assert_int_equal(next_message(), WV_MSG_REPORT);
	assert_int_equal(report->unused, 0);
	assert_int_equal(report->reached, lease->n_steps - 2);
	assert_int_equal(preload.rollbacks, 0);
	end();
}

static void test_other_peer(void **state)
{
	struct wv_qp_peer moved = asked;

	(void)state;
	begin();
	move_to(IBV_QPS_RTR, &other);
	assert_int_equal(preload.why, WV_WHY_OTHER_PEER);
	move_to(IBV_QPS_RTS, &other);
	assert_trail("kk");
	assert_int_equal(preload.rollbacks, 1);
	assert_connected(&other, &other);
	assert_told_moves(WV_PAIR_OTHER_PEER, &other);
	end();

	begin();
	moved.gid[15] = 8; /* the same number on another node */
	connect_to(&moved);
	assert_connected(&moved, &moved);
	end();
}

static void test_other_attributes(void **state)
{
	struct ib_uverbs_modify_qp move;

	(void)state;
	begin();
	move = connecting_move(IBV_QPS_RTR, qp, &asked);
	move.path_mtu = IBV_MTU_256;
	assert_int_equal(issue_move(&move), 0);
	assert_int_equal(preload.why, WV_WHY_OTHER_MOVES);
	move_to(IBV_QPS_RTS, &asked);
	assert_trail("kk");
	assert_int_equal(preload.rollbacks, 1);
	assert_connected(&peer, &peer);
	assert_told_moves(WV_PAIR_ATTRIBUTES, &asked);
	end();
}

static void test_other_attributes_at_the_end(void **state)
{
	struct ib_uverbs_modify_qp move;

	(void)state;
	begin();
	move_to(IBV_QPS_RTR, &asked);
	move = connecting_move(IBV_QPS_RTS, qp, &asked);
	move.timeout = 20;
	assert_int_equal(issue_move(&move), 0);
	assert_trail("ak");
	assert_int_equal(preload.rollbacks, 1);
	assert_connected(&peer, &peer);
	assert_int_equal(assert_told(WV_PAIR_ATTRIBUTES)->n_steps, 0);
	end();
}

static void say_gone(void)
{
	struct wv_msg_pair_gone gone = {.pair = PAIR};

	wv_msg_init(&gone.msg, WV_MSG_PAIR_GONE, sizeof(gone));
	assert_int_equal(wv_send(sock, &gone, sizeof(gone), NULL, 0, NULL, 0), 0);
}

static void end_daemon(void)
{
	wv_close_fd(&sock);
}

/* The number of the peer may be another queue pair's by now. */
static void test_gone(void **state)
{
	(void)state;
	begin();
	say_gone();
	move_to(IBV_QPS_RTR, &asked);
	assert_int_equal(preload.why, WV_WHY_PEER_GONE);
	move_to(IBV_QPS_RTS, &asked);
	assert_trail("kk");
	assert_connected(&asked, &asked);
	assert_told_moves(WV_PAIR_ENDED, &asked);
	end();
}

static void assert_open(void)
{
	char byte;

	assert_int_equal(recv(sock, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

/*
 * Nothing is to be told any more, as before a sandbox. The end of the connection would tell the
 * peer that the program has ended, whether it has met the program or not.
 */
static void test_settled(void **state)
{
	(void)state;
	begin();
	preload_settle();
	assert_int_equal(next_message(), WV_MSG_REPORT);
	assert_open();
	connect_to(&asked);
	assert_trail("aa");
	assert_open();
	end();

	begin();
	connect_to(&asked);
	preload_settle();
	assert_int_equal(next_message(), WV_MSG_REPORT);
	assert_open();
	end();
}

/* The peer's end stays connected as the pair is. */
static void test_moved_back_after_rtr(void **state)
{
	struct ib_uverbs_modify_qp back = {.attr_mask = IBV_QP_STATE, .qp_state = IBV_QPS_RESET};

	(void)state;
	begin();
	move_to(IBV_QPS_RTR, &asked);
	back.qp_handle = qp;
	assert_int_equal(issue_move(&back), 0);
	back.qp_state = IBV_QPS_INIT;
	assert_int_equal(issue_move(&back), 0);
	connect_to(&asked);
	assert_connected(&peer, &peer);
	end();
}

/* The peer keeps its end, so both still have the pair. */
static void test_daemon_ends(void **state)
{
	(void)state;
	begin();
	end_daemon();
	move_to(IBV_QPS_RTR, &asked);
	move_to(IBV_QPS_RTS, &asked);
	assert_trail("aa");
	end();
}

/* It asked in time, so it is not told any more. */
static void test_gone_after_rtr(void **state)
{
	(void)state;
	begin();
	move_to(IBV_QPS_RTR, &asked);
	say_gone();
	move_to(IBV_QPS_RTS, &asked);
	assert_trail("aa");
	assert_connected(&peer, &peer);
	end();
}

/* What it looks like is as the program made it; the peer is connected to it all the same. */
static void test_query(void **state)
{
	(void)state;
	begin();
	assert_int_equal(program_query(&program, qp), IBV_QPS_INIT);
	assert_int_equal(kernel.objects[qp].state, IBV_QPS_INIT);
	assert_int_equal(preload.rollbacks, 1);
	connect_to(&asked);
	assert_trail("kkk");
	assert_int_equal(preload.rollbacks, 1);
	assert_connected(&peer, &peer);
	assert_told_moves(WV_PAIR_ATTRIBUTES, &asked);
	end();

	begin();
	assert_int_equal(program_query(&program, qp), IBV_QPS_INIT);
	connect_to(&other);
	assert_connected(&other, &other);
	end();

	begin();
	assert_int_equal(program_query(&program, qp), IBV_QPS_INIT);
	say_gone();
	connect_to(&asked);
	assert_connected(&asked, &asked);
	end();
}

static void test_query_between(void **state)
{
	(void)state;
	begin();
	move_to(IBV_QPS_RTR, &asked);
	assert_int_equal(program_query(&program, qp), IBV_QPS_RTR);
	assert_int_equal(kernel.objects[qp].rq_psn, peer.peer_psn);
	move_to(IBV_QPS_RTS, &asked);
	assert_trail("akk");
	assert_connected(&peer, &peer);
	end();
}

/* The kernel has acknowledged it, so it must not be lost. */
static void test_received(void **state)
{
	struct ib_uverbs_modify_qp move;

	(void)state;
	begin();
	kernel.objects[qp].received = 3;
	assert_int_equal(program_query(&program, qp), IBV_QPS_INIT);
	move = connecting_move(IBV_QPS_RTR, qp, &asked);
	move.path_mtu = IBV_MTU_256;
	assert_int_equal(issue_move(&move), 0);
	assert_int_equal(program_query(&program, qp), IBV_QPS_RTR);
	move = connecting_move(IBV_QPS_RTS, qp, &asked);
	move.timeout = 20;
	assert_int_equal(issue_move(&move), 0);
	assert_trail("kaka");
	assert_int_equal(preload.rollbacks, 0);
	assert_connected(&peer, &peer);
	end();
}

/* A peer that sends and ends has connected as the pair is. */
static void test_received_and_gone(void **state)
{
	(void)state;
	begin();
	kernel.objects[qp].received = 1;
	say_gone();
	connect_to(&asked);
	assert_trail("aa");
	assert_int_equal(preload.rollbacks, 0);
	assert_connected(&peer, &peer);
	end();
}

/* Nobody has asked for it. */
static void test_received_from_another(void **state)
{
	(void)state;
	begin();
	kernel.objects[qp].received = 1;
	connect_to(&other);
	assert_trail("kk");
	assert_connected(&other, &other);
	end();
}

static void test_refused_and_again(void **state)
{
	struct ib_uverbs_modify_qp move;

	(void)state;
	begin();
	move = connecting_move(IBV_QPS_RTR, qp, &other);
	kernel.fail_at = (int)kernel.issued + 2; /* after RESET and INIT */
	kernel.fail_errno = EINVAL;
	assert_int_equal(issue_move(&move), EINVAL);
	kernel.fail_at = -1;
	connect_to(&asked);
	assert_connected(&peer, &peer);
	end();
}

/* It stops at RTR. The peer has heard nothing of that, and uses the numbers of the pair. */
static void test_other_peer_and_back(void **state)
{
	(void)state;
	begin();
	move_to(IBV_QPS_RTR, &other);
	assert_int_equal(program_move(&program, qp, IBV_QPS_RESET), 0);
	assert_int_equal(program_move(&program, qp, IBV_QPS_INIT), 0);
	connect_to(&asked);
	assert_trail("kkkkk");
	assert_connected(&asked, &peer);
	assert_int_equal(next_message(), WV_MSG_REPORT);
	assert_told_moves(WV_PAIR_ATTRIBUTES, &asked);
	end();
}

/* From another address than the one that the peer knows, so that this does not name it. */
static void test_from_elsewhere(void **state)
{
	struct ib_uverbs_modify_qp move;

	(void)state;
	begin();
	move = connecting_move(IBV_QPS_RTR, qp, &asked);
	move.dest.sgid_index = 1;
	assert_int_equal(issue_move(&move), 0);
	move_to(IBV_QPS_RTS, &asked);
	assert_connected(&asked, &asked);
	assert_told_moves(WV_PAIR_OTHER_PEER, &asked);
	end();
}

static void connect_again_to(const struct wv_qp_peer *to)
{
	assert_int_equal(program_move(&program, qp, IBV_QPS_RESET), 0);
	assert_int_equal(program_move(&program, qp, IBV_QPS_INIT), 0);
	connect_to(to);
	assert_trail("kkkk");
}

/* The peer may have its end as it was, and counts by the numbers of the pair. Nothing is new. */
static void test_reset_and_again(void **state)
{
	(void)state;
	begin();
	connect_to(&asked);
	for (unsigned int i = 0; i < 5; i++) {
		connect_again_to(&asked);
		assert_connected(&asked, &peer);
	}
	assert_int_equal(preload.rollbacks, 0);
	assert_int_equal(next_message(), WV_MSG_REPORT);
	assert_int_equal(next_message(), 0);
	assert_int_equal(program_destroy(&program, UVERBS_OBJECT_QP, qp), 0);
	assert_told(WV_PAIR_NO_REASON);
	end();
}

static void test_gone_after_use(void **state)
{
	(void)state;
	begin();
	connect_to(&asked);
	say_gone();
	connect_again_to(&asked);
	assert_connected(&asked, &asked);
	assert_int_equal(next_message(), WV_MSG_REPORT);
	assert_told_moves(WV_PAIR_ENDED, &asked);
	end();
}

/* The peer may have its end connected all the time, and so the numbers stay those of the pair. */
static void test_other_peer_after_use(void **state)
{
	(void)state;
	begin();
	connect_to(&asked);
	for (unsigned int i = 0; i < 5; i++) {
		connect_again_to(&other);
		assert_connected(&other, &other);
		connect_again_to(&asked);
		assert_connected(&asked, &peer);
	}
	assert_int_equal(next_message(), WV_MSG_REPORT);
	assert_int_equal(next_message(), 0);
	connect_again_to(&other);
	say_gone();
	connect_again_to(&asked);
	assert_connected(&asked, &asked);
	assert_told_moves(WV_PAIR_ENDED, &asked);
	end();
}

/* The daemon hears of the first. */
static void test_other_peer_before_use(void **state)
{
	(void)state;
	begin();
	connect_to(&other);
	assert_told_moves(WV_PAIR_OTHER_PEER, &other);
	for (unsigned int i = 0; i < 5; i++) {
		connect_again_to(&asked);
		assert_connected(&asked, &peer);
		connect_again_to(&other);
		assert_connected(&other, &other);
	}
	assert_int_equal(next_message(), WV_MSG_REPORT);
	assert_int_equal(next_message(), 0);
	end();
}

#define LOG2	 5
#define ELEMENTS 8

static struct {
	struct rxe_queue_buf head;
	uint8_t data[ELEMENTS << LOG2];
} receives;

static void drain(void)
{
	receives.head.consumer_index = receives.head.producer_index;
	memset(receives.data, 0xee, sizeof(receives.data));
}

static void test_receives_come_back(void **state)
{
	struct wv_context *c = wv_context_after(NULL);

	(void)state;
	begin();
	memset(&receives, 0, sizeof(receives));
	receives.head.log2_elem_size = LOG2;
	receives.head.index_mask = ELEMENTS - 1;
	receives.head.producer_index = 2;
	receives.data[0] = 0x11;
	receives.data[1 << LOG2] = 0x22;
	c->pair.ring = (struct wv_ring){.bytes = sizeof(receives), .at = &receives};
	kernel.reset = drain;
	connect_to(&other);
	kernel.reset = NULL;
	assert_int_equal(receives.head.consumer_index, 2);
	assert_int_equal(receives.head.producer_index, 4);
	assert_int_equal(receives.data[2 << LOG2], 0x11);
	assert_int_equal(receives.data[3 << LOG2], 0x22);
	end();
}

/*
 * What the provider maps after it has created a queue pair is no ring that any later mmap() maps.
 */
static void test_a_ring_is_awaited_until_the_next_command(void **state)
{
	struct wv_ring ring = {.bytes = sizeof(receives)};

	(void)state;
	begin();
	wv_scope.ring = &ring;
	connect_to(&peer);
	assert_null(wv_scope.ring);
	end();
}

/* The daemon is told of the first few queue pairs, if it wants to know. */
static void test_told_without_a_pair(void **state)
{
	(void)state;
	for (uint32_t flags = 0; flags <= WV_ANSWER_CONNECTED; flags += WV_ANSWER_CONNECTED) {
		make_lease("rc_pingpong");
		lease->n_steps = (uint16_t)(lease->n_steps - 2);
		lease->bytes =
		    (uint32_t)((uint8_t *)tape_step(lease, lease->n_steps) - (uint8_t *)lease);
		pair.pair = 0;
		kernel.objects[qp].state = IBV_QPS_INIT;
		preload_begin(&preload, &kernel, lease, &replay);
		sock = preload_pair(&pair, flags);
		program_init(&program, preload_issue, &preload, 0x7f00dead0000);
		program_run(&program, record);
		for (unsigned int i = 0; i < 6; i++) {
			move_to(IBV_QPS_RTR, &asked);
			assert_int_equal(next_message(), 0);
			move_to(IBV_QPS_RTS, &asked);
			if (flags && i < 4)
				assert_told_moves(0, &asked);
			/* A report follows the first connection. */
			assert_int_equal(program_move(&program, qp, IBV_QPS_RESET), 0);
			assert_int_equal(next_message(), i ? 0 : WV_MSG_REPORT);
			assert_int_equal(program_move(&program, qp, IBV_QPS_INIT), 0);
		}
		end();
	}
}

static void assert_unfit(const struct wv_lease_pair *wrong)
{
	assert_false(wv_paired_fits(lease, wrong));
}

static void test_what_does_not_fit(void **state)
{
	struct wv_lease_pair wrong;
	struct wv_step *rts;

	(void)state;
	begin();
	assert_true(wv_paired_fits(lease, &pair));
	for (uint32_t i = 0; i < lease->n_steps + 2u; i++) {
		wrong = pair;
		wrong.create = i;
		if (i != pair.create)
			assert_unfit(&wrong);
	}
	wrong = pair;
	wrong.create = UINT32_MAX;
	assert_unfit(&wrong);
	wrong = pair;
	wrong.peer_qp_num++;
	assert_unfit(&wrong);
	wrong = pair;
	wrong.peer_gid[3]++;
	assert_unfit(&wrong);
	rts = wv_step_next(tape_step(lease, lease->n_steps - 2u));
	rts->target++;
	assert_unfit(&pair);
	rts->target--;
	rts->error = EINVAL;
	assert_unfit(&pair);
	wrong = (struct wv_lease_pair){.pair = 0, .create = 999};
	assert_true(wv_paired_fits(lease, &wrong));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_as_it_was),
	    cmocka_unit_test(test_not_connected_at_all),
	    cmocka_unit_test(test_other_peer),
	    cmocka_unit_test(test_other_attributes),
	    cmocka_unit_test(test_other_attributes_at_the_end),
	    cmocka_unit_test(test_gone),
	    cmocka_unit_test(test_settled),
	    cmocka_unit_test(test_moved_back_after_rtr),
	    cmocka_unit_test(test_daemon_ends),
	    cmocka_unit_test(test_gone_after_rtr),
	    cmocka_unit_test(test_query),
	    cmocka_unit_test(test_query_between),
	    cmocka_unit_test(test_received),
	    cmocka_unit_test(test_received_and_gone),
	    cmocka_unit_test(test_received_from_another),
	    cmocka_unit_test(test_refused_and_again),
	    cmocka_unit_test(test_other_peer_and_back),
	    cmocka_unit_test(test_from_elsewhere),
	    cmocka_unit_test(test_reset_and_again),
	    cmocka_unit_test(test_gone_after_use),
	    cmocka_unit_test(test_other_peer_after_use),
	    cmocka_unit_test(test_other_peer_before_use),
	    cmocka_unit_test(test_receives_come_back),
	    cmocka_unit_test(test_a_ring_is_awaited_until_the_next_command),
	    cmocka_unit_test(test_told_without_a_pair),
	    cmocka_unit_test(test_what_does_not_fit),
	};

	return cmocka_run_group_tests_name("paired", tests, NULL, NULL);
}
