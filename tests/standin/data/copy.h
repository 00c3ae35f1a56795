/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that a work request names, checked against its memory regions, and moved.
 */
#pragma once

#include "../server/hca.h"
#include "wqe.h"

/* @len bytes: of @mem from @offset on, or at @bytes of the server. */
struct piece {
	struct hca_mem *mem;
	const uint8_t *bytes;
	uint64_t offset;
	uint64_t len;
};

struct pieces {
	uint64_t length; /* of all */
	size_t n;
	struct piece at[WQE_MAX_SGE + 1];
};

enum copied { COPIED, COPY_FROM_FAILED, COPY_TO_FAILED };

/* Adds @len bytes of the server, which must stay until the copy. */
void pieces_add_bytes(struct pieces *pieces, const void *bytes, uint64_t len);

/*
 * Adds the first @length bytes of a scatter list. -EACCES unless all of them lie in memory regions
 *
 * of @pd that allow all of @access (IBV_ACCESS_*; 0 to read locally).
 */
int pieces_add_sges(struct pieces *pieces, struct hca *hca, const struct hca_pd *pd,
		    const struct wqe_sge *sge, size_t num_sge, uint64_t length, uint32_t access);

/* Adds one range by its key; as above. A range of no bytes needs no key. */
int pieces_add_range(struct pieces *pieces, struct hca *hca, const struct hca_pd *pd, uint32_t key,
		     uint64_t addr, uint64_t length, uint32_t access);

/*
 * Copies all of @from to the beginning of @to, which is at least as long. Tells whose memory was
 * missing.
 */
enum copied pieces_copy(const struct pieces *to, const struct pieces *from);
