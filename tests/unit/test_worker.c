/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of the library: how they work, sleep, end and are ended, and who goes first. */
#include "preload/core/process.h"
#include "preload/core/worker.h"
#include "preload/core/worker_lock.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_MS 20000

static unsigned int n_worked, n_interrupts;
static int answer; /* of work() */

/* Of the program, which has one, and of the library. TSan has one of its own. */
static unsigned int threads(void)
{
	struct stat tasks;
	unsigned int n;

	assert_int_equal(stat("/proc/self/task", &tasks), 0);
	n = (unsigned int)tasks.st_nlink - 2;
#if defined(__SANITIZE_THREAD__)
	n--;
#endif
	return n;
}

static unsigned int worked(void)
{
	return __atomic_load_n(&n_worked, __ATOMIC_ACQUIRE);
}

static int work(void)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	assert_true(sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGSEGV));
	__atomic_fetch_add(&n_worked, 1, __ATOMIC_ACQ_REL);
	return __atomic_load_n(&answer, __ATOMIC_RELAXED);
}

static void interrupt(void)
{
	n_interrupts++;
}

static void await_worked(unsigned int n)
{
	for (int i = 0; i < LIMIT_MS && worked() < n; i++)
		usleep(1000);
	assert_true(worked() >= n);
}

static int begin(void **state)
{
	(void)state;
	__atomic_store_n(&n_worked, 0, __ATOMIC_RELEASE);
	n_interrupts = 0;
	__atomic_store_n(&answer, -1, __ATOMIC_RELAXED);
	wv_process_adopt();
	return 0;
}

/* Each call has it work once more, also one that comes while it works or after it has ended. */
static void test_calls(void **state)
{
	static struct wv_worker w = {.work = work, .interrupt = interrupt};

	(void)state;
	for (unsigned int i = 1; i <= 5; i++) {
		assert_int_equal(wv_worker_call(&w), 0);
		await_worked(i);
	}
	assert_true(wv_worker_runs(&w));
	assert_int_equal(threads(), 2);
	wv_workers_end();
	assert_int_equal(threads(), 1);
	assert_int_equal(n_interrupts, 1);
	assert_false(wv_worker_runs(&w));
	wv_workers_end();
	assert_int_equal(wv_worker_call(&w), 0);
	await_worked(6);
	wv_workers_end();
	assert_int_equal(threads(), 1);
}

static void test_ends_when_idle(void **state)
{
	static struct wv_worker w = {.work = work};

	(void)state;
	assert_int_equal(wv_worker_call(&w), 0);
	for (int i = 0; i < LIMIT_MS && threads() > 1; i++)
		usleep(1000);
	assert_int_equal(threads(), 1);
	assert_int_equal(worked(), 1);
	assert_int_equal(wv_worker_call(&w), 0);
	await_worked(2);
	wv_workers_end();
}

/* One that keeps time works again when it has said, calls or not; one that is to end does so. */
static void test_keeps_time(void **state)
{
	static struct wv_worker w = {.work = work, .keeps_ms = 1000 * LIMIT_MS};

	(void)state;
	__atomic_store_n(&answer, 1000 * LIMIT_MS, __ATOMIC_RELAXED);
	assert_int_equal(wv_worker_call(&w), 0);
	await_worked(1);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(wv_worker_call(&w), 0);
		usleep(2000);
	}
	assert_int_equal(worked(), 1);
	wv_workers_end();
	assert_int_equal(threads(), 1);
	__atomic_store_n(&answer, 1, __ATOMIC_RELAXED);
	assert_int_equal(wv_worker_call(&w), 0);
	await_worked(5);
	wv_workers_end();
}

static void *call_often(void *w)
{
	for (int i = 0; i < 20000; i++)
		wv_worker_call(w);
	return NULL;
}

/*
 * Calls by several threads at once: it rests after the last one, ends when idle, and starts again.
 */
static void test_many_callers(void **state)
{
	static struct wv_worker w = {.work = work};
	pthread_t callers[3];
	unsigned int n;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&callers[i], NULL, call_often, &w), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(callers[i], NULL);
	usleep(100000);
	n = worked();
	for (int i = 0; i < LIMIT_MS && threads() > 1; i++)
		usleep(1000);
	assert_int_equal(threads(), 1);
	assert_true(worked() <= n + 1);
	n = worked();
	assert_int_equal(wv_worker_call(&w), 0);
	await_worked(n + 1);
	wv_workers_end();
}

/* One that keeps time ends soon, at whatever moment it is told. */
static void test_told_at_any_moment(void **state)
{
	static struct wv_worker w = {.work = work, .keeps_ms = 1000 * LIMIT_MS};

	(void)state;
	__atomic_store_n(&answer, 1000 * LIMIT_MS, __ATOMIC_RELAXED);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(wv_worker_call(&w), 0);
		for (int j = 0; j < i % 50; j++)
			wv_worker_call(&w);
		wv_workers_end();
	}
	assert_int_equal(threads(), 1);
}

static int policy;
static cpu_set_t processors;

static int look(void)
{
	policy = sched_getscheduler(0);
	sched_getaffinity(0, sizeof(processors), &processors);
	return work();
}

/* A thread that is bound to one processor, and goes before all others if it may. */
static void *call_it(void *w)
{
	struct sched_param first = {.sched_priority = 1};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	sched_setscheduler(0, SCHED_FIFO, &first);
	wv_worker_call(w);
	return NULL;
}

/* It does not take over what the program has arranged for the thread that starts it. */
static void test_started_by_another(void **state)
{
	static struct wv_worker w = {.work = look};
	cpu_set_t usual;
	pthread_t caller;

	(void)state;
	assert_int_equal(pthread_create(&caller, NULL, call_it, &w), 0);
	pthread_join(caller, NULL);
	await_worked(1);
	wv_workers_end();
	assert_int_equal(policy, SCHED_OTHER);
	sched_getaffinity(0, sizeof(usual), &usual);
	assert_true(CPU_EQUAL(&usual, &processors));
}

