/* SPDX-License-Identifier: BSD-2-Clause */
#include "wqe.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <string.h>

#define DS	  16 /* what segments are counted in */
#define DS_MASK	  0x3f
#define WHOLE_2GB (1u << 31) /* what a length of 0 means */

/* What is left of an element. */
struct cursor {
	const uint8_t *at;
	size_t left;
};

enum segments {
	SEG_RADDR = 1, /* a remote address comes before the data */
	SEG_READS = 2, /* the data segments are written to: never inline */
	SEG_ATOMIC = 4,
};

static const struct operation {
	bool known;
	unsigned segments;
} operations[] = {
    [MLX5_OPCODE_NOP] = {true, 0},
    [MLX5_OPCODE_SEND] = {true, 0},
    [MLX5_OPCODE_SEND_IMM] = {true, 0},
    [MLX5_OPCODE_RDMA_WRITE] = {true, SEG_RADDR},
    [MLX5_OPCODE_RDMA_WRITE_IMM] = {true, SEG_RADDR},
    [MLX5_OPCODE_RDMA_READ] = {true, SEG_RADDR | SEG_READS},
    [MLX5_OPCODE_ATOMIC_CS] = {true, SEG_RADDR | SEG_ATOMIC | SEG_READS},
    [MLX5_OPCODE_ATOMIC_FA] = {true, SEG_RADDR | SEG_ATOMIC | SEG_READS},
};

/* The next len bytes, or NULL if fewer are left. */
static const void *take(struct cursor *cursor, size_t len)
{
	const void *at = cursor->at;

	if (len > cursor->left)
		return NULL;
	cursor->at += len;
	cursor->left -= len;
	return at;
}

struct wqe_spans wqe_spans(uint32_t ring_size, uint16_t index, size_t len)
{
	size_t offset = (size_t)index * WQE_BB & (ring_size - 1);
	size_t first = len < ring_size - offset ? len : ring_size - offset;

	return (struct wqe_spans){.offset = {offset, 0}, .len = {first, len - first}};
}

int wqe_blocks(const void *block)
{
	const struct mlx5_wqe_ctrl_seg *ctrl = block;
	int ds = be32toh(ctrl->qpn_ds) & DS_MASK;

	return ds ? (ds * DS + WQE_BB - 1) / WQE_BB : -EINVAL;
}

static void read_address(const struct mlx5_wqe_av *av, struct wqe_address *to)
{
	to->qpn = be32toh(av->dqp_dct) & 0xffffff;
	to->qkey = be32toh(av->key.qkey.qkey);
	to->dc_key = be64toh(av->key.dc_key);
	to->tclass = av->tclass;
	to->hop_limit = av->hop_limit;
	to->sgid_index = be32toh(av->grh_gid_fl) >> 20 & 0xff;
	to->flow_label = be32toh(av->grh_gid_fl) & 0xfffff;
	memcpy(to->dgid, av->rgid, sizeof to->dgid);
}

static int read_inline(struct cursor *rest, uint32_t count, struct send_wqe *wqe)
{
	/*
	 * The count is a segment's first four bytes; the next segment begins where a multiple of 16
	 * does.
	 */
	size_t len = count & ~MLX5_INLINE_SEG;
	const uint8_t *bytes;

	if (len > sizeof wqe->data - wqe->length || wqe->num_sge)
		return -EINVAL;
	bytes = take(rest, (sizeof count + len + DS - 1) / DS * DS);
	if (!bytes)
		return -EINVAL;
	memcpy(wqe->data + wqe->length, bytes + sizeof count, len);
	wqe->length += len;
	wqe->inlined += (uint32_t)len;
	return 0;
}

static int read_pointer(struct cursor *rest, struct send_wqe *wqe)
{
	const struct mlx5_wqe_data_seg *seg = take(rest, sizeof *seg);
	struct wqe_sge *sge = &wqe->sge[wqe->num_sge];
	uint32_t len;

	if (!seg)
		return -EINVAL;
	len = be32toh(seg->byte_count) ?: WHOLE_2GB;
	*sge = (struct wqe_sge){be64toh(seg->addr), len, be32toh(seg->lkey)};
	if (len > WHOLE_2GB - wqe->length)
		return -EINVAL;
	wqe->length += len;
	wqe->num_sge++;
	return 0;
}

