/* SPDX-License-Identifier: BSD-2-Clause */
#include "mlx5_program.h"

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#define EX_MODIFY_QP	(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP)
#define EX_QUERY_DEVICE (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE)
#define ACCESS_KEY	0x1122334455667788

void mlx5_init(struct mlx5_program *p, wv_issue_fn issue, void *kernel)
{
	*p = (struct mlx5_program){
	    .issue = issue, .kernel = kernel, .base = 0x7f4242000000, .async = -1, .channel = -1};
}

static void change(struct mlx5_program *p, struct command *cmd)
{
	const struct wv_command_row *row = command_row(cmd);
	struct ib_uverbs_attr *attr;

	if (!p->change.name || !row || strcmp(row->name, p->change.name) ||
	    p->n_changed++ != p->change.nth)
		return;
	attr = command_attr(cmd, p->change.attr);
	((uint8_t *)(uintptr_t)wv_attr_input(attr))[p->change.offset] ^= p->change.bits;
	attr->len = (uint16_t)(attr->len + p->change.longer);
}

static int issue(struct mlx5_program *p, struct command *cmd)
{
	cmd->hdr.driver_id = RDMA_DRIVER_MLX5;
	change(p, cmd);
	return p->error = p->issue(p->kernel, &cmd->hdr);
}

/* What the command made: the only attribute that is the kernel's to fill with a number. */
static uint32_t made(struct mlx5_program *p, struct command *cmd)
{
	return p->error ? WV_NONE : wv_command_made(&cmd->hdr, command_row(cmd), WV_NEW_HANDLE);
}

static uint8_t *queue(struct mlx5_program *p, size_t bytes)
{
	uint8_t *at = p->alloc(p->owner, bytes);

	assert_true(at || !bytes);
	if (bytes)
		memset(at, 0, bytes);
	return at;
}

/* One page is enough for this program. */
static uint64_t doorbell(struct mlx5_program *p)
{
	if (!p->doorbells)
		p->doorbells = queue(p, 4096);
	assert_true((p->n_doorbells + 1) * MLX5_SLOT <= 4096);
	return (uintptr_t)p->doorbells + MLX5_SLOT * p->n_doorbells++;
}

static void legacy(struct mlx5_program *p, struct command *cmd, uint32_t write_cmd, const void *in,
		   size_t in_bytes, void *out, size_t out_bytes)
{
	command_legacy(cmd, write_cmd, in, in_bytes, out, out_bytes);
	issue(p, cmd);
}

static void token(struct mlx5_program *p, struct command *cmd, uint16_t id)
{
	uint64_t user_handle = p->base + 0x100 * p->n_objects++;

	command_in(cmd, id, &user_handle, sizeof(user_handle));
}

static void number(struct command *cmd, uint16_t id, uint32_t value)
{
	command_in(cmd, id, &value, sizeof(value));
}

/* One of an enum, which takes eight bytes. */
static void choice(struct command *cmd, uint16_t id, uint64_t value)
{
	command_in(cmd, id, &value, sizeof(value));
}

