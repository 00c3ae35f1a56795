/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/questions.h"

#include <string.h>

bool wv_keeper_is_of_user(struct wv_keepers *k, const struct wv_keeper *keeper,
			  const struct wv_pair_note *note)
{
	const char *name = wv_user_name(k->names, keeper->uid);

	return name && *note->user && !strncmp(name, note->user, sizeof(note->user));
}

/* Whether the keeper's connection @own is the other side of the client's @edge. */
static bool is_other_side(const struct wv_pair_note *own, const struct wv_pair_note *edge)
{
	return own->qp_num == edge->peer_qp_num && own->peer_qp_num == edge->qp_num &&
	       !memcmp(own->gid, edge->peer_gid, sizeof(own->gid)) &&
	       !memcmp(own->peer_gid, edge->gid, sizeof(own->gid));
}

static void answer_edge(struct wv_keepers *k, struct wv_peer *origin,
			const struct wv_pair_note *edge, const struct wv_keeper *keeper,
			const struct wv_pair_note *own)
{
	struct wv_pair_note note = *edge;

	note.keeper = keeper->id;
	note.shape = own->shape;
	note.by_request = own->by_request;
	wv_pair_send(k->links, origin, &note);
}

static bool try_keeper(struct wv_keepers *k, const struct wv_keeper *keeper, struct wv_peer *from,
		       const struct wv_pair_note *edge)
{
	unsigned int n = keeper->n_recent < WV_KEEPER_RECENT ? keeper->n_recent : WV_KEEPER_RECENT;

	for (unsigned int i = 0; i < n; i++) {
		if (!is_other_side(&keeper->recent[i], edge) ||
		    !wv_keeper_is_of_user(k, keeper, edge))
			continue;
		answer_edge(k, from, edge, keeper, &keeper->recent[i]);
		return true;
	}
	return false;
}

void wv_keepers_ask(struct wv_keepers *k, struct wv_peer *from, const struct wv_pair_note *edge)
{
	struct wv_keeper *keeper;

	LIST_FOREACH (keeper, &k->all, link)
		if (try_keeper(k, keeper, from, edge))
			return;
	k->waiting[k->n_waiting++ % WV_EDGES_WAITING] =
	    (struct wv_edge_question){.origin = from, .note = *edge};
}

void wv_keepers_connected(struct wv_keepers *k, struct wv_keeper *keeper,
			  const struct wv_pair_note *own)
{
	keeper->recent[keeper->n_recent++ % WV_KEEPER_RECENT] = *own;
	for (unsigned int i = 0; i < WV_EDGES_WAITING; i++) {
		struct wv_edge_question *q = &k->waiting[i];

		if (!q->note.word || !is_other_side(own, &q->note) ||
		    !wv_keeper_is_of_user(k, keeper, &q->note))
			continue;
		answer_edge(k, q->origin, &q->note, keeper, own);
		q->note.word = 0;
	}
}

void wv_keepers_forget_questions(struct wv_keepers *k, const struct wv_peer *from)
{
	for (unsigned int i = 0; i < WV_EDGES_WAITING; i++)
		if (k->waiting[i].origin == from)
			k->waiting[i].note.word = 0;
}
