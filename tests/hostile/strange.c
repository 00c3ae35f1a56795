/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that use a device and do something that few programs do. usage: strange WHAT
 *
 * Each prints the same with and without warmverbs.
 */
#include "support/check.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static void open_device(void)
{
	struct ibv_device **list = MADE(ibv_get_device_list(NULL));

	context = MADE(ibv_open_device(*list));
	ibv_free_device_list(list);
	pd = MADE(ibv_alloc_pd(context));
	cq = MADE(ibv_create_cq(context, 16, NULL, NULL, 0));
}

static struct ibv_qp *create_qp(void)
{
	struct ibv_qp_init_attr attr = {
	    .send_cq = cq, .recv_cq = cq, .cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_RC};

	return MADE(ibv_create_qp(pd, &attr));
}

static void join(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		EXPECT(errno == EINTR);
	if (status)
		give_up(__FILE__, __LINE__, "the child's status is %#x", status);
}

/* fork() in a signal handler. */

#define FORKS 300

static volatile sig_atomic_t forks;
static timer_t timer;

/* Once: where a fork takes longer than that, the program would do nothing between two signals. */
static void set_timer(void)
{
	const struct itimerspec soon = {.it_value.tv_nsec = 1700000};

	OK(timer_settime(timer, 0, &soon, NULL));
}

static void fork_in_handler(int signal)
{
	pid_t child = fork();

	(void)signal;
	if (!child)
		_exit(0);
	if (child > 0)
		join(child);
	if (++forks < FORKS)
		set_timer();
}

static void start_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};

	signal(SIGUSR1, fork_in_handler);
	OK(timer_create(CLOCK_MONOTONIC, &event, &timer));
	set_timer();
}

static void fork_at_signals(void)
{
	open_device();
	start_timer();
	while (forks < FORKS)
		OK(ibv_destroy_qp(create_qp()));
	puts("all children ended");
}

/* Cancelled threads. Afterwards the process must be able to fork. */

static void fork_once(void)
{
	pid_t child = DONE(fork());

	if (!child)
		_exit(0);
	join(child);
}

static pthread_barrier_t at_once;

/* Lets the cancellation happen at the first place inside the verb where it can. */
static void *open_cancelled(void *device)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	pthread_barrier_wait(&at_once);
	pthread_barrier_wait(&at_once);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
	return ibv_open_device(device);
}

static void cancel_at_once(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	OK(pthread_barrier_init(&at_once, NULL, 2));
	OK(pthread_create(&thread, NULL, run, arg));
	pthread_barrier_wait(&at_once);
	OK(pthread_cancel(thread));
	pthread_barrier_wait(&at_once);
	OK(pthread_join(thread, NULL));
	fork_once();
}

static void cancel_in_open(void)
{
	struct ibv_device **list = MADE(ibv_get_device_list(NULL));

	cancel_at_once(open_cancelled, *list);
	puts("forked");
}

static void *use_forever(void *unused)
{
	(void)unused;
	for (;;) {
		open_device();
		OK(ibv_destroy_qp(create_qp()));
		OK(ibv_destroy_cq(cq));
		OK(ibv_dealloc_pd(pd));
		OK(ibv_close_device(context));
	}
	return NULL;
}

/* dup() and close() take no lock of libc. */
static void *copy_forever(void *unused)
{
	int before;

	(void)unused;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
	for (;;)
		close(dup(context->cmd_fd));
	return NULL;
}

/* In a process of its own: nobody else can use libibverbs after that. */
static void cancel_after(void *(*run)(void *), unsigned int us)
{
	pid_t child = DONE(fork());
	pthread_t thread;

	if (child) {
		join(child);
		return;
	}
	alarm(60);
	OK(pthread_create(&thread, NULL, run, NULL));
	usleep(us);
	OK(pthread_cancel(thread));
	OK(pthread_join(thread, NULL));
	fork_once();
	_exit(0);
}

