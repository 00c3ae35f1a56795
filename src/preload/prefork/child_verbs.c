/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/child_verbs.h"

#include "abi/qp.h"
#include "base/bits.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/prefork/set_make.h"

/* Each child reports once whether the script fits. */
static void judge(struct wv_tracked *t, bool fits)
{
	if (!t->judged)
		wv_scripts_judge(t->shm, &t->set->script->verbs[0], fits);
	t->judged = true;
}

static void name(const struct wv_set *set, struct wv_verb *verb, const void *const on[WV_ON])
{
	for (unsigned int i = 0; i < WV_ON; i++)
		verb->on[i] = wv_set_find(set, on[i]);
}

bool wv_child_ops(const struct ibv_context *context, struct wv_context_ops *ops)
{
	struct wv_tracked *t;

	wv_child_lock();
	t = wv_tracked_find(context);
	if (t && ops)
		*ops = t->set->ops;
	wv_child_unlock();
	return t;
}

void *wv_child_claim(struct ibv_context *context, struct wv_verb *verb, const void *const on[WV_ON],
		     struct wv_made *made)
{
	struct wv_made *taken = NULL;
	struct wv_tracked *t;

	wv_child_lock();
	t = wv_tracked_find(context);
	if (t && t->role == WV_CLAIMED && !t->stopped) {
		name(t->set, verb, on);
		taken = wv_set_claim(t->set, &t->claims, verb);
		if (taken)
			*made = *taken;
	}
	wv_child_unlock();
	return taken ? made->object : NULL;
}

/* Whether a set may have what the verb makes. */
static bool is_prepared(const struct ibv_context *context, const struct wv_verb *verb)
{
	return verb->kind != WV_VERB_QP || wv_abi_prepares_qps(wv_context_driver(context->cmd_fd));
}

void *wv_child_note(struct ibv_context *context, struct wv_verb *verb, const void *const on[WV_ON],
		    void *object)
{
	struct wv_tracked *t;

	if (!object)
		return NULL;
	wv_child_lock();
	t = wv_tracked_find(context);
	if (t)
		name(t->set, verb, on);
	if (t && t->role == WV_CLAIMED)
		judge(t, false);
	else if (t && !(is_prepared(context, verb) && wv_set_append(t->set, verb, object)))
		wv_tracked_finish(t);
	wv_child_unlock();
	return object;
}

/*
 * The owner is about to query the queue pair, or to move it in another way than the script did.
 * Puts it back to the state that its owner has moved it to: moves it to RESET, and repeats the
 * owner's own moves. An error is ignored: the owner's next verb will show it.
 */
static void put_back(struct wv_tracked *t, struct ibv_qp *qp, uint16_t index)
{
	const struct wv_set *set = t->set;
	const struct wv_real *real = wv_real_verbs();
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	enum ibv_qp_state state = qp->state;
	uint32_t i = 0;
	bool moved = false;
	int error;

	if (!wv_set_end_moves(set, &t->claims, index))
		return;
	error = real->modify_qp(qp, &attr, IBV_QP_STATE);
	while (!error && (i = wv_set_next_move(set, &t->claims, index, i)) < set->n) {
		int mask = wv_verb_get_move(&set->script->verbs[i++], &attr);

		error = real->modify_qp(qp, &attr, mask);
		moved = moved || !error;
	}
	qp->state = state;
	wv_set_bit(t->claims.put_back, index, !moved);
}

/* Claims a move that was made ahead. False if there is none. */
static bool take_move(struct wv_tracked *t, struct wv_verb *verb, bool can_be_ahead)
{
	if (!can_be_ahead || t->stopped || !wv_set_claim(t->set, &t->claims, verb))
		return false;
	judge(t, true);
	return true;
}

