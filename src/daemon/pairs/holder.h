/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client has of a pair. Whoever knows no more of pairs needs neither peers nor TLS. */
#pragma once

struct wv_pairs;
struct wv_pair;

/* A client, which may have a lease with a pair. */
struct wv_pair_holder {
	struct wv_pair *pair; /* or NULL */
};
