/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A verb that creates an object or moves a queue pair, as plain data: without addresses, and
 * without what differs between two children that do the same. Two verbs are equal if their bytes
 * are equal.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WV_SCRIPT_VERBS 256 /* a child creates what comes after these itself */

enum wv_verb_kind {
	WV_VERB_OPEN = 1,
	WV_VERB_CHANNEL,
	WV_VERB_PD,
	WV_VERB_CQ,
	WV_VERB_SRQ,
	WV_VERB_QP,
	WV_VERB_MOVE, /* of a queue pair */
};

/* These take the place of the index of an object in the same script. */
#define WV_NO_OBJECT	  0xffff
#define WV_FOREIGN_OBJECT 0xfffe /* not of the script: no set can hold the verb */

enum { WV_ON_PD, WV_ON_SEND_CQ, WV_ON_RECV_CQ, WV_ON_SRQ, WV_ON };
#define WV_ON_CHANNEL WV_ON_PD /* of a CQ */
#define WV_ON_QP      WV_ON_PD /* of a move */

struct wv_verb {
	uint16_t kind;	    /* enum wv_verb_kind */
	uint16_t extended;  /* the verb's form with _ex */
	uint16_t on[WV_ON]; /* indexes of the objects that the verb uses */
	uint32_t unused;
	union {
		struct {
			char device[IBV_SYSFS_NAME_MAX];
			uint32_t ordinal; /* opens of the process between its fork and this one */
		} open;
		struct {
			uint64_t wc_flags;
			uint32_t cqe, vector, comp_mask, flags;
		} cq;
		struct {
			struct ibv_srq_attr attr;
			uint32_t comp_mask;
		} srq;
		struct {
			uint64_t send_ops_flags;
			struct ibv_qp_cap cap;
			uint32_t type, sq_sig_all, comp_mask, create_flags;
		} qp;
		struct {
			uint32_t mask, state, access, qkey, pkey_index, port;
		} move;
	};
};

/* The verbs that a child calls on one opened device, in order. Lies in shared memory. */
struct wv_script {
	uint32_t n;
	uint32_t open_number; /* for the daemon, see struct wv_msg_request */
	struct wv_verb verbs[WV_SCRIPT_VERBS];
};

/* Initialises a verb of @kind that uses no objects. */
void wv_verb_begin(struct wv_verb *verb, enum wv_verb_kind kind);

/*
 * Whether the two are the same, with all their arguments. Without memcmp(): a child may be the
 * first to call it, and would have the loader look for it.
 */
static inline bool wv_verb_is(const struct wv_verb *one, const struct wv_verb *other)
{
	const char *a = (const char *)one, *b = (const char *)other;
	uint64_t of_a, of_b;

	_Static_assert(sizeof(*one) % sizeof(of_a) == 0, "compared by words");
	for (size_t i = 0; i < sizeof(*one); i += sizeof(of_a)) {
		memcpy(&of_a, a + i, sizeof(of_a));
		memcpy(&of_b, b + i, sizeof(of_b));
		if (of_a != of_b)
			return false;
	}
	return true;
}

/*
 * Makes @verb the move that ibv_modify_qp(@attr, @mask) asks for. False if the move sets an
 * attribute that cannot be set ahead.
 */
bool wv_verb_set_move(struct wv_verb *verb, const struct ibv_qp_attr *attr, int mask);

/* Fills in @attr from a move, and returns the mask. */
int wv_verb_get_move(const struct wv_verb *verb, struct ibv_qp_attr *attr);

/*
 * Whether a script that was read from shared memory can be carried out: all kinds are known, and
 * verbs use only earlier objects of the right kind. @script is the reader's own copy.
 */
bool wv_script_check(const struct wv_script *script);
