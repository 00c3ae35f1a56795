/*
 * A verb that makes an object or moves a queue pair, as plain data: what it is about, without
 * addresses and without what differs between two children that do the same. Two verbs are the same
 * if their bytes are.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define WV_SCRIPT_VERBS 256 /* more than that a child makes itself */

enum wv_verb_kind {
	WV_VERB_OPEN = 1,
	WV_VERB_CHANNEL,
	WV_VERB_PD,
	WV_VERB_CQ,
	WV_VERB_SRQ,
	WV_VERB_QP,
	WV_VERB_MOVE, /* of a queue pair */
};

/* Instead of the index of an object of the same script. */
#define WV_NO_OBJECT	  0xffff
#define WV_FOREIGN_OBJECT 0xfffe /* an object that no script has made: such a verb is nobody's */

enum { WV_ON_PD, WV_ON_SEND_CQ, WV_ON_RECV_CQ, WV_ON_SRQ, WV_ON };
#define WV_ON_CHANNEL WV_ON_PD /* of a completion queue */
#define WV_ON_QP      WV_ON_PD /* of a move */

struct wv_verb {
	uint16_t kind;	    /* enum wv_verb_kind */
	uint16_t extended;  /* its form with _ex */
	uint16_t on[WV_ON]; /* indexes of the objects that it names */
	uint32_t unused;
	union {
		struct {
			char device[IBV_SYSFS_NAME_MAX];
			uint32_t ordinal; /* the how-manieth open of the process since its fork */
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

/* What a child does at one open of a device, in order. Lies in memory shared with its parent. */
struct wv_script {
	uint32_t n;
	uint32_t open_number; /* what it is to the daemon, see struct wv_msg_request */
	struct wv_verb verbs[WV_SCRIPT_VERBS];
};

/* A verb of @kind about nothing yet. */
void wv_verb_begin(struct wv_verb *verb, enum wv_verb_kind kind);

/*
 * @verb becomes the move of a queue pair by ibv_modify_qp(@attr, @mask). False if it sets what
 * can't be set ahead.
 */
bool wv_verb_set_move(struct wv_verb *verb, const struct ibv_qp_attr *attr, int mask);

/* The other way: fills in @attr and returns its mask. */
int wv_verb_get_move(const struct wv_verb *verb, struct ibv_qp_attr *attr);

/*
 * Whether a script read from shared memory can be carried out: kinds are known, verbs name earlier
 * objects of the right kind only. @script is the reader's copy.
 */
bool wv_script_check(const struct wv_script *script);
