/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairs/links.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Not at once: whoever sends a note to this node is in the middle of something. */
static int on_own(sd_event_source *source, void *data)
{
	struct wv_pair_links *l = data;
	struct wv_pair_letter *letter = STAILQ_FIRST(&l->own);

	if (letter) {
		STAILQ_REMOVE_HEAD(&l->own, link);
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
	*peer = l->find(l->arg, peer_gid);
	return *peer;
}

bool wv_pair_link_is_at(const struct wv_pair_links *l, const struct wv_peer *peer,
			const uint8_t gid[16])
{
	return peer && l->is_at(l->arg, peer, gid);
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

static int send_own(struct wv_pair_links *l, const struct wv_pair_note *note)
{
	struct wv_pair_letter *letter = malloc(sizeof(*letter));

	if (!letter)
		return -ENOMEM;
	letter->note = *note;
	STAILQ_INSERT_TAIL(&l->own, letter, link);
	return sd_event_source_set_enabled(l->source, SD_EVENT_ON);
}

void wv_pair_count(struct wv_pair_links *l, struct wv_peer *peer, enum wv_pair_why why)
{
	if (peer && peer != WV_LOST_PEER)
		l->count(l->arg, peer, why);
}

int wv_pair_send(struct wv_pair_links *l, struct wv_peer *peer, const struct wv_pair_note *note)
{
	if (peer == WV_LOST_PEER)
		return -ENOTCONN;
	return peer ? l->send(l->arg, peer, note) : send_own(l, note);
}
