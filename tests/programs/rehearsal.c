/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server that has a rehearsal for its children (wv_prefork(), where there is one) while another
 * of its threads goes on with what the server has. usage: rehearsal WHAT CLIENTS
 *
 *   destroy  destroys all that the server has, and closes its device
 *   connect  connects the last queue pair, whose state is queried later
 */
#include "kit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

#define MOST 64

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qps[MOST], *last;
static int clients;
static sem_t begun, done;

static struct ibv_qp *new_qp(void)
{
	struct ibv_qp_init_attr attr = {.send_cq = cq,
					.recv_cq = cq,
					.cap = {.max_send_wr = 4, .max_recv_wr = 4},
					.qp_type = IBV_QPT_RC};

	attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
	return MADE(ibv_create_qp(pd, &attr));
}

static void connect_last(void)
{
	OK(to_init(last, IBV_ACCESS_REMOTE_WRITE));
	OK(to_rtr(last, qps[0]->qp_num));
	OK(to_rts(last));
}

static void destroy_all(void)
{
	for (int i = 0; i < clients; i++)
		OK(ibv_destroy_qp(qps[i]));
	OK(ibv_destroy_qp(last));
	OK(ibv_destroy_cq(cq));
	OK(ibv_dealloc_pd(pd));
	OK(ibv_close_device(context));
}

static void *go_on(void *what)
{
	sem_wait(&begun);
	if (!strcmp(what, "destroy"))
		destroy_all();
	else
		connect_last();
	sem_post(&done);
	return NULL;
}

static int rehearse(void *unused)
{
	struct ibv_context *own = open_device();
	struct ibv_pd *own_pd = MADE(ibv_alloc_pd(own));

	(void)unused;
	sem_post(&begun);
	sem_wait(&done);
	OK(ibv_dealloc_pd(own_pd));
	OK(ibv_close_device(own));
	return 0;
}

static void prefork(unsigned int sets, int (*with)(void *arg))
{
	int (*wv_prefork)(unsigned int, int (*)(void *), void *) =
	    (int (*)(unsigned int, int (*)(void *), void *))dlsym(RTLD_DEFAULT, "wv_prefork");

	if (wv_prefork)
		wv_prefork(sets, with, NULL);
	else if (with)
		with(NULL);
}

static void say_state(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	OK(ibv_query_qp(last, &attr, IBV_QP_STATE, &init));
	printf("state %d\n", attr.qp_state);
}

/* A test lets it go on once there are spares. */
static void await_test(void)
{
	printf("@shown\n");
	fflush(stdout);
	while (getchar() != '\n' && !feof(stdin))
		;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	EXPECT(argc == 3);
	clients = atoi(argv[2]);
	EXPECT(clients > 0 && clients <= MOST);
	context = open_device();
	pd = MADE(ibv_alloc_pd(context));
	cq = MADE(ibv_create_cq(context, 64, NULL, NULL, 0));
	for (int i = 0; i < clients; i++) {
		qps[i] = last = new_qp();
		connect_last();
	}
	await_test();
	last = new_qp();
	sem_init(&begun, 0, 0);
	sem_init(&done, 0, 0);
	OK(pthread_create(&thread, NULL, go_on, argv[1]));
	prefork(1, rehearse);
	OK(pthread_join(thread, NULL));
	prefork(0, NULL);
	if (!strcmp(argv[1], "connect")) {
		say_state();
		say_state();
	}
	return 0;
}
