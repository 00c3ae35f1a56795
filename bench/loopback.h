/*
 * RC queue pairs that are connected to themselves, which one process and one device suffice for.
 */
#pragma once

#include <infiniband/verbs.h>

struct loopback {
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
};

/* What a verb returned; gives up if that is NULL. */
void *made(void *object, const char *verb);

/* Asks the kernel for the address that queue pairs of @context connect to. */
void loopback_init(struct loopback *loopback, struct ibv_context *context, int gid_index);

void modify_to_init(struct ibv_qp *qp);
void modify_to_rtr(struct ibv_qp *qp, const struct loopback *loopback);
void modify_to_rts(struct ibv_qp *qp);

/* Waits until @n completions came, all of them successful. */
void await_completions(struct ibv_cq *cq, int n);
