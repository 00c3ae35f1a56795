/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A young queue pair that is an end of a pair: its number was told to a partner, which is connected
 * to it already. It is in INIT until the program itself moves it, as any other spare: nothing that
 * the partner sends is received before. Peers hear only of the shapes that have numbers here.
 *
 * No verb is called here. Call with the lock of the stock held, or with a copy.
 */
#pragma once

#include "abi/qp.h"
#include "preload/stock/stock.h"
#include "wire/pair.h"

/*
 * The one question that decides about a pair, which both ends ask when their program moves the
 * queue pair to RTR: does the move name the other end, from the address that the other end knows,
 * and has nobody said that this is gone? Both get the same answer: an end that is at another
 * address is not whom the other program names. If it is yes, the move is made with the packet
 * sequence numbers of the pair, since the other end counts by them. Nothing else may enter, since
 * the other end could not know it. Returns why @named, whom the program names @from_here, is not
 * the other end, @partner, which may be @gone; 0: it is.
 */
enum wv_pair_why wv_pair_decide(const struct wv_qp_peer *partner, bool gone,
				const struct wv_qp_peer *named, bool from_here);

/* Why a command is needed that the pair could have spared: enum wv_why. */
uint16_t wv_pair_why_not(enum wv_pair_why why);

/* Gives numbers to the shapes that have had spares, so that peers may hear of them. */
void wv_shapes_number(void);

/*
 * A queue pair of this key was connected as one may be that has a pair (or otherwise: not @usual),
 * and created @by_request. Returns the number of the shape if the next ones are likely to be, and
 * it has a number and spares; or 0.
 */
uint64_t wv_shape_connected(const struct wv_qp_key *key, bool usual, bool by_request);

/* Whether a pair may be made with a spare of @shape, since its next queue pair is likely to do. */
bool wv_shape_may_pair(const struct wv_shape *shape);

/* NULL: there is no such shape any more. */
struct wv_shape *wv_shape_numbered(uint64_t number);

/* By the number of the pair; NULL: there is none. */
struct wv_young_qp *wv_end_of_pair(uint64_t pair);

/* One of which the daemon is to hear a word of @words, bits of enum wv_pair_word. NULL: none. */
struct wv_young_qp *wv_end_with_news(uint32_t words);

/* Whether any queue pair has a partner, or had; and whether there may be one more. */
bool wv_ends_any(void);
bool wv_ends_have_room(void);

/*
 * The connection to the daemon has ended, and nobody can say any more what becomes of the partners.
 * They are told nothing either, so both sides of a pair that the program has keep to it.
 */
void wv_ends_lose(uint64_t now_ms);

/*
 * A client's daemon keeps an end that no program has for less than this. So the server's end of
 * such a pair is not kept longer, though nobody says that it may be destroyed. That of an end that
 * a program has received is kept: the program may name it at any time.
 */
#define WV_ENDS_LOST_MS 120000

/* Ends that were lost for so long are WV_YOUNG_OVER. Returns whether more are to follow. */
bool wv_ends_end_lost(uint64_t now_ms);

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
