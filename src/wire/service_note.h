/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is said of services: a process offers queue pairs under a name (warmverbs-service.h), and
 * another process, on this node or another, is connected to one of them. The queue pairs belong to
 * the two processes; their daemons only pass on who is to be connected to whom, and who has gone.
 *
 * One struct for all ways: between a process and its daemon, and, big-endian, between the daemons
 * of two nodes.
 *
 *   client              its daemon             the service's daemon    service
 *                                                                      <- OFFER
 *                                              OFFERED, REFUSED ->
 *   ASK ->              ASK ->                 ASK ->
 *                       <- MAKING, REFUSED     <- MAKING, REFUSED      <- MAKING, REFUSED
 *                       <- MADE, REFUSED       <- MADE, REFUSED        <- MADE, REFUSED
 *   GONE ->             GONE ->                GONE ->
 *                       <- GONE                <- GONE                 <- GONE
 *                       <- STILL (the connection of the daemons was lost)
 *
 * Between MAKING and MADE, both ends move their queue pairs. The end of a process's connection to
 * its daemon is GONE for all its connections.
 */
#pragma once

#include "wire/pair.h"

#define WV_SERVICE_NAME	   32  /* bytes, with the end */
#define WV_SERVICE_REGIONS 4   /* memory regions that a service names to its clients */
#define WV_SERVICE_DATA	   196 /* bytes of its own that it tells each client */

enum wv_service_word {
	WV_SERVICE_OFFER = 1, /* this process offers @name to the users that @data lists */
	WV_SERVICE_OFFERED,   /* done */
	WV_SERVICE_ASK,	      /* please connect a queue pair of @name to @qp */
	WV_SERVICE_MADE,      /* done: the service's end receives */
	WV_SERVICE_REFUSED,   /* of OFFER or ASK, for the reason @error */
	WV_SERVICE_GONE,      /* the sender's end of the connection exists no more */
	WV_SERVICE_STILL,     /* does the receiver have this connection? */
	WV_SERVICE_MAKING,    /* @qp is that of the service, which connects it now */
	WV_SERVICE_WORDS,
};

/* One end of a connection, and what the other needs to know of it. */
struct wv_service_qp {
	uint8_t gid[16]; /* of its port */
	uint32_t qp_num;
	uint32_t psn;  /* the first that it sends */
	uint16_t lid;  /* 0: reached by the GID */
	uint8_t mtu;   /* enum ibv_mtu: the largest that its port has active */
	uint8_t reads; /* RDMA READs and atomics that it can answer at a time */
};

/* Memory that a client may reach. */
struct wv_service_region {
	uint64_t addr, length;
	uint32_t rkey, reserved;
};

struct wv_service_note {
	uint16_t word;	/* enum wv_service_word */
	uint16_t error; /* REFUSED: an errno value, else 0 */
	uint32_t data_bytes;
	uint64_t number; /* of the connection, as the receiver calls it; 0: it has no number yet */
	uint64_t from;	 /* the same, as the sender calls it */
	char name[WV_SERVICE_NAME];	/* OFFER, ASK: zero-filled, as all texts */
	char user[WV_PAIR_USER];	/* ASK: whose service it is; "": the client's own user's */
	char client_user[WV_PAIR_USER]; /* ASK, from a daemon: the client's user */
	uint8_t node[16];		/* ASK, from a client: a GID of the service's node */
	struct wv_service_qp qp;	/* ASK, MAKING: of the sender */
	uint32_t n_regions;		/* MAKING */
	struct wv_service_region regions[WV_SERVICE_REGIONS];
	uint8_t
	    data[WV_SERVICE_DATA]; /* MAKING: of the service; OFFER: users, with commas between */
};

static inline bool wv_service_text_ends(const char *text, size_t capacity)
{
	return memchr(text, '\0', capacity);
}

/* Whether @note, which a process or another node has sent, is one that may be passed on. */
static inline bool wv_service_note_is_sound(const struct wv_service_note *note)
{
	return note->word && note->word < WV_SERVICE_WORDS && note->error < 4096 &&
	       note->data_bytes <= WV_SERVICE_DATA && note->n_regions <= WV_SERVICE_REGIONS &&
	       note->qp.qp_num <= WV_PAIR_MAX_24BIT && note->qp.psn <= WV_PAIR_MAX_24BIT &&
	       wv_service_text_ends(note->name, sizeof(note->name)) &&
	       wv_service_text_ends(note->user, sizeof(note->user)) &&
	       wv_service_text_ends(note->client_user, sizeof(note->client_user));
}

/* Between a process and its daemon. */
struct wv_msg_service {
	struct wv_msg msg;
	struct wv_service_note note;
};

_Static_assert(sizeof(struct wv_service_qp) == 28, "wire");
_Static_assert(sizeof(struct wv_service_note) == 24 + WV_SERVICE_NAME + 2 * WV_PAIR_USER + 16 + 28 +
						     4 + WV_SERVICE_REGIONS * 24 + WV_SERVICE_DATA +
						     4,
	       "wire");
