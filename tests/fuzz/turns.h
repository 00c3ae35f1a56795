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
	TURN_LAST_TYPE = WV_MSG_PAIR_GONE,
	TURN_CLOSE, /* the client closes its connection */
	TURN_FILL,  /* the daemon fills its pools */
	TURN_NOTE,  /* the bytes are what a peer says of a pair */
	N_TURNS,
};

struct turn {
	uint8_t what; /* enum turn_what, modulo N_TURNS */
	uint8_t client;
	uint8_t n_nodes; /* descriptors of the device that go with the message, modulo 3 */
	uint8_t reserved;
	uint32_t bytes;
};
