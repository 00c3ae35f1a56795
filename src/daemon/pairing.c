/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairing.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/ipc/pair_clients.h"
#include "daemon/loop/loop.h"
#include "daemon/pairing_parts.h"
#include "daemon/pairs/answers.h"
#include "daemon/pairs/kept_ends.h"
#include "daemon/pairs/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void take_note(void *data, struct wv_peer *from, const struct wv_pair_note *note)
{
	struct wv_pairing *p = data;

	if (wv_pair_note_is_for_server(note))
		wv_keepers_note(&p->keepers, from, note);
	else
		wv_pairs_note(&p->pairs, from, note);
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

static int on_message(void *data, struct wv_peer *peer, uint16_t type, const void *body,
		      size_t length)
{
	struct wv_pairing *p = data;

	return wv_pair_links_message(&p->links, peer, type, body, length);
}

static void compose(struct wv_pairing *p, const struct wv_config *config,
		    struct wv_service *service, wv_issue_fn issue)
{
	static const struct wv_peers_events events = {on_up, on_down, on_message};

	p->peers = (struct wv_peers){.event = service->event,
				     .workers = service->workers,
				     .config = config,
				     .events = &events,
				     .arg = p};
	p->links = (struct wv_pair_links){
	    .event = service->event,
	    .peers = &p->peers,
	    .with_peers = config->pairs_with_peers,
	    .receive = take_note,
	    .arg = p,
	};
	p->keepers =
	    (struct wv_keepers){.links = &p->links, .names = &p->names, .tell = wv_tell_keeper};
	p->pairs = (struct wv_pairs){
	    .event = service->event,
	    .workers = service->workers,
	    .catalog = service->catalog,
	    .scheduler = service->scheduler,
	    .builders = service->builders,
	    .closer = service->closer,
	    .links = &p->links,
	    .names = &p->names,
	    .issue = issue,
	    .tell_gone = wv_tell_pair_gone,
	};
	p->addresses = (struct wv_addresses){
	    .event = service->event, .own = on_own_address, .neighbour = on_neighbour, .arg = p};
	service->peers = &p->peers;
	if (!config->pairs)
		return;
	service->answer_flags |= WV_ANSWER_PAIRS;
	service->pairs = &p->pairs;
	service->keepers = &p->keepers;
}

int wv_pairing_new(const struct wv_config *config, struct wv_service *service, wv_issue_fn issue,
		   struct wv_pairing **pairing)
{
	*pairing = calloc(1, sizeof(**pairing));
	if (!*pairing)
		return -ENOMEM;
	compose(*pairing, config, service, issue);
	return 0;
}

uint32_t wv_pairing_limit(struct wv_pairing *p, uint32_t n_fds)
{
	if (p && wv_peers_configured(p->peers.config))
		p->peers.max_links = n_fds;
	return p ? p->peers.max_links : 0;
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
	static const struct wv_line_options names = {
	    .own = 1, .most = 1, .priority = WV_PRIORITY_PEERS};
	int err = wv_line_open(p->pairs.workers, &names, &p->names.line);

	if (!err)
		err = wv_pair_links_start(&p->links);
	if (err >= 0)
		err = wv_kept_ends_start(&p->keepers, p->peers.event);
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

void wv_pairing_free(struct wv_pairing *p)
{
	if (!p)
		return;
	wv_addresses_stop(&p->addresses);
	wv_pairs_stop(&p->pairs);
	wv_kept_ends_stop(&p->keepers);
	wv_pair_links_stop(&p->links);
	wv_peers_stop(&p->peers);
	wv_line_close(&p->names.line, WV_LINE_PATIENCE_US);
	free(p);
}