static void get_context(struct mlx5_program *p)
{
	uint32_t request[8] = {16, 4, 1, 0, 0, 0, 3, 0}, vectors;
	uint64_t support;
	uint8_t answer[72];
	struct command cmd;

	command_init(&cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	command_out(&cmd, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	command_out(&cmd, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &support, sizeof(support));
	command_in(&cmd, UVERBS_ATTR_UHW_IN, request, sizeof(request));
	command_out(&cmd, UVERBS_ATTR_UHW_OUT, answer, sizeof(answer));
	issue(p, &cmd);
}

void mlx5_firmware(struct mlx5_program *p, uint16_t opcode)
{
	uint8_t mailbox[16] = {(uint8_t)(opcode >> 8), (uint8_t)opcode, [7] = 1};
	static uint8_t answer[4112];
	struct command cmd;

	command_init(&cmd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	command_in(&cmd, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, mailbox, sizeof(mailbox));
	command_out(&cmd, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, answer, sizeof(answer));
	issue(p, &cmd);
}

void mlx5_devx_obj_create(struct mlx5_program *p)
{
	struct command cmd;

	command_init(&cmd, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	command_object(&cmd, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0);
	issue(p, &cmd);
}

void mlx5_query_port(struct mlx5_program *p)
{
	struct ib_uverbs_query_port_resp_ex answer;
	struct command cmd;
	uint8_t port = 1;

	command_init(&cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	command_in(&cmd, UVERBS_ATTR_QUERY_PORT_PORT_NUM, &port, sizeof(port));
	command_out(&cmd, UVERBS_ATTR_QUERY_PORT_RESP, &answer, sizeof(answer));
	issue(p, &cmd);
}

uint32_t mlx5_alloc_uar(struct mlx5_program *p, uint8_t type)
{
	uint32_t length, page_id = WV_NONE;
	struct command cmd;
	uint64_t offset;

	command_init(&cmd, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	command_object(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	choice(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type);
	command_out(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	command_out(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	command_out(&cmd, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &page_id, sizeof(page_id));
	issue(p, &cmd);
	return page_id;
}

static void make_files(struct mlx5_program *p)
{
	struct ib_uverbs_create_comp_channel_resp answer = {.fd = (uint32_t)-1};
	struct ib_uverbs_create_comp_channel in = {.response = (uintptr_t)&answer};
	struct ib_uverbs_alloc_pd_resp pd = {0};
	struct ib_uverbs_alloc_pd pd_in = {.response = (uintptr_t)&pd};
	struct command cmd;

	command_init(&cmd, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	command_object(&cmd, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	if (!issue(p, &cmd))
		p->async = (int)cmd.attrs[0].data_s64;
	legacy(p, &cmd, IB_USER_VERBS_CMD_ALLOC_PD, &pd_in, sizeof(pd_in), &pd, sizeof(pd));
	p->pd = made(p, &cmd);
	legacy(p, &cmd, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &in, sizeof(in), &answer,
	       sizeof(answer));
	p->channel = (int)answer.fd;
}

void mlx5_open(struct mlx5_program *p)
{
	struct ib_uverbs_ex_query_device in = {0};
	uint8_t answer[304];
	struct command cmd;

	get_context(p);
	mlx5_firmware(p, 0x100);
	legacy(p, &cmd, EX_QUERY_DEVICE, &in, sizeof(in), answer, sizeof(answer));
	mlx5_query_port(p);
	p->uar_number = mlx5_alloc_uar(p, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
	make_files(p);
}

uint32_t mlx5_create_cq(struct mlx5_program *p, uint32_t entries, uint32_t cqe_bytes)
{
	uint8_t *buffer = queue(p, (size_t)entries * cqe_bytes);
	struct mlx5_ib_create_cq uhw = {
	    .buf_addr = (uintptr_t)buffer,
	    .db_addr = doorbell(p),
	    .cqe_size = cqe_bytes,
	    .flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
	    .uar_page_index = (uint16_t)p->uar_number,
	};
	struct mlx5_ib_create_cq_resp answer;
	struct command cmd;
	uint32_t cqe;

	for (size_t i = 1; i <= entries; i++) /* the opcode of an empty element, and its owner */
		buffer[i * cqe_bytes - 1] = 0xf0;
	command_init(&cmd, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	command_object(&cmd, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	number(&cmd, UVERBS_ATTR_CREATE_CQ_CQE, entries - 1);
	token(p, &cmd, UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
	command_object(&cmd, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, (uint64_t)p->channel);
	number(&cmd, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 1);
	command_out(&cmd, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	command_object(&cmd, UVERBS_ATTR_CREATE_CQ_EVENT_FD, (uint64_t)p->async);
	command_in(&cmd, UVERBS_ATTR_UHW_IN, &uhw, sizeof(uhw));
	command_out(&cmd, UVERBS_ATTR_UHW_OUT, &answer, sizeof(answer));
	issue(p, &cmd);
	return made(p, &cmd);
}

uint32_t mlx5_create_srq(struct mlx5_program *p, uint32_t entries)
{
	uint8_t *buffer = queue(p, (size_t)entries * 32);
	struct mlx5_ib_create_srq uhw = {.buf_addr = (uintptr_t)buffer, .db_addr = doorbell(p)};
	uint32_t max_wr, max_sge, srqn, answer[2];
	struct command cmd;

	for (uint32_t i = 0; i + 1 < entries; i++) { /* each element names the next, big-endian */
		buffer[32 * i + 2] = (uint8_t)((i + 1) >> 8);
		buffer[32 * i + 3] = (uint8_t)(i + 1);
	}
	command_init(&cmd, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
	command_object(&cmd, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0);
	command_object(&cmd, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, p->pd);
	token(p, &cmd, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE);
	number(&cmd, UVERBS_ATTR_CREATE_SRQ_MAX_WR, entries - 1);
	number(&cmd, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 1);
	number(&cmd, UVERBS_ATTR_CREATE_SRQ_LIMIT, 0);
	choice(&cmd, UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_BASIC);
	command_object(&cmd, UVERBS_ATTR_CREATE_SRQ_EVENT_FD, (uint64_t)p->async);
	command_out(&cmd, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &max_wr, sizeof(max_wr));
	command_out(&cmd, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &max_sge, sizeof(max_sge));
	command_out(&cmd, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &srqn, sizeof(srqn));
	command_in(&cmd, UVERBS_ATTR_UHW_IN, &uhw, sizeof(uhw));
	command_out(&cmd, UVERBS_ATTR_UHW_OUT, answer, sizeof(answer));
	issue(p, &cmd);
	return made(p, &cmd);
}

static uint32_t create_qp(struct mlx5_program *p, uint32_t cq, uint32_t srq, uint32_t type,
			  struct mlx5_ib_create_qp *uhw)
{
	struct ib_uverbs_qp_cap cap = {.max_send_wr = 4, .max_send_sge = 1};
	struct mlx5_ib_create_qp_resp answer;
	struct command cmd;
	uint32_t qp_num;

	command_init(&cmd, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	command_object(&cmd, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	command_object(&cmd, UVERBS_ATTR_CREATE_QP_PD_HANDLE, p->pd);
	if (srq != WV_NONE)
		command_object(&cmd, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, srq);
	else
		command_object(&cmd, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq);
	command_object(&cmd, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq);
	token(p, &cmd, UVERBS_ATTR_CREATE_QP_USER_HANDLE);
	command_in(&cmd, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	choice(&cmd, UVERBS_ATTR_CREATE_QP_TYPE, type);
	command_object(&cmd, UVERBS_ATTR_CREATE_QP_EVENT_FD, (uint64_t)p->async);
	command_out(&cmd, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	command_out(&cmd, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qp_num, sizeof(qp_num));
	command_in(&cmd, UVERBS_ATTR_UHW_IN, uhw, sizeof(*uhw));
	command_out(&cmd, UVERBS_ATTR_UHW_OUT, &answer, sizeof(answer));
	issue(p, &cmd);
	return made(p, &cmd);
}

uint32_t mlx5_create_qp(struct mlx5_program *p, uint32_t cq, uint32_t type, uint32_t flags)
{
	struct mlx5_ib_create_qp uhw = {
	    .sq_wqe_count = 4,
	    .rq_wqe_count = 4,
	    .rq_wqe_shift = 4,
	    .flags = flags | MLX5_QP_FLAG_UAR_PAGE_INDEX,
	    .uidx = 0x1000 + p->n_objects,
	};

	if (!p->bf_number)
		p->bf_number = mlx5_alloc_uar(p, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
	uhw.bfreg_index = p->bf_number;
	uhw.buf_addr = (uintptr_t)queue(p, 512);
	uhw.db_addr = doorbell(p);
	return create_qp(p, cq, WV_NONE, type, &uhw);
}

uint32_t mlx5_create_dct(struct mlx5_program *p, uint32_t cq, uint32_t srq)
{
	struct mlx5_ib_create_qp uhw = {
	    .flags = MLX5_QP_FLAG_TYPE_DCT,
	    .uidx = 0x1000 + p->n_objects,
	    .access_key = ACCESS_KEY,
	};

	return create_qp(p, cq, srq, IB_UVERBS_QPT_DRIVER, &uhw);
}

void mlx5_move(struct mlx5_program *p, uint32_t qp, uint8_t state)
{
	struct ib_uverbs_modify_qp in = {
	    .qp_handle = qp,
	    .attr_mask = IBV_QP_STATE,
	    .qp_state = state,
	    .sq_psn = (uint32_t)p->base >> 8,
	    .qkey = 0x77,
	};
	struct command cmd;

	legacy(p, &cmd, IB_USER_VERBS_CMD_MODIFY_QP, &in, sizeof(in), NULL, 0);
}

void mlx5_move_dct(struct mlx5_program *p, uint32_t qp, uint8_t state)
{
	struct ib_uverbs_ex_modify_qp in = {
	    .base = {.qp_handle = qp, .attr_mask = IBV_QP_STATE, .qp_state = state}};
	struct ib_uverbs_ex_modify_qp_resp out;
	uint32_t private_in[4] = {0}, private_out[4];
	struct command cmd;

	command_legacy(&cmd, EX_MODIFY_QP, &in, sizeof(in), &out, sizeof(out));
	command_in(&cmd, UVERBS_ATTR_UHW_IN, private_in, sizeof(private_in));
	command_out(&cmd, UVERBS_ATTR_UHW_OUT, private_out, sizeof(private_out));
	issue(p, &cmd);
}

struct mlx5_made mlx5_run(struct mlx5_program *p)
{
	struct mlx5_made m;

	mlx5_open(p);
	m.cq = mlx5_create_cq(p, 64, MLX5_CQE_SMALL);
	m.cq_large = mlx5_create_cq(p, 64, MLX5_CQE_LARGE);
	m.cq_more = mlx5_create_cq(p, 64, MLX5_CQE_SMALL);
	m.srq = mlx5_create_srq(p, 256);
	m.rc = mlx5_create_qp(p, m.cq, IB_UVERBS_QPT_RC, 0);
	mlx5_move(p, m.rc, IBV_QPS_INIT);
	m.ud = mlx5_create_qp(p, m.cq_more, IB_UVERBS_QPT_UD, 0);
	for (uint8_t state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++)
		mlx5_move(p, m.ud, state);
	m.dci = mlx5_create_qp(p, m.cq_large, IB_UVERBS_QPT_DRIVER, MLX5_QP_FLAG_TYPE_DCI);
	for (uint8_t state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++)
		mlx5_move(p, m.dci, state);
	m.dct = mlx5_create_dct(p, m.cq, m.srq);
	for (uint8_t state = IBV_QPS_INIT; state <= IBV_QPS_RTR; state++)
		mlx5_move_dct(p, m.dct, state);
	return m;
}
