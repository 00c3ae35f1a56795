#include "cli/values.h"

#include "base/base.h"
#include "cli/names.h"

#include <rdma/mlx5-abi.h>
#include <string.h>

enum format { HIDDEN, NUMBER, FLAGS, QP_TYPE, QP_STATE, MAKER };

/* A value inside a command; of size 0: the attribute as a whole. */
struct value_row {
	uint16_t object, method, attr;
	uint32_t write_cmd;
	uint8_t format; /* enum format: whether and how a recipe's step shows it */
	uint16_t offset, size;
	const char *name;
};

#define WHOLE(object, method, id, format, name)                                                    \
	{                                                                                          \
		UVERBS_OBJECT_##object, UVERBS_METHOD_##method, UVERBS_ATTR_##id, WV_NO_WRITE_CMD, \
		    format, 0, 0, name                                                             \
	}
#define CAP(field)                                                                                 \
	{                                                                                          \
		UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, UVERBS_ATTR_CREATE_QP_CAP,              \
		    WV_NO_WRITE_CMD, NUMBER, offsetof(struct ib_uverbs_qp_cap, field),             \
		    sizeof(((struct ib_uverbs_qp_cap *)0)->field), #field                          \
	}
#define MODIFY(field, format)                                                                      \
	{                                                                                          \
		UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, UVERBS_ATTR_CORE_IN,             \
		    IB_USER_VERBS_CMD_MODIFY_QP, format,                                           \
		    offsetof(struct ib_uverbs_modify_qp, field),                                   \
		    sizeof(((struct ib_uverbs_modify_qp *)0)->field), #field                       \
	}
/* mlx5's private part of a creation, the only one of a leased driver that there is. */
#define MLX5(object, type, field, format)                                                          \
	{                                                                                          \
		UVERBS_OBJECT_##object, UVERBS_METHOD_##object##_CREATE, UVERBS_ATTR_UHW_IN,       \
		    WV_NO_WRITE_CMD, format, offsetof(struct mlx5_ib_create_##type, field),        \
		    sizeof(((struct mlx5_ib_create_##type *)0)->field), #field                     \
	}

static const struct value_row values[] = {
    {WV_OBJECT_MEMORY, 0, WV_ATTR_MEMORY_SIZE, WV_NO_WRITE_CMD, NUMBER, 0, 0, "bytes"},
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_CQE, NUMBER, "cqe"),
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_COMP_CHANNEL, MAKER, "comp_channel"),
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_COMP_VECTOR, NUMBER, "comp_vector"),
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_FLAGS, FLAGS, "flags"),
    WHOLE(CQ, CQ_CREATE, CREATE_CQ_EVENT_FD, HIDDEN, "async event descriptor"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_PD_HANDLE, MAKER, "pd"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_MAX_WR, NUMBER, "max_wr"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_MAX_SGE, NUMBER, "max_sge"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_LIMIT, NUMBER, "srq_limit"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_TYPE, HIDDEN, "srq_type"),
    WHOLE(SRQ, SRQ_CREATE, CREATE_SRQ_EVENT_FD, HIDDEN, "async event descriptor"),
    WHOLE(QP, QP_CREATE, CREATE_QP_TYPE, QP_TYPE, "qp_type"),
    WHOLE(QP, QP_CREATE, CREATE_QP_PD_HANDLE, MAKER, "pd"),
    WHOLE(QP, QP_CREATE, CREATE_QP_SEND_CQ_HANDLE, MAKER, "send_cq"),
    WHOLE(QP, QP_CREATE, CREATE_QP_RECV_CQ_HANDLE, MAKER, "recv_cq"),
    WHOLE(QP, QP_CREATE, CREATE_QP_SRQ_HANDLE, MAKER, "srq"),
    WHOLE(QP, QP_CREATE, CREATE_QP_FLAGS, FLAGS, "flags"),
    WHOLE(QP, QP_CREATE, CREATE_QP_EVENT_FD, HIDDEN, "async event descriptor"),
    CAP(max_send_wr),
    CAP(max_recv_wr),
    CAP(max_send_sge),
    CAP(max_recv_sge),
    CAP(max_inline_data),
    MODIFY(qp_handle, MAKER),
    MODIFY(qp_state, QP_STATE),
    MODIFY(attr_mask, HIDDEN),
    MODIFY(port_num, NUMBER),
    MODIFY(pkey_index, NUMBER),
    MODIFY(qp_access_flags, FLAGS),
    MODIFY(qkey, HIDDEN),
    MODIFY(path_mtu, HIDDEN),
    MODIFY(max_rd_atomic, HIDDEN),
    MODIFY(max_dest_rd_atomic, HIDDEN),
    MODIFY(min_rnr_timer, HIDDEN),
    MODIFY(timeout, HIDDEN),
    MODIFY(retry_cnt, HIDDEN),
    MODIFY(rnr_retry, HIDDEN),
    MODIFY(dest_qp_num, HIDDEN),
    MLX5(CQ, cq, buf_addr, HIDDEN),
    MLX5(CQ, cq, db_addr, HIDDEN),
    MLX5(CQ, cq, cqe_size, HIDDEN),
    MLX5(CQ, cq, flags, HIDDEN),
    MLX5(CQ, cq, uar_page_index, HIDDEN),
    MLX5(SRQ, srq, buf_addr, HIDDEN),
    MLX5(SRQ, srq, db_addr, HIDDEN),
    MLX5(SRQ, srq, flags, HIDDEN),
    MLX5(QP, qp, buf_addr, HIDDEN),
    MLX5(QP, qp, db_addr, HIDDEN),
    MLX5(QP, qp, sq_wqe_count, HIDDEN),
    MLX5(QP, qp, rq_wqe_count, HIDDEN),
    MLX5(QP, qp, rq_wqe_shift, HIDDEN),
    MLX5(QP, qp, flags, FLAGS),
    MLX5(QP, qp, uidx, HIDDEN),
    MLX5(QP, qp, bfreg_index, HIDDEN),
    MLX5(QP, qp, access_key, HIDDEN),
};

