/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that offers its memory (memory.h) in two ways: as a service, and plainly. Plainly, it
 * listens, and creates and connects a queue pair for each client that says hello. Whoever has ended
 * loses the queue pair. Ends at the end of its standard input.
 */
#include "../connect/link.h"
#include "memory.h"
#include "service.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define BACKLOG	    128
#define MAX_CLIENTS 256 /* at a time, that have come plainly */
#define CQ_ENTRIES  4096
#define RECEIVES    64
#define READY	    64 /* queue pairs */
#define ACCESS	    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

enum { STDIN, LISTENER, OFFER, NOTICES, FIRST_CLIENT };
static struct pollfd polled[FIRST_CLIENT + MAX_CLIENTS];
static struct ibv_qp *qps[FIRST_CLIENT + MAX_CLIENTS];
static nfds_t n_polled = FIRST_CLIENT;

static struct node node;
static struct ibv_qp_init_attr shape;
static struct ibv_comp_channel *channel;
static struct host_memory *memory;
static struct ibv_mr *mr;
static struct wv_offer *offer;

static void need(int err, const char *what)
{
	if (err)
		give_up(err, "%s", what);
}

static void post_receive(void)
{
	struct ibv_recv_wr *bad, wr = {.num_sge = 0};

	need(ibv_post_srq_recv(shape.srq, &wr, &bad), "ibv_post_srq_recv");
}

/* Clients share the receives, and the CQ, whose completions the host is told of. */
static void make_shape(void)
{
	struct start *start = &node.start;
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = RECEIVES, .max_sge = 1}};

	channel = made(ibv_create_comp_channel(start->context), "ibv_create_comp_channel");
	start->cq =
	    made(ibv_create_cq(start->context, CQ_ENTRIES, NULL, channel, 0), "ibv_create_cq");
	need(ibv_req_notify_cq(start->cq, 0), "ibv_req_notify_cq");
	shape = start_shape(start);
	shape.srq = made(ibv_create_srq(start->pd, &attr), "ibv_create_srq");
	for (int i = 0; i < RECEIVES; i++)
		post_receive();
}

static void make_memory(void)
{
	memory = private_memory(sizeof(*memory));
	store_fill(memory->store);
	mr = made(ibv_reg_mr(node.start.pd, memory, sizeof(*memory), ACCESS), "ibv_reg_mr");
}

static void make_offer(void)
{
	const struct wv_service_attr attr = {
	    .name = SERVICE,
	    .pd = node.start.pd,
	    .qp = &shape,
	    .access = ACCESS,
	    .ready = READY,
	    .mrs = &mr,
	    .n_mrs = 1,
	};

	offer = service_offer(&attr);
}

/* Nothing is done with a client before it leaves. */
static void serve_offer(void)
{
	struct wv_service_event event;

	while (!wv_service_next(offer, &event))
		if (event.type == WV_SERVICE_LEFT)
			wv_service_disconnect(event.connection);
}

static void look_at_inbox(const struct ibv_wc *wc)
{
	uint8_t byte = (uint8_t)wc->imm_data;

	if (wc->status)
		give_up(0, "a receive failed: %s", ibv_wc_status_str(wc->status));
	for (size_t i = 0; i < HANDED_BYTES; i++)
		if (memory->inbox[i] != byte)
			give_up(0, "byte %zu of what was handed over is wrong", i);
	__atomic_store_n(&memory->noticed, clock_ns(), __ATOMIC_RELEASE);
	post_receive();
}

static void notice(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	if (ibv_get_cq_event(channel, &cq, &context))
		give_up(errno, "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	need(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	while (ibv_poll_cq(cq, 1, &wc) > 0)
		look_at_inbox(&wc);
}

static void add(int fd)
{
	struct hello theirs, ours = {.memory = {(uintptr_t)memory, mr->rkey}};
	struct ibv_qp_init_attr attr = shape;
	struct ibv_qp *qp;

	if (n_polled == FIRST_CLIENT + MAX_CLIENTS)
		give_up(0, "more than %d clients at a time", MAX_CLIENTS);
	if (!hello_receive(fd, &theirs)) { /* it has ended already */
		close(fd);
		return;
	}
	qp = made(ibv_create_qp(node.start.pd, &attr), "ibv_create_qp");
	modify_to_init(qp);
	link_move(qp, &node.own, &theirs.peer);
	ours.peer = peer_of(qp, &node.own);
	hello_send(fd, &ours);
	polled[n_polled] = (struct pollfd){.fd = fd, .events = POLLIN};
	qps[n_polled++] = qp;
}

/* From the last client to the first, because the last one takes the place of one that has ended. */
static void drop_ended(void)
{
	for (nfds_t i = n_polled - 1; i >= FIRST_CLIENT; i--) {
		if (!polled[i].revents)
			continue;
		close(polled[i].fd);
		need(ibv_destroy_qp(qps[i]), "ibv_destroy_qp");
		n_polled--;
		polled[i] = polled[n_polled];
		qps[i] = qps[n_polled];
	}
}

static void serve_all(void)
{
	while (!polled[STDIN].revents) {
		if (poll(polled, n_polled, -1) < 0)
			give_up(errno, "poll");
		drop_ended();
		if (polled[NOTICES].revents)
			notice();
		if (polled[OFFER].revents)
			serve_offer();
		if (polled[LISTENER].revents)
			add(hello_accept(polled[LISTENER].fd));
	}
}

int main(int argc, char **argv)
{
	struct options options = options_read(
	    argc, argv, "Offers memory to its clients, as the service " SERVICE " and plainly.");
	in_port_t port;

	node_open(&node, &options, false);
	make_shape();
	make_memory();
	make_offer();
	port = hello_listen(options.port, BACKLOG, &polled[LISTENER].fd);
	polled[STDIN].fd = STDIN_FILENO;
	polled[OFFER].fd = wv_service_fd(offer);
	polled[NOTICES].fd = channel->fd;
	for (int i = 0; i < FIRST_CLIENT; i++)
		polled[i].events = POLLIN;
	printf("port %d\n", port);
	if (fflush(stdout))
		give_up(errno, "stdout");
	serve_all();
	wv_service_withdraw(offer);
	return 0;
}
