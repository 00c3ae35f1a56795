/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is said of pairs: two queue pairs on two nodes, one of a lease (the client's) and one of a
 * server's spares. The client's is connected to the server's before either program asks. The
 * server's is only reserved for that: it stays in INIT, where it receives nothing, until its own
 * program moves it. If that move names the client's queue pair, it is made with the packet sequence
 * numbers of the pair. The pair lasts as long as its two queue pairs: if a program takes its own
 * back to RESET and connects it once more, the same question has the same answer, whomever it has
 * met in between.
 *
 * Servers, shapes of spares and pairs have random numbers, so that nobody can speak of one that it
 * was not told of.
 *
 * One struct for both ways: between the daemons of two nodes, and between a daemon and a server
 * process that keeps spares (its keeper connection). Between nodes it is big-endian.
 *
 *   client's daemon            server's daemon             server process
 *                                                          <- KEEPER (opens the connection)
 *                                                          CONNECTED ->
 *   EDGE ->
 *                              <- EDGE (answer)
 *   ASK ->                     ASK ->
 *                              <- MADE, REFUSED            <- MADE, REFUSED
 *   CLAIMED ->                 CLAIMED ->
 *                              <- USED                     <- USED
 *   DROP ->                    DROP ->
 *                              <- DROPPED                  <- DROPPED
 *                                                          LEAVE ->
 *                              <- LOST                     <- DROP
 *   FORGOTTEN ->               DROPPED ->
 *                              <- STILL (the connection of the daemons was lost)
 *   CLAIMED, FORGOTTEN ->
 *
 * The end of a process's connection is the end of its queue pairs, unless the process, be it a
 * server or a program with a lease, says STAYS first.
 *
 * The number of a queue pair in a pair means that very queue pair only as long as it exists. So
 * neither end destroys its own before the other has said DROPPED.
 */
#pragma once

#include "abi/qp.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <string.h>

#define WV_PAIR_USER	  32	   /* bytes of a user's name, with the end */
#define WV_PAIR_TOLD	  4	   /* queue pairs of a lease of which WV_MSG_CONNECTED tells, */
#define WV_PAIR_TOLD_MORE 2	   /* and more often of the end of a pair */
#define WV_PAIR_MAX_24BIT 0xffffff /* of numbers of queue pairs and packets */

enum wv_pair_word {
	WV_PAIR_KEEPER = 1, /* this process keeps spares, and can reserve them */
	WV_PAIR_CONNECTED,  /* the program has connected qp_num to peer_qp_num */
	WV_PAIR_EDGE,	    /* the same, of a client; answered once a server says CONNECTED */
	WV_PAIR_ASK,	    /* please reserve a spare of that shape for qp_num */
	WV_PAIR_MADE,	    /* done: qp_num is the spare */
	WV_PAIR_REFUSED,    /* not done, and there is no pair */
	WV_PAIR_CLAIMED,    /* a program has received the client's end */
	WV_PAIR_USED,	    /* the server's program has connected its end to the client's */
	WV_PAIR_DROP,	    /* the sender's end is no part of the pair any more */
	WV_PAIR_DROPPED,    /* so is the receiver's: the sender of DROP may destroy its end */
	WV_PAIR_LOST,	    /* DROP and DROPPED between daemons, */
	WV_PAIR_FORGOTTEN,  /* where the server's end is the first */
	WV_PAIR_STILL,	    /* has a program that pair? After a connection was lost */
	WV_PAIR_LEAVE,	    /* please give up your end, if the program does not have it */
	WV_PAIR_STAYS,	    /* this connection ends, and the process has its ends all the same */
	WV_PAIR_WORDS,
};

enum wv_pair_why {
	WV_PAIR_NO_REASON,
	WV_PAIR_NO_SPARE,   /* the server has no spare of that shape, or none to spend */
	WV_PAIR_UNKNOWN,    /* no such server, shape or pair */
	WV_PAIR_KERNEL,	    /* the kernel refused to connect it */
	WV_PAIR_IDLE,	    /* nobody used it in time */
	WV_PAIR_ENDED,	    /* the program has ended */
	WV_PAIR_OTHER_PEER, /* the program connected its end to another queue pair */
	WV_PAIR_ATTRIBUTES, /* the program asked for other attributes than before */
	WV_PAIR_MOVED,	    /* an address, GID or device changed */
	WV_PAIR_WHYS,
};

struct wv_pair_note {
	uint16_t word; /* enum wv_pair_word */
	uint16_t why;  /* enum wv_pair_why, of REFUSED and DROP */
	/*
	 * CONNECTED, and the answer EDGE. 1: the server creates such queue pairs for connection
	 * requests of librdmacm, each of which names the client's queue pair
	 */
	uint32_t by_request;
	uint64_t keeper;      /* the server process, by a number of its daemon; 0: none */
	uint64_t pair;	      /* a number of the client's daemon; 0: none */
	uint64_t shape;	      /* which spares of the process; a number of its own */
	uint8_t gid[16];      /* of qp_num */
	uint8_t peer_gid[16]; /* of peer_qp_num */
	uint32_t qp_num, peer_qp_num;
	uint32_t psn;		 /* ASK: the first PSN that the asked-for spare sends */
	uint32_t peer_psn;	 /* ASK: the first PSN that qp_num sends */
	char user[WV_PAIR_USER]; /* EDGE: the program's user, zero-filled */
};

/* @note with another word and reason. */
static inline struct wv_pair_note wv_pair_note_as(const struct wv_pair_note *note,
						  enum wv_pair_word word, enum wv_pair_why why)
{
	struct wv_pair_note other = *note;

	other.word = (uint16_t)word;
	other.why = (uint16_t)why;
	return other;
}

/* Whether @note, which a process or another node has sent, is one that may be passed on. */
static inline bool wv_pair_note_is_sound(const struct wv_pair_note *note)
{
	return note->word && note->word < WV_PAIR_WORDS && note->why < WV_PAIR_WHYS &&
	       memchr(note->user, '\0', sizeof(note->user));
}

/* Whether ASK names a queue pair, its address and packets that there can be. */
static inline bool wv_pair_ask_is_sound(const struct wv_pair_note *ask)
{
	static const uint8_t none[sizeof(ask->gid)];

	return ask->pair && ask->qp_num && ask->qp_num <= WV_PAIR_MAX_24BIT &&
	       ask->psn <= WV_PAIR_MAX_24BIT && ask->peer_psn <= WV_PAIR_MAX_24BIT &&
	       memcmp(ask->gid, none, sizeof(none)) != 0;
}

/* To which end the queue pair of a lease with @pair is connected. */
static inline struct wv_qp_peer wv_pair_peer(const struct wv_lease_pair *pair)
{
	struct wv_qp_peer peer = {
	    .qp_num = pair->peer_qp_num, .psn = pair->psn, .peer_psn = pair->peer_psn};

	memcpy(peer.gid, pair->peer_gid, sizeof(peer.gid));
	return peer;
}

/* Between a daemon and a keeper; or, with STAYS, a program with a lease. */
struct wv_msg_pair {
	struct wv_msg msg;
	struct wv_pair_note note;
};

/*
 * Of the last queue pair of a lease that was connected by commands, sent after it has reached RTS,
 * at most WV_PAIR_TOLD + WV_PAIR_TOLD_MORE times. Follows only if the daemon's answer had the flag
 * WV_ANSWER_CONNECTED.
 */
struct wv_msg_connected {
	struct wv_msg msg;
	uint32_t create; /* index of the step that creates the queue pair */
	uint32_t qp_num;
	/*
	 * enum wv_pair_why: why it was not connected as the pair of the lease is. Of an end of a
	 * pair that is destroyed: ENDED, or nothing, if the daemon was told of it, or it was used
	 */
	uint16_t why;
	uint16_t reserved[3];
	/*
	 * struct wv_cmdlog follows, form WV_RECORD: the moves to RTR and RTS as the program made
	 * them; no steps if they are not known in full
	 */
};

/* To a program with a leased pair: the other end is gone, so its number may mean another QP. */
struct wv_msg_pair_gone {
	struct wv_msg msg;
	uint64_t pair;
};

_Static_assert(sizeof(struct wv_pair_note) == 32 + 32 + 16 + WV_PAIR_USER, "wire");
_Static_assert(sizeof(struct wv_msg_pair) == 16 + sizeof(struct wv_pair_note), "wire");
_Static_assert(sizeof(struct wv_msg_connected) == 16 + 16, "command log stays 8-byte aligned");
