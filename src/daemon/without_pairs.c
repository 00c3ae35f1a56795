/* SPDX-License-Identifier: BSD-2-Clause */
/* A build without pairs and peers has this in place of them. */
#include "base/base.h"
#include "base/log.h"
#include "daemon/ipc/pair_clients.h"
#include "daemon/ipc/pairing_json.h"
#include "daemon/ipc/service_clients.h"
#include "daemon/pairing.h"
#include "daemon/pairs/claims.h"
#include "daemon/pairs/making.h"
#include "daemon/pairs/pairs.h"

/* An answer that is always the same depends on no argument. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* NOLINTBEGIN(misc-unused-parameters) */

int wv_pairing_new(const struct wv_config *config, struct wv_service *service, wv_issue_fn issue,
		   struct wv_pairing **pairing)
{
	if (config->pairs || config->any_peer || *config->peers)
		wv_log(WV_WARNING, "this warmverbsd was built without pairs and peers");
	*pairing = NULL;
	return 0;
}

uint32_t wv_pairing_limit(struct wv_pairing *p, uint32_t n_fds)
{
	return 0;
}

int wv_pairing_start(struct wv_pairing *p)
{
	return 0;
}

void wv_pairing_free(struct wv_pairing *p)
{
}

struct wv_pooled_lease *wv_pairs_claim(struct wv_pairs *p, const struct wv_recipe *recipe,
				       dev_t rdev)
{
	return NULL;
}

void wv_pairs_handed_out(struct wv_pairs *p, const struct wv_pooled_lease *lease, int sock,
			 struct wv_pair **held)
{
}

void wv_pairs_return(struct wv_pairs *p, struct wv_pooled_lease *lease)
{
}

bool wv_pairs_wants_report(const struct wv_pairs *p, struct wv_recipe *recipe,
			   const struct wv_pooled_lease *lease)
{
	return false;
}

uint32_t wv_pairs_requested(const struct wv_pairs *p, const struct wv_recipe *recipe)
{
	return 0;
}

void wv_pairs_drop_device(struct wv_pairs *p, dev_t rdev)
{
}

void wv_pairs_drop_recipe(struct wv_pairs *p, const struct wv_recipe *recipe)
{
}

enum wv_client_next wv_handle_connected(struct wv_client *c, const struct wv_received *in)
{
	return WV_CLIENT_MALFORMED;
}

enum wv_client_next wv_handle_stays(struct wv_client *c, const struct wv_received *in)
{
	return WV_CLIENT_MALFORMED;
}

enum wv_client_next wv_handle_keeper(struct wv_client *c, const struct wv_received *in)
{
	return WV_CLIENT_MALFORMED;
}

void wv_pair_client_end(struct wv_client *c)
{
}

enum wv_client_next wv_handle_service(struct wv_client *c, const struct wv_received *in)
{
	return WV_CLIENT_MALFORMED;
}

void wv_service_client_end(struct wv_client *c)
{
}

json_t *wv_pairs_json(const struct wv_service *s)
{
	return json_null();
}

json_t *wv_peers_json(const struct wv_service *s, uid_t who)
{
	return json_pack("{s:b, s:n, s:[]}", "on", 0, "credentials", "peers");
}
/* NOLINTEND(misc-unused-parameters) */
