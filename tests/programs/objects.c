/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes verbs objects, sends data through them, checks data, events and every result, and destroys
 * all. The options are in the environment variable OBJECTS, so that two runs with different options
 * are still the same program with the same arguments.
 *
 *   -c CQE    depth of the completion queues       -s  a shared receive queue
 *   -w WR     depth of the queue pairs             -l  and its limit event (implies -s)
 *   -a FLAGS  access flags given at INIT           -e  a completion channel, and wait for events
 *   -n N      queue pairs, 1 to 8                  -t  receive on a CQ of its own
 *   -o N      open the device N times over         -r  destroy the last queue pair and make it anew
 *   -u        UC queue pairs instead of RC         -R  move queue pairs to RESET before INIT
 *   -x        stop at INIT                         -b  destroy what is in use first: must be EBUSY
 *   -m        memory by wv_alloc_mr(), where warmverbs is preloaded
 *   -p STAGE  wait at: listed, opened, created, init, connected, done
 */
#include "kit.h"

#include "warmverbs.h"

#include <poll.h>

#define MAX_QPS	 8
#define MAX_ARGS 32
#define SRQ_SIZE 16
#define WAIT_MS	 10000

struct options {
	int cqe, depth, n_qps, opens;
	unsigned int access;
	bool srq, limit, events, two_cqs, recreate, reset_first, stop_at_init, busy, alloc_mr;
	enum ibv_qp_type type;
	const char *pause;
};

struct objects {
	const struct options *options;
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq; /* may be the same */
	struct ibv_srq *srq;
	struct ibv_qp *qp[MAX_QPS];
	struct memory memory;
};

static char send_cookie, recv_cookie;

#pragma weak wv_alloc_mr
#pragma weak wv_free_mr

static void usage(void)
{
	fprintf(stderr, "usage: OBJECTS='options as described in objects.c' objects\n");
	exit(2);
}

static void take_option(struct options *options, int letter)
{
	switch (letter) {
	case 'c':
		options->cqe = atoi(optarg);
		break;
	case 'w':
		options->depth = atoi(optarg);
		break;
	case 'a':
		options->access = (unsigned int)strtoul(optarg, NULL, 0);
		break;
	case 'n':
		options->n_qps = atoi(optarg);
		break;
	case 'o':
		options->opens = atoi(optarg);
		break;
	case 'u':
		options->type = IBV_QPT_UC;
		break;
	case 'x':
		options->stop_at_init = true;
		break;
	case 's':
		options->srq = true;
		break;
	case 'l':
		options->srq = options->limit = true;
		break;
	case 'e':
		options->events = true;
		break;
	case 't':
		options->two_cqs = true;
		break;
	case 'r':
		options->recreate = true;
		break;
	case 'R':
		options->reset_first = true;
		break;
	case 'b':
		options->busy = true;
		break;
	case 'm':
		options->alloc_mr = wv_alloc_mr;
		break;
	case 'p':
		options->pause = optarg;
		break;
	default:
		usage();
	}
}

static struct options read_options(void)
{
	struct options options = {.cqe = 64, .depth = 8, .n_qps = 2, .opens = 1, .access = 7};
	char *text = getenv("OBJECTS") ? strdup(getenv("OBJECTS")) : NULL;
	char *argv[MAX_ARGS] = {"objects"};
	int argc = 1, letter;

	options.type = IBV_QPT_RC;
	for (char *word = text ? strtok(text, " ") : NULL; word && argc < MAX_ARGS - 1;
	     word = strtok(NULL, " "))
		argv[argc++] = word;
	while ((letter = getopt(argc, argv, "c:w:a:n:o:uxsletrRbmp:")) > 0)
		take_option(&options, letter);
	if (optind < argc || options.n_qps < 1 || options.n_qps > MAX_QPS)
		usage();
	return options;
}

static void pause_at(const struct objects *o, const char *name)
{
	if (o->options->pause && !strcmp(o->options->pause, name))
		stage(name);
}

