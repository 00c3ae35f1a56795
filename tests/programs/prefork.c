/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pre-fork server and its client, as ordinary programs. The server forks workers at its start.
 * Each serves some requests over queue pairs of its own and ends; another takes its place until all
 * requests are served.
 *
 *   prefork serve SOCKET WORKERS REQUESTS_OF_EACH REQUESTS_IN_ALL
 *   prefork ask SOCKET REQUESTS
 */
#include "kit.h"

#include <ctype.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define PATIENCE_S 60

/* What a process needs of the device; queue pairs come and go. */
struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct memory memory;
};

static struct side side_new(void)
{
	struct side side = {.context = open_device()};

	side.pd = MADE(ibv_alloc_pd(side.context));
	side.cq = MADE(ibv_create_cq(side.context, 16, NULL, NULL, 0));
	return side;
}

static void side_free(struct side *side)
{
	if (side->memory.mr)
		memory_free(side->memory);
	OK(ibv_destroy_cq(side->cq));
	OK(ibv_dealloc_pd(side->pd));
	OK(ibv_close_device(side->context));
}

/* Exchanges a number with the other side: that of its queue pair, and another once connected. */
static uint32_t swap(int connection, uint32_t mine)
{
	uint32_t others;

	EXPECT(send(connection, &mine, sizeof(mine), MSG_NOSIGNAL) == sizeof(mine));
	EXPECT(recv(connection, &others, sizeof(others), MSG_WAITALL) == sizeof(others));
	return others;
}

/* A queue pair that is connected to the other side's, with a receive posted. */
static struct ibv_qp *meet(struct side *side, int connection)
{
	struct ibv_qp_init_attr attr = {
	    .send_cq = side->cq,
	    .recv_cq = side->cq,
	    .cap = {4, 4, 1, 1, 0},
	    .qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = MADE(ibv_create_qp(side->pd, &attr));

	OK(to_init(qp, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	if (!side->memory.mr)
		side->memory = memory_new(side->pd);
	post_receive(qp, side->memory);
	OK(to_rtr(qp, swap(connection, qp->qp_num)));
	OK(to_rts(qp));
	swap(connection, 0);
	return qp;
}

static void answer(struct side *side, int connection)
{
	struct ibv_qp *qp = meet(side, connection);
	char text[PAYLOAD] = "";

	await_completions(side->cq, 1);
	for (int i = 0; i < PAYLOAD - 1; i++)
		text[i] = (char)toupper(side->memory.bytes[MEMORY_HALF + i]);
	OK(post_text(qp, side->memory, text));
	await_completions(side->cq, 1);
	swap(connection, 0);
	OK(ibv_destroy_qp(qp));
}

/* Requests that are left for all workers. */
static atomic_int *left;

/* The worker that serves the last request wakes those that wait. */
static void __attribute__((noreturn)) work(int listener, int requests)
{
	struct side side = {0};

	alarm(PATIENCE_S);
	for (int i = 0; i < requests; i++) {
		int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (connection < 0)
			break;
		if (!side.context)
			side = side_new();
		answer(&side, connection);
		close(connection);
		if (atomic_fetch_sub(left, 1) == 1)
			shutdown(listener, SHUT_RDWR);
	}
	if (side.context)
		side_free(&side);
	exit(0);
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	EXPECT(strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	return address;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = DONE(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));

	OK(bind(fd, (struct sockaddr *)&address, sizeof(address)));
	OK(listen(fd, 64));
	return fd;
}

static void start_worker(int listener, int requests)
{
	if (!DONE(fork()))
		work(listener, requests);
}

/* Replaces each worker that ends, as long as there are requests. */
static int serve(const char *path, int workers, int each, int all)
{
	int listener = listen_at(path), status;

	left = mmap(NULL, sizeof(*left), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(left != MAP_FAILED);
	*left = all;
	printf("listening\n");
	fflush(stdout);
	for (int i = 0; i < workers; i++)
		start_worker(listener, each);
	while (wait(&status) > 0) {
		EXPECT(!status);
		if (*left > 0)
			start_worker(listener, each);
	}
	unlink(path);
	printf("%d requests left\n", *left);
	return 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = DONE(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));

	OK(connect(fd, (struct sockaddr *)&address, sizeof(address)));
	return fd;
}

static void ask_one(struct side *side, int connection, int number)
{
	struct ibv_qp *qp = meet(side, connection);
	char text[PAYLOAD];

	snprintf(text, sizeof(text), "request %d", number);
	OK(post_text(qp, side->memory, text));
	await_completions(side->cq, 2);
	for (char *at = text; *at; at++)
		*at = (char)toupper(*at);
	EXPECT(arrived(side->memory, text));
	swap(connection, 0);
	OK(ibv_destroy_qp(qp));
	printf("%s\n", text);
}

static int ask(const char *path, int requests)
{
	struct side side = side_new();

	for (int i = 0; i < requests; i++) {
		int connection = connect_to(path);

		ask_one(&side, connection, i);
		close(connection);
	}
	side_free(&side);
	return 0;
}

int main(int argc, char **argv)
{
	alarm(PATIENCE_S);
	if (argc == 6 && !strcmp(argv[1], "serve"))
		return serve(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
	if (argc == 4 && !strcmp(argv[1], "ask"))
		return ask(argv[2], atoi(argv[3]));
	fprintf(stderr, "usage: prefork serve SOCKET WORKERS REQUESTS_OF_EACH REQUESTS_IN_ALL\n"
			"       prefork ask SOCKET REQUESTS\n");
	return 2;
}
