/* One message from a queue pair to itself, by libibverbs and the device's own provider. */
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
/* Sends and arms the completion queue first; 0 or what ibv_post_send() returned. */
int traffic_send(struct traffic *t);
/* Waits for both completions and checks what arrived. */
void traffic_check(struct traffic *t);