static struct ibv_qp *create_qp(struct objects *o)
{
	const struct options *options = o->options;
	struct ibv_qp_init_attr attr = {
	    .qp_context = o,
	    .send_cq = o->send_cq,
	    .recv_cq = o->recv_cq,
	    .srq = o->srq,
	    .cap = {.max_send_wr = (uint32_t)options->depth,
		    .max_recv_wr = options->srq ? 0 : (uint32_t)options->depth,
		    .max_send_sge = 1,
		    .max_recv_sge = options->srq ? 0 : 1},
	    .qp_type = options->type,
	};
	struct ibv_qp *qp = MADE(ibv_create_qp(o->pd, &attr));

	EXPECT(qp->qp_context == o && qp->state == IBV_QPS_RESET);
	EXPECT(attr.cap.max_send_wr >= (uint32_t)options->depth);
	return qp;
}

/* Memory as memory_new() has it. */
static struct memory alloc_memory(struct ibv_pd *pd)
{
	struct memory memory;

	OK(wv_alloc_mr(pd, MEMORY_BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
		       &memory.mr));
	memory.bytes = memory.mr->addr;
	for (size_t i = 0; i < MEMORY_BYTES; i++)
		EXPECT(!memory.bytes[i]);
	return memory;
}

static void create(struct objects *o)
{
	const struct options *options = o->options;
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = SRQ_SIZE, .max_sge = 1}};

	if (options->events)
		o->channel = MADE(ibv_create_comp_channel(o->context));
	o->pd = MADE(ibv_alloc_pd(o->context));
	o->send_cq = MADE(ibv_create_cq(o->context, options->cqe, &send_cookie, o->channel, 0));
	o->recv_cq = o->send_cq;
	if (options->two_cqs)
		o->recv_cq =
		    MADE(ibv_create_cq(o->context, options->cqe, &recv_cookie, o->channel, 0));
	EXPECT(o->send_cq->cqe >= options->cqe);
	if (options->srq)
		o->srq = MADE(ibv_create_srq(o->pd, &srq_attr));
	for (int i = 0; i < options->n_qps; i++)
		o->qp[i] = create_qp(o);
	o->memory = options->alloc_mr ? alloc_memory(o->pd) : memory_new(o->pd);
}

/* An object in use cannot be destroyed, and the attempt does it no harm. */
static void destroy_busy(struct objects *o)
{
	EXPECT(ibv_dealloc_pd(o->pd) == EBUSY);
	EXPECT(ibv_destroy_cq(o->send_cq) == EBUSY);
	if (o->srq)
		EXPECT(ibv_destroy_srq(o->srq) == EBUSY);
}

/* The kernel gives the new queue pair the old one's handle. */
static void recreate_last(struct objects *o)
{
	struct ibv_qp **last = &o->qp[o->options->n_qps - 1];

	OK(ibv_destroy_qp(*last));
	*last = create_qp(o);
}

static void init(struct objects *o, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init_attr;

	if (o->options->reset_first)
		OK(to_state(qp, IBV_QPS_RESET));
	OK(to_init(qp, o->options->access));
	OK(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT, &init_attr));
	EXPECT(attr.qp_state == IBV_QPS_INIT && attr.port_num == PORT);
	EXPECT(attr.qp_access_flags == o->options->access);
}

/* Pairs of neighbours are connected; a last one alone is its own peer. */
static void connect_all(struct objects *o)
{
	int n = o->options->n_qps;

	for (int i = 0; i < n; i++)
		OK(to_rtr(o->qp[i], o->qp[(i ^ 1) < n ? i ^ 1 : i]->qp_num));
	for (int i = 0; i < n; i++)
		OK(to_rts(o->qp[i]));
}

/* Polls @cq until it is empty; returns the number of completions. */
static int drain(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n = 0;

	while (DONE(ibv_poll_cq(cq, 1, &wc))) {
		EXPECT(wc.status == IBV_WC_SUCCESS);
		n++;
	}
	return n;
}

/* The completion queue of the next event. */
static struct ibv_cq *next_event(struct objects *o)
{
	struct pollfd wait = {.fd = o->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *cookie;