static void *end_them(void *unused)
{
	for (int i = 0; i < 100; i++)
		wv_workers_end();
	return unused;
}

/* Several threads end workers, while another one starts them. */
static void test_ends_and_starts(void **state)
{
	static struct wv_worker a = {.work = work}, b = {.work = work};
	pthread_t enders[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&enders[i], NULL, end_them, NULL), 0);
	for (int i = 0; i < 500; i++) {
		wv_worker_call(&a);
		wv_worker_call(&b);
		usleep(100);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(enders[i], NULL);
	wv_workers_end();
	assert_int_equal(threads(), 1);
}

/* As fork_handlers.c does. The child has no worker, and may start one. */
static void test_fork(void **state)
{
	static struct wv_worker w = {.work = work};
	pid_t child;
	int status;

	(void)state;
#if defined(__SANITIZE_THREAD__)
	print_message("TSan ends a child that starts threads\n");
	skip();
#endif
	assert_int_equal(wv_worker_call(&w), 0);
	await_worked(1);
	wv_workers_hold();
	wv_worker_starts_hold();
	child = fork();
	if (!child) {
		wv_worker_starts_forked();
		wv_workers_let_go();
		wv_process_adopt();
		if (wv_worker_runs(&w) || wv_worker_call(&w))
			_exit(1);
		await_worked(2);
		wv_workers_end();
		_exit(threads() != 1);
	}
	wv_worker_starts_let_go();
	wv_workers_let_go();
	assert_true(wv_worker_runs(&w)); /* later, it may have ended because it was idle */
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	wv_workers_end();
}

/* The library's own threads are not the program's. */
static void test_program_has_threads(void **state)
{
	static struct wv_worker w = {.work = work};

	(void)state;
#if defined(__SANITIZE_THREAD__)
	print_message("TSan has a thread of its own\n");
	skip();
#endif
	assert_int_equal(wv_worker_call(&w), 0);
	await_worked(1);
	assert_false(wv_program_has_threads());
	wv_workers_end();
}

static struct wv_worker_lock contended = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *take_and_give(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		wv_worker_lock(&contended);
		wv_worker_unlock(&contended);
	}
	return unused;
}

/* A thread that is cancelled at any moment is not waited for. */
static void test_cancelled(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, take_and_give, NULL), 0);
		usleep((useconds_t)(i % 50));
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		assert_int_equal(contended.n_first, 0);
		assert_int_equal(pthread_mutex_trylock(&contended.mutex), 0);
		pthread_mutex_unlock(&contended.mutex);
	}
}

static void *try_in_time(void *taken)
{
	*(bool *)taken = wv_worker_lock_in_time(&contended);
	if (*(bool *)taken)
		wv_worker_unlock(&contended);
	return NULL;
}

/* A fork goes on without a lock that is not given back. */
static void test_not_in_time(void **state)
{
	pthread_t thread;
	bool taken = true;

	(void)state;
	wv_worker_lock(&contended);
	assert_int_equal(pthread_create(&thread, NULL, try_in_time, &taken), 0);
	pthread_join(thread, NULL);
	wv_worker_unlock(&contended);
	assert_false(taken);
	assert_int_equal(contended.n_first, 0);
	assert_int_equal(pthread_create(&thread, NULL, try_in_time, &taken), 0);
	pthread_join(thread, NULL);
	assert_true(taken);
}

static int wait_for_lock(void)
{
	wv_worker_lock(&contended);
	wv_worker_unlock(&contended);
	return work();
}

/* Who changes rights in a signal handler may hold what the worker waits for: it waits only once. */
static void test_overdue(void **state)
{
	static struct wv_worker w = {.work = wait_for_lock};
	time_t begin_s;

	(void)state;
	wv_worker_lock(&contended);
	assert_int_equal(wv_worker_call(&w), 0);
	wv_workers_end();
	begin_s = time(NULL);
	for (int i = 0; i < 100; i++)
		wv_workers_end();
	assert_true(time(NULL) - begin_s < 100);
	assert_int_equal(threads(), 2);
	wv_worker_unlock(&contended);
	for (int i = 0; i < LIMIT_MS && threads() > 1; i++) {
		usleep(1000);
		wv_workers_end();
	}
	assert_int_equal(threads(), 1);
}

/* The last one: it cannot be undone. */
static void test_forbidden(void **state)
{
	static struct wv_worker w = {.work = work};

	(void)state;
	assert_int_equal(wv_worker_call(&w), 0);
	wv_workers_forbid();
	wv_workers_end();
	assert_int_equal(threads(), 1);
	assert_true(wv_worker_call(&w) < 0);
	assert_int_equal(threads(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_calls, begin),
	    cmocka_unit_test_setup(test_ends_when_idle, begin),
	    cmocka_unit_test_setup(test_keeps_time, begin),
	    cmocka_unit_test_setup(test_program_has_threads, begin),
	    cmocka_unit_test_setup(test_many_callers, begin),
	    cmocka_unit_test_setup(test_told_at_any_moment, begin),
	    cmocka_unit_test_setup(test_started_by_another, begin),
	    cmocka_unit_test_setup(test_ends_and_starts, begin),
	    cmocka_unit_test_setup(test_fork, begin),
	    cmocka_unit_test_setup(test_cancelled, begin),
	    cmocka_unit_test_setup(test_not_in_time, begin),
	    cmocka_unit_test_setup(test_overdue, begin),
	    cmocka_unit_test_setup(test_forbidden, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
