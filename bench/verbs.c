/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls the verbs of one group again and again, and prints every call: its name and nanoseconds.
 * Groups are processes of their own, because a device may lack what one of them needs. An ordinary
 * program, for any device: tools/bench verbs builds it without anything else of warmverbs.
 */
#include "loopback.h"
#include "making.h"
#include "measure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FEWEST	  3
#define MOST	  100
#define ENOUGH_NS 300000000 /* for one verb and size, once it was called FEWEST times */
#define MOST_QPS  256
#define KB	  1024ul
#define MB	  (1024 * KB)

struct bed {
	struct making m;
	const char *device;
	unsigned int qps;
};

/* Many calls of what is fast, few of what is slow. */
struct calls {
	unsigned int made;
	uint64_t since;
};

static bool again(struct calls *calls)
{
	if (!calls->made)
		calls->since = clock_ns();
	if (calls->made >= FEWEST && clock_ns() - calls->since > ENOUGH_NS)
		return false;
	return calls->made++ < MOST;
}

static uint64_t began;

static void begin(void)
{
	began = clock_ns();
}

static __attribute__((format(printf, 1, 2))) void end(const char *format, ...)
{
	uint64_t spent = clock_ns() - began;
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" %lu\n", (unsigned long)spent);
}

static void need(int err, const char *verb)
{
	if (err)
		give_up(err, "%s", verb);
}

/* The first list of a process loads the providers, the others do not. */
static struct ibv_device **list_devices(void)
{
	static bool listed;
	struct ibv_device **list;

	begin();
	list = made(ibv_get_device_list(NULL), "ibv_get_device_list");
	end("get_device_list%s", listed ? "" : ", first");
	listed = true;
	return list;
}

static void devices(struct bed *b)
{
	struct making *m = &b->m;
	struct calls calls = {0};

	while (again(&calls)) {
		struct ibv_device **list = list_devices();

		begin();
		making_open(m, list, b->device);
		end("open_device");
		begin();
		m->pd = made(ibv_alloc_pd(m->context), "ibv_alloc_pd");
		end("alloc_pd");
		begin();
		need(ibv_dealloc_pd(m->pd), "ibv_dealloc_pd");
		end("dealloc_pd");
		begin();
		need(ibv_close_device(m->context), "ibv_close_device");
		end("close_device");
		ibv_free_device_list(list);
	}
}

static void open_once(struct bed *b)
{
	making_open(&b->m, list_devices(), b->device);
	b->m.pd = made(ibv_alloc_pd(b->m.context), "ibv_alloc_pd");
}

static void region(const struct bed *b, const char *size, size_t bytes, bool touched)
{
	struct calls calls = {0};

	while (again(&calls)) {
		void *memory = private_memory(bytes);
		struct ibv_mr *mr;

		if (touched)
			memset(memory, 1, bytes);
		begin();
		mr = ibv_reg_mr(b->m.pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE);
		if (!mr)
			give_up(errno, "ibv_reg_mr, %s", size);
		end("reg_mr %s%s", size, touched ? "" : ", untouched");
		begin();
		need(ibv_dereg_mr(mr), "ibv_dereg_mr");
		end("dereg_mr %s", size);
		munmap(memory, bytes);
	}
}

static void regions(struct bed *b)
{
	static const struct {
		const char *size;
		size_t bytes;
	} sizes[] = {
	    {"4 KB", 4 * KB},	{"64 KB", 64 * KB},   {"1 MB", MB},
	    {"16 MB", 16 * MB}, {"256 MB", 256 * MB},
	};

	open_once(b);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		region(b, sizes[i].size, sizes[i].bytes, true);
		region(b, sizes[i].size, sizes[i].bytes, false);
	}
}

static void cqs_of(const struct bed *b, const char *name, int entries)
{
	struct calls calls = {0};

	while (again(&calls)) {
		struct ibv_cq *cq;

		begin();
		cq = ibv_create_cq(b->m.context, entries, NULL, NULL, 0);
		if (!cq)
			give_up(errno, "ibv_create_cq of %d entries", entries);
		end("create_cq %s", name);
		begin();
		need(ibv_destroy_cq(cq), "ibv_destroy_cq");
		end("destroy_cq %s", name);
	}
}

static void cqs(struct bed *b)
{
	static const int sizes[] = {16, 256, 4096, 65536};
	struct ibv_device_attr attr;
	char name[16];

	open_once(b);
	need(ibv_query_device(b->m.context, &attr), "ibv_query_device");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(name, sizeof(name), "%d", sizes[i]);
		if (sizes[i] < attr.max_cqe)
			cqs_of(b, name, sizes[i]);
	}
	printf("max_cqe %d\n", attr.max_cqe);
	cqs_of(b, "max_cqe", attr.max_cqe);
}

