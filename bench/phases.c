/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes through what a verbs program does until its queue pairs are ready, and prints how long each
 * phase took. An ordinary program: it knows nothing of warmverbs.
 */
#include "loopback.h"
#include "measure.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CQ_ENTRIES  256
#define QUEUE_DEPTH 128
#define MESSAGE	    64

enum phase {
	GET_DEVICE_LIST,
	OPEN_DEVICE,
	ALLOC_PD,
	REG_MR,
	CREATE_CQ,
	CREATE_SRQ,
	CREATE_QP,
	MODIFY_INIT,
	QUERY_PORT_AND_GID,
	MODIFY_RTR,
	MODIFY_RTS,
	DATA,
	DESTROY,
	PHASES
};

static const char *const phase_names[PHASES] = {
    [GET_DEVICE_LIST] = "get_device_list",
    [OPEN_DEVICE] = "open_device",
    [ALLOC_PD] = "alloc_pd",
    [REG_MR] = "reg_mr",
    [CREATE_CQ] = "create_cq",
    [CREATE_SRQ] = "create_srq",
    [CREATE_QP] = "create_qp",
    [MODIFY_INIT] = "modify_init",
    [QUERY_PORT_AND_GID] = "query_port_and_gid",
    [MODIFY_RTR] = "modify_rtr",
    [MODIFY_RTS] = "modify_rts",
    [DATA] = "data",
    [DESTROY] = "destroy",
};

struct options {
	size_t bytes; /* of the memory region */
	unsigned int qps;
	int gid_index;
	bool srq, check;
};

struct objects {
	struct ibv_device **list;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp **qps;
};

static uint64_t spent[PHASES];
static uint64_t last;

/* Ends @phase: all that happened since the one before is its. */
static void end(enum phase phase)
{
	uint64_t now = clock_ns();

	spent[phase] = now - last;
	last = now;
}

static void open_first_device(struct objects *o)
{
	o->list = made(ibv_get_device_list(NULL), "ibv_get_device_list");
	end(GET_DEVICE_LIST);
	if (!o->list[0])
		give_up(0, "no RDMA device here; tools/lab run makes a software one");
	o->context = made(ibv_open_device(o->list[0]), "ibv_open_device");
	end(OPEN_DEVICE);
}

static struct ibv_srq *create_srq(struct ibv_pd *pd)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = QUEUE_DEPTH, .max_sge = 1}};

	return made(ibv_create_srq(pd, &attr), "ibv_create_srq");
}

static struct ibv_qp *create_qp(const struct objects *o)
{
	struct ibv_qp_init_attr attr = {
	    .send_cq = o->cq,
	    .recv_cq = o->cq,
	    .srq = o->srq,
	    .cap =
		{
		    .max_send_wr = QUEUE_DEPTH,
		    .max_recv_wr = o->srq ? 0 : QUEUE_DEPTH,
		    .max_send_sge = 1,
		    .max_recv_sge = o->srq ? 0 : 1,
		},
	    .qp_type = IBV_QPT_RC,
	};

	return made(ibv_create_qp(o->pd, &attr), "ibv_create_qp");
}

static void create_objects(struct objects *o, const struct options *options, void *memory)
{
	o->pd = made(ibv_alloc_pd(o->context), "ibv_alloc_pd");
	end(ALLOC_PD);
	o->mr = made(
	    ibv_reg_mr(o->pd, memory, options->bytes,
		       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ),
	    "ibv_reg_mr");
	end(REG_MR);
	o->cq = made(ibv_create_cq(o->context, CQ_ENTRIES, NULL, NULL, 0), "ibv_create_cq");
	end(CREATE_CQ);
	if (options->srq)
		o->srq = create_srq(o->pd);
	end(CREATE_SRQ);
	for (unsigned int i = 0; i < options->qps; i++)
		o->qps[i] = create_qp(o);
	end(CREATE_QP);
}

static void connect_qps(struct objects *o, const struct options *options)
{
	struct loopback loopback;

	for (unsigned int i = 0; i < options->qps; i++)
		modify_to_init(o->qps[i]);
	end(MODIFY_INIT);
	loopback_init(&loopback, o->context, options->gid_index);
	end(QUERY_PORT_AND_GID);
	for (unsigned int i = 0; i < options->qps; i++)
		modify_to_rtr(o->qps[i], &loopback);
	end(MODIFY_RTR);
	for (unsigned int i = 0; i < options->qps; i++)
		modify_to_rts(o->qps[i]);
	end(MODIFY_RTS);
}