/* The script is complete once a queue pair moves further than a set can. */
static void moved(struct wv_tracked *t, const struct wv_verb *verb, const struct ibv_qp_attr *attr,
		  bool can_be_ahead)
{
	uint16_t index = verb->on[WV_ON_QP];
	bool ahead = wv_qp_is_ahead(t->set->script->verbs[index].qp.type, attr->qp_state);

	if (t->role == WV_CLAIMED && verb->move.mask & IBV_QP_STATE) {
		wv_set_bit(t->claims.put_back, index,
			   wv_bit(t->claims.put_back, index) && attr->qp_state == IBV_QPS_RESET);
		if (ahead)
			judge(t, false);
	} else if (t->role == WV_LEARNING && verb->move.mask & IBV_QP_STATE &&
		   !(can_be_ahead && ahead && wv_set_append(t->set, verb, NULL))) {
		wv_tracked_finish(t);
	}
}

int wv_child_move(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct wv_verb verb;
	struct wv_tracked *t;
	bool can_be_ahead, taken = false;
	int error;

	wv_verb_begin(&verb, WV_VERB_MOVE);
	can_be_ahead = wv_verb_set_move(&verb, attr, mask);
	wv_child_lock();
	t = wv_tracked_find(qp->context);
	verb.on[WV_ON_QP] = t ? wv_set_find(t->set, qp) : WV_FOREIGN_OBJECT;
	if (verb.on[WV_ON_QP] < WV_SCRIPT_VERBS && t->role == WV_CLAIMED) {
		taken = take_move(t, &verb, can_be_ahead);
		if (!taken)
			put_back(t, qp, verb.on[WV_ON_QP]);
	}
	wv_child_unlock();
	if (taken) {
		qp->state = attr->qp_state;
		return 0;
	}
	error = wv_real_verbs()->modify_qp(qp, attr, mask);
	if (error || verb.on[WV_ON_QP] >= WV_SCRIPT_VERBS)
		return error;
	wv_child_lock();
	t = wv_tracked_find(qp->context);
	if (t)
		moved(t, &verb, attr, can_be_ahead);
	wv_child_unlock();
	return 0;
}

int wv_child_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init)
{
	bool was_put_back = false;
	struct wv_tracked *t;
	uint16_t index;
	int error;

	wv_child_lock();
	t = wv_tracked_find(qp->context);
	index = t && t->role == WV_CLAIMED ? wv_set_find(t->set, qp) : WV_FOREIGN_OBJECT;
	if (index < WV_SCRIPT_VERBS) {
		put_back(t, qp, index);
		was_put_back = wv_bit(t->claims.put_back, index);
	}
	wv_child_unlock();
	error = wv_real_verbs()->query_qp(qp, attr, mask, init);
	if (!error && was_put_back && attr->qp_state == IBV_QPS_RESET)
		wv_qp_hide(attr);
	return error;
}

/* Destroys the unclaimed objects that would keep the object at @index busy. */
static void clear_way(struct wv_tracked *t, uint16_t index)
{
	uint16_t user;

	while ((user = wv_set_last_unclaimed(t->set, &t->claims, index)) != WV_NO_OBJECT) {
		wv_set_bit(t->claims.claimed, user, true);
		clear_way(t, user);
		wv_set_destroy(t->set, user);
	}
}

uint16_t wv_child_forget(const struct ibv_context *context, const void *object)
{
	uint16_t index = WV_FOREIGN_OBJECT;
	struct wv_tracked *t;

	wv_child_lock();
	t = wv_tracked_claimed(context);
	if (t)
		index = wv_set_find(t->set, object);
	if (index < WV_SCRIPT_VERBS) {
		clear_way(t, index);
		t->set->made[index].object = NULL;
	}
	wv_child_unlock();
	return index;
}

void wv_child_remember(const struct ibv_context *context, void *object, uint16_t index)
{
	struct wv_tracked *t;

	if (index >= WV_SCRIPT_VERBS)
		return;
	wv_child_lock();
	t = wv_tracked_find(context);
	if (t)
		t->set->made[index].object = object;
	wv_child_unlock();
}
