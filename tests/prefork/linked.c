/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that links with warmverbs and calls wv_prefork() for its children. Runs with the
 * stand-in preloaded; its exit status is 0 if all checks pass.
 */
#include "support/check.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <warmverbs.h>

#define LIMIT_S 60

/* What a child does; @depth distinguishes kinds of children. */
struct kind {
	int depth;
	int opens;
};

static void open_once(int depth)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *verbs = ibv_open_device(list[0]);
	struct ibv_pd *pd = ibv_alloc_pd(verbs);
	struct ibv_cq *cq = ibv_create_cq(verbs, depth, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
	    .send_cq = cq, .recv_cq = cq, .cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	EXPECT(cq->cqe >= depth && init.cap.max_send_wr >= 8);
	EXPECT(qp->state == IBV_QPS_RESET);
	EXPECT(!ibv_modify_qp(
	    qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	EXPECT(ibv_destroy_qp(qp) == 0);
	EXPECT(ibv_destroy_cq(cq) == 0);
	EXPECT(ibv_dealloc_pd(pd) == 0);
	EXPECT(ibv_close_device(verbs) == 0);
	ibv_free_device_list(list);
}

static int rehearse(void *arg)
{
	const struct kind *kind = arg;

	for (int i = 0; i < kind->opens; i++)
		open_once(kind->depth);
	return 0;
}

static int refuse(void *arg)
{
	return *(int *)arg;
}

static struct wv_statistics statistics(void)
{
	struct wv_statistics n;

	EXPECT(!wv_query_statistics(&n, sizeof(n)));
	return n;
}

static unsigned int sets(void)
{
	struct wv_status status;

	EXPECT(!wv_query_status(&status, sizeof(status)));
	return status.sets_ready;
}

/* No thread forks while another is inside a verb: libibverbs' locks would be copied locked. */
static pthread_mutex_t in_verbs = PTHREAD_MUTEX_INITIALIZER;

/* Ends a child that hangs by a signal: alarms are not inherited. */
static pid_t fork_outside_verbs(void)
{
	pid_t pid;

	pthread_mutex_lock(&in_verbs);
	pid = fork();
	pthread_mutex_unlock(&in_verbs);
	EXPECT(pid >= 0);
	if (!pid)
		alarm(LIMIT_S);
	return pid;
}

static int rehearse_alone(void *arg)
{
	int error;

	pthread_mutex_lock(&in_verbs);
	error = rehearse(arg);
	pthread_mutex_unlock(&in_verbs);
	return error;
}

/* How many of a child's opens its parent made before the fork. */
static int ready(struct kind kind)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork_outside_verbs();
	if (!pid) {
		rehearse(&kind);
		_exit(100 + (int)statistics().ready);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	EXPECT(WEXITSTATUS(status) >= 100);
	return WEXITSTATUS(status) - 100;
}

static const struct kind one = {16, 1}, other = {200, 1}, twice = {16, 2};

static void test_refusals(void)
{
	int error = EPERM;

	EXPECT(wv_prefork(65, rehearse, (void *)&one) == EINVAL);
	EXPECT(wv_prefork(2, refuse, &error) == EPERM);
	error = 0;
	EXPECT(wv_prefork(2, refuse, &error) == ENODATA);
	EXPECT(sets() == 0 && ready(one) == 0);
}

static void test_ready_from_the_first_child(void)
{
	uint64_t made = statistics().sets_made;

	errno = 77;
	EXPECT(wv_prefork(2, rehearse, (void *)&one) == 0 && errno == 77);
	EXPECT(sets() == 2 && statistics().sets_made == made + 2);
	EXPECT(ready(one) == 1);
	EXPECT(ready(one) == 1);
	EXPECT(statistics().ready == 0);
}

/* The new kind of children gets no set that was made for the old kind. */
static void test_another_rehearsal(void)
{
	EXPECT(wv_prefork(2, rehearse, (void *)&other) == 0);
	EXPECT(ready(other) == 1);
	EXPECT(wv_prefork(2, rehearse, (void *)&other) == 0);
	EXPECT(ready(other) == 1);
}

static void test_several_opens(void)
{
	EXPECT(wv_prefork(1, rehearse, (void *)&twice) == 0);
	EXPECT(ready(twice) == 2);
}

static void test_release(void)
{
	wv_release();
	EXPECT(sets() == 0 && ready(one) == 0);
	wv_release();
	EXPECT(wv_prefork(0, NULL, NULL) == 0);
	EXPECT(wv_prefork(1, rehearse, (void *)&one) == 0 && ready(one) == 1);
	EXPECT(wv_prefork(0, NULL, NULL) == 0);
	EXPECT(sets() == 0 && ready(one) == 0);
}

/* A child that is a zygote itself, and leaves its parent's sets alone. */
static void test_child_preforks(void)
{
	int status;
	pid_t pid;

	EXPECT(wv_prefork(1, rehearse, (void *)&one) == 0);
	pid = fork_outside_verbs();
	if (!pid) {
		EXPECT(sets() == 0);
		EXPECT(wv_prefork(1, rehearse, (void *)&other) == 0);
		EXPECT(sets() == 1 && ready(other) == 1);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && !status);
	EXPECT(ready(one) == 1);
	wv_release();
}

/* A device list that a child got together with a set is its own, and its children's. */
static void test_grandchild_frees_list(void)
{
	struct ibv_device **list;
	int status;
	pid_t pid;

	EXPECT(wv_prefork(1, rehearse, (void *)&one) == 0);
	pid = fork_outside_verbs();
	if (!pid) {
		list = ibv_get_device_list(NULL);
		pid = fork_outside_verbs();
		if (pid)
			EXPECT(waitpid(pid, &status, 0) == pid && !status);
		ibv_free_device_list(list);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && !status);
	wv_release();
}

static void *prefork_often(void *arg)
{
	for (unsigned int i = 0; i < 40; i++)
		EXPECT(wv_prefork(i % 3, i % 5 ? NULL : rehearse_alone, arg) == 0);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		EXPECT(!pthread_create(&threads[i], NULL, prefork_often, (void *)&one));
	for (int i = 0; i < 40; i++)
		EXPECT(ready(one) <= 1);
	for (int i = 0; i < 2; i++)
		EXPECT(!pthread_join(threads[i], NULL));
	wv_release();
}

/* Without a rehearsal, sets are made for what the first child does. */
static void test_learned(void)
{
	int tries = 0;

	EXPECT(wv_prefork(1, NULL, NULL) == 0);
	while (!ready(one) && tries++ < 2000)
		usleep(1000);
	EXPECT(tries < 2000);
}

static void test_refused(void)
{
	EXPECT(wv_prefork(1, rehearse, (void *)&one) == EOPNOTSUPP && ready(one) == 0);
}

static pthread_barrier_t open_there, other_over;

static int rehearse_slowly(void *arg)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *verbs = ibv_open_device(list[0]);
	struct ibv_cq *cq;

	pthread_barrier_wait(&open_there);
	pthread_barrier_wait(&other_over);
	cq = ibv_create_cq(verbs, *(int *)arg, NULL, NULL, 0);
	EXPECT(cq && !ibv_destroy_cq(cq) && !ibv_close_device(verbs));
	ibv_free_device_list(list);
	return 0;
}

static void *prefork_slowly(void *depth)
{
	EXPECT(wv_prefork(1, rehearse_slowly, depth) == 0);
	return NULL;
}

/*
 * The end of a rehearsal in one thread does not end that of another, which comes last and counts.
 */
static void test_two_rehearsals(void)
{
	int depth = 300;
	pthread_t thread;
	pid_t pid;
	int status;

	pthread_barrier_init(&open_there, NULL, 2);
	pthread_barrier_init(&other_over, NULL, 2);
	EXPECT(!pthread_create(&thread, NULL, prefork_slowly, &depth));
	pthread_barrier_wait(&open_there);
	EXPECT(wv_prefork(1, rehearse, (void *)&one) == 0);
	pthread_barrier_wait(&other_over);
	EXPECT(!pthread_join(thread, NULL));
	pid = fork_outside_verbs();
	if (!pid) {
		struct ibv_device **list = ibv_get_device_list(NULL);
		struct ibv_context *verbs = ibv_open_device(list[0]);
		uint64_t before = statistics().commands_kernel;

		EXPECT(ibv_create_cq(verbs, depth, NULL, NULL, 0));
		EXPECT(statistics().ready == 1 && statistics().commands_kernel == before);
		_exit(0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && !status);
	wv_release();
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
    {"refusals", test_refusals},
    {"ready_from_the_first_child", test_ready_from_the_first_child},
    {"another_rehearsal", test_another_rehearsal},
    {"several_opens", test_several_opens},
    {"release", test_release},
    {"child_preforks", test_child_preforks},
    {"grandchild_frees_list", test_grandchild_frees_list},
    {"learned", test_learned},
    {"two_rehearsals", test_two_rehearsals},
    {"threads", test_threads},
    {"refused", test_refused},
};

int main(int argc, char **argv)
{
	alarm(LIMIT_S);
	for (unsigned int i = 0; argc == 2 && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(argv[1], tests[i].name))
			continue;
		tests[i].run();
		return 0;
	}
	fprintf(stderr, "usage: linked TEST\n");
	return 2;
}
