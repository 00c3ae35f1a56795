/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queue entries of mlx5, written from plain structs. Pure.
 */
#pragma once

#include <infiniband/mlx5dv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is told about one work request. */
struct completion {
	uint8_t kind;	  /* MLX5_CQE_REQ, _RESP_*, _REQ_ERR or _RESP_ERR */
	uint8_t opcode;	  /* of a requester: MLX5_OPCODE_* */
	uint8_t syndrome; /* of an error: MLX5_CQE_SYNDROME_* */
	bool solicited;
	bool grh;	  /* of a datagram: it came with a global route */
	uint16_t counter; /* the element's index */
	uint32_t qpn;	  /* whose completion this is */
	uint32_t uidx;	  /* the number that the provider gave that queue pair */
	uint32_t src_qpn; /* of a datagram */
	uint32_t byte_cnt;
	uint32_t imm; /* in network order */
	uint64_t timestamp;
};

/*
 * Where the entry of producer index pi begins in a queue of entries (a power of two) entries of
 * cqe_size bytes.
 */
size_t cqe_offset(uint32_t pi, uint32_t entries, uint32_t cqe_size);

/* The ownership bit that tells the consumer that the entry of producer index pi is new. */
uint8_t cqe_owner(uint32_t pi, uint32_t entries);

/*
 * Fills the whole of cqe, the 64 bytes that matter: an entry of 128 bytes has them in its second
 * half.
 */
void cqe_fill(struct mlx5_cqe64 *cqe, const struct completion *completion, uint8_t owner);

/* Whether the completion counts as solicited: if the sender asked for it, or if it is an error. */
bool cqe_solicited(const struct completion *completion);
