/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection between two daemons: TCP, TLS, and frames. It never waits, is bounded in memory
 * and in time, and ends when the other side is silent for too long.
 */
#pragma once

#include "daemon/peers/allowance.h"
#include "daemon/peers/frame.h"
#include "daemon/peers/outbox.h"
#include "daemon/peers/tls.h"

#include <string.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#define WV_LINK_START_US   5000000 /* for TCP, TLS and hello together */
#define WV_LINK_PING_US	   2000000
#define WV_LINK_SILENCE_US 6500000 /* three pings without an answer */

/* Of the loop's time: of one connection, and of all. */
extern const struct wv_allowance_rate wv_link_rate, wv_links_rate;

enum wv_link_phase {
	WV_LINK_CONNECTING,
	WV_LINK_HANDSHAKE,
	WV_LINK_HELLO, /* the other side's hello is expected */
	WV_LINK_OPEN,
	WV_LINK_ENDED,
};

struct wv_link;
struct wv_peer;

/*
 * All are called by the loop, never within a call to the link, and may call all functions below but
 * wv_link_free(), which only ended() may.
 */
struct wv_link_events {
	/*
	 * The other side, which has dialled, begins a handshake, of which nothing is computed yet.
	 * False: not now; wv_link_end() was called.
	 */
	bool (*begun)(struct wv_link *link);
	/* TLS is there. False: the other side is refused; wv_link_end() was called. */
	bool (*proved)(struct wv_link *link);
	/* Its hello is there, of this version. */
	void (*opened)(struct wv_link *link);
	/* A message of the layer above. -EPROTO: it is malformed, and the connection ends. */
	int (*message)(struct wv_link *link, const struct wv_frame *frame);
	/* The end: @why and @refused say more. The owner calls wv_link_free(). */
	void (*ended)(struct wv_link *link);
};

struct wv_link {
	/* Set by the owner before wv_link_start(). */
	sd_event *event;
	const struct wv_link_events *events;
	void *arg;		    /* the owner's */
	struct wv_allowance *total; /* of all connections */
	struct wv_hello own;	    /* to be sent */
	bool dialled;
	struct in6_addr ip;	   /* of the other side */
	struct wv_peer *peer;	   /* the owner's: whose it is; NULL: nobody knows yet */
	bool stranger;		   /* the owner's: @ip was no peer's when it connected */
	bool begun;		   /* the owner's: the other side has begun a handshake */
	TAILQ_ENTRY(wv_link) link; /* the owner's */

	enum wv_link_phase phase;
	struct wv_hello hello; /* the other side's; OPEN */
	int64_t round_trip_us; /* the last one; 0: not known yet */
	bool refused;	       /* ENDED: trying again soon is of no use */
	char why[WV_TLS_WHY];  /* ENDED */

	int fd;
	SSL *tls;
	sd_event_source *io, *resume, *tick;
	struct wv_allowance allowance;
	int64_t heard_us, pinged_us;
	uint64_t ping;	  /* the last one's number */
	bool wants_write; /* TLS itself has something to send */
	uint8_t in[2 * (WV_FRAME_HEAD + WV_FRAME_BODY)];
	size_t in_bytes;
	struct wv_outbox out;
};

/*
 * Starts on @fd and @tls, which become the link's, on failure too: connecting if it is dialled. 0
 * or -errno.
 */
int wv_link_start(struct wv_link *link, int fd, SSL *tls);

/*
 * Queues a frame of @length bytes. Only the loop's thread may call this. 0; -ENOTCONN if the
 * connection is not open; -EMSGSIZE; -ENOBUFS if the other side does not read: the connection ends.
 */
int wv_link_send(struct wv_link *link, uint16_t type, const void *body, size_t length);

/* Ends the connection; the owner is told by the loop. Harmless if it has ended. */
void wv_link_end(struct wv_link *link, bool refused, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Serves it now, although others may come first: called when the loop is too busy to come to it. */
void wv_link_poll(struct wv_link *link);

/* Ends it without a word to the owner, and frees it. */
void wv_link_free(struct wv_link *link);

/*
 * Whether @link, rather than @other between the same nodes, is kept, which both nodes find alike:
 * the one that the node with the lower id dialled, and of those that one node dialled, the latest.
 */
static inline bool wv_link_beats(const struct wv_link *link, const struct wv_link *other)
{
	/* Of the node that has dialled. */
	const struct wv_hello *by = link->dialled ? &link->own : &link->hello;
	const struct wv_hello *other_by = other->dialled ? &other->own : &other->hello;
	int order = memcmp(by->id, other_by->id, WV_NODE_ID);

	if (other->phase == WV_LINK_ENDED)
		return true;
	return order ? order < 0 : by->number > other_by->number;
}
