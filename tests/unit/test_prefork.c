/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts, claims of a set, and the memory that parent and child share, without a device. */
#include "abi/qp.h"
#include "preload/prefork/prefork_shm.h"
#include "preload/prefork/set.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Objects are their own addresses. */
static struct wv_script script;
static struct {
	struct wv_set set;
	struct wv_made made[WV_SCRIPT_VERBS];
} memory;
#define set (memory.set)
static struct wv_claims claims;
static char objects[WV_SCRIPT_VERBS + 1];

static int reset(void **state)
{
	(void)state;
	memset(&script, 0, sizeof(script));
	memset(&memory, 0, sizeof(memory));
	memset(&claims, 0, sizeof(claims));
	set.script = &script;
	return 0;
}

static struct wv_verb cq(int cqe)
{
	struct wv_verb verb;

	wv_verb_begin(&verb, WV_VERB_CQ);
	verb.cq.cqe = (uint32_t)cqe;
	return verb;
}

static struct wv_verb qp(uint16_t pd, uint16_t send_cq, uint16_t recv_cq)
{
	struct wv_verb verb;

	wv_verb_begin(&verb, WV_VERB_QP);
	verb.on[WV_ON_PD] = pd;
	verb.on[WV_ON_SEND_CQ] = send_cq;
	verb.on[WV_ON_RECV_CQ] = recv_cq;
	verb.qp.type = IBV_QPT_UD;
	return verb;
}

static struct wv_verb move(uint16_t of, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = {.qp_state = to};
	struct wv_verb verb;

	wv_verb_begin(&verb, WV_VERB_MOVE);
	assert_true(wv_verb_set_move(&verb, &attr, IBV_QP_STATE));
	verb.on[WV_ON_QP] = of;
	return verb;
}

static void learn(struct wv_verb verb)
{
	assert_non_null(wv_set_append(&set, &verb, &objects[set.n]));
}

static void learn_move(struct wv_verb verb)
{
	assert_non_null(wv_set_append(&set, &verb, NULL));
}

/* 0: open, 1: PD, 2 and 3: CQs, 4: QP on them, 5 and 6: moves */
static void learn_all(void)
{
	struct wv_verb verb;

	wv_verb_begin(&verb, WV_VERB_OPEN);
	strcpy(verb.open.device, "rxe0");
	learn(verb);
	wv_verb_begin(&verb, WV_VERB_PD);
	learn(verb);
	learn(cq(16));
	learn(cq(16));
	learn(qp(1, 2, 3));
	learn_move(move(4, IBV_QPS_INIT));
	learn_move(move(4, IBV_QPS_RTR));
}

static void *claim(struct wv_verb verb)
{
	struct wv_made *made = wv_set_claim(&set, &claims, &verb);

	return made ? &objects[made - set.made] : NULL;
}

static void test_each_is_claimed_once(void **state)
{
	(void)state;
	learn_all();
	assert_ptr_equal(claim(cq(16)), &objects[2]);
	assert_ptr_equal(claim(cq(16)), &objects[3]);
	assert_null(claim(cq(16)));
	assert_null(claim(cq(17)));
	assert_ptr_equal(claim(qp(1, 2, 3)), &objects[4]);
}

static void test_objects_are_compared_by_which_they_are(void **state)
{
	(void)state;
	learn_all();
	assert_null(claim(qp(1, 3, 2)));
	assert_null(claim(qp(1, 2, WV_FOREIGN_OBJECT)));
	assert_int_equal(wv_set_find(&set, NULL), WV_NO_OBJECT);
	assert_int_equal(wv_set_find(&set, &objects[3]), 3);
	assert_int_equal(wv_set_find(&set, &objects[100]), WV_FOREIGN_OBJECT);
}

static void test_moves_are_claimed_in_order(void **state)
{
	(void)state;
	learn_all();
	assert_null(claim(move(4, IBV_QPS_RTR)));
	assert_non_null(claim(move(4, IBV_QPS_INIT)));
	assert_non_null(claim(move(4, IBV_QPS_RTR)));
}

