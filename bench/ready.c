/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes one queue pair ready, and prints how long each verb took. It exits without destroying
 * anything, so that every counted command was needed to get there. An ordinary program: it knows
 * nothing of warmverbs.
 */
#include "loopback.h"
#include "making.h"
#include "measure.h"
#include "start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum verb {
	GET_DEVICE_LIST,
	OPEN_DEVICE,
	ALLOC_PD,
	CREATE_CQ,
	CREATE_SRQ,
	CREATE_QP,
	MODIFY_INIT,
	MODIFY_RTR,
	MODIFY_RTS,
	VERBS
};

static const char *const names[VERBS] = {
    [GET_DEVICE_LIST] = "get_device_list",
    [OPEN_DEVICE] = "open_device",
    [ALLOC_PD] = "alloc_pd",
    [CREATE_CQ] = "create_cq",
    [CREATE_SRQ] = "create_srq",
    [CREATE_QP] = "create_qp",
    [MODIFY_INIT] = "modify_init",
    [MODIFY_RTR] = "modify_rtr",
    [MODIFY_RTS] = "modify_rts",
};

static uint64_t spent[VERBS];
static uint64_t last;
static enum verb until = VERBS;

static _Noreturn void finish(enum verb ended)
{
	for (enum verb verb = 0; verb <= ended; verb++) {
		if (spent[verb])
			printf("%s %lu\n", names[verb], (unsigned long)spent[verb]);
	}
	exit(fflush(stdout) ? 1 : 0);
}

static void end(enum verb verb)
{
	uint64_t now = clock_ns();

	spent[verb] = now - last;
	if (verb == until)
		finish(verb);
	last = clock_ns();
}

static void run(const struct making_kind *kind)
{
	struct making m = {.gid_index = START_GID_INDEX};
	struct ibv_device **list;
	enum verb verb = CREATE_QP;

	last = clock_ns();
	list = made(ibv_get_device_list(NULL), "ibv_get_device_list");
	end(GET_DEVICE_LIST);
	making_open(&m, list, NULL);
	end(OPEN_DEVICE);
	m.pd = made(ibv_alloc_pd(m.context), "ibv_alloc_pd");
	end(ALLOC_PD);
	m.cq = making_cq(&m);
	end(CREATE_CQ);
	if (kind->has_srq) {
		m.srq = making_srq(&m);
		end(CREATE_SRQ);
	}
	m.qp = kind->create(&m);
	end(verb);
	for (unsigned int i = 0; i < kind->n_moves; i++) {
		making_move(&m, &kind->moves[i]);
		end(++verb);
	}
	finish(verb);
}

static _Noreturn void usage(FILE *to, int status)
{
	fputs("usage: ready [-u VERB] " MAKING_NAMES "\n"
	      "Prints the nanoseconds of each verb until a queue pair of that kind is ready.\n"
	      "  -u VERB  end after this one, named as in the output\n",
	      to);
	exit(status);
}

static enum verb find_verb(const char *name)
{
	enum verb verb = 0;

	while (verb < VERBS && strcmp(names[verb], name) != 0)
		verb++;
	if (verb == VERBS)
		give_up(0, "there is no verb %s", name);
	return verb;
}

int main(int argc, char **argv)
{
	const struct making_kind *kind;
	int c;

	while ((c = getopt(argc, argv, "u:h")) != -1) {
		if (c == 'u')
			until = find_verb(optarg);
		else
			usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
	}
	kind = optind == argc - 1 ? making_find(argv[optind]) : NULL;
	if (!kind)
		usage(stderr, 2);
	run(kind);
}
