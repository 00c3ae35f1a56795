/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands that the stand-in knows: a row for each. */
#pragma once

#include "call.h"

/* Legacy commands have this bit set when they are of the extended kind. */
#define HCA_WRITE_EX 0x80000000u

#define HCA_MAX_SPECS 16
#define HCA_MAX_FW    3

struct hca_command {
	const char *name;
	uint16_t object, method;
	uint32_t write;		    /* with method INVOKE_WRITE: which legacy command */
	uint16_t core_in, core_out; /* of those: least bytes */
	bool early;		    /* works without a context */
	int (*run)(struct hca_call *call);
	enum hca_kind kind; /* of what it destroys */
	/* Firmware commands that it always gives. Those that depend on more are in its function. */
	uint8_t n_fw;
	enum hca_fw fw[HCA_MAX_FW];
	struct hca_attr_spec specs[HCA_MAX_SPECS];
};

extern const struct hca_command hca_commands[];
extern const unsigned int hca_n_commands;

int hca_get_context(struct hca_call *call);
int hca_query_context(struct hca_call *call);
int hca_query_device(struct hca_call *call);
int hca_query_device_ex(struct hca_call *call);
int hca_query_port(struct hca_call *call);
int hca_query_gid_table(struct hca_call *call);
int hca_query_gid_entry(struct hca_call *call);
int hca_devx_other(struct hca_call *call);
int hca_devx_create(struct hca_call *call);
int hca_create_flow(struct hca_call *call);
int hca_alloc_async(struct hca_call *call);
int hca_create_channel(struct hca_call *call);
int hca_alloc_uar(struct hca_call *call);
int hca_alloc_pd(struct hca_call *call);
int hca_create_ah(struct hca_call *call);
int hca_reg_mr(struct hca_call *call);
int hca_create_cq(struct hca_call *call);
int hca_create_srq(struct hca_call *call);
int hca_modify_srq(struct hca_call *call);
int hca_query_srq(struct hca_call *call);
int hca_create_qp(struct hca_call *call);
int hca_modify_qp(struct hca_call *call);
int hca_modify_qp_ex(struct hca_call *call);
int hca_query_qp(struct hca_call *call);
/* Destroys the object that the row's first attribute names; answers in its second, if any. */
int hca_destroy(struct hca_call *call);
/* A command that the kernel has and the stand-in does not: -EOPNOTSUPP. */
int hca_not_modelled(struct hca_call *call);