static int read_data(struct cursor *rest, bool may_inline, struct send_wqe *wqe)
{
	int ret = 0;

	while (!ret && rest->left) {
		uint32_t count = be32toh(((const struct mlx5_wqe_data_seg *)rest->at)->byte_count);

		if (!(count & MLX5_INLINE_SEG))
			ret = read_pointer(rest, wqe);
		else
			ret = may_inline ? read_inline(rest, count, wqe) : -EINVAL;
	}
	return ret;
}

static void read_control(const struct mlx5_wqe_ctrl_seg *ctrl, struct send_wqe *wqe)
{
	uint32_t word = be32toh(ctrl->opmod_idx_opcode);

	wqe->opcode = word & 0xff;
	wqe->index = word >> 8 & 0xffff;
	wqe->blocks = wqe_blocks(ctrl) > 0 ? wqe_blocks(ctrl) : 1;
	wqe->qpn = be32toh(ctrl->qpn_ds) >> 8;
	wqe->signalled = ctrl->fm_ce_se & MLX5_WQE_CTRL_CQ_UPDATE;
	wqe->solicited = ctrl->fm_ce_se & MLX5_WQE_CTRL_SOLICITED;
	wqe->fence = ctrl->fm_ce_se & MLX5_WQE_CTRL_FENCE;
	wqe->imm = ctrl->imm;
}

/* The segments between the control segment and the data. */
static int read_transport(struct cursor *rest, bool addressed, unsigned segments,
			  struct send_wqe *wqe)
{
	if (addressed) {
		const struct mlx5_wqe_av *av = take(rest, sizeof *av);

		if (!av)
			return -EINVAL;
		read_address(av, &wqe->to);
	}
	if (segments & SEG_RADDR) {
		const struct mlx5_wqe_raddr_seg *seg = take(rest, sizeof *seg);

		if (!seg)
			return -EINVAL;
		wqe->raddr = be64toh(seg->raddr);
		wqe->rkey = be32toh(seg->rkey);
	}
	if (segments & SEG_ATOMIC) {
		const struct mlx5_wqe_atomic_seg *seg = take(rest, sizeof *seg);

		if (!seg)
			return -EINVAL;
		wqe->swap_add = be64toh(seg->swap_add);
		wqe->compare = be64toh(seg->compare);
	}
	return 0;
}

int wqe_parse_send(const void *bytes, size_t len, bool addressed, struct send_wqe *wqe)
{
	const struct mlx5_wqe_ctrl_seg *ctrl = bytes;
	const struct operation *op;
	struct cursor rest;
	size_t size;
	int ret;

	/* Without the large arrays at the end: num_sge and length say how much is valid. */
	memset(wqe, 0, offsetof(struct send_wqe, sge));
	if (len < sizeof *ctrl)
		return -EINVAL;
	read_control(ctrl, wqe);
	size = (be32toh(ctrl->qpn_ds) & DS_MASK) * DS;
	if (size < sizeof *ctrl || size > len)
		return -EINVAL;
	op = wqe->opcode < sizeof operations / sizeof *operations ? &operations[wqe->opcode]
								  : &operations[1];
	if (!op->known)
		return -EOPNOTSUPP;
	if (wqe->opcode == MLX5_OPCODE_NOP)
		return 0;
	rest = (struct cursor){(const uint8_t *)bytes + sizeof *ctrl, size - sizeof *ctrl};
	ret = read_transport(&rest, addressed, op->segments, wqe);
	return ret ?: read_data(&rest, !(op->segments & SEG_READS), wqe);
}

void wqe_parse_recv(const void *bytes, size_t len, bool linked, struct recv_wqe *wqe)
{
	struct cursor rest = {bytes, len};
	const struct mlx5_wqe_data_seg *seg;

	wqe->next = 0;
	wqe->length = 0;
	wqe->num_sge = 0;
	if (linked) {
		const struct mlx5_wqe_srq_next_seg *link = take(&rest, sizeof *link);

		wqe->next = link ? be16toh(link->next_wqe_index) : 0;
	}
	while (wqe->num_sge < WQE_MAX_SGE && (seg = take(&rest, sizeof *seg))) {
		uint32_t lkey = be32toh(seg->lkey);
		uint32_t count = be32toh(seg->byte_count) ?: WHOLE_2GB;

		if (lkey == MLX5_INVALID_LKEY)
			break;
		wqe->sge[wqe->num_sge++] = (struct wqe_sge){be64toh(seg->addr), count, lkey};
		wqe->length += count;
	}
}
