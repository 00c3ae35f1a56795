/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server: threads that serve clients, one after the other, each through a queue pair of its own.
 * The clients are in the same process. After some clients a thread destroys its CQ and begins anew,
 * and now and then it creates a child that uses nothing. The environment variable SERVER: the
 * number of threads, how often each begins, and how many clients it then serves.
 */
#include "kit.h"

#include <pthread.h>
#include <sys/wait.h>

#define MAX_THREADS 16

static int n_threads = 4, rounds = 3, clients = 12;
static struct ibv_context *context;
static struct ibv_pd *pd;

static struct ibv_qp *new_qp(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
	    .send_cq = cq,
	    .recv_cq = cq,
	    .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
	    .qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = MADE(ibv_create_qp(pd, &attr));

	EXPECT(attr.cap.max_send_wr >= 4 && attr.cap.max_recv_wr >= 4);
	EXPECT(qp->state == IBV_QPS_RESET);
	OK(to_init(qp, IBV_ACCESS_REMOTE_WRITE));
	EXPECT(qp->state == IBV_QPS_INIT);
	return qp;
}

/* One client, which sends a message that no other client sends. */
static void serve(struct ibv_cq *cq, struct memory memory, const char *text)
{
	struct ibv_qp *server = new_qp(cq), *client = new_qp(cq);

	connect_pair(server, client);
	post_receive(server, memory);
	OK(post_text(client, memory, text));
	await_completions(cq, 2);
	EXPECT(arrived(memory, text));
	OK(ibv_destroy_qp(server));
	OK(ibv_destroy_qp(client));
}

static void have_child(void)
{
	pid_t child = fork();
	int status;

	EXPECT(child >= 0);
	if (!child)
		_exit(0);
	EXPECT(waitpid(child, &status, 0) == child && !status);
}

static void one_round(int thread, int round)
{
	struct ibv_cq *cq = MADE(ibv_create_cq(context, 16, NULL, NULL, 0));
	struct memory memory = memory_new(pd);
	char text[PAYLOAD];

	for (int client = 0; client < clients; client++) {
		snprintf(text, sizeof(text), "thread %d round %d client %d", thread, round, client);
		serve(cq, memory, text);
		if (client == clients / 2)
			have_child();
	}
	memory_free(memory);
	OK(ibv_destroy_cq(cq));
}

static void *work(void *argument)
{
	for (int round = 0; round < rounds; round++)
		one_round((int)(intptr_t)argument, round);
	return NULL;
}

int main(void)
{
	const char *text = getenv("SERVER");
	pthread_t threads[MAX_THREADS];

	if (text)
		EXPECT(sscanf(text, "%d %d %d", &n_threads, &rounds, &clients) == 3);
	EXPECT(n_threads > 0 && n_threads <= MAX_THREADS);
	context = open_device();
	pd = MADE(ibv_alloc_pd(context));
	for (int i = 0; i < n_threads; i++)
		OK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i));
	for (int i = 0; i < n_threads; i++)
		OK(pthread_join(threads[i], NULL));
	OK(ibv_dealloc_pd(pd));
	OK(ibv_close_device(context));
	printf("%d threads, %d rounds, %d clients, ok\n", n_threads, rounds, clients);
	return 0;
}
