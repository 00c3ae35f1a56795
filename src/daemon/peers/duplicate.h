/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of two connections between the same nodes is kept: both nodes find the same one. */
#pragma once

#include "daemon/peers/link.h"

#include <string.h>

/* The hello of the node that dialled @link: its id, and the number of its connection. */
static inline const struct wv_hello *wv_link_dialled_by(const struct wv_link *link)
{
	return link->dialled ? &link->own : &link->hello;
}

/*
 * Whether @link, rather than @other, is kept: the one that the node with the lower id dialled, and
 * of those that one node dialled, the latest.
 */
static inline bool wv_link_beats(const struct wv_link *link, const struct wv_link *other)
{
	const struct wv_hello *by = wv_link_dialled_by(link);
	const struct wv_hello *other_by = wv_link_dialled_by(other);
	int order;

	if (other->phase == WV_LINK_ENDED)
		return true;
	order = memcmp(by->id, other_by->id, WV_NODE_ID);

	return order ? order < 0 : by->number > other_by->number;
}
