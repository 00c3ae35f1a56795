/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/script.h"

#include "base/base.h"

#include <string.h>

void wv_verb_begin(struct wv_verb *verb, enum wv_verb_kind kind)
{
	memset(verb, 0, sizeof(*verb));
	verb->kind = (uint16_t)kind;
	for (unsigned int i = 0; i < WV_ON; i++)
		verb->on[i] = WV_NO_OBJECT;
}

/*
 * The attributes that ibv_modify_qp(3) takes for these moves. The first PSN is ignored: no receiver
 * checks it for UD.
 */
#define WV_MOVE_MASK                                                                               \
	(IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_QKEY | IBV_QP_PKEY_INDEX | IBV_QP_PORT |      \
	 IBV_QP_SQ_PSN)

#define IF(flag, value) (mask & (flag) ? (uint32_t)(value) : 0)

bool wv_verb_set_move(struct wv_verb *verb, const struct ibv_qp_attr *attr, int mask)
{
	verb->kind = WV_VERB_MOVE;
	verb->move.mask = (uint32_t)mask;
	verb->move.state = IF(IBV_QP_STATE, attr->qp_state);
	verb->move.access = IF(IBV_QP_ACCESS_FLAGS, attr->qp_access_flags);
	verb->move.qkey = IF(IBV_QP_QKEY, attr->qkey);
	verb->move.pkey_index = IF(IBV_QP_PKEY_INDEX, attr->pkey_index);
	verb->move.port = IF(IBV_QP_PORT, attr->port_num);
	return mask & IBV_QP_STATE && !(mask & ~WV_MOVE_MASK);
}

int wv_verb_get_move(const struct wv_verb *verb, struct ibv_qp_attr *attr)
{
	*attr = (struct ibv_qp_attr){
	    .qp_state = verb->move.state,
	    .qp_access_flags = verb->move.access,
	    .qkey = verb->move.qkey,
	    .pkey_index = (uint16_t)verb->move.pkey_index,
	    .port_num = (uint8_t)verb->move.port,
	};
	return (int)verb->move.mask;
}

/* The kinds of the objects that a verb uses; 0: none. */
static const struct {
	uint16_t on[WV_ON];
	bool needed[WV_ON];
} names[] = {
    [WV_VERB_OPEN] = {{0}},
    [WV_VERB_CHANNEL] = {{0}},
    [WV_VERB_PD] = {{0}},
    [WV_VERB_CQ] = {{WV_VERB_CHANNEL}, {false}},
    [WV_VERB_SRQ] = {{WV_VERB_PD}, {true}},
    [WV_VERB_QP] = {{WV_VERB_PD, WV_VERB_CQ, WV_VERB_CQ, WV_VERB_SRQ}, {true}},
    [WV_VERB_MOVE] = {{WV_VERB_QP}, {true}},
};

static bool is_sound(const struct wv_script *script, unsigned int i)
{
	const struct wv_verb *verb = &script->verbs[i];

	if (verb->kind < WV_VERB_OPEN || verb->kind > WV_VERB_MOVE ||
	    (verb->kind == WV_VERB_OPEN) != !i)
		return false;
	for (unsigned int j = 0; j < WV_ON; j++) {
		uint16_t on = verb->on[j];

		if (on == WV_NO_OBJECT
			? names[verb->kind].needed[j]
			: on >= i || script->verbs[on].kind != names[verb->kind].on[j])
			return false;
	}
	return true;
}

bool wv_script_check(const struct wv_script *script)
{
	if (!script->n || script->n > WV_SCRIPT_VERBS)
		return false;
	for (unsigned int i = 0; i < script->n; i++)
		if (!is_sound(script, i))
			return false;
	return memchr(script->verbs[0].open.device, 0, IBV_SYSFS_NAME_MAX);
}
