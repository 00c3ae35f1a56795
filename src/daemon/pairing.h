/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs across nodes: both ends of pairs, connected with each other and with the peers. In a build
 * without pairs and peers, without_pairs.c takes the place of all of this.
 */
#pragma once

#include "daemon/config/config.h"
#include "daemon/ipc/service.h"

struct wv_pairing;

/*
 * Tells @service of pairs and peers. @issue: how commands reach the kernel. 0 and *@pairing, which
 * is the caller's; or -ENOMEM.
 */
int wv_pairing_new(const struct wv_config *config, struct wv_service *service, wv_issue_fn issue,
		   struct wv_pairing **pairing);

/* How many of @n_fds descriptors connections may take. */
uint32_t wv_pairing_limit(struct wv_pairing *p, uint32_t n_fds);

/* Starts what the configuration says. 0 or -errno. */
int wv_pairing_start(struct wv_pairing *p);

/* Ends it. @p may be NULL. */
void wv_pairing_free(struct wv_pairing *p);