static void cancel_anywhere(void)
{
	srand(1);
	for (int i = 0; i < 60; i++)
		cancel_after(use_forever, (unsigned int)rand() % 20000);
	puts("forked");
}

static void cancel_asynchronously(void)
{
	open_device();
	srand(1);
	for (int i = 0; i < 60; i++)
		cancel_after(copy_forever, (unsigned int)rand() % 3000);
	puts("forked");
}

/* Descriptors beyond those that the library tracks, all closed and opened again. */

#define MANY 33000

static void many_descriptors(void)
{
	struct rlimit limit = {MANY + 1000, MANY + 1000};
	struct ibv_device **list;
	int base = DONE(open("/dev/null", O_RDONLY)), last = 0, mine[400];

	OK(setrlimit(RLIMIT_NOFILE, &limit));
	while (last < MANY)
		last = DONE(dup(base));
	list = MADE(ibv_get_device_list(NULL));
	closefrom(MANY - 100);
	for (unsigned int i = 0; i < 400; i++)
		mine[i] = DONE(open("/dev/zero", O_RDONLY));
	ibv_free_device_list(list);
	for (unsigned int i = 0; i < 400; i++)
		if (fcntl(mine[i], F_GETFD) < 0)
			printf("%d was closed\n", mine[i]);
	puts("looked at all");
}

/* Children that fork handlers do not reach. */

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* Gives another file the number @fd. */
static void become(int fd, const char *path)
{
	int file = DONE(open(path, O_RDWR | O_CLOEXEC));

	EXPECT(dup2(file, fd) == fd);
}

/* What the library would take for a doorbell, or for an event, goes to a file. */
static void use_numbers_again(void)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		char text[56];
	} data = {{IB_USER_VERBS_CMD_POST_SEND, sizeof(data) / 4, 0}, "text"};
	int file = DONE(memfd_create("file", MFD_CLOEXEC));

	EXPECT(dup2(file, context->cmd_fd) >= 0 && dup2(file, context->async_fd) >= 0);
	printf("written %zd\n", write(context->cmd_fd, &data, sizeof(data)));
	EXPECT(ioctl(context->cmd_fd, RDMA_VERBS_IOCTL, &data) == -1 && errno == ENOTTY);
	become(context->async_fd, "/dev/zero");
	memset(&data, 1, sizeof(data));
	printf("read %zd\n", read(context->async_fd, &data, sizeof(data)));
}

/* The child's own device, after it closed all that it has. */
static void use_another_device(void)
{
	closefrom(3);
	for (int i = 0; i < 20; i++)
		DONE(open("/dev/null", O_RDONLY));
	open_device();
	OK(ibv_destroy_qp(create_qp()));
	OK(ibv_destroy_cq(cq));
	OK(ibv_dealloc_pd(pd));
	OK(ibv_close_device(context));
	for (int fd = 3; fd < 23; fd++)
		EXPECT(fcntl(fd, F_GETFD) >= 0);
	puts("used");
}

static void in_child(pid_t (*make)(void), void (*run)(void))
{
	pid_t child;

	fflush(stdout);
	child = DONE(make());
	if (child) {
		join(child);
		return;
	}
	run();
	fflush(stdout);
	_exit(0);
}

static void children_without_handlers(void)
{
	open_device();
	in_child(_Fork, use_numbers_again);
	in_child(raw_clone, use_numbers_again);
	in_child(_Fork, use_another_device);
	in_child(raw_clone, use_another_device);
	OK(ibv_destroy_qp(create_qp()));
	OK(ibv_destroy_cq(cq));
	OK(ibv_dealloc_pd(pd));
	OK(ibv_close_device(context));
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
    {"fork-at-signals", fork_at_signals},
    {"cancel-in-open", cancel_in_open},
    {"cancel-anywhere", cancel_anywhere},
    {"cancel-asynchronously", cancel_asynchronously},
    {"many-descriptors", many_descriptors},
    {"children-without-handlers", children_without_handlers},
};

int main(int argc, char **argv)
{
	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], all[i].name)) {
			all[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: strange WHAT\n");
	return 2;
}
