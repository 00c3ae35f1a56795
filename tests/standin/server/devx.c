/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw firmware commands, as far as opening a device and the rules of privileges need them. */
#include "commands.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

enum { OP_QUERY_HCA_CAP = 0x100, OP_QUERY_ADAPTER = 0x101, OP_QUERY_NIC_VPORT = 0x754 };

/* Some of the general capabilities: bit, width, value; and where they begin in the answer. */
#define CAPABILITIES 0x80
static const struct {
	uint16_t bit;
	uint8_t width, value;
} general_caps[] = {
    {0x80, 8, 15},  /* log_max_srq_sz */
    {0x88, 8, 15},  /* log_max_qp_sz */
    {0x9b, 5, 16},  /* log_max_qp */
    {0xab, 5, 16},  /* log_max_srq */
    {0xc8, 8, 22},  /* log_max_cq_sz */
    {0xdb, 5, 16},  /* log_max_cq */
    {0xea, 6, 16},  /* log_max_mkey */
    {0x1b6, 2, 1},  /* port_type: Ethernet */
    {0x1b8, 8, 1},  /* num_ports */
    {0x1fc, 4, 1},  /* cqe_version */
    {0x21a, 1, 1},  /* dct */
    {0x21d, 1, 1},  /* roce */
    {0x23d, 1, 1},  /* ud */
    {0x23e, 1, 1},  /* uc */
    {0x23f, 1, 1},  /* rc */
    {0x260, 1, 1},  /* bf */
    {0x26b, 5, 9},  /* log_bf_reg_size */
    {0x32b, 5, 16}, /* log_max_pd */
};

#define CAP_BYTES 4112

static void set_bits(uint8_t *bytes, unsigned int bit, unsigned int width, unsigned int value)
{
	while (width--) {
		unsigned int at = bit + width;

		bytes[at / 8] |= (uint8_t)((value & 1) << (7 - at % 8));
		value >>= 1;
	}
}

static uint16_t opcode_of(const uint8_t *command)
{
	return (uint16_t)(command[0] << 8 | command[1]);
}

static void answer_caps(struct hca_call *call, unsigned int op_mod)
{
	uint8_t out[CAP_BYTES] = {0};

	/* Group 0, general; of the others it has none. The lowest bit: current, not largest. */
	for (size_t i = 0; op_mod >> 1 == 0 && i < sizeof(general_caps) / sizeof(general_caps[0]);
	     i++)
		set_bits(out, CAPABILITIES + general_caps[i].bit, general_caps[i].width,
			 general_caps[i].value);
	hca_call_out(call, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, sizeof(out));
}

int hca_devx_other(struct hca_call *call)
{
	uint8_t command[16], out[16] = {0};
	uint16_t opcode;
	int error;

	hca_call_in(call, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, command, sizeof(command));
	opcode = opcode_of(command);
	if (!call->ufile->has_devx)
		return -EINVAL;
	if (opcode != OP_QUERY_HCA_CAP && opcode != OP_QUERY_ADAPTER &&
	    opcode != OP_QUERY_NIC_VPORT)
		return -EINVAL;
	error = hca_fw(&call->work, opcode == OP_QUERY_HCA_CAP ? FW_QUERY_HCA_CAP : FW_DEVX);
	if (error)
		return error;
	if (opcode == OP_QUERY_HCA_CAP)
		answer_caps(call, (unsigned int)(command[6] << 8 | command[7]));
	else
		HCA_CALL_OUT(call, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, &out);
	return 0;
}

/* Commands for which firmware wants a privilege that the context got when it was made. */
enum right { ANYONE, RAW_TX, INTERNAL_RESOURCE };
static const struct {
	uint16_t opcode;
	enum right right;
} creations[] = {
    {0x200, ANYONE},		/* CREATE_MKEY */
    {0x802, ANYONE},		/* ALLOC_XRCD */
    {0x816, ANYONE},		/* ALLOC_TRANSPORT_DOMAIN */
    {0x900, RAW_TX},		/* CREATE_TIR */
    {0x904, RAW_TX},		/* CREATE_SQ */
    {0x908, RAW_TX},		/* CREATE_RQ */
    {0x912, RAW_TX},		/* CREATE_TIS */
    {0x930, RAW_TX},		/* CREATE_FLOW_TABLE */
    {0x301, INTERNAL_RESOURCE}, /* CREATE_EQ */
};

static int check_right(const struct hca_ufile *ufile, uint16_t opcode)
{
	for (size_t i = 0; i < sizeof(creations) / sizeof(creations[0]); i++) {
		if (creations[i].opcode != opcode)
			continue;
		if (creations[i].right == RAW_TX)
			return ufile->net_raw ? 0 : -EPERM;
		if (creations[i].right == INTERNAL_RESOURCE)
			return ufile->sys_rawio ? 0 : -EPERM;
		return 0;
	}
	return -EINVAL;
}

int hca_devx_create(struct hca_call *call)
{
	uint8_t command[16], out[16] = {0};
	struct hca_devx *object;
	int error;

	hca_call_in(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, command, sizeof(command));
	error = call->ufile->has_devx ? check_right(call->ufile, opcode_of(command)) : -EINVAL;
	if (!error)
		error = hca_fw(&call->work, FW_DEVX);
	if (error)
		return error;
	object = calloc(1, sizeof(*object));
	if (!object)
		return -ENOMEM;
	object->opcode = opcode_of(command);
	error = hca_object_add(call->ufile, HCA_DEVX, &object->object);
	hca_call_out_handle(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, object->object.handle);
	HCA_CALL_OUT(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, &out);
	return error;
}

int hca_create_flow(struct hca_call *call)
{
	return hca_call_is_capable(call, CAP_NET_RAW) ? -EOPNOTSUPP : -EPERM;
}
