/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that wait to be sent: a bounded queue, whose memory grows and shrinks with what waits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * After a connection was lost, the servers' daemon asks at once about all pairs that the clients'
 * node has with it, at most WV_PAIRS_MOST: these notes fit, with their frames.
 */
#define WV_OUTBOX_MOST (128u << 10)

/* Zeroed at first. */
struct wv_outbox {
	uint8_t *bytes;
	size_t start, end, room;
};

/* How many bytes wait. */
static inline size_t wv_outbox_waiting(const struct wv_outbox *o)
{
	return o->end - o->start;
}

/* Room for @bytes more, which from now on wait, too. NULL: there is none. */
uint8_t *wv_outbox_add(struct wv_outbox *o, size_t bytes);

/* The first @bytes were sent. */
void wv_outbox_sent(struct wv_outbox *o, size_t bytes);

/* Frees what @o has; nothing waits any more. */
void wv_outbox_clear(struct wv_outbox *o);