/* One of two moves was the owner's: only that one is to be repeated. */
static void test_moves_are_taken_back(void **state)
{
	(void)state;
	learn_all();
	assert_non_null(claim(move(4, IBV_QPS_INIT)));
	assert_true(wv_set_end_moves(&set, &claims, 4));
	assert_false(wv_set_end_moves(&set, &claims, 4));
	assert_null(claim(move(4, IBV_QPS_RTR)));
	assert_int_equal(wv_set_next_move(&set, &claims, 4, 0), 5);
	assert_int_equal(wv_set_next_move(&set, &claims, 4, 6), set.n);
}

static void test_what_keeps_an_object_busy(void **state)
{
	(void)state;
	learn_all();
	assert_int_equal(wv_set_last_unclaimed(&set, &claims, 2), 4);
	assert_non_null(claim(qp(1, 2, 3)));
	assert_int_equal(wv_set_last_unclaimed(&set, &claims, 2), WV_NO_OBJECT);
	assert_int_equal(wv_set_last_unclaimed(&set, &claims, WV_NO_OBJECT), 3);
}

static void test_a_full_script_and_foreign_objects(void **state)
{
	struct wv_verb foreign = qp(1, 2, WV_FOREIGN_OBJECT), one = cq(1);

	(void)state;
	learn_all();
	assert_null(wv_set_append(&set, &foreign, &objects[0]));
	while (set.n < WV_SCRIPT_VERBS)
		learn(cq(1));
	assert_null(wv_set_append(&set, &one, &objects[0]));
	assert_int_equal(script.n, WV_SCRIPT_VERBS);
}

