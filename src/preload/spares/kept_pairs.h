/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the daemon asks of this process's ends of pairs, and what becomes of an end when the program
 * does not use it. Call functions with no lock held, unless they say otherwise.
 */
#pragma once

#include "preload/spares/stock.h"
#include "wire/pair.h"

/* The daemon says @note. False: no daemon says that. */
bool wv_kept_pairs_hear(const struct wv_pair_note *note);

/* The connection to the daemon is lost. */
void wv_kept_pairs_lose(void);

/*
 * The program destroys @object, or lacks what spares take up (NULL): destroys the ends that use it.
 * Waits for the other ends, but not for long. Returns whether there were any.
 */
bool wv_kept_pairs_withdraw(const void *object);

/*
 * The program has connected a queue pair of the shape @number in the way that was learned. Call
 * with the lock of the stock held.
 */
void wv_kept_pairs_note_connected(uint64_t number, const struct ibv_qp *qp,
				  const struct wv_connection *connection);

/* Notes for the daemon what was connected. Only by the maker. */
void wv_kept_pairs_report_connected(void);

/* Whether there is something to tell the daemon. Call with the lock of the stock held. */
bool wv_kept_pairs_has_news(void);

/* From now on no pair is made, and those that were made are of no use. */
void wv_kept_pairs_stop(void);

/* In a forked child. */
void wv_kept_pairs_forked(void);
