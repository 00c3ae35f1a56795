/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one question that decides about a pair, which both ends ask when their program moves the
 * queue pair to RTR: does the move name the other end, from the address that the other end knows,
 * and has nobody said that this is gone? Both get the same answer: an end that is at another
 * address is not whom the other program names. If it is yes, the move is made with the packet sequence numbers of the pair,
 * since the other end counts by them. Nothing else may enter, since the other end could not know it.
 */
#pragma once

#include "abi/qp.h"
#include "wire/pair.h"

/*
 * Why @named, whom the program names @from_here, is not the other end: @partner, which may be @gone.
 * 0: it is.
 */
enum wv_pair_why wv_pair_decide(const struct wv_qp_peer *partner, bool gone,
				const struct wv_qp_peer *named, bool from_here);

/* Why a command is needed that the pair could have spared: enum wv_why. */
uint16_t wv_pair_why_not(enum wv_pair_why why);
