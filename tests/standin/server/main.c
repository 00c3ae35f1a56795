/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * standin-hca serve --socket PATH [--model FILE]: plays the kernel and an mlx5 adapter to processes
 * that have libstandin.so preloaded. Prints "ready" when it can be asked.
 * standin-hca ctl WORDS...: asks the server at $STANDIN_SOCKET and prints its answer, JSON.
 */
#include "ask.h"
#include "kernel.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The tables of numbers are large. */
static struct hca hca;

/* How often ufiles are checked that only mappings keep: no event tells when the last one goes. */
#define REAP_MS 1

static struct hca_events *find_events(uint64_t inode)
{
	struct hca_ufile *ufile;

	LIST_FOREACH (ufile, &hca.ufiles, of_hca) {
		struct hca_events *events = hca_events_by_inode(ufile, inode, true);

		if (!events)
			events = hca_events_by_inode(ufile, inode, false);
		if (events)
			return events;
	}
	return NULL;
}

/* The object of the event may be gone by now, so the event has its name, not a pointer. */
static void handle(const struct epoll_event *event)
{
	uint64_t id = event->data.u64 & (HCA_WATCH_ID(1, 0) - 1);
	struct hca_ufile *ufile;
	struct hca_events *events;

	switch (event->data.u64 >> 60) {
	case HCA_WATCH_LISTEN:
		hca_accept(&hca);
		break;
	case HCA_WATCH_UFILE:
		ufile = hca_ufile_by_cookie(&hca, id);
		if (ufile && event->events & (EPOLLHUP | EPOLLRDHUP))
			hca_ufile_close(ufile);
		break;
	case HCA_WATCH_EVENTS:
		events = find_events(id);
		if (events && event->events & (EPOLLERR | EPOLLHUP))
			hca_events_close(events);
		else if (events)
			hca_events_flush(events);
		break;
	}
}

static int run(void)
{
	bool lingering = false;

	for (;;) {
		struct epoll_event event;
		int n = epoll_wait(hca.epoll, &event, 1, lingering ? REAP_MS : -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		hca_lock(&hca);
		if (n > 0)
			handle(&event);
		lingering = hca_reap(&hca);
		hca_unlock(&hca);
	}
}

static int open_nodes(const char *socket_path)
{
	const char *slash = strrchr(socket_path, '/');
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/" STANDIN_NODES, slash ? (int)(slash - socket_path) : 0,
		 socket_path);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int serve(const char *socket_path, const char *model)
{
	struct hca_oracle *oracle = hca_oracle_new();
	int error = 0;

	if (!oracle)
		return -ENOMEM;
	/* Ends with the process that started it. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	if (model)
		error = hca_oracle_load_model(oracle, model);
	if (error)
		return error;
	hca_init(&hca, oracle);
	hca.nodes = open_nodes(socket_path);
	hca.epoll = epoll_create1(EPOLL_CLOEXEC);
	error = hca_listen(&hca, socket_path);
	if (!error)
		error = hca_data_start(&hca);
	if (error)
		return error;
	puts("ready");
	fflush(stdout);
	return run();
}

static int usage(void)
{
	fputs("usage: standin-hca serve --socket PATH [--model FILE]\n"
	      "       standin-hca ctl WORDS...\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"socket", required_argument, NULL, 's'}, {"model", required_argument, NULL, 'm'}, {0}};
	const char *socket_path = NULL, *model = NULL;
	int option, error;

	if (argc > 2 && !strcmp(argv[1], "ctl"))
		return hca_ask(argc - 2, argv + 2);
	if (argc < 2 || strcmp(argv[1], "serve") != 0)
		return usage();
	while ((option = getopt_long(argc - 1, argv + 1, "", options, NULL)) != -1) {
		if (option == 's')
			socket_path = optarg;
		else if (option == 'm')
			model = optarg;
		else
			return usage();
	}
	if (!socket_path)
		return usage();
	error = serve(socket_path, model);
	fprintf(stderr, "standin-hca: %s\n", strerror(-error));
	return 1;
}
