/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs between their creation and their connection: those from which a shape is learned, and
 * spares that the program was given. No verb is called here, and the caller guards the table.
 */
#pragma once

#include "preload/spares/connect_steps.h"
#include "preload/spares/shape.h"

#include <stdbool.h>

struct wv_young_qp {
	struct ibv_qp *qp;
	struct wv_qp_key key;
	bool is_spare;		    /* moved ahead as @moves say */
	bool was_reset;		    /* a spare that was put back to RESET: no spare any more */
	bool is_grown;		    /* all moves to INIT are made: it is about to be connected */
	uint32_t n;		    /* moves that the program has made */
	struct wv_init_moves moves; /* of a spare: all; otherwise those that the program has made */
	struct wv_connection connection; /* once it is grown, as far as it was made */
};

/* Whether there is room for one more. One from which a shape is learned makes room. */
bool wv_young_has_room(void);

/* Adds a queue pair, if there is room. */
void wv_young_add(const struct wv_young_qp *young);

/* NULL: the queue pair is not young. */
struct wv_young_qp *wv_young_find(const struct ibv_qp *qp);

void wv_young_remove(struct wv_young_qp *young);

/* Whether there are any. May be called without the guard. */
bool wv_young_any(void);

/* In a forked child: they are the parent's. */
void wv_young_forget(void);
