/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with an opened device makes processes. The environment variable FORKS says how; without
 * it the program only uses the device. An alarm ends a deadlock.
 */
#include "kit.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define PATIENCE_S 40
#define ROUNDS	   60

extern char **environ;

static struct pair pair;

/* Registered memory that parent and child share. */
static struct memory shared_memory(struct ibv_pd *pd)
{
	struct memory memory = {.bytes = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_ANONYMOUS, -1, 0)};

	EXPECT(memory.bytes != MAP_FAILED);
	memory.mr = MADE(ibv_reg_mr(pd, memory.bytes, MEMORY_BYTES,
				    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	return memory;
}

/* Waits for the child, or for any child if it is -1. */
static void join(pid_t child)
{
	int status;

	EXPECT(waitpid(child, &status, 0) > 0);
	if (status)
		give_up(__FILE__, __LINE__, "the child's status is %#x", status);
}

static void say(const char *text)
{
	printf("%s\n", text);
	fflush(stdout);
}

/* 0, or the doorbell's error: without warmverbs, soft-RoCE refuses all but the opener. */
static int write_and_wait(struct memory memory, const char *text)
{
	int error = post_write(pair.qp[0], memory, text);

	if (error)
		return error;
	await_completions(pair.cq, 1);
	EXPECT(arrived(memory, text));
	return 0;
}

static void say_error(const char *what, int error)
{
	printf("%s: %s\n", what, error ? strerrorname_np(error) : "0");
	fflush(stdout);
}

/* Sleeps until a completion event. */
static int send_and_sleep(struct pair *told, const char *text)
{
	struct ibv_cq *cq;
	void *context;
	int error;

	OK(ibv_req_notify_cq(told->cq, 0));
	error = post_write(told->qp[0], told->memory, text);
	if (error)
		return error;
	OK(ibv_get_cq_event(told->cq->channel, &cq, &context));
	EXPECT(cq == told->cq);
	ibv_ack_cq_events(cq, 1);
	await_completions(cq, 1);
	return 0;
}

/* New objects of the inherited context belong to the child, which destroys them. */
static int make_and_destroy(struct ibv_context *context)
{
	struct pair mine = pair_new(context);
	int error = post_write(mine.qp[0], mine.memory, "by objects of the child");

	if (!error)
		await_completions(mine.cq, 1);
	pair_free(&mine);
	return error;
}

static void use_inherited(struct pair *told, struct memory shared)
{
	struct memory own = shared_memory(pair.pd);

	say_error("inherited memory", write_and_wait(shared, "by the child"));
	say_error("own memory", write_and_wait(own, "from the child's memory"));
	say_error("channel", send_and_sleep(told, "told of to the child"));
	say_error("own objects", make_and_destroy(pair.context));
	OK(ibv_dereg_mr(own.mr));
}

static void inherit(void)
{
	struct memory shared = shared_memory(pair.pd);
	struct pair told =
	    pair_with_channel(pair.context, MADE(ibv_create_comp_channel(pair.context)));
	pid_t child;

	OK(write_and_wait(shared, "by the parent"));
	fflush(stdout);
	child = DONE(fork());
	if (!child) {
		use_inherited(&told, shared);
		exit(0);
	}
	join(child);
	OK(write_and_wait(shared, "by the parent again"));
	OK(send_and_sleep(&told, "told of to the parent"));
	OK(ibv_dereg_mr(shared.mr));
	/*
	 * Not destroyed but closed with the device: ibv_destroy_cq() would wait for an event that
	 * the child acknowledged, as libibverbs counts acknowledgements in each process.
	 */
}

/* Returns in the child once its parent has ended. */
static void outlive_parent(void)
{
	int ends[2];
	char byte;

	OK(pipe(ends));
	if (DONE(fork()))
		exit(0);
	close(ends[1]);
	EXPECT(!read(ends[0], &byte, 1));
	close(ends[0]);
}

/* The process that opened the device ends before its child uses it. */
static void orphan(void)
{
	pid_t opener;

	OK(prctl(PR_SET_CHILD_SUBREAPER, 1));
	opener = DONE(fork());
	if (!opener) {
		pair = pair_new(open_device());
		outlive_parent();
		say_error("after the parent",
			  write_and_wait(shared_memory(pair.pd), "by the orphan"));
		say_error("own objects", make_and_destroy(pair.context));
		exit(0);
	}
	join(opener);
	join(-1);
}

/* A child that crashes while it uses its parent's objects. */
static void child_crashes(void)
{
	struct memory shared = shared_memory(pair.pd);
	pid_t child = DONE(fork());
	int status;

	if (!child) {
		OK(post_write(pair.qp[0], shared, "by the child that crashed"));
		raise(SIGKILL);
	}
	EXPECT(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	await_completions(pair.cq, 1);
	EXPECT(arrived(shared, "by the child that crashed"));
	OK(ibv_dereg_mr(shared.mr));
}

/* Registered memory of several kinds; the first half is sent. */
static const struct kind {
	const char *name;
	int flags;
} kinds[] = {
    {"private", MAP_PRIVATE},
    {"shared", MAP_SHARED},
    {"private huge", MAP_PRIVATE | MAP_HUGETLB},
    {"shared huge", MAP_SHARED | MAP_HUGETLB},
};

#define HUGE_BYTES (2u << 20)

static struct memory memory_of(const struct kind *kind)
{
	struct memory memory = {.bytes = mmap(NULL, HUGE_BYTES, PROT_READ | PROT_WRITE,
					      kind->flags | MAP_ANONYMOUS, -1, 0)};

	if (memory.bytes == MAP_FAILED)
		give_up(__FILE__, __LINE__, "%s memory: %s", kind->name, strerror(errno));
	strcpy(memory.bytes, "the parent's");
	memory.mr = MADE(ibv_reg_mr(pair.pd, memory.bytes, HUGE_BYTES, IBV_ACCESS_LOCAL_WRITE));
	return memory;
}

/* The first byte that the adapter reads at @from when this process sends. */
static void say_sent(const char *name, struct memory from, struct memory to)
{
	post_receive(pair.qp[1], to);
	OK(post_text(pair.qp[0], from, "the child's"));
	await_completions(pair.cq, 2);
	printf("%s: %s\n", name, to.bytes + MEMORY_HALF);
	fflush(stdout);
}

/* A child writes to memory that its parent registered, and sends it. */
static void memory(void)
{
	struct memory seen = shared_memory(pair.pd), from[COUNT(kinds)];
	pid_t child;

	printf("fork: %d\n", ibv_is_fork_initialized());
	fflush(stdout);
	for (unsigned int i = 0; i < COUNT(kinds); i++)
		from[i] = memory_of(&kinds[i]);
	child = DONE(fork());
	if (!child) {
		for (unsigned int i = 0; i < COUNT(kinds); i++)
			say_sent(kinds[i].name, from[i], seen);
		exit(0);
	}
	join(child);
	for (unsigned int i = 0; i < COUNT(kinds); i++)
		OK(ibv_dereg_mr(from[i].mr));
	OK(ibv_dereg_mr(seen.mr));
}

/* The child opens the device itself and leaves the parent's objects alone. */
static void own(void)
{
	pid_t child = DONE(fork());

	if (!child) {
		struct ibv_context *context = open_device();
		struct pair mine = pair_new(context);

		pair_send(&mine, "the child's own");
		pair_free(&mine);
		OK(ibv_close_device(context));
		exit(0);
	}
	join(child);
}

static void child_closes_all(void)
{
	pid_t child = DONE(fork());

	if (!child) {
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		_exit(0);
	}
	join(child);
	say("closed");
}

static void child_destroys(void)
{
	pid_t child = DONE(fork());

	if (!child) {
		OK(ibv_destroy_qp(pair.qp[0]));
		_exit(0);
	}
	join(child);
	/* The kernel has one table of objects for both. */
	EXPECT(ibv_destroy_qp(pair.qp[0]) == EINVAL || errno == ENOENT);
	exit(0);
}

static void vfork_and_exec(void)
{
	pid_t child = vfork();

	if (!child) {
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	join(child);
}

static void spawn(void)
{
	posix_spawn_file_actions_t actions;
	char *argv[] = {"true", NULL};
	pid_t child;

	OK(posix_spawn_file_actions_init(&actions));
	OK(posix_spawn_file_actions_adddup2(&actions, 1, pair.context->cmd_fd));
	OK(posix_spawn_file_actions_addclose(&actions, pair.context->async_fd));
	OK(posix_spawn(&child, "/bin/true", &actions, NULL, argv, environ));
	join(child);
	OK(posix_spawn_file_actions_destroy(&actions));
	OK(system("exec /bin/true"));
}

static void *open_and_close(void *argument)
{
	(void)argument;
	for (int i = 0; i < ROUNDS / 4; i++) {
		struct ibv_context *context = open_device();
		struct pair mine = pair_new(context);

		pair_send(&mine, "thread");
		pair_free(&mine);
		OK(ibv_close_device(context));
	}
	return NULL;
}

/* What a child of a process with threads may do: calls that are safe in a signal handler. */
static void child_of_threads(int round)
{
	int ends[2];

	for (int fd = 3; fd < 64; fd++)
		close(fd);
	EXPECT(!pipe(ends) && dup2(ends[0], 40) == 40 && write(ends[1], "x", 1) == 1);
	if (round % 4 == 0)
		execl("/bin/true", "true", NULL);
	_exit(0);
}

static void storm(void)
{
	pthread_t threads[2];

	for (unsigned int i = 0; i < COUNT(threads); i++)
		OK(pthread_create(&threads[i], NULL, open_and_close, NULL));
	for (int i = 0; i < ROUNDS; i++) {
		pid_t child = DONE(fork());

		if (!child)
			child_of_threads(i);
		join(child);
	}
	for (unsigned int i = 0; i < COUNT(threads); i++)
		OK(pthread_join(threads[i], NULL));
}

static void storm_of_vforks(void)
{
	pthread_t thread;

	OK(pthread_create(&thread, NULL, open_and_close, NULL));
	for (int i = 0; i < ROUNDS / 2; i++)
		vfork_and_exec();
	OK(pthread_join(thread, NULL));
}

static void nothing(void)
{
}

static const struct way ways[] = {
    {"nothing", nothing},
    {"inherit", inherit},
    {"orphan", orphan},
    {"child-crashes", child_crashes},
    {"memory", memory},
    {"own", own},
    {"child-closes-all", child_closes_all},
    {"child-destroys", child_destroys},
    {"vfork", vfork_and_exec},
    {"spawn", spawn},
    {"storm", storm},
    {"storm-of-vforks", storm_of_vforks},
};

int main(void)
{
	const char *how = getenv("FORKS") ? getenv("FORKS") : "nothing";
	struct ibv_context *context;

	alarm(PATIENCE_S);
	context = open_device();
	pair = pair_new(context);
	pair_send(&pair, "before");
	run_way(ways, COUNT(ways), how);
	pair_send(&pair, "after");
	pair_free(&pair);
	OK(ibv_close_device(context));
	say("ok");
	return 0;
}
