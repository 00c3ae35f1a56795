/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/check_peers.h"

#include "cli/doctor/findings.h"

#include <string.h>

static const char *text_of(json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* Returns whether the peer is connected; says why not, if anything has failed. */
static bool check_peer(struct wv_doctor *d, json_t *peer)
{
	const char *node = text_of(peer, "node") ?: "?", *why = text_of(peer, "why");
	const char *state = text_of(peer, "state") ?: "?";

	if (!strcmp(state, "up"))
		return true;
	if (why) {
		wv_found(d, WV_MARK_NOTE, "%s is not connected: %s", node, why);
		wv_remedy(d,
			  "on %s: warmverbs doctor; a firewall must let TCP port %d through in "
			  "both directions",
			  node, (int)json_integer_value(json_object_get(peer, "port")));
	}
	return false;
}

static void check_credentials(struct wv_doctor *d)
{
	const char *why = text_of(d->peers, "credentials");

	if (!why)
		return;
	wv_found(d, WV_MARK_NOTE, "the credentials for peers are not used: %s", why);
	wv_remedy(d, "correct the files that warmverbsd.conf(5) names (peer-ca, peer-certificate, "
		     "peer-key)");
}

void wv_check_peers(struct wv_doctor *d)
{
	json_t *all = json_object_get(d->peers, "peers"), *peer;
	unsigned int up = 0, n = 0;
	size_t i;

	if (!json_is_true(json_object_get(d->peers, "on")))
		return;
	check_credentials(d);
	json_array_foreach (all, i, peer) {
		const char *state = text_of(peer, "state") ?: "";

		/* This node itself, and further addresses of others, are no peers. */
		if (!strcmp(state, "this node") || !strcmp(state, "another address"))
			continue;
		n++;
		up += check_peer(d, peer);
	}
	wv_found(d, up == n ? WV_MARK_OK : WV_MARK_NOTE, "%u of %u peers are connected", up, n);
}
