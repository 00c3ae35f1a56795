/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/links.h"

#include "base/base.h"

#include <endian.h>
#include <errno.h>

#define OWN_MOST 1024 /* notes to this node that wait, where more are left out if they may be */

bool wv_pair_link_find(const struct wv_pairs *p, const uint8_t gid[16], const uint8_t peer_gid[16],
		       struct wv_peer **peer)
{
	*peer = NULL;
	if (!memcmp(gid, peer_gid, 16))
		return true;
	*peer = p->with_peers ? wv_peers_find(p->peers, peer_gid) : NULL;
	return *peer && (*peer)->state == WV_PEER_UP;
}

bool wv_pair_link_is(const struct wv_pairs *p, const struct wv_peer *peer,
		     const struct wv_peer *known, const uint8_t gid[16])
{
	return known == peer ||
	       (known == WV_LOST_PEER && peer && wv_peers_is_at(p->peers, peer, gid));
}

bool wv_pair_gid_is_of(const uint8_t *gid, const uint8_t one[16], const uint8_t other[16])
{
	return !gid || !memcmp(gid, one, 16) || !memcmp(gid, other, 16);
}

void wv_pair_note_swap(struct wv_pair_note *note)
{
	note->word = htobe16(note->word);
	note->why = htobe16(note->why);
	note->keeper = htobe64(note->keeper);
	note->pair = htobe64(note->pair);
	note->shape = htobe64(note->shape);
	note->qp_num = htobe32(note->qp_num);
	note->peer_qp_num = htobe32(note->peer_qp_num);
	note->psn = htobe32(note->psn);
	note->peer_psn = htobe32(note->peer_psn);
	note->by_request = htobe32(note->by_request);
}

/*
 * Whether a note is left out where many wait: whoever waits for an answer to it waits no longer
 * than some seconds. Of the other words, each is said once of a pair.
 */
static bool may_be_left_out(const struct wv_pair_note *note)
{
	return note->word == WV_PAIR_EDGE || note->word == WV_PAIR_ASK ||
	       note->word == WV_PAIR_MADE || note->word == WV_PAIR_REFUSED;
}

static int send_own(struct wv_pairs *p, const struct wv_pair_note *note)
{
	struct wv_pair_letter *letter;

	if (p->n_own >= OWN_MOST && may_be_left_out(note))
		return -ENOBUFS;
	letter = malloc(sizeof(*letter));
	if (!letter)
		return -ENOMEM;
	letter->note = *note;
	STAILQ_INSERT_TAIL(&p->own, letter, link);
	p->n_own++;
	return sd_event_source_set_enabled(p->own_source, SD_EVENT_ON);
}

int wv_pair_send(struct wv_pairs *p, struct wv_peer *peer, struct wv_pair_note note)
{
	if (!peer)
		return send_own(p, &note);
	if (peer == WV_LOST_PEER)
		return -ENOTCONN;
	if (may_be_left_out(&note) && wv_peer_is_slow(peer))
		return -ENOBUFS;
	wv_pair_note_swap(&note);
	return wv_peer_send(peer, WV_FRAME_PAIR, &note, sizeof(note));
}

int wv_pair_note_read(uint16_t type, const void *body, size_t length, struct wv_pair_note *note)
{
	if (type != WV_FRAME_PAIR || length != sizeof(*note))
		return -EPROTO;
	memcpy(note, body, sizeof(*note));
	wv_pair_note_swap(note);
	return wv_pair_note_is_sound(note) ? 0 : -EPROTO;
}
