/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairing.h"

#include "daemon/pairs/pair_state.h"
#include "daemon/pairs/pairs.h"
#include "daemon/services/peer_side.h"
#include "daemon/services/services.h"

#include <errno.h>

struct wv_pairing {
	struct wv_peers peers;
	struct wv_user_names names;
	struct wv_pairs pairs;
	struct wv_services services;
};

static void on_up(void *data, struct wv_peer *peer)
{
	struct wv_pairing *p = data;

	wv_pairs_of_peers.up(&p->pairs, peer);
	wv_services_peer_up(&p->services, peer);
}

static void on_down(void *data, struct wv_peer *peer)
{
	struct wv_pairing *p = data;

	wv_pairs_of_peers.down(&p->pairs, peer);
	wv_services_peer_down(&p->services, peer);
}

static int on_message(void *data, struct wv_peer *peer, uint16_t type, const void *body,
		      size_t length)
{
	struct wv_pairing *p = data;

	return type == WV_FRAME_SERVICE
		   ? wv_services_message(&p->services, peer, body, length)
		   : wv_pairs_of_peers.message(&p->pairs, peer, type, body, length);
}

static const struct wv_peers_events events = {on_up, on_down, on_message};

int wv_pairing_new(const struct wv_config *config, struct wv_service *service, wv_issue_fn issue,
		   struct wv_pairing **pairing)
{
	struct wv_pairing *p = malloc(sizeof(*p));

	*pairing = p;
	if (!p)
		return -ENOMEM;
	*p = (struct wv_pairing){
	    .peers = {.event = service->event,
		      .workers = service->workers,
		      .config = config,
		      .events = &events,
		      .arg = p},
	    .pairs = {.event = service->event,
		      .workers = service->workers,
		      .catalog = service->catalog,
		      .scheduler = service->scheduler,
		      .builders = service->builders,
		      .closer = service->closer,
		      .peers = &p->peers,
		      .names = &p->names,
		      .with_peers = config->pairs_with_peers,
		      .issue = issue},
	    .services = {.event = service->event, .peers = &p->peers, .names = &p->names},
	};
	service->peers = &p->peers;
	service->services = &p->services;
	if (!config->pairs)
		return 0;
	service->answer_flags |= WV_ANSWER_PAIRS;
	service->pairs = &p->pairs;
	return 0;
}

uint32_t wv_pairing_limit(struct wv_pairing *p, uint32_t n_fds)
{
	if (p && wv_peers_configured(p->peers.config))
		p->peers.max_links = n_fds;
	return p ? p->peers.max_links : 0;
}

int wv_pairing_start(struct wv_pairing *p)
{
	int err = wv_user_names_start(&p->names, p->peers.workers);

	if (!err && p->peers.config->pairs)
		err = wv_pairs_start(&p->pairs);
	if (!err)
		err = wv_services_start(&p->services);
	return err ?: wv_peers_start(&p->peers);
}

void wv_pairing_free(struct wv_pairing *p)
{
	if (!p)
		return;
	wv_pairs_stop(&p->pairs);
	wv_services_stop(&p->services);
	wv_peers_stop(&p->peers);
	wv_user_names_stop(&p->names);
	free(p);
}
