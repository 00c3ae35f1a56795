/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions of clients' daemons: which server of this node has the other side of a connection. The
 * question may come before the server has said that it is connected.
 */
#pragma once

#include "daemon/pairs/keeper_table.h"

/* Whether @keeper's program runs as the user that @note is about. */
bool wv_keeper_is_of_user(struct wv_keepers *k, const struct wv_keeper *keeper,
			  const struct wv_pair_note *note);

/* @from asks about the connection @edge; answered now, or once a server tells of it. */
void wv_keepers_ask(struct wv_keepers *k, struct wv_peer *from, const struct wv_pair_note *edge);

/* @keeper has connected a queue pair. */
void wv_keepers_connected(struct wv_keepers *k, struct wv_keeper *keeper,
			  const struct wv_pair_note *own);

/* @from is not to be answered any more. */
void wv_keepers_forget_questions(struct wv_keepers *k, const struct wv_peer *from);
