/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/set.h"

#include "base/bits.h"

#include <string.h>

uint16_t wv_set_find(const struct wv_set *set, const void *object)
{
	if (!object)
		return WV_NO_OBJECT;
	for (uint32_t i = 0; i < set->n; i++)
		if (set->made[i].object == object)
			return (uint16_t)i;
	return WV_FOREIGN_OBJECT;
}

static bool is_move_of(const struct wv_verb *verb, uint16_t qp)
{
	return verb->kind == WV_VERB_MOVE && verb->on[WV_ON_QP] == qp;
}

struct wv_made *wv_set_claim(struct wv_set *set, struct wv_claims *claims,
			     const struct wv_verb *verb)
{
	while (claims->first < set->n && wv_bit(claims->claimed, claims->first))
		claims->first++;
	for (uint32_t i = claims->first; i < set->n; i++) {
		const struct wv_verb *have = &set->script->verbs[i];

		if (have->kind != verb->kind || wv_bit(claims->claimed, i))
			continue;
		if (wv_verb_is(have, verb)) {
			wv_set_bit(claims->claimed, i, true);
			return &set->made[i];
		}
		if (is_move_of(have, verb->on[WV_ON_QP]))
			return NULL;
	}
	return NULL;
}

static bool names(const struct wv_verb *verb, uint16_t index)
{
	for (unsigned int i = 0; i < WV_ON; i++)
		if (verb->on[i] == index)
			return true;
	return false;
}

struct wv_made *wv_set_append(struct wv_set *set, const struct wv_verb *verb, void *object)
{
	struct wv_made *made = &set->made[set->n];

	if (set->n == WV_SCRIPT_VERBS || names(verb, WV_FOREIGN_OBJECT))
		return NULL;
	if (verb != &set->script->verbs[set->n])
		set->script->verbs[set->script->n++] = *verb;
	memset(made, 0, sizeof(*made));
	made->object = object;
	set->n++;
	return made;
}

bool wv_set_end_moves(const struct wv_set *set, struct wv_claims *claims, uint16_t qp)
{
	bool any = false;

	for (uint32_t i = claims->first; i < set->n; i++) {
		if (!is_move_of(&set->script->verbs[i], qp) || wv_bit(claims->claimed, i))
			continue;
		wv_set_bit(claims->claimed, i, true);
		/* Tells this move from one that the owner has made. */
		wv_set_bit(claims->put_back, i, true);
		any = true;
	}
	return any;
}

uint32_t wv_set_next_move(const struct wv_set *set, const struct wv_claims *claims, uint16_t qp,
			  uint32_t i)
{
	while (i < set->n && !(is_move_of(&set->script->verbs[i], qp) &&
			       wv_bit(claims->claimed, i) && !wv_bit(claims->put_back, i)))
		i++;
	return i;
}

uint16_t wv_set_last_unclaimed(const struct wv_set *set, const struct wv_claims *claims,
			       uint16_t used)
{
	for (uint32_t i = set->n; i-- > 0;)
		if (!wv_bit(claims->claimed, i) && set->made[i].object &&
		    (used == WV_NO_OBJECT || names(&set->script->verbs[i], used)))
			return (uint16_t)i;
	return WV_NO_OBJECT;
}
