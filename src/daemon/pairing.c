/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pairing.h"

#include "daemon/pairs/pair_state.h"
#include "daemon/pairs/pairs.h"

#include <errno.h>

struct wv_pairing {
	struct wv_peers peers;
	struct wv_pairs pairs;
};

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
		      .events = &wv_pairs_of_peers,
		      .arg = &p->pairs},
	    .pairs = {.event = service->event,
		      .workers = service->workers,
		      .catalog = service->catalog,
		      .scheduler = service->scheduler,
		      .builders = service->builders,
		      .closer = service->closer,
		      .peers = &p->peers,
		      .with_peers = config->pairs_with_peers,
		      .issue = issue},
	};
	service->peers = &p->peers;
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
	int err = p->peers.config->pairs ? wv_pairs_start(&p->pairs) : 0;

	return err ?: wv_peers_start(&p->peers);
}

void wv_pairing_free(struct wv_pairing *p)
{
	if (!p)
		return;
	wv_pairs_stop(&p->pairs);
	wv_peers_stop(&p->peers);
	free(p);
}
