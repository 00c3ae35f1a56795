/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads open a device and make objects, while another thread makes processes in every way. */
#include "support/check.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 2
#define OPENS	10
#define ROUNDS	60
#define LIMIT_S 100

extern char **environ;

static void use(struct ibv_context *context)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 100, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
	    .send_cq = cq, .recv_cq = cq, .cap = {32, 32, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *qp;

	EXPECT(pd && cq);
	qp = ibv_create_qp(pd, &init);
	EXPECT(qp);
	EXPECT(!ibv_modify_qp(
	    qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	EXPECT(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

static void *open_and_close(void *device)
{
	for (int i = 0; i < OPENS; i++) {
		struct ibv_context *context = ibv_open_device(device);

		EXPECT(context);
		use(context);
		EXPECT(!ibv_close_device(context));
	}
	return NULL;
}

static void join(pid_t child)
{
	int status;

	EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* After fork() in a process with threads, a child may call only what is safe in signal handlers. */
static void close_all(void)
{
	alarm(LIMIT_S);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
}

static void once(void)
{
	pid_t child = fork();

	if (!child) {
		close_all();
		_exit(0);
	}
	join(child);
}

static void twice(void)
{
	pid_t child = fork();

	if (!child) {
		pid_t grandchild = fork();

		if (!grandchild)
			close_all();
		else
			join(grandchild);
		_exit(0);
	}
	join(child);
}

static void and_exec(void)
{
	pid_t child = fork();

	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	join(child);
}

static void vfork_and_exec(void)
{
	pid_t child = vfork();

	if (!child) {
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	join(child);
}

static void spawn(void)
{
	char *argv[] = {"true", NULL};
	pid_t child;

	EXPECT(!posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ));
	join(child);
}

static void (*const kinds[])(void) = {once, twice, and_exec, vfork_and_exec, spawn};

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	pthread_t threads[THREADS];

	alarm(LIMIT_S);
	EXPECT(list && list[0]);
	for (int i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&threads[i], NULL, open_and_close, list[0]));
	for (unsigned int i = 0; i < ROUNDS; i++)
		kinds[i % (sizeof(kinds) / sizeof(kinds[0]))]();
	for (int i = 0; i < THREADS; i++)
		EXPECT(!pthread_join(threads[i], NULL));
	ibv_free_device_list(list);
	puts("ok");
	return 0;
}
