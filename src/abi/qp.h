/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs: how far one may be moved before the program asks, and what the commands that move or
 * read one say about its state.
 */
#pragma once

#include "abi/abi.h"

#include <infiniband/verbs.h>

/* How far queue pairs of a type are moved before the program asks. */
struct wv_ahead_row {
	uint32_t driver_id; /* or WV_ANY_DRIVER */
	uint32_t qp_type;   /* enum ib_uverbs_qp_type */
	uint16_t flags_at;  /* offset in UHW_IN of the creation, if the driver has its own types */
	uint32_t flags_mask, flags;
	uint8_t state;	   /* enum ibv_qp_state */
	bool can_be_reset; /* the kernel takes it back to RESET */
};

/* How far a QP of @qp_type, created with the private payload @uhw_in, goes; NULL: nowhere. */
const struct wv_ahead_row *wv_qp_ahead(uint32_t driver_id, uint32_t qp_type, const void *uhw_in,
				       size_t len);

/*
 * Whether a QP of @row (may be NULL) in state @from may be moved to @to ahead of the program: to
 * the next state, or to INIT once more with other attributes, as librdmacm does.
 */
bool wv_qp_may_move(const struct wv_ahead_row *row, int from, int to);

/* Whether any driver's QP of @type can be moved to @state without knowing its peer. */
bool wv_qp_is_ahead(enum ibv_qp_type type, enum ibv_qp_state state);

/* The state that a WV_MODIFY command asks for, by its CORE_IN; -1 if none. */
int wv_qp_state_asked(const void *core_in, size_t len);
int wv_command_qp_state(const struct ib_uverbs_ioctl_hdr *cmd);

/* The other end of a queue pair of type RC, and where the two begin to count packets. */
struct wv_qp_peer {
	uint32_t qp_num;
	uint8_t gid[16];
	uint32_t psn, peer_psn; /* the first that the queue pair sends, and that its peer sends */
	uint32_t flow_label;
	uint8_t port, sgid_index; /* from which the queue pair names it */
};

/* Whether the two are the same queue pair. */
bool wv_qp_peer_is(const struct wv_qp_peer *peer, const struct wv_qp_peer *other);

/*
 * Whether the CORE_IN of a WV_MODIFY command moves an RC queue pair to @state, RTR or RTS, with a
 * peer that a GID names, and with no attributes but those that are usual there: no alternate path.
 */
bool wv_qp_connects(const void *core_in, size_t len, enum ibv_qp_state state);

/*
 * Whom a move to RTR names by a GID and a number, by its CORE_IN, and by the arguments of
 * ibv_modify_qp(). qp_num is 0 if it is nobody.
 */
struct wv_qp_peer wv_qp_named(const void *core_in, size_t len);
struct wv_qp_peer wv_qp_named_by(const struct ibv_qp_attr *attr, int mask);

/* Writes into the CORE_IN of a move, where its mask has them: the PSNs of @peer; and its name. */
void wv_qp_set_psns(void *core_in, const struct wv_qp_peer *peer);
void wv_qp_set_peer(void *core_in, const struct wv_qp_peer *peer);

/*
 * The kernel keeps what INIT set when a QP goes back to RESET; a new QP has none of it. These clear
 * it in the answer to a query of a QP that was put back: of the ioctl, and of ibv_query_qp().
 */
void wv_qp_hide_ioctl(const struct ib_uverbs_ioctl_hdr *query);
void wv_qp_hide(struct ibv_qp_attr *attr);

/*
 * The answer to the query of an RC queue pair in RTS becomes that of one in @state, before RTS,
 * without what the moves to RTR and RTS set.
 */
void wv_qp_hide_moves(const struct ib_uverbs_ioctl_hdr *query, enum ibv_qp_state state);
