/* SPDX-License-Identifier: BSD-2-Clause */
/* One message from a queue pair to itself, through libibverbs and the device's provider. */
#pragma once

#include "kernel.h"

#include <infiniband/verbs.h>

struct traffic {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	char *buffer;
	struct ibv_mr *mr;
};

/* Skips if there is no device or its port is not up. */
struct traffic traffic_new(void);
/* Arms the completion queue and sends; returns the result of ibv_post_send(). */
int traffic_send(struct traffic *t);
/* Waits for both completions and checks what arrived. */
void traffic_check(struct traffic *t);
