/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a program that has connected queue pairs and registered memory: how long each kind of
 * destroy call takes, or, with -x, how long the kernel takes where there was none. For the latter,
 * it prints how old it was when it left; burst.c tells it when it was started, and prints how long
 * it lived. An ordinary program: it knows nothing of warmverbs.
 */
#include "loopback.h"
#include "measure.h"
#include "stamp.h"
#include "start.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEGABYTE (1ul << 20)

struct options {
	unsigned long qps, bytes;
	int gid_index;
	bool exit_only;
};

struct objects {
	struct start start;
	struct ibv_mr *mr;
	struct ibv_qp **qps;
};

static uint64_t last;

static void end(const char *what)
{
	uint64_t now = clock_ns();

	printf("%s %lu\n", what, (unsigned long)(now - last));
	last = now;
}

static void need(int err, const char *verb)
{
	if (err)
		give_up(err, "%s", verb);
}

/* One after the other, as programs do that know how many peers they will have. */
static void make(struct objects *o, const struct options *options)
{
	struct loopback loopback;
	void *memory = private_memory(options->bytes);

	o->qps = made(calloc(options->qps, sizeof(*o->qps)), "memory");
	start_to_cq(&o->start);
	for (unsigned long i = 0; i < options->qps; i++) {
		o->qps[i] = start_new_qp(&o->start);
		modify_to_init(o->qps[i]);
	}
	loopback_init(&loopback, o->start.context, options->gid_index);
	for (unsigned long i = 0; i < options->qps; i++) {
		modify_to_rtr(o->qps[i], &loopback);
		modify_to_rts(o->qps[i]);
	}
	memset(memory, 1, options->bytes);
	o->mr = start_memory(&o->start, memory, options->bytes);
}

static void destroy(const struct objects *o, unsigned long qps)
{
	last = clock_ns();
	for (unsigned long i = 0; i < qps; i++)
		need(ibv_destroy_qp(o->qps[i]), "ibv_destroy_qp");
	end("destroy_qps");
	need(ibv_destroy_cq(o->start.cq), "ibv_destroy_cq");
	end("destroy_cq");
	need(ibv_dereg_mr(o->mr), "ibv_dereg_mr");
	end("dereg_mr");
	need(ibv_dealloc_pd(o->start.pd), "ibv_dealloc_pd");
	end("dealloc_pd");
	need(ibv_close_device(o->start.context), "ibv_close_device");
	end("close_device");
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs(
	    "usage: teardown [-q QPS] [-r MEGABYTES] [-g INDEX] [-x]\n"
	    "Prints the nanoseconds of each kind of destroy call, and the age of the process when\n"
	    "it left, if it was told when it began.\n"
	    "  -q QPS        queue pairs, each connected with itself (default: 1)\n"
	    "  -r MEGABYTES  memory to register (default: 1)\n"
	    "  -g INDEX      GID to connect to (default: 1)\n"
	    "  -x            exit, and destroy nothing\n",
	    to);
	exit(status);
}

static struct options parse(int argc, char **argv)
{
	struct options o = {.qps = 1, .bytes = MEGABYTE, .gid_index = START_GID_INDEX};
	int c;

	while ((c = getopt(argc, argv, "q:r:g:xh")) != -1) {
		switch (c) {
		case 'q':
			o.qps = number(optarg, 1);
			break;
		case 'r':
			o.bytes = number(optarg, 1) * MEGABYTE;
			break;
		case 'g':
			o.gid_index = (int)number(optarg, 0);
			break;
		case 'x':
			o.exit_only = true;
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
	const char *stamp = getenv(STAMP_ENV);
	struct objects objects = {0};

	make(&objects, &options);
	if (!options.exit_only)
		destroy(&objects, options.qps);
	if (fflush(stdout))
		return 1;
	if (stamp)
		printf("left %lu\n", (unsigned long)(clock_ns() - strtoull(stamp, NULL, 10)));
	return fflush(stdout) ? 1 : 0;
}
