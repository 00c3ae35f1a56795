/* SPDX-License-Identifier: BSD-2-Clause */
/* One end of a connection: a queue pair, and its moves. */
#pragma once

#include "service/address.h"
#include "wire/service_note.h"

/* How the queue pairs of an offer, or that of a connection, are made. */
struct wv_service_shape {
	struct ibv_pd *pd;
	struct ibv_qp_init_attr qp;
	int access;
	struct wv_service_port port; /* towards nobody yet */
	/* RDMA READs and atomics at a time, at most 16: of others, and own ones. */
	uint8_t answered, asked;
};

/* Fills in @shape; @port 0 stands for 1. 0; -EINVAL; or -errno. */
int wv_service_shape_init(struct wv_service_shape *shape, struct ibv_pd *pd,
			  const struct ibv_qp_init_attr *qp, int access, uint8_t port);

/* A queue pair in INIT, which is the caller's. 0 or -errno. */
int wv_service_qp_new(const struct wv_service_shape *shape, struct ibv_qp **qp);

/* Says what the other side needs to know of @qp, at @port; chooses its PSN. */
void wv_service_qp_describe(const struct ibv_qp *qp, const struct wv_service_shape *shape,
			    const struct wv_service_port *port, struct wv_service_qp *own);

/* Moves @qp, which was described as @own, to RTR towards @peer, and then to RTS. 0 or -errno. */
int wv_service_qp_rtr(struct ibv_qp *qp, const struct wv_service_port *port,
		      const struct wv_service_qp *own, const struct wv_service_qp *peer);
int wv_service_qp_rts(struct ibv_qp *qp, const struct wv_service_shape *shape,
		      const struct wv_service_qp *own, const struct wv_service_qp *peer);
