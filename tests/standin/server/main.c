/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * standin-hca serve --socket PATH... [--model FILE]: plays the kernel and an mlx5 adapter to
 * processes that have libstandin.so preloaded; with several sockets, a kernel and an adapter behind
 * each, on one network. Prints "ready" when it can be asked.
 * standin-hca ctl WORDS...: asks the server at $STANDIN_SOCKET and prints its answer, JSON.
 */
#include "ask.h"
#include "kernel.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct hca_net net = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* How often ufiles are checked that only mappings keep: no event tells when the last one goes. */
#define REAP_MS 1

#define MAX_ADAPTERS 8

static struct hca_events *find_events(struct hca *hca, uint64_t inode)
{
	struct hca_ufile *ufile;

	LIST_FOREACH (ufile, &hca->ufiles, of_hca) {
		struct hca_events *events = hca_events_by_inode(ufile, inode, true);

		if (!events)
			events = hca_events_by_inode(ufile, inode, false);
		if (events)
			return events;
	}
	return NULL;
}

/* The object of the event may be gone by now, so the event has its name, not a pointer. */
static void handle(struct hca *hca, const struct epoll_event *event)
{
	uint64_t id = event->data.u64 & (HCA_WATCH_ID(1, 0) - 1);
	struct hca_ufile *ufile;
	struct hca_events *events;

	switch (event->data.u64 >> 60) {
	case HCA_WATCH_LISTEN:
		hca_accept(hca);
		break;
	case HCA_WATCH_UFILE:
		ufile = hca_ufile_by_cookie(hca, id);
		if (ufile && event->events & (EPOLLHUP | EPOLLRDHUP))
			hca_ufile_close(ufile);
		break;
	case HCA_WATCH_EVENTS:
		events = find_events(hca, id);
		if (events && event->events & (EPOLLERR | EPOLLHUP))
			hca_events_close(events);
		else if (events)
			hca_events_flush(events);
		break;
	}
}

static void *run(void *arg)
{
	struct hca *hca = arg;
	bool lingering = false;

	for (;;) {
		struct epoll_event event;
		int n = epoll_wait(hca->epoll, &event, 1, lingering ? REAP_MS : -1);

		hca_lock(hca);
		if (n > 0)
			handle(hca, &event);
		lingering = hca_reap(hca);
		hca_unlock(hca);
	}
	return NULL;
}

static int open_folder(const char *socket_path)
{
	const char *slash = strrchr(socket_path, '/');
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/", slash ? (int)(slash - socket_path) : 1,
		 slash ? socket_path : ".");
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int add_adapter(unsigned int number, const char *socket_path, const char *model)
{
	struct hca *hca = calloc(1, sizeof(*hca));
	struct hca_oracle *oracle = hca_oracle_new();
	pthread_t thread;
	int error = 0;

	if (!hca || !oracle)
		return -ENOMEM;
	if (model)
		error = hca_oracle_load_model(oracle, model);
	if (error)
		return error;
	hca->folder = open_folder(socket_path);
	pthread_mutex_lock(&net.lock);
	hca_init(hca, &net, number, oracle);
	pthread_mutex_unlock(&net.lock);
	hca->epoll = epoll_create1(EPOLL_CLOEXEC);
	error = hca_listen(hca, socket_path);
	return error ? error : -pthread_create(&thread, NULL, run, hca);
}

static int serve(char *const *socket_paths, unsigned int n, const char *model)
{
	int error = 0;

	/* Ends with the process that started it. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	for (unsigned int i = 0; !error && i < n; i++)
		error = add_adapter(i + 1, socket_paths[i], model);
	if (!error)
		error = hca_data_start(&net);
	if (error)
		return error;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

static int usage(void)
{
	fputs("usage: standin-hca serve --socket PATH... [--model FILE]\n"
	      "       standin-hca ctl WORDS...\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"socket", required_argument, NULL, 's'}, {"model", required_argument, NULL, 'm'}, {0}};
	char *socket_paths[MAX_ADAPTERS];
	const char *model = NULL;
	unsigned int n = 0;
	int option, error;

	if (argc > 2 && !strcmp(argv[1], "ctl"))
		return hca_ask(argc - 2, argv + 2);
	if (argc < 2 || strcmp(argv[1], "serve") != 0)
		return usage();
	while ((option = getopt_long(argc - 1, argv + 1, "", options, NULL)) != -1) {
		if (option == 's' && n < MAX_ADAPTERS)
			socket_paths[n++] = optarg;
		else if (option == 'm')
			model = optarg;
		else
			return usage();
	}
	if (!n)
		return usage();
	error = serve(socket_paths, n, model);
	fprintf(stderr, "standin-hca: %s\n", strerror(-error));
	return 1;
}
