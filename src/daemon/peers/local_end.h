/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This node's end of all connections with peers: who it is, its credentials, and what bounds them.
 */
#pragma once

#include "daemon/config/node_address.h"
#include "daemon/loop/workers.h"
#include "daemon/peers/link.h"

TAILQ_HEAD(wv_link_list, wv_link);

struct wv_local_end {
	/* Set by the owner. */
	sd_event *event;
	struct wv_line *line;
	struct wv_tls_files files; /* whose names outlive this */
	const struct wv_link_events *events;
	void *arg; /* of the links */
	/* Called when other credentials were read. */
	void (*renewed)(void *arg);
	unsigned int max_links;
	struct wv_node_address from; /* where connections come from, if it is one address */

	uint8_t id[WV_NODE_ID];
	uint64_t n_made; /* connections */
	struct wv_allowance total;
	struct wv_link_list links; /* all that there are */
	unsigned int n_links;
	SSL_CTX *context; /* NULL: there are no credentials, and @why says why */
	char why[WV_TLS_WHY];
	uint64_t stamp;
	sd_event_source *look; /* for other files */
};

/* Reads the credentials, and looks for new ones from time to time. 0 or -errno. */
int wv_local_end_start(struct wv_local_end *local);

/* Ends all connections, and everything else. The line is closed. Harmless if not started. */
void wv_local_end_stop(struct wv_local_end *local);

/*
 * A link on @fd, which becomes the link's, or is closed: with @ip; if @dialled, with nobody but
 * @name there, unless that is NULL. NULL: not possible now.
 */
struct wv_link *wv_local_end_link(struct wv_local_end *local, int fd, const struct in6_addr *ip,
				  bool dialled, const char *name);

/* Frees @link, which was made by this. */
void wv_local_end_unlink(struct wv_local_end *local, struct wv_link *link);