static void srqs(struct bed *b)
{
	struct calls calls = {0};

	open_once(b);
	while (again(&calls)) {
		struct ibv_srq *srq;

		begin();
		srq = making_srq(&b->m);
		end("create_srq");
		begin();
		need(ibv_destroy_srq(srq), "ibv_destroy_srq");
		end("destroy_srq");
	}
}

/* What follows the name of a verb, where several queue pairs exist at a time. */
static const char *beside(const struct bed *b)
{
	static char text[24];

	*text = '\0';
	if (b->qps > 1)
		snprintf(text, sizeof(text), ", %u QPs", b->qps);
	return text;
}

static void move_alone(struct bed *b, const struct making_kind *kind)
{
	static const char *const states[] = {
	    [IBV_QPS_INIT] = "INIT", [IBV_QPS_RTR] = "RTR", [IBV_QPS_RTS] = "RTS"};

	for (unsigned int i = 0; i < kind->n_moves; i++) {
		begin();
		making_move(&b->m, &kind->moves[i]);
		end("%s to %s%s", kind->name, states[kind->moves[i].to], beside(b));
	}
}

/* Where queue pairs are connected by TCP, verbs alone do not connect them. */
static bool needs_peer(const struct bed *b, const struct making_kind *kind)
{
	return kind->moves[kind->n_moves - 1].to == IBV_QPS_INIT &&
	       b->m.context->device->transport_type != IBV_TRANSPORT_IWARP;
}

static void connect_to_itself(struct bed *b, const struct making_kind *kind)
{
	struct loopback loopback;

	loopback_init(&loopback, b->m.context, b->m.gid_index);
	begin();
	modify_to_rtr(b->m.qp, &loopback);
	end("%s to RTR%s", kind->name, beside(b));
	begin();
	modify_to_rts(b->m.qp);
	end("%s to RTS%s", kind->name, beside(b));
}

static void qps_once(struct bed *b, const struct making_kind *kind)
{
	struct ibv_qp *qps[MOST_QPS];
	const unsigned int n = b->qps;

	for (unsigned int i = 0; i < n; i++) {
		begin();
		qps[i] = kind->create(&b->m);
		end("create_qp %s%s", kind->name, beside(b));
	}
	for (unsigned int i = 0; i < n; i++) {
		b->m.qp = qps[i];
		move_alone(b, kind);
		if (needs_peer(b, kind))
			connect_to_itself(b, kind);
	}
	for (unsigned int i = 0; i < n; i++) {
		begin();
		need(ibv_destroy_qp(qps[i]), "ibv_destroy_qp");
		end("destroy_qp %s%s", kind->name, beside(b));
	}
}

static void qps(struct bed *b, const struct making_kind *kind)
{
	struct calls calls = {0};

	open_once(b);
	b->m.cq = making_cq(&b->m);
	if (kind->has_srq)
		b->m.srq = making_srq(&b->m);
	while (again(&calls))
		qps_once(b, kind);
}

static const struct group {
	const char *name;
	void (*run)(struct bed *b);
} groups[] = {{"device", devices}, {"mr", regions}, {"cq", cqs}, {"srq", srqs}};

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: verbs [-d DEVICE] [-g INDEX] [-q QPS] GROUP\n"
	      "Prints every call of the group's verbs, and how many nanoseconds it took.\n"
	      "  -d DEVICE  default: the first\n"
	      "  -g INDEX   GID to connect to (default: 0)\n"
	      "  -q QPS     queue pairs at a time, up to 256 (default: 1)\n"
	      "  GROUP      device | mr | cq | srq | " MAKING_NAMES "\n",
	      to);
	exit(status);
}

static void run(struct bed *b, const char *name)
{
	const struct making_kind *kind;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (strcmp(groups[i].name, name) == 0) {
			groups[i].run(b);
			return;
		}
	kind = making_find(name);
	if (!kind)
		usage(stderr, 2);
	qps(b, kind);
}

int main(int argc, char **argv)
{
	struct bed b = {.qps = 1};
	int c;

	while ((c = getopt(argc, argv, "d:g:q:h")) != -1) {
		switch (c) {
		case 'd':
			b.device = optarg;
			break;
		case 'g':
			b.m.gid_index = (int)number(optarg, 0);
			break;
		case 'q':
			b.qps = (unsigned int)number(optarg, 1);
			break;
		default:
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
		}
	}
	if (optind != argc - 1 || b.qps > MOST_QPS)
		usage(stderr, 2);
	clock_ns(); /* The first call binds it. */
	run(&b, argv[optind]);
	return fflush(stdout) ? 1 : 0;
}
