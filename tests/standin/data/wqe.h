/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work queue elements of mlx5, read into plain structs. Pure: the caller provides the bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WQE_BB	       64 /* the basic block that a send queue is counted in */
#define WQE_MAX_BYTES  (63 * 16)
#define WQE_MAX_INLINE WQE_MAX_BYTES
#define WQE_MAX_SGE    63

/* The bytes of a ring that one element takes, in order; the second span may be empty. */
struct wqe_spans {
	size_t offset[2];
	size_t len[2];
};

struct wqe_sge {
	uint64_t addr;
	uint32_t len;
	uint32_t lkey;
};

/* Destination of a datagram or DC element. */
struct wqe_address {
	uint32_t qpn;
	uint32_t qkey;	 /* UD */
	uint64_t dc_key; /* DC */
	uint8_t tclass;
	uint8_t hop_limit;
	uint8_t sgid_index;
	uint32_t flow_label;
	uint8_t dgid[16];
};

struct send_wqe {
	uint8_t opcode; /* MLX5_OPCODE_* */
	uint16_t index; /* in basic blocks since the queue was reset */
	uint16_t blocks;
	uint32_t qpn;
	bool signalled;
	bool solicited;
	bool fence;
	uint32_t imm; /* in network order, as it travels */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t swap_add; /* an atomic's: what is put there, or added */
	uint64_t compare;
	struct wqe_address to;
	uint32_t length;  /* of the message */
	uint32_t inlined; /* so many of its bytes are in data; the rest, after them, in sge */
	size_t num_sge;
	struct wqe_sge sge[WQE_MAX_SGE];
	uint8_t data[WQE_MAX_INLINE];
};

struct recv_wqe {
	uint16_t index; /* in its ring */
	uint16_t next;	/* of an SRQ: the element after this one */
	uint64_t length;
	size_t num_sge;
	struct wqe_sge sge[WQE_MAX_SGE];
};

/*
 * Where a ring of ring_size bytes holds the len bytes that begin at basic block index, which counts
 * on past the end of the ring. ring_size is a power of two, at least one block and at least len.
 */
struct wqe_spans wqe_spans(uint32_t ring_size, uint16_t index, size_t len);

/*
 * The number of basic blocks of the element that begins with these WQE_BB bytes, at least 1;
 * -EINVAL if it says it has none.
 */
int wqe_blocks(const void *block);

/*
 * Reads the send element in bytes, which was made flat. addressed: the queue is of a kind whose
 * elements carry an address (UD, DC). Returns 0; -EINVAL if its segments do not fit into it or mix
 * inline data with pointers; -EOPNOTSUPP if the stand-in knows no such operation. In both cases
 * opcode, index, blocks and signalled are set if there was a control segment.
 */
int wqe_parse_send(const void *bytes, size_t len, bool addressed, struct send_wqe *wqe);

/*
 * Reads the scatter list in bytes, of len bytes: a whole element of a receive queue, or, with
 * linked, of an SRQ, which begins with its link.
 */
void wqe_parse_recv(const void *bytes, size_t len, bool linked, struct recv_wqe *wqe);