	EXPECT(poll(&wait, 1, WAIT_MS) == 1);
	OK(ibv_get_cq_event(o->channel, &cq, &cookie));
	EXPECT(cq == o->send_cq || cq == o->recv_cq);
	EXPECT(cookie == (cq == o->send_cq ? &send_cookie : &recv_cookie));
	ibv_ack_cq_events(cq, 1);
	return cq;
}

static void await_by_events(struct objects *o, int n)
{
	bool send_seen = false, recv_seen = false;

	while (n > 0) {
		struct ibv_cq *cq = next_event(o);

		send_seen |= cq == o->send_cq;
		recv_seen |= cq == o->recv_cq;
		OK(ibv_req_notify_cq(cq, 0));
		n -= drain(cq);
	}
	EXPECT(n == 0 && send_seen && recv_seen);
}

static void await(struct objects *o)
{
	if (o->options->events) {
		await_by_events(o, 2);
		return;
	}
	await_completions(o->send_cq, o->options->two_cqs ? 1 : 2);
	if (o->options->two_cqs)
		await_completions(o->recv_cq, 1);
}

static void arm(struct objects *o)
{
	OK(ibv_req_notify_cq(o->send_cq, 0));
	if (o->options->two_cqs)
		OK(ibv_req_notify_cq(o->recv_cq, 0));
}

/* Each queue pair sends to its peer. */
static void exchange(struct objects *o)
{
	char text[PAYLOAD];

	for (int i = 0; i < o->options->n_qps; i++) {
		struct ibv_qp *to = o->qp[(i ^ 1) < o->options->n_qps ? i ^ 1 : i];

		snprintf(text, sizeof(text), "from %d", i);
		if (!o->srq)
			post_receive(to, o->memory);
		if (o->options->events)
			arm(o);
		OK(post_text(o->qp[i], o->memory, text));
		await(o);
		EXPECT(arrived(o->memory, text));
	}
}

static void await_limit_event(struct objects *o)
{
	struct pollfd wait = {.fd = o->context->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	EXPECT(poll(&wait, 1, WAIT_MS) == 1);
	OK(ibv_get_async_event(o->context, &event));
	EXPECT(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && event.element.srq == o->srq);
	ibv_ack_async_event(&event);
	printf("limit reached\n");
}

static void use(struct objects *o)
{
	struct ibv_srq_attr limit = {.srq_limit = SRQ_SIZE - 1};

	if (o->srq)
		for (int i = 0; i < SRQ_SIZE; i++)
			post_srq_receive(o->srq, o->memory);
	if (o->options->limit)
		OK(ibv_modify_srq(o->srq, &limit, IBV_SRQ_LIMIT));
	exchange(o);
	if (o->options->limit)
		await_limit_event(o);
}

static void destroy(struct objects *o)
{
	for (int i = 0; i < o->options->n_qps; i++)
		OK(ibv_destroy_qp(o->qp[i]));
	if (o->srq)
		OK(ibv_destroy_srq(o->srq));
	OK(ibv_destroy_cq(o->send_cq));
	if (o->options->two_cqs)
		OK(ibv_destroy_cq(o->recv_cq));
	if (o->channel)
		OK(ibv_destroy_comp_channel(o->channel));
	if (o->options->alloc_mr)
		OK(wv_free_mr(o->memory.mr));
	else
		memory_free(o->memory);
	OK(ibv_dealloc_pd(o->pd));
	OK(ibv_close_device(o->context));
}

static void run(struct objects *o)
{
	const struct options *options = o->options;

	pause_at(o, "opened");
	create(o);
	if (options->busy)
		destroy_busy(o);
	if (options->recreate)
		recreate_last(o);
	pause_at(o, "created");
	for (int i = 0; i < options->n_qps; i++)
		init(o, o->qp[i]);
	pause_at(o, "init");
	if (!options->stop_at_init) {
		connect_all(o);
		pause_at(o, "connected");
		use(o);
	}
	destroy(o);
	pause_at(o, "done");
	printf("%d queue pairs, ok\n", options->n_qps);
}

int main(void)
{
	struct options options = read_options();
	struct objects objects[MAX_QPS] = {0};
	struct ibv_device **list = MADE(ibv_get_device_list(NULL));

	EXPECT(list[0] && options.opens >= 1 && options.opens <= MAX_QPS);
	objects[0].options = &options;
	pause_at(&objects[0], "listed");
	for (int i = 0; i < options.opens; i++) {
		objects[i].options = &options;
		objects[i].context = MADE(ibv_open_device(list[0]));
	}
	ibv_free_device_list(list);
	for (int i = 0; i < options.opens; i++)
		run(&objects[i]);
	return 0;
}
