/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory server: functions connect to it and read its memory by RDMA. Each thread serves one
 * function at a time with its own queue pair, which waits in INIT, so that functions wait as little
 * as possible for the server's control plane.
 */
#include "functions.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;
static struct start device;
static struct loopback address;
static struct start_remote memory;

static struct ibv_qp *new_qp(void)
{
	struct ibv_qp_init_attr attr = {
	    .send_cq = device.cq,
	    .recv_cq = device.cq,
	    .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	    .qp_type = IBV_QPT_RC,
	};

	return made(ibv_create_qp(device.pd, &attr), "ibv_create_qp");
}

static void reset(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	int err = ibv_modify_qp(qp, &attr, IBV_QP_STATE);

	if (err)
		give_up(err, "ibv_modify_qp to RESET");
}

/* A side that only answers RDMA READs is ready in RTR. */
static void serve_one(int fd, struct ibv_qp *qp)
{
	struct hello theirs, ours = {.peer = peer_of(qp, &address), .memory = memory};
	char none;

	if (!hello_receive(fd, &theirs))
		return;
	modify_to_rtr_with(qp, &address, &theirs.peer);
	if (send(fd, &ours, sizeof(ours), MSG_NOSIGNAL) == sizeof(ours))
		recv(fd, &none, 1, 0); /* until it ends */
	reset(qp);
	modify_to_init(qp);
}

static void *serve(void *unused)
{
	struct ibv_qp *qp = new_qp();

	(void)unused;
	modify_to_init(qp);
	while (true) {
		int fd = hello_accept(listener);

		serve_one(fd, qp);
		close(fd);
	}
	return NULL;
}

static void offer_memory(void)
{
	uint8_t *bytes = shared_memory(SERVER_BYTES);
	struct ibv_mr *mr = start_memory(&device, bytes, SERVER_BYTES);

	for (uint64_t i = 0; i < SERVER_BYTES; i++)
		bytes[i] = server_byte(i);
	memory = (struct start_remote){(uintptr_t)bytes, mr->rkey};
}

int main(int argc, char **argv)
{
	int threads = argc == 2 ? (int)number(argv[1], 1) : 0;
	pthread_t thread;

	if (!threads)
		give_up(0, "usage: server THREADS");
	start_to_init(&device);
	loopback_init(&address, device.context, START_GID_INDEX);
	offer_memory();
	printf("port %d\n", hello_listen(0, threads, &listener));
	if (fflush(stdout))
		give_up(errno, "stdout");
	for (int i = 1; i < threads; i++) {
		int err = pthread_create(&thread, NULL, serve, NULL);

		if (err)
			give_up(err, "pthread_create");
	}
	serve(NULL);
}
