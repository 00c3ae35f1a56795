/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a function does: it connects to the memory server, reads from it by RDMA, and checks the
 * data. All end the program if something fails.
 */
#pragma once

#include "functions.h"

struct reader {
	struct start start;
	struct ibv_mr *mr;
	struct start_remote memory;
	uint64_t control; /* nanoseconds in verbs of the control plane */
};

/* From the device list to RTS; @port is the memory server's, on this machine. */
void reader_connect(struct reader *r, in_port_t port);

/* Reads what request @id is about. Returns when the read was completed, on the monotonic clock. */
uint64_t reader_read(const struct reader *r, uint64_t id);