/* MODIFY_QP and its extended form begin alike (ib_user_verbs.h). */
static uint32_t plain_form(uint32_t write_cmd)
{
	return wv_is_modify_qp(write_cmd) ? IB_USER_VERBS_CMD_MODIFY_QP : write_cmd;
}

static int row_is(const struct value_row *row, uint16_t object, uint16_t method, uint32_t write_cmd,
		  uint16_t attr)
{
	return row->object == object && row->method == method && row->attr == attr &&
	       row->write_cmd == plain_form(write_cmd);
}

void wv_print_value_name(FILE *out, uint16_t object, uint16_t method, uint32_t write_cmd,
			 uint16_t attr, uint32_t offset)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(values); i++) {
		const struct value_row *row = &values[i];

		if (!row_is(row, object, method, write_cmd, attr))
			continue;
		if (row->size && (offset < row->offset || offset >= row->offset + row->size))
			continue;
		fputs(row->name, out);
		return;
	}
	fprintf(out, "byte %u of attribute %#x", offset, attr);
}

static void print_value(FILE *out, enum format format, uint64_t value)
{
	switch (format) {
	case QP_TYPE:
		fputs(wv_qp_type_name((unsigned int)value), out);
		break;
	case QP_STATE:
		fputs(wv_qp_state_name((unsigned int)value), out);
		break;
	case FLAGS:
		fprintf(out, "%#llx", (unsigned long long)value);
		break;
	case MAKER:
		fprintf(out, "of step %llu", (unsigned long long)value);
		break;
	default:
		fprintf(out, "%llu", (unsigned long long)value);
		break;
	}
}

/* Reads @row's value of a step. 0 if the step has it not. */
static int read_value(struct wv_step *step, const struct value_row *row, uint64_t *value)
{
	struct wv_attr *attr = wv_step_attr(step, row->attr);
	const uint8_t *bytes = attr ? wv_attr_bytes(step, attr) : NULL;
	size_t size;

	*value = 0;
	if (attr && (attr->kind == WV_HANDLE || attr->kind == WV_FD)) {
		*value = attr->data;
		return 1;
	}
	if (!bytes)
		return 0;
	size = row->size ? row->size : attr->len;
	if (size > sizeof(*value) || row->offset + size > attr->len)
		return 0;
	memcpy(value, bytes + row->offset, size);
	return 1;
}

void wv_print_step_values(FILE *out, struct wv_step *step)
{
	const char *separator = "";

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(values); i++) {
		const struct value_row *row = &values[i];
		uint64_t value;

		if (row->format == HIDDEN ||
		    !row_is(row, step->object, step->method, step->write_cmd, row->attr) ||
		    !read_value(step, row, &value))
			continue;
		fprintf(out, "%s%s ", separator, row->name);
		print_value(out, row->format, value);
		separator = ", ";
	}
}
