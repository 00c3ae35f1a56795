/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The input of the target "daemon": turns of up to four clients, each a struct turn and its bytes,
 * one after another without padding.
 */
#pragma once

#include "wire/wire.h"

#include <stdint.h>

#define N_CLIENTS 4

enum turn_what {
	TURN_RAW, /* the bytes are a whole message */
	/* enum wv_msg_type: the bytes are such a message without its header, which is added */
	TURN_LAST_TYPE = WV_MSG_SERVICE,
	TURN_CLOSE, /* the client closes its connection */
	TURN_FILL,  /* the daemon fills its pools */
	TURN_NOTE,  /* the bytes are what a peer says of a pair */
	TURN_TALK,  /* the bytes are struct spoken, one after another */
	TURN_SERVE, /* the bytes are struct served, one after another */
	N_TURNS,
};

#define TURN_KEEPER 3 /* the client that talks as a server that keeps spares */
#define TURN_GID    "fe80:0000:0000:0000:0000:0000:0000:0001" /* of this node, and of the peer */

/* What is said of a pair, in few bytes, most of which make sense. */
struct spoken {
	uint8_t word, why; /* modulo how many there are */
	uint8_t flags;	   /* enum spoken_flag */
	uint8_t pair, shape;
	uint8_t qp_num, peer_qp_num;
	uint8_t reserved;
};

enum spoken_flag {
	SPOKEN_BY_PEER = 1 << 0,    /* not by the keeper */
	SPOKEN_AS_HEARD = 1 << 1,   /* the rest is what the daemon has said last to a keeper */
	SPOKEN_OF_OTHERS = 1 << 2,  /* without the GID of this node, */
	SPOKEN_FOR_OTHERS = 1 << 3, /* or the name of this user */
	SPOKEN_BY_REQUEST = 1 << 4,
};

/* What is said of a service, in few bytes, most of which make sense. */
struct served {
	uint8_t word;	/* modulo how many there are */
	uint8_t client; /* modulo N_CLIENTS + 1, of which the last is the peer */
	uint8_t flags;	/* enum served_flag */
	uint8_t name, number, from;
	uint8_t qp_num, error;
};

enum served_flag {
	SERVED_AS_HEARD = 1 << 0,   /* of the connection of which the daemon has spoken last */
	SERVED_ELSEWHERE = 1 << 1,  /* a client asks for a service of the peer, */
	SERVED_BY_OTHERS = 1 << 2,  /* or of another user */
	SERVED_FOR_OTHERS = 1 << 3, /* for which there is a service too; as which a client comes */
	SERVED_STRANGELY = 1 << 4,  /* the queue pair is on no node that is known */
	SERVED_LOST = 1 << 5,	    /* the peer is lost before, and comes back */
	SERVED_SLOWLY = 1 << 6,	    /* it does not read */
};

struct turn {
	uint8_t what; /* enum turn_what, modulo N_TURNS */
	uint8_t client;
	uint8_t n_nodes; /* descriptors of the device that go with the message, modulo 3 */
	uint8_t reserved;
	uint32_t bytes;
};