/* The PSN of UD is the provider's choice of a run; what can't be done ahead is no move. */
static void test_moves(void **state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .sq_psn = 77}, back;
	struct wv_verb a, b;

	(void)state;
	wv_verb_begin(&a, WV_VERB_MOVE);
	b = a;
	assert_true(wv_verb_set_move(&a, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	attr.sq_psn = 78;
	assert_true(wv_verb_set_move(&b, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(wv_verb_get_move(&a, &back), IBV_QP_STATE | IBV_QP_SQ_PSN);
	assert_int_equal(back.qp_state, IBV_QPS_RTS);
	assert_false(wv_verb_set_move(&a, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN));
	assert_false(wv_verb_set_move(&a, &attr, IBV_QP_QKEY));
	assert_true(wv_qp_is_ahead(IBV_QPT_UD, IBV_QPS_RTS));
	assert_false(wv_qp_is_ahead(IBV_QPT_RC, IBV_QPS_RTR));
	assert_false(wv_qp_is_ahead(IBV_QPT_RC, IBV_QPS_RESET));
}

/* Whatever a child has written, the parent calls no verb with nonsense. */
static void test_hostile_scripts(void **state)
{
	(void)state;
	assert_false(wv_script_check(&script));
	learn_all();
	assert_true(wv_script_check(&script));
	script.verbs[4].on[WV_ON_SEND_CQ] = 1;
	assert_false(wv_script_check(&script));
	script.verbs[4].on[WV_ON_SEND_CQ] = 5;
	assert_false(wv_script_check(&script));
	script.verbs[4].on[WV_ON_SEND_CQ] = 2;
	script.verbs[4].on[WV_ON_PD] = WV_NO_OBJECT;
	assert_false(wv_script_check(&script));
	script.verbs[4].on[WV_ON_PD] = 1;
	script.verbs[3].kind = 99;
	assert_false(wv_script_check(&script));
	script.verbs[3].kind = WV_VERB_CQ;
	memset(script.verbs[0].open.device, 'x', sizeof(script.verbs[0].open.device));
	assert_false(wv_script_check(&script));
	script.n = WV_SCRIPT_VERBS + 1;
	assert_false(wv_script_check(&script));
}

static struct wv_prefork_shm *shm;

static int new_shm(void **state)
{
	reset(state);
	shm = wv_prefork_shm_new();
	return !shm;
}

static int end_shm(void **state)
{
	(void)state;
	return munmap(shm, sizeof(*shm));
}

static void test_scripts_are_taught_once(void **state)
{
	struct wv_script other;

	(void)state;
	learn_all();
	assert_false(wv_scripts_know(shm, NULL));
	assert_true(wv_scripts_publish(shm, &script, false));
	assert_true(wv_scripts_know(shm, NULL));
	assert_true(wv_scripts_know(shm, &script.verbs[0]));
	other = script;
	other.n--;
	assert_false(wv_scripts_publish(shm, &other, false));
	assert_true(wv_scripts_publish(shm, &other, true));
	assert_int_equal(shm->scripts[1].script.n, other.n);
	assert_true(shm->scripts[0].misses >= WV_SCRIPT_MISSES);
}

/* Misses count only in a row; then the script is not known any more. */
static void test_a_script_that_does_not_fit(void **state)
{
	(void)state;
	learn_all();
	assert_true(wv_scripts_publish(shm, &script, false));
	for (int i = 1; i < WV_SCRIPT_MISSES; i++)
		wv_scripts_judge(shm, &script.verbs[0], false);
	wv_scripts_judge(shm, &script.verbs[0], true);
	for (int i = 1; i < WV_SCRIPT_MISSES; i++)
		wv_scripts_judge(shm, &script.verbs[0], false);
	assert_true(wv_scripts_know(shm, &script.verbs[0]));
	wv_scripts_judge(shm, &script.verbs[0], false);
	assert_false(wv_scripts_know(shm, &script.verbs[0]));
}

/* It can be copied only while it fits, and makes room then. */
static void test_a_script_is_copied(void **state)
{
	struct wv_script *copy;

	(void)state;
	learn_all();
	assert_null(wv_scripts_copy(shm, 0));
	assert_true(wv_scripts_publish(shm, &script, false));
	copy = wv_scripts_copy(shm, 0);
	assert_non_null(copy);
	assert_int_equal(copy->n, script.n);
	assert_true(wv_verb_is(&copy->verbs[4], &script.verbs[4]));
	free(copy);
	shm->scripts[0].script.n = WV_SCRIPT_VERBS + 1;
	assert_null(wv_scripts_copy(shm, 0));
	shm->scripts[0].script.n = 1;
	shm->scripts[0].script.verbs[0].kind = 99;
	assert_null(wv_scripts_copy(shm, 0));
	assert_int_equal(shm->scripts[0].phase, WV_SCRIPT_THERE);
	shm->scripts[0].misses = WV_SCRIPT_MISSES;
	assert_null(wv_scripts_copy(shm, 0));
	assert_int_equal(shm->scripts[0].phase, WV_SCRIPT_EMPTY);
}

static void test_no_room_for_scripts(void **state)
{
	(void)state;
	learn_all();
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++) {
		script.verbs[0].open.ordinal = i;
		assert_true(wv_scripts_publish(shm, &script, false));
	}
	script.verbs[0].open.ordinal = WV_PUBLISHED_SCRIPTS;
	assert_false(wv_scripts_publish(shm, &script, false));
}

/* Forks a child that calls @act on @slot and then waits until it is killed. */
static pid_t child_with(struct wv_claim_slot *slot, uint64_t state,
			void (*act)(struct wv_claim_slot *, uint64_t))
{
	int ends[2];
	char done;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		act(slot, state);
		if (write(ends[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], &done, 1), 1);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void hold(struct wv_claim_slot *slot, uint64_t state)
{
	if (!wv_claim_slot_hold(slot, &state))
		_exit(1);
}

static void hold_and_claim(struct wv_claim_slot *slot, uint64_t state)
{
	hold(slot, state);
	state = slot->state;
	if (!wv_claim_slot_release(slot, &state, WV_CLAIM_SLOT_CLAIMED))
		_exit(1);
}

static void test_a_child_that_dies_lets_go(void **state)
{
	uint64_t offered;
	struct wv_claim_slot *slot = wv_claim_slot_issue(shm, &offered);
	pid_t pid = child_with(slot, offered, hold);

	(void)state;
	assert_int_equal(wv_claim_slot_phase(slot->state), WV_CLAIM_SLOT_HELD);
	assert_false(wv_claim_slot_is_unheld(slot));
	end_child(pid);
	assert_true(wv_claim_slot_is_unheld(slot));
}

static void test_a_claim_is_seen(void **state)
{
	uint64_t offered;
	struct wv_claim_slot *slot = wv_claim_slot_issue(shm, &offered);
	pid_t pid = child_with(slot, offered, hold_and_claim);

	(void)state;
	assert_int_equal(wv_claim_slot_phase(slot->state), WV_CLAIM_SLOT_CLAIMED);
	assert_true(wv_claim_slot_is_unheld(slot));
	end_child(pid);
}

/* A child that comes too late finds that the slot was issued to another child. */
static void test_a_late_child(void **state)
{
	uint64_t first, second, now;
	struct wv_claim_slot *slot = wv_claim_slot_issue(shm, &first);

	(void)state;
	now = first;
	assert_true(wv_claim_slot_advance(slot, &now, WV_CLAIM_SLOT_RETIRED));
	assert_ptr_equal(wv_claim_slot_issue(shm, &second), slot);
	assert_true(first != second);
	assert_false(wv_claim_slot_hold(slot, &first));
	assert_true(wv_claim_slot_is_unheld(slot));
	assert_true(wv_claim_slot_hold(slot, &second));
	assert_true(wv_claim_slot_release(slot, &second, WV_CLAIM_SLOT_GIVEN_BACK));
}

static void test_no_more_claim_slots(void **state)
{
	uint64_t offered;

	(void)state;
	for (unsigned int i = 0; i < WV_CLAIM_SLOTS; i++)
		assert_non_null(wv_claim_slot_issue(shm, &offered));
	assert_null(wv_claim_slot_issue(shm, &offered));
}

int main(void)
{
	const struct CMUnitTest sets[] = {
	    cmocka_unit_test_setup(test_each_is_claimed_once, reset),
	    cmocka_unit_test_setup(test_objects_are_compared_by_which_they_are, reset),
	    cmocka_unit_test_setup(test_moves_are_claimed_in_order, reset),
	    cmocka_unit_test_setup(test_moves_are_taken_back, reset),
	    cmocka_unit_test_setup(test_what_keeps_an_object_busy, reset),
	    cmocka_unit_test_setup(test_a_full_script_and_foreign_objects, reset),
	    cmocka_unit_test_setup(test_moves, reset),
	    cmocka_unit_test_setup(test_hostile_scripts, reset),
	};
	const struct CMUnitTest shared[] = {
	    cmocka_unit_test_setup_teardown(test_scripts_are_taught_once, new_shm, end_shm),
	    cmocka_unit_test_setup_teardown(test_a_script_that_does_not_fit, new_shm, end_shm),
	    cmocka_unit_test_setup_teardown(test_a_script_is_copied, new_shm, end_shm),
	    cmocka_unit_test_setup_teardown(test_no_room_for_scripts, new_shm, end_shm),
	    cmocka_unit_test_setup_teardown(test_a_child_that_dies_lets_go, new_shm, end_shm),
	    cmocka_unit_test_setup_teardown(test_a_claim_is_seen, new_shm, end_shm),
	    cmocka_unit_test_setup_teardown(test_a_late_child, new_shm, end_shm),
	    cmocka_unit_test_setup_teardown(test_no_more_claim_slots, new_shm, end_shm),
	};

	return cmocka_run_group_tests(sets, NULL, NULL) +
	       cmocka_run_group_tests(shared, NULL, NULL);
}
