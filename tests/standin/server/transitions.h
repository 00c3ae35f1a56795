/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes that a queue pair may and must be given at each change of state. */
#pragma once

#include "hca.h"
#include "oracle.h"

struct hca_transition {
	enum ibv_qp_state from, to;
	uint32_t types;	    /* 1 << enum hca_qp_type */
	uint32_t must, may; /* enum ibv_qp_attr_mask, besides the state itself */
	enum hca_fw fw;
};

/* NULL: there is no such transition. */
const struct hca_transition *hca_transition_find(enum hca_qp_type type, enum ibv_qp_state from,
						 enum ibv_qp_state to);
