/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small function runtime: a launcher starts functions. Each reads some bytes from a memory server
 * by RDMA, and answers. All are ordinary programs, which know nothing of warmverbs.
 */
#pragma once

#include "../hello.h"
#include "../measure.h"

#define FUNCTION_BYTES 4096 /* that one reads */
#define SERVER_BYTES   (1 << 20)

/*
 * Between launcher and functions, as messages on one SOCK_SEQPACKET socket that all functions
 * share.
 */
struct request {
	uint64_t id;
};

struct answer {
	uint64_t id;
	uint64_t first_completion; /* when, on the monotonic clock */
	uint64_t control;	   /* nanoseconds in verbs of the control plane, for this request */
};

/* What the memory server holds at @offset. */
static inline uint8_t server_byte(uint64_t offset)
{
	return (uint8_t)(offset * 31 + offset / 251);
}
