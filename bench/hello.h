/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two programs tell each other over TCP how to connect their queue pairs, as most programs without
 * librdmacm do. All functions end the program if something fails.
 */
#pragma once

#include "loopback.h"
#include "start.h"

#include <netinet/in.h>
#include <stdbool.h>

/* Each side sends one. The receiver's memory is of use to who reads or writes it. */
struct hello {
	struct peer peer;
	struct start_remote memory;
	uint32_t from; /* the sender's number, if there are several */
	uint32_t unused;
};

/* Listens on all addresses; @port 0 stands for any free one, which is returned. */
in_port_t hello_listen(in_port_t port, int backlog, int *listener);
int hello_accept(int listener);

/* Connects to @address (IPv4); waits for a listener as long as there is none yet. */
int hello_connect(const char *address, in_port_t port);

void hello_send(int fd, const struct hello *ours);
/* False: the other side has ended. */
bool hello_receive(int fd, struct hello *theirs);
