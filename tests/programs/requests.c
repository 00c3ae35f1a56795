/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server and its clients that connect by librdmacm. "requests serve PORT AT_ONCE" serves clients
 * until there is input; of AT_ONCE requests that are there together, it takes the last one first.
 * "requests connect ADDRESS PORT TEXT" sends the text, which the server sends back. The server's
 * queue pairs share a CQ and a PD, as those of a server with many clients do.
 */
#include "kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

#define MOST	1024
#define WAIT_MS 5000

struct connection {
	struct rdma_cm_id *id;
	struct memory memory;
	bool is_used;
};

static struct rdma_event_channel *channel;
static unsigned int n_connections;
static struct connection connections[MOST];
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static struct ibv_qp_init_attr shape(void)
{
	return (struct ibv_qp_init_attr){
	    .send_cq = cq,
	    .recv_cq = cq,
	    .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
	    .qp_type = IBV_QPT_RC,
	};
}

static struct rdma_conn_param manner_to_connect(void)
{
	return (struct rdma_conn_param){
	    .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
}

static void post(struct connection *c, bool receives, const char *text)
{
	struct ibv_sge sge = {(uintptr_t)c->memory.bytes + (receives ? MEMORY_HALF : 0), PAYLOAD,
			      c->memory.mr->lkey};
	struct ibv_recv_wr receive = {.wr_id = (uintptr_t)c, .sg_list = &sge, .num_sge = 1};
	struct ibv_send_wr send = {.wr_id = (uintptr_t)c,
				   .sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED};
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad_send;

	if (receives) {
		OK(ibv_post_recv(c->id->qp, &receive, &bad_receive));
		return;
	}
	snprintf(c->memory.bytes, PAYLOAD, "%s", text);
	OK(ibv_post_send(c->id->qp, &send, &bad_send));
}

static void share(struct ibv_context *context)
{
	pd = MADE(ibv_alloc_pd(context));
	cq = MADE(ibv_create_cq(context, 4 * MOST, NULL, NULL, 0));
}

static void free_shared(void)
{
	OK(ibv_destroy_cq(cq));
	OK(ibv_dealloc_pd(pd));
}

/* False: the other side has died. */
static bool create(struct connection *c)
{
	struct ibv_qp_init_attr attr;

	if (!pd)
		share(c->id->verbs);
	attr = shape();
	c->memory = memory_new(pd);
	if (rdma_create_qp(c->id, pd, &attr)) {
		EXPECT(errno == EINVAL); /* what the kernel says of a connection that is over */
		return false;
	}
	post(c, true, NULL);
	return true;
}

static struct connection *connection_of(struct rdma_cm_id *id)
{
	for (unsigned int i = 0; i < MOST; i++)
		if (connections[i].is_used == !!id && connections[i].id == id)
			return &connections[i];
	EXPECT(!"more clients than there is room for");
	return NULL;
}

static void end(struct connection *c)
{
	if (c->id->qp)
		rdma_destroy_qp(c->id);
	if (c->memory.mr)
		memory_free(c->memory);
	OK(rdma_destroy_id(c->id));
	*c = (struct connection){.id = NULL};
}

static void accept_all(struct connection **waiting, int *n)
{
	struct rdma_conn_param how = manner_to_connect();

	while (*n) {
		struct connection *c = waiting[--*n];

		if (!c->is_used)
			continue;
		if (!create(c) || rdma_accept(c->id, &how)) { /* the client has died */
			end(c);
			n_connections--;
		}
	}
}

/* Sends back what has come. */
static void answer(void)
{
	struct ibv_wc done;

	while (cq && ibv_poll_cq(cq, 1, &done) == 1) {
		struct connection *c = (struct connection *)(uintptr_t)done.wr_id;

		if (!c->is_used || done.status == IBV_WC_WR_FLUSH_ERR)
			continue;
		EXPECT(done.status == IBV_WC_SUCCESS);
		if (done.opcode == IBV_WC_RECV)
			post(c, false, c->memory.bytes + MEMORY_HALF);
	}
}

static void handle(struct rdma_cm_event *event, struct connection **waiting, int *n_waiting)
{
	struct rdma_cm_id *id = event->id;
	enum rdma_cm_event_type type = event->event;
	struct connection *c;

	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		c = connection_of(NULL);
		*c = (struct connection){.id = id, .is_used = true};
		waiting[(*n_waiting)++] = c;
		n_connections++;
	}
	rdma_ack_cm_event(event);
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return;
	default: /* disconnected, or the client has died while it connected */
		answer();
		rdma_disconnect(id);
		end(connection_of(id));
		n_connections--;
	}
}

static struct rdma_cm_id *listen_at(int port)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct rdma_cm_id *id;

	OK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	OK(rdma_bind_addr(id, (struct sockaddr *)&any));
	OK(rdma_listen(id, MOST));
	OK(fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK));
	return id;
}

static void serve(int port, int at_once)
{
	struct rdma_cm_id *listener = listen_at(port);
	struct pollfd files[] = {{.fd = channel->fd, .events = POLLIN},
				 {.fd = STDIN_FILENO, .events = POLLIN}};
	struct connection *waiting[MOST];
	int n_waiting = 0;
	struct rdma_cm_event *event;

	while (!files[1].revents || n_connections) {
		while (!rdma_get_cm_event(channel, &event))
			handle(event, waiting, &n_waiting);
		EXPECT(errno == EAGAIN);
		if (n_waiting >= at_once)
			accept_all(waiting, &n_waiting);
		answer();
		poll(files, COUNT(files), 1);
	}
	free_shared();
	OK(rdma_destroy_id(listener));
	printf("served\n");
}

static void await(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	OK(rdma_get_cm_event(channel, &event));
	if (event->event != type) {
		fprintf(stderr, "%s, not %s\n", rdma_event_str(event->event), rdma_event_str(type));
		exit(1);
	}
	rdma_ack_cm_event(event);
}

static void connect_to(const char *address, int port, const char *text)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct rdma_conn_param how = manner_to_connect();
	struct connection c = {.is_used = true};

	EXPECT(inet_pton(AF_INET, address, &to.sin_addr) == 1);
	OK(rdma_create_id(channel, &c.id, NULL, RDMA_PS_TCP));
	OK(rdma_resolve_addr(c.id, NULL, (struct sockaddr *)&to, WAIT_MS));
	await(RDMA_CM_EVENT_ADDR_RESOLVED);
	OK(rdma_resolve_route(c.id, WAIT_MS));
	await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	EXPECT(create(&c));
	OK(rdma_connect(c.id, &how));
	await(RDMA_CM_EVENT_ESTABLISHED);
	post(&c, false, text);
	await_completions(cq, 2);
	EXPECT(arrived(c.memory, text));
	OK(rdma_disconnect(c.id));
	await(RDMA_CM_EVENT_DISCONNECTED);
	end(&c);
	free_shared();
	printf("echoed\n");
}

int main(int argc, char **argv)
{
	EXPECT(argc >= 4);
	channel = MADE(rdma_create_event_channel());
	if (!strcmp(argv[1], "serve"))
		serve(atoi(argv[2]), atoi(argv[3]));
	else
		connect_to(argv[2], atoi(argv[3]), argv[4]);
	rdma_destroy_event_channel(channel);
	return 0;
}
