/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A young queue pair that is an end of a pair: its number was told to a partner, which is connected
 * to it already. It is in INIT until the program itself moves it, as any other spare: nothing that
 * the partner sends is received before.
 * What its move to RTR means is decided by rule.h.
 *
 * No verb is called here. Call with the lock of the stock held, or with a copy.
 */
#pragma once

#include "preload/stock/young.h"
#include "wire/pair.h"

/*
 * Whether ibv_modify_qp(@attr, @mask) names the partner. Then it is to be found out whether that is
 * from the address that the partner knows: y->is_elsewhere.
 */
bool wv_partner_is_named(const struct wv_young_qp *y, const struct ibv_qp_attr *attr, int mask);

/*
 * Writes the numbers of the pair into the program's move, ibv_modify_qp(@attr, @mask), if it is for
 * the partner. Returns why it is not (enum wv_why), if it leads elsewhere, or 0.
 */
uint16_t wv_partner_set_psns(const struct wv_young_qp *y, struct ibv_qp_attr *attr, int mask);

/*
 * The kernel has made the program's move, of a queue pair that has made all moves to INIT. Whether
 * its partner was named was decided before that, by what was known then: @was.
 */
void wv_partner_note_move(struct wv_young_qp *y, const struct wv_young_qp *was,
			  const struct ibv_qp_attr *attr, int mask);

/* It was moved to another state than RTR and RTS. It may be connected to the partner after that. */
void wv_partner_note_elsewhere(struct wv_young_qp *y);

/* @y is given up: the partner is to be told, and @y is destroyed after that. */
void wv_partner_leave(struct wv_young_qp *y, enum wv_pair_why why);

/* The program takes @y. False: a child has destroyed it, of which the daemon is to hear. */
bool wv_partner_take(struct wv_young_qp *y);

/* Finds those that a child has destroyed. */
void wv_partners_look_after(void);

/* What the program has of @context is destroyed, whatever partners know. */
void wv_partners_close(const void *context);

/* The daemon has heard @word of @y. */
void wv_partner_told(struct wv_young_qp *y, enum wv_pair_word word);

/* The partner is no part of the pair any more. */
void wv_partner_has_gone(struct wv_young_qp *y);
