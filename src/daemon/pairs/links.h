/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the two daemons of a pair talk: over the connection of peers, or, if both ends are on this
 * node, through a queue of its own.
 */
#pragma once

#include "wire/pair.h"

#include <stdbool.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

struct wv_peer;

/* The place of a peer whose connection was lost. */
#define WV_LOST_PEER ((struct wv_peer *)-1)

struct wv_pair_letter {
	STAILQ_ENTRY(wv_pair_letter) link;
	struct wv_pair_note note;
};

struct wv_pair_links {
	/* Set by the owner. */
	sd_event *event;
	/* The peer at @gid, if it is connected, or else NULL. */
	struct wv_peer *(*find)(void *arg, const uint8_t gid[16]);
	/* 0 or -errno. */
	int (*send)(void *arg, struct wv_peer *peer, const struct wv_pair_note *note);
	/* Whether @peer is the node of @gid. */
	bool (*is_at)(void *arg, const struct wv_peer *peer, const uint8_t gid[16]);
	/* Whether the node of @peer was started after @since_us. */
	bool (*has_rebooted)(void *arg, const struct wv_peer *peer, int64_t since_us);
	/* What came of a pair whose server is at @peer, as of wv_pair_count(). */
	void (*count)(void *arg, struct wv_peer *peer, enum wv_pair_why why);
	/* A note came from @peer, or from this node (NULL). */
	void (*receive)(void *arg, struct wv_peer *peer, const struct wv_pair_note *note);
	void *arg;

	STAILQ_HEAD(, wv_pair_letter) own; /* to this node */
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

/*
 * Whether @note, which a daemon has sent, is for the server's end of pairs. An EDGE is a question
 * for it, or its answer, which names a keeper.
 */
bool wv_pair_note_is_for_server(const struct wv_pair_note *note);

/* A pair whose server is at @peer was used (WV_PAIR_NO_REASON), or handed out and not used. */
void wv_pair_count(struct wv_pair_links *l, struct wv_peer *peer, enum wv_pair_why why);

/* Sends @note to @peer, or to this node (NULL). 0, or -errno, which is -ENOTCONN of WV_LOST_PEER.
 */
int wv_pair_send(struct wv_pair_links *l, struct wv_peer *peer, const struct wv_pair_note *note);
