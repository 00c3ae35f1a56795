/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairing.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/ipc/pair_clients.h"
#include "daemon/pairs/answers.h"
#include "daemon/pairs/pairs.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define MESSAGE WV_FRAME_FIRST_MESSAGE

/* From host order to that of peers, which is little-endian, or back. */
static void swap(struct wv_pair_note *note)
{
	note->word = htole16(note->word);
	note->why = htole16(note->why);
	note->keeper = htole32(note->keeper);
	note->pair = htole64(note->pair);
	note->shape = htole64(note->shape);
	note->qp_num = htole32(note->qp_num);
	note->peer_qp_num = htole32(note->peer_qp_num);
	note->psn = htole32(note->psn);
	note->peer_psn = htole32(note->peer_psn);
	note->by_request = htole32(note->by_request);
}

static void take_note(void *data, struct wv_peer *from, const struct wv_pair_note *note)
{
	struct wv_pairing *p = data;

	if (wv_pair_note_is_for_server(note))
		wv_keepers_note(&p->keepers, from, note);
	else
		wv_pairs_note(&p->pairs, from, note);
}

static struct wv_peer *find_peer(void *data, const uint8_t gid[16])
{
	struct wv_pairing *p = data;
	struct wv_peer *peer = wv_peers_find(&p->peers, gid);

	return peer && peer->state == WV_PEER_UP ? peer : NULL;
}

static int send_note(void *data, struct wv_peer *peer, const struct wv_pair_note *note)
{
	struct wv_pair_note copy = *note;

	(void)data;
	swap(&copy);
	return wv_peer_send(peer, MESSAGE, &copy, sizeof(copy));
}

static bool is_at(void *data, const struct wv_peer *peer, const uint8_t gid[16])
{
	const struct wv_pairing *p = data;

	return wv_peers_is_at(&p->peers, peer, gid);
}

static bool has_rebooted(void *data, const struct wv_peer *peer, int64_t since_us)
{
	(void)data;
	return peer->up && peer->up_us > since_us &&
	       peer->up->hello.up_us < (uint64_t)(peer->up_us - since_us);
}

static void count(void *data, struct wv_peer *peer, enum wv_pair_why why)
{
	static const enum wv_mismatch mismatches[WV_PAIR_WHYS] = {
	    [WV_PAIR_OTHER_PEER] = WV_MISMATCH_PARTNER,
	    [WV_PAIR_ATTRIBUTES] = WV_MISMATCH_ATTRIBUTES,
	    [WV_PAIR_ENDED] = WV_MISMATCH_GONE,
	};

	(void)data;
	if (why == WV_PAIR_NO_REASON)
		peer->counters.hits++;
	else
		peer->counters.mismatches[mismatches[why]]++;
}

static void on_up(void *data, struct wv_peer *peer)
{
	struct wv_pairing *p = data;

	wv_keepers_peer_up(&p->keepers, peer);
}

static void on_down(void *data, struct wv_peer *peer)
{
	struct wv_pairing *p = data;

	wv_keepers_peer_down(&p->keepers, peer);
	wv_pairs_peer_down(&p->pairs, peer);
}

static void on_own_address(void *data, const uint8_t gid[16])
{
	struct wv_pairing *p = data;

	wv_keepers_moved(&p->keepers, gid);
	wv_pairs_moved(&p->pairs, gid);
}

static void on_neighbour(void *data, const uint8_t gid[16], const uint8_t at[WV_LINK_ADDRESS])
{
	struct wv_pairing *p = data;

	if (wv_edges_see(&p->pairs.edges, gid, at))
		wv_pairs_moved(&p->pairs, gid);
}

/* Whether @note asks for something about a queue pair that the client's node says is its own. */
static bool speaks_of_own(const struct wv_pair_note *note)
{
	return note->word == WV_PAIR_ASK || (note->word == WV_PAIR_EDGE && !note->keeper);
}

/* A queue pair of a third node would not know that it is one end of a pair. */
static void refuse_foreign(struct wv_pairing *p, struct wv_peer *from,
			   const struct wv_pair_note *note)
{
	const struct wv_pair_note refused = wv_pair_note_as(note, WV_PAIR_REFUSED, WV_PAIR_UNKNOWN);

	if (note->word == WV_PAIR_ASK)
		wv_pair_send(&p->links, from, &refused);
}

static int on_message(void *data, struct wv_peer *peer, uint16_t type, const void *body,
		      size_t length)
{
	struct wv_pairing *p = data;
	struct wv_pair_note note;

	if (type != MESSAGE || length != sizeof(note))
		return -EPROTO;
	memcpy(&note, body, sizeof(note));
	swap(&note);
	if (!wv_pair_note_is_sound(&note))
		return -EPROTO;
	if (speaks_of_own(&note) && !wv_peers_is_at(&p->peers, peer, note.gid))
		refuse_foreign(p, peer, &note);
	else
		take_note(p, peer, &note);
	return 0;
}

void wv_pairing_compose(struct wv_pairing *p, const struct wv_config *config,
			struct wv_service *service, wv_issue_fn issue)
{
	static const struct wv_peers_events events = {on_up, on_down, on_message};

	p->peers = (struct wv_peers){
	    .event = service->event, .config = config, .events = &events, .arg = p};
	p->errands = (struct wv_errands){.event = service->event};
	p->names = (struct wv_user_names){.errands = &p->errands};
	p->links = (struct wv_pair_links){.event = service->event,
					  .find = find_peer,
					  .send = send_note,
					  .is_at = is_at,
					  .has_rebooted = has_rebooted,
					  .count = count,
					  .receive = take_note,
					  .arg = p};
	p->keepers =
	    (struct wv_keepers){.links = &p->links, .names = &p->names, .tell = wv_tell_keeper};
	p->pairs = (struct wv_pairs){
	    .event = service->event,
	    .catalog = service->catalog,
	    .scheduler = service->scheduler,
	    .reaper = service->reaper,
	    .closer = service->closer,
	    .links = &p->links,
	    .names = &p->names,
	    .issue = issue,
	    .tell_gone = wv_tell_pair_gone,
	};
	p->addresses = (struct wv_addresses){
	    .event = service->event, .own = on_own_address, .neighbour = on_neighbour, .arg = p};
	if (!config->pairs)
		return;
	service->answer_flags |= WV_ANSWER_PAIRS;
	service->pairs = &p->pairs;
	service->keepers = &p->keepers;
}

/* Without it, an address that is removed stays in use by pairs until they are idle. */
static void watch_addresses(struct wv_pairing *p)
{
	int err = wv_addresses_start(&p->addresses);

	if (err < 0)
		wv_log(WV_WARNING, "changes of addresses cannot be watched: %s", strerror(-err));
}

static int start_pairs(struct wv_pairing *p)
{
	int err = wv_errands_start(&p->errands);

	if (!err)
		err = wv_pair_links_start(&p->links);
	if (err >= 0)
		err = wv_pairs_start(&p->pairs);
	if (err >= 0)
		watch_addresses(p);
	return err;
}

int wv_pairing_start(struct wv_pairing *p)
{
	int err = p->peers.config->pairs ? start_pairs(p) : 0;

	return err ?: wv_peers_start(&p->peers);
}

void wv_pairing_stop(struct wv_pairing *p)
{
	wv_addresses_stop(&p->addresses);
	wv_pairs_stop(&p->pairs); /* says what becomes of them */
	wv_pair_links_stop(&p->links);
	wv_peers_stop(&p->peers);
	wv_errands_stop(&p->errands);
}
