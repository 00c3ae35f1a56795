/* SPDX-License-Identifier: BSD-2-Clause */
#include "copy.h"

#include <errno.h>
#include <string.h>

#define CHUNK (64u << 10)

/* How far a copy is. */
struct place {
	const struct piece *piece;
	uint64_t done; /* of this piece */
};

void pieces_add_bytes(struct pieces *pieces, const void *bytes, uint64_t len)
{
	if (!len)
		return;
	pieces->at[pieces->n++] = (struct piece){.bytes = bytes, .len = len};
	pieces->length += len;
}

int pieces_add_range(struct pieces *pieces, struct hca *hca, const struct hca_pd *pd, uint32_t key,
		     uint64_t addr, uint64_t length, uint32_t access)
{
	struct hca_mr *mr;

	if (!length)
		return 0;
	mr = hca_mr_at(hca, key);
	if (!mr || mr->pd != pd || (mr->access & access) != access)
		return -EACCES;
	if (addr < mr->iova || length > mr->length || addr - mr->iova > mr->length - length)
		return -EACCES;
	pieces->at[pieces->n++] =
	    (struct piece){.mem = &mr->mem, .offset = addr - mr->iova, .len = length};
	pieces->length += length;
	return 0;
}

int pieces_add_sges(struct pieces *pieces, struct hca *hca, const struct hca_pd *pd,
		    const struct wqe_sge *sge, size_t num_sge, uint64_t length, uint32_t access)
{
	int ret = 0;

	for (size_t i = 0; !ret && length && i < num_sge; i++) {
		uint64_t len = sge[i].len < length ? sge[i].len : length;

		ret = pieces_add_range(pieces, hca, pd, sge[i].lkey, sge[i].addr, len, access);
		length -= len;
	}
	return ret;
}

static uint64_t left(const struct place *place)
{
	return place->piece->len - place->done;
}

static void advance(struct place *place, uint64_t len)
{
	place->done += len;
	if (!left(place))
		*place = (struct place){.piece = place->piece + 1};
}

static int get(const struct place *place, void *to, size_t len)
{
	const struct piece *piece = place->piece;

	if (piece->mem)
		return hca_mem_read(piece->mem, piece->offset + place->done, to, len);
	memcpy(to, piece->bytes + place->done, len);
	return 0;
}

static int put(const struct place *place, const void *from, size_t len)
{
	return hca_mem_write(place->piece->mem, place->piece->offset + place->done, from, len);
}

enum copied pieces_copy(const struct pieces *to, const struct pieces *from)
{
	struct place target = {.piece = to->at}, source = {.piece = from->at};
	static __thread uint8_t chunk[CHUNK];
	uint64_t length = from->length, len;

	for (; length; length -= len) {
		len = left(&source) < left(&target) ? left(&source) : left(&target);
		len = len < sizeof chunk ? len : sizeof chunk;
		if (get(&source, chunk, len))
			return COPY_FROM_FAILED;
		if (put(&target, chunk, len))
			return COPY_TO_FAILED;
		advance(&source, len);
		advance(&target, len);
	}
	return COPIED;
}
