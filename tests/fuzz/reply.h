/* SPDX-License-Identifier: BSD-2-Clause */
/* The input of the target "reply": this and a message. */
#pragma once

#include <stdint.h>

#define REPLY_MEMORY (1u << 20) /* bytes of each descriptor's file */

struct reply {
	uint8_t to_pool_request; /* odd: the message answers a pool request, else a lease request */
	uint8_t n_fds;		 /* descriptors that come with it, modulo WV_WIRE_MAX_FDS + 1 */
	uint8_t program;	 /* which program uses the lease, modulo N_FIXTURES + 1 */
	uint8_t how; /* enum reply_how: what the program does with a queue pair that is connected */
	uint8_t reserved[4];
};

enum reply_how {
	REPLY_ALIVE = 1, /* the daemon does not end the connection */
	REPLY_QUERIES = 2,
	REPLY_ELSEWHERE = 4, /* to another peer */
	REPLY_OTHERWISE = 8, /* with other attributes */
};