/* Sends @text from the beginning of the memory region to its second message, over @qp. */
static void check_data(const struct objects *o, struct ibv_qp *qp, const char *text)
{
	char *from = o->mr->addr, *to = from + MESSAGE;
	struct ibv_sge to_sge = {(uintptr_t)to, MESSAGE, o->mr->lkey};
	struct ibv_sge from_sge = {(uintptr_t)from, MESSAGE, o->mr->lkey};
	struct ibv_recv_wr recv = {.sg_list = &to_sge, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr send =
			       {
				   .sg_list = &from_sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED,
			       },
			   *bad_send;
	int err;

	memset(to, 0, MESSAGE);
	strncpy(from, text, MESSAGE);
	err = o->srq ? ibv_post_srq_recv(o->srq, &recv, &bad_recv)
		     : ibv_post_recv(qp, &recv, &bad_recv);
	if (!err)
		err = ibv_post_send(qp, &send, &bad_send);
	if (err)
		give_up(err, "posting a work request");
	await_completions(o->cq, 2);
	if (memcmp(from, to, MESSAGE) != 0)
		give_up(0, "QP %u received other data than was sent", qp->qp_num);
}

static void check_all(const struct objects *o, unsigned int qps)
{
	char text[MESSAGE];

	for (unsigned int i = 0; i < qps; i++) {
		snprintf(text, sizeof(text), "sent over queue pair %u", i);
		check_data(o, o->qps[i], text);
	}
}

static void ended(int err, const char *verb)
{
	if (err)
		give_up(err, "%s", verb);
}

static void destroy(struct objects *o, unsigned int qps)
{
	for (unsigned int i = 0; i < qps; i++)
		ended(ibv_destroy_qp(o->qps[i]), "ibv_destroy_qp");
	if (o->srq)
		ended(ibv_destroy_srq(o->srq), "ibv_destroy_srq");
	ended(ibv_destroy_cq(o->cq), "ibv_destroy_cq");
	ended(ibv_dereg_mr(o->mr), "ibv_dereg_mr");
	ended(ibv_dealloc_pd(o->pd), "ibv_dealloc_pd");
	ended(ibv_close_device(o->context), "ibv_close_device");
	ibv_free_device_list(o->list);
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: phases [-q QPS] [-s] [-r BYTES] [-g INDEX] [-c]\n"
	      "Prints the nanoseconds that each phase of an RC program's start took.\n"
	      "  -q QPS    queue pairs, each connected with itself (default: 1)\n"
	      "  -s        the queue pairs share one receive queue\n"
	      "  -r BYTES  memory to register (default: 1048576)\n"
	      "  -g INDEX  GID to connect to (default: 1)\n"
	      "  -c        send a message over each queue pair and compare what arrives\n",
	      to);
	exit(status);
}

static struct options parse(int argc, char **argv)
{
	struct options o = {.bytes = 1 << 20, .qps = 1, .gid_index = 1};
	int c;

	while ((c = getopt(argc, argv, "q:sr:g:ch")) != -1) {
		switch (c) {
		case 'q':
			o.qps = (unsigned int)number(optarg, 1);
			break;
		case 's':
			o.srq = true;
			break;
		case 'r':
			o.bytes = number(optarg, 2 * MESSAGE);
			break;
		case 'g':
			o.gid_index = (int)number(optarg, 0);
			break;
		case 'c':
			o.check = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
		}
	}
	if (optind != argc)
		usage(stderr, 2);
	return o;
}

int main(int argc, char **argv)
{
	struct options options = parse(argc, argv);
	struct objects o = {.qps = made(calloc(options.qps, sizeof(*o.qps)), "calloc")};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory =
	    made(aligned_alloc(page, (options.bytes + page - 1) / page * page), "memory");

	clock_ns(); /* The first call binds it. */
	last = clock_ns();
	open_first_device(&o);
	create_objects(&o, &options, memory);
	connect_qps(&o, &options);
	if (options.check)
		check_all(&o, options.qps);
	end(DATA);
	destroy(&o, options.qps);
	end(DESTROY);
	for (int i = 0; i < PHASES; i++)
		printf("%s %lu\n", phase_names[i], (unsigned long)spent[i]);
	free(memory);
	free(o.qps);
	return fflush(stdout) ? 1 : 0;
}
