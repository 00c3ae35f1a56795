/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/links.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE WV_FRAME_FIRST_MESSAGE

#define OWN_MOST 1024 /* notes to this node that wait, where more are left out if they may be */

/* Not at once: whoever sends a note to this node is in the middle of something. */
static int on_own(sd_event_source *source, void *data)
{
	struct wv_pair_links *l = data;
	struct wv_pair_letter *letter = STAILQ_FIRST(&l->own);

	if (letter) {
		STAILQ_REMOVE_HEAD(&l->own, link);
		l->n_own--;
		l->receive(l->arg, NULL, &letter->note);
		free(letter);
	}
	if (STAILQ_EMPTY(&l->own))
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return 0;
}

int wv_pair_links_start(struct wv_pair_links *l)
{
	int err;

	STAILQ_INIT(&l->own);
	err = sd_event_add_defer(l->event, &l->source, on_own, l);
	if (err >= 0)
		err = sd_event_source_set_priority(l->source, WV_PRIORITY_CLIENTS);
	return err < 0 ? err : sd_event_source_set_enabled(l->source, SD_EVENT_OFF);
}

void wv_pair_links_stop(struct wv_pair_links *l)
{
	struct wv_pair_letter *letter;

	if (!l->source)
		return;
	l->source = sd_event_source_disable_unref(l->source);
	while ((letter = STAILQ_FIRST(&l->own))) {
		STAILQ_REMOVE_HEAD(&l->own, link);
		free(letter);
	}
}

bool wv_pair_link_find(const struct wv_pair_links *l, const uint8_t gid[16],
		       const uint8_t peer_gid[16], struct wv_peer **peer)
{
	*peer = NULL;
	if (!memcmp(gid, peer_gid, 16))
		return true;
	*peer = l->with_peers ? wv_peers_find(l->peers, peer_gid) : NULL;
	return *peer && (*peer)->state == WV_PEER_UP;
}

bool wv_pair_link_is_at(const struct wv_pair_links *l, const struct wv_peer *peer,
			const uint8_t gid[16])
{
	return peer && wv_peers_is_at(l->peers, peer, gid);
}

bool wv_pair_link_rebooted(const struct wv_peer *peer, int64_t since_us)
{
	return peer->up && peer->up_us > since_us &&
	       peer->up->hello.up_us < (uint64_t)(peer->up_us - since_us);
}

bool wv_pair_gid_is_of(const uint8_t *gid, const uint8_t one[16], const uint8_t other[16])
{
	return !gid || !memcmp(gid, one, 16) || !memcmp(gid, other, 16);
}

bool wv_pair_note_is_for_server(const struct wv_pair_note *note)
{
	static const bool for_server[WV_PAIR_WORDS] = {
	    [WV_PAIR_ASK] = true,
	    [WV_PAIR_CLAIMED] = true,
	    [WV_PAIR_DROP] = true,
	    [WV_PAIR_FORGOTTEN] = true,
	};

	if (note->word == WV_PAIR_EDGE)
		return !note->keeper;
	return note->word < WV_PAIR_WORDS && for_server[note->word];
}

/* From host order to that of peers, which is little-endian, or back. */
static void swap(struct wv_pair_note *note)
{
	note->word = htole16(note->word);
	note->why = htole16(note->why);
	note->keeper = htole64(note->keeper);
	note->pair = htole64(note->pair);
	note->shape = htole64(note->shape);
	note->qp_num = htole32(note->qp_num);
	note->peer_qp_num = htole32(note->peer_qp_num);
	note->psn = htole32(note->psn);
	note->peer_psn = htole32(note->peer_psn);
	note->by_request = htole32(note->by_request);
}

/*
 * Whether a note is left out where many wait: whoever waits for an answer to it waits no longer than
 * some seconds. Of the other words, each is said once of a pair.
 */
static bool may_be_left_out(const struct wv_pair_note *note)
{
	return note->word == WV_PAIR_EDGE || note->word == WV_PAIR_ASK ||
	       note->word == WV_PAIR_MADE || note->word == WV_PAIR_REFUSED;
}

static int send_own(struct wv_pair_links *l, const struct wv_pair_note *note)
{
	struct wv_pair_letter *letter;

	if (l->n_own >= OWN_MOST && may_be_left_out(note))
		return -ENOBUFS;
	letter = malloc(sizeof(*letter));
	if (!letter)
		return -ENOMEM;
	letter->note = *note;
	STAILQ_INSERT_TAIL(&l->own, letter, link);
	l->n_own++;
	return sd_event_source_set_enabled(l->source, SD_EVENT_ON);
}

void wv_pair_count(struct wv_peer *peer, enum wv_pair_why why)
{
	static const enum wv_mismatch mismatches[WV_PAIR_WHYS] = {
	    [WV_PAIR_OTHER_PEER] = WV_MISMATCH_PARTNER,
	    [WV_PAIR_ATTRIBUTES] = WV_MISMATCH_ATTRIBUTES,
	    [WV_PAIR_ENDED] = WV_MISMATCH_GONE,
	};

	if (!peer || peer == WV_LOST_PEER)
		return;
	if (why == WV_PAIR_NO_REASON)
		peer->counters.hits++;
	else
		peer->counters.mismatches[mismatches[why]]++;
}

int wv_pair_send(struct wv_pair_links *l, struct wv_peer *peer, const struct wv_pair_note *note)
{
	struct wv_pair_note copy = *note;

	if (!peer)
		return send_own(l, note);
	if (peer == WV_LOST_PEER)
		return -ENOTCONN;
	if (may_be_left_out(note) && wv_peer_is_slow(peer))
		return -ENOBUFS;
	swap(&copy);
	return wv_peer_send(peer, MESSAGE, &copy, sizeof(copy));
}

/* Whether @note asks for something about a queue pair that the client's node says is its own. */
static bool speaks_of_own(const struct wv_pair_note *note)
{
	return note->word == WV_PAIR_ASK || (note->word == WV_PAIR_EDGE && !note->keeper);
}

/* A queue pair of a third node would not know that it is one end of a pair. */
static void refuse(struct wv_pair_links *l, struct wv_peer *peer, const struct wv_pair_note *note)
{
	const struct wv_pair_note refused = wv_pair_note_as(note, WV_PAIR_REFUSED, WV_PAIR_UNKNOWN);

	if (note->word == WV_PAIR_ASK)
		wv_pair_send(l, peer, &refused);
}

int wv_pair_links_message(struct wv_pair_links *l, struct wv_peer *peer, uint16_t type,
			  const void *body, size_t length)
{
	struct wv_pair_note note;

	if (type != MESSAGE || length != sizeof(note))
		return -EPROTO;
	memcpy(&note, body, sizeof(note));
	swap(&note);
	if (!wv_pair_note_is_sound(&note))
		return -EPROTO;
	if (!l->with_peers || (speaks_of_own(&note) && !wv_peers_is_at(l->peers, peer, note.gid)))
		refuse(l, peer, &note);
	else
		l->receive(l->arg, peer, &note);
	return 0;
}
