/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/qp.h"

#include "base/base.h"

#include <rdma/mlx5-abi.h>

/*
 * How far a queue pair may be moved while its peer is unknown: RC and UC need the peer from RTR on.
 * UD's and a DC initiator's PSN at RTS is a number that no receiver checks (IBTA 1.3, 9.8.3; DC
 * connects by itself).
 */
static const struct wv_ahead_row ahead[] = {
    {WV_ANY_DRIVER, IB_UVERBS_QPT_RC, 0, 0, 0, IBV_QPS_INIT, true},
    {WV_ANY_DRIVER, IB_UVERBS_QPT_UC, 0, 0, 0, IBV_QPS_INIT, true},
    {WV_ANY_DRIVER, IB_UVERBS_QPT_UD, 0, 0, 0, IBV_QPS_RTS, true},
    {RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, offsetof(struct mlx5_ib_create_qp, flags),
     MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT, MLX5_QP_FLAG_TYPE_DCI, IBV_QPS_RTS, true},
    /* mlx5_ib cannot take a DCT back from RTR (hw/mlx5/qp.c, mlx5_ib_modify_dct()). */
    {RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, offsetof(struct mlx5_ib_create_qp, flags),
     MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT, MLX5_QP_FLAG_TYPE_DCT, IBV_QPS_RTR, false},
};

_Static_assert(sizeof(struct ib_uverbs_modify_qp) == 112, "as uverbs_cmd.c reads it");
_Static_assert((int)IBV_QPT_RC == IB_UVERBS_QPT_RC && (int)IBV_QPT_UC == IB_UVERBS_QPT_UC &&
		   (int)IBV_QPT_UD == IB_UVERBS_QPT_UD,
	       "libibverbs and the kernel number types alike");

const struct wv_ahead_row *wv_qp_ahead(uint32_t driver_id, uint32_t qp_type, const void *uhw_in,
				       size_t len)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(ahead); i++) {
		const struct wv_ahead_row *row = &ahead[i];
		uint32_t flags = 0;

		if (uhw_in && row->flags_at + sizeof(flags) <= len)
			memcpy(&flags, (const uint8_t *)uhw_in + row->flags_at, sizeof(flags));
		if (row->qp_type == qp_type &&
		    (row->driver_id == WV_ANY_DRIVER || row->driver_id == driver_id) &&
		    (flags & row->flags_mask) == row->flags)
			return row;
	}
	return NULL;
}

bool wv_qp_may_move(const struct wv_ahead_row *row, int from, int to)
{
	bool once_more = from == IBV_QPS_INIT && to == IBV_QPS_INIT;

	return row && to <= (int)row->state && (to == from + 1 || once_more);
}

bool wv_qp_is_ahead(enum ibv_qp_type type, enum ibv_qp_state state)
{
	const struct wv_ahead_row *row = wv_qp_ahead(WV_ANY_DRIVER, type, NULL, 0);

	return row && state >= IBV_QPS_INIT && (uint32_t)state <= row->state;
}

int wv_qp_state_asked(const void *core_in, size_t len)
{
	const struct ib_uverbs_modify_qp *modify = core_in;

	if (len < sizeof(*modify) || !(modify->attr_mask & IBV_QP_STATE))
		return -1;
	return modify->qp_state;
}

int wv_command_qp_state(const struct ib_uverbs_ioctl_hdr *cmd)
{
	for (unsigned int i = 0; i < cmd->num_attrs; i++)
		if (cmd->attrs[i].attr_id == UVERBS_ATTR_CORE_IN)
			return wv_qp_state_asked(wv_attr_input(&cmd->attrs[i]), cmd->attrs[i].len);
	return -1;
}

/* What the kernel keeps, under the same names in both answers. */
#define KEPT_IN_RESET(field) field(qkey) field(qp_access_flags) field(pkey_index) field(port_num)
#define CLEAR(name)	     answer->name = 0;

void wv_qp_hide_ioctl(const struct ib_uverbs_ioctl_hdr *query)
{
	for (unsigned int i = 0; i < query->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &query->attrs[i];
		struct ib_uverbs_query_qp_resp *answer = (void *)(uintptr_t)attr->data;

		if (attr->attr_id == UVERBS_ATTR_CORE_OUT && attr->len >= sizeof(*answer)) {
			KEPT_IN_RESET(CLEAR)
		}
	}
}

void wv_qp_hide(struct ibv_qp_attr *answer)
{
	KEPT_IN_RESET(CLEAR)
}
