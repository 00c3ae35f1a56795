/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Edges: which queue pair of a recipe connects to which server, and how. An edge is learned from
 * programs with leases, and is good for pairs once the same server was met in the same way more
 * than once.
 */
#pragma once

#include "cmdlog/validate.h"
#include "daemon/devices/addresses.h"
#include "store/recipe.h"
#include "wire/pair.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct wv_peer;

#define WV_EDGES_MOST  256 /* the user with most of them makes room for another one */
#define WV_EDGE_AGREE  2   /* connections that show an edge */
#define WV_EDGE_IDLE_S 60  /* an edge that was not used for so long gets no pairs */

/* What a program with a lease has said of one of its queue pairs. */
struct wv_edge_report {
	uint64_t recipe;
	uid_t uid;
	uint32_t create; /* step of the recipe that creates the queue pair */
	uint8_t gid[16], peer_gid[16];
	struct wv_peer *peer; /* NULL: the server is on this node */
	uint32_t qp_num, peer_qp_num;
	uint32_t flow_label; /* librdmacm's differ */
};

struct wv_edge {
	TAILQ_ENTRY(wv_edge) link;  /* the most recently used is the first */
	struct wv_edge_report last; /* once there is an answer to it, without numbers */
	uint64_t keeper, shape;
	bool by_request; /* the server knows by the request of a client which pair is meant */
	unsigned int agreed;
	int64_t used_us;
	uint8_t link_address[WV_LINK_ADDRESS]; /* of the peer, as last seen; 0: never */
	/* Of asking for pairs: */
	unsigned int n_pairs;	/* that are made, or exist */
	unsigned int n_claimed; /* of these, that a program has or had */
	unsigned int n_awaited; /* of these, of which the server has not used its end yet */
	unsigned int failures;	/* in a row */
	int64_t pause_until_us;
	_Alignas(
	    8) uint8_t moves[WV_MOVES_MAX_BYTES]; /* a WV_RECORD command log, without numbers */
};

struct wv_edges {
	TAILQ_HEAD(wv_edge_list, wv_edge) all;
	unsigned int n;
};

void wv_edges_init(struct wv_edges *e);
void wv_edges_finish(struct wv_edges *e);

/*
 * Notes a connection, which was made by @moves, of at most WV_MOVES_MAX_BYTES bytes; their numbers
 * are cleared. Returns its edge, about which the server's daemon is to be asked; NULL if
 * memory is short or all edges have pairs.
 */
struct wv_edge *wv_edges_note(struct wv_edges *e, const struct wv_edge_report *report,
			      struct wv_cmdlog *moves, int64_t now_us);

/* The server's daemon @from has answered. */
void wv_edges_answer(struct wv_edges *e, struct wv_peer *from, const struct wv_pair_note *note);

/*
 * Whether @edge is one of @recipe. Only among the recipes of one user is an id that of one recipe.
 */
static inline bool wv_edge_is_of(const struct wv_edge *edge, const struct wv_recipe *recipe)
{
	return edge->last.uid == recipe->uid && edge->last.recipe == recipe->id;
}

/* Whether the pattern of @edge is shown, and was used lately. */
bool wv_edge_is_in_use(const struct wv_edge *edge, int64_t now_us);

/* No pair could be made for @edge: no further one is tried for a while, which grows. */
void wv_edge_fail(struct wv_edge *edge, int64_t now_us);

/*
 * The address of @gid is reached at @at. Returns whether an edge leads there that reached it
 * elsewhere before.
 */
bool wv_edges_see(struct wv_edges *e, const uint8_t gid[16], const uint8_t at[WV_LINK_ADDRESS]);

/* The programs of @edge do something else now: the pattern must show again. */
static inline void wv_edge_differ(struct wv_edge *edge)
{
	edge->agreed = 0;
}
