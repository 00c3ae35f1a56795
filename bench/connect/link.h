/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An RC connection between two programs: what each side does, verb by verb, with the time that each
 * verb takes. All functions end the program if something fails.
 */
#pragma once

#include "../hello.h"
#include "../start.h"
#include "options.h"

/* A program that has opened the device and knows its own address. */
struct node {
	struct start start;
	struct loopback own;
	uint64_t started; /* when the program was executed, on the monotonic clock; 0: not known */
	uint64_t began;	  /* when it began with verbs */
	uint64_t query;	  /* nanoseconds that asking for the own address took */
};

/* Notes when, and what to open. */
void node_begin(struct node *node, const struct options *options);
/* Opens as far as start_to_cq(), or to a queue pair in INIT. */
void node_open(struct node *node, const struct options *options, bool with_qp);

/* Prints how long each verb of node_open() took. */
void node_print(const struct node *node);

/* What the side that connects does with its queue pair. */
struct link {
	struct start_remote memory; /* that the other side offers */
	int fd; /* plainly: closed when the program ends, which the other side sees */
	uint64_t exchange, rtr, rts;
};

/*
 * Opens what is needed for a link, and connects node->start.qp to the program that listens, number
 * 0. There are two kinds: plainly (exchange.c), and by a service (../services/by_service.c).
 */
void link_open(struct node *node, const struct options *options);
void link_connect(struct link *link, struct node *node, const struct options *options);
/* The other side of that: waits for the one that connects, whose message is for @receive. */
void link_accept(struct link *link, struct node *node, const struct options *options,
		 struct ibv_recv_wr *receive);
void link_print(const struct link *link);

/* Moves @qp to RTS, towards @peer; how long RTR and RTS took. */
struct link_moves {
	uint64_t rtr, rts;
} link_move(struct ibv_qp *qp, const struct loopback *own, const struct peer *peer);

void print_time(const char *name, uint64_t nanoseconds);
