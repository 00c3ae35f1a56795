/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the two daemons of a pair talk: over the connection of peers, or, if both ends are on this
 * node, through a queue of its own.
 */
#pragma once

#include "daemon/peers/peers.h"
#include "wire/pair.h"

/* The place of a peer whose connection was lost. */
#define WV_LOST_PEER ((struct wv_peer *)-1)

struct wv_pair_letter {
	STAILQ_ENTRY(wv_pair_letter) link;
	struct wv_pair_note note;
};

struct wv_pair_links {
	/* Set by the owner. */
	sd_event *event;
	struct wv_peers *peers;
	bool with_peers; /* else there are pairs on this node only */
	/* A note came from @peer, or from this node (NULL). */
	void (*receive)(void *arg, struct wv_peer *peer, const struct wv_pair_note *note);
	void *arg;

	STAILQ_HEAD(, wv_pair_letter) own; /* to this node */
	unsigned int n_own;
	sd_event_source *source;
};

/* 0 or -errno. */
int wv_pair_links_start(struct wv_pair_links *l);

/* Harmless if they were not started. */
void wv_pair_links_stop(struct wv_pair_links *l);

/*
 * Finds the other end of an edge from @gid to @peer_gid: *@peer is NULL if it is on this node.
 * False: no daemon that can be reached is there.
 */
bool wv_pair_link_find(const struct wv_pair_links *l, const uint8_t gid[16],
		       const uint8_t peer_gid[16], struct wv_peer **peer);

/* Whether @peer, which may be this node (NULL), is another node, that of @gid. */
bool wv_pair_link_is_at(const struct wv_pair_links *l, const struct wv_peer *peer,
			const uint8_t gid[16]);

/* Whether @gid is @one or @other; NULL: it may be. */
bool wv_pair_gid_is_of(const uint8_t *gid, const uint8_t one[16], const uint8_t other[16]);

/* Whether the node of @peer was started after @since_us, by the steady clock. */
bool wv_pair_link_rebooted(const struct wv_peer *peer, int64_t since_us);

/*
 * Whether @note, which a daemon has sent, is for the server's end of pairs. An EDGE is a question
 * for it, or its answer, which names a keeper.
 */
bool wv_pair_note_is_for_server(const struct wv_pair_note *note);

/* A pair whose server is at @peer was used (WV_PAIR_NO_REASON), or handed out and not used. */
void wv_pair_count(struct wv_peer *peer, enum wv_pair_why why);

/*
 * Sends @note to @peer, or to this node (NULL). 0; -ENOTCONN, always of WV_LOST_PEER; -ENOBUFS if
 * many notes wait, and this one may be left out; or -errno.
 */
int wv_pair_send(struct wv_pair_links *l, struct wv_peer *peer, const struct wv_pair_note *note);

/* Receives a message from @peer. 0; or -EPROTO if that is no note. */
int wv_pair_links_message(struct wv_pair_links *l, struct wv_peer *peer, uint16_t type,
			  const void *body, size_t length);
