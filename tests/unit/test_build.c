/* SPDX-License-Identifier: BSD-2-Clause */
/* Leases are made beside the event loop, by several builders, and things happen meanwhile. */
#include "daemon_bench.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* A recipe of which @n leases are wanted, and none is made yet. */
static struct wv_recipe *wanted(struct daemon_bench *b, unsigned int n)
{
	bench_record(b, 1, "rc_pingpong");
	while (--n)
		assert_int_equal(bench_run_program(b, 1, 0), WV_NO_LEASE_EMPTY);
	return bench_recipe(b);
}

/* Builders that one tenant can have. */
#define MOST (WV_BUILDERS - 1)

/* Has builders begin with these leases: each is in its first command. */
static void begin(struct daemon_bench *b, unsigned int n)
{
	bench_slow_kernel();
	bench_await_commands(b, n < MOST ? n : MOST);
}

static struct wv_recipe *begun(struct daemon_bench *b, unsigned int n)
{
	struct wv_recipe *recipe = wanted(b, n);

	begin(b, n);
	return recipe;
}

static unsigned int busy(struct daemon_bench *b)
{
	return wv_builders_busy(&b->server->builders);
}

static void test_a_slow_kernel_keeps_no_program_waiting(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = wanted(b, 2);

	bench_settle(b);
	assert_int_equal(recipe->pool->n_ready, 2);
	bench_slow_kernel();
	assert_int_equal(bench_run_program(b, 1, 0), 0);
	bench_await_commands(b, 1);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
	assert_int_equal(bench_run_program(b, 1, 0), WV_NO_LEASE_EMPTY);
	json_decref(bench_question(b, "{\"op\": \"status\"}"));
	bench_await_commands(b, 2); /* nothing of this took the builders' turn away */
	bench_fast_kernel();
	bench_settle(b);
	assert_uint_in_range(recipe->pool->n_ready, 2, 3);
}

static void test_several_are_made_side_by_side(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = begun(b, 10);

	assert_int_equal(recipe->pool->n_building, MOST);
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(recipe->pool->n_ready, 10);
	assert_int_equal(recipe->pool->n_built, 10);
	assert_int_equal(recipe->pool->n_building, 0);
}

static void test_no_more_than_the_target(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = begun(b, 2);

	assert_int_equal(busy(b), 2);
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(recipe->pool->n_built, 2);
	assert_int_equal(bench_kernel.made[UVERBS_OBJECT_QP], 2);
}

static void expect_limit(struct daemon_bench *b, struct wv_recipe *recipe, unsigned int n)
{
	begin(b, n);
	assert_int_equal(busy(b), n);
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(recipe->pool->n_built, n);
}

static void test_leases_of_a_user_are_limited(void **state)
{
	struct daemon_bench *b = *state;

	b->server->planner.limits.user.leases = 3;
	expect_limit(b, wanted(b, 10), 3);
}

static void test_leases_of_all_are_limited(void **state)
{
	struct daemon_bench *b = *state;

	b->server->planner.limits.total.leases = 2;
	expect_limit(b, wanted(b, 10), 2);
}

static void test_descriptors_are_limited(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = wanted(b, 10);

	b->server->planner.limits.total.fds = 3 * recipe->cost.fds;
	expect_limit(b, recipe, 3);
}

static void test_memory_is_limited(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = wanted(b, 10);

	b->server->planner.limits.user.bytes = 2 * recipe->cost.bytes;
	expect_limit(b, recipe, 2);
}

static void test_a_limit_that_falls_meanwhile(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = begun(b, 3);

	b->server->planner.limits.user.leases = 1;
	bench_await_commands(b, 3);
	assert_int_equal(busy(b), 3);
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(recipe->pool->n_ready, 1);
	assert_int_equal(recipe->pool->n_built, 3);
}

/* The builder finished its command and gave no other; nothing of the lease is left. */
static void expect_nothing_came_of(struct daemon_bench *b, unsigned int issued, unsigned int fds)
{
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(busy(b), 0);
	assert_int_equal(bench_kernel.issued, issued + 1);
	assert_int_equal(count_fds(), fds);
}

static void test_a_device_removed_meanwhile(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = wanted(b, 1);
	unsigned int fds = count_fds();

	begin(b, 1);
	wv_scheduler_drop_device(&b->server->scheduler, "rxe0");
	b->server->devices.n = 0;
	expect_nothing_came_of(b, 0, fds);
	assert_int_equal(recipe->pool->n_ready, 0);
	assert_int_equal(recipe->pool->n_failed, 0);
	assert_int_equal(*recipe->pool->error, '\0');
	b->server->devices.n = 1;
	wv_scheduler_retry(&b->server->scheduler);
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

static void test_a_device_removed_and_back_meanwhile(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = begun(b, 1);

	wv_scheduler_drop_device(&b->server->scheduler, "rxe0");
	wv_scheduler_retry(&b->server->scheduler);
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(recipe->pool->n_failed, 0);
	assert_int_equal(recipe->pool->n_built, 1); /* the second one */
	assert_int_equal(recipe->pool->n_ready, 1);
}

/* Waits until a builder is done, of which the loop has not yet heard. */
static void await_result(struct daemon_bench *b)
{
	struct pollfd done = {.fd = sd_event_get_fd(b->server->event), .events = POLLIN};

	assert_int_equal(poll(&done, 1, 10000), 1); /* nothing else wakes the loop now */
}

static void test_a_device_removed_just_before_the_result(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = wanted(b, 1);
	unsigned int fds = count_fds();

	begin(b, 1);
	bench_fast_kernel();
	await_result(b);
	assert_true(count_fds() > fds);
	wv_scheduler_drop_device(&b->server->scheduler, "rxe0");
	b->server->devices.n = 0;
	bench_settle(b);
	assert_int_equal(recipe->pool->n_built, 0);
	assert_int_equal(count_fds(), fds);
}

static void test_a_device_replaced_meanwhile(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = wanted(b, 1);
	unsigned int fds = count_fds();

	begin(b, 1);
	b->server->devices.all[0].rdev++;
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(recipe->pool->n_built, 0);
	assert_int_equal(count_fds(), fds);
	b->server->devices.all[0].rdev--;
	wv_scheduler_retry(&b->server->scheduler);
	bench_settle(b);
	assert_int_equal(recipe->pool->n_built, 1);
}

static void test_a_recipe_dropped_meanwhile(void **state)
{
	struct daemon_bench *b = *state;
	unsigned int fds;

	wanted(b, 1);
	fds = count_fds();
	begin(b, 1);
	json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	expect_nothing_came_of(b, 0, fds);
}

static void test_what_is_dropped_counts_until_it_ends(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe;

	begun(b, 1);
	json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	b->server->planner.limits.total.leases = 1;
	recipe = wanted(b, 1);
	bench_await_commands(b, 1);
	assert_int_equal(busy(b), 1);
	assert_int_equal(recipe->pool->n_building, 0);
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(recipe->pool->n_ready, 1);
}

/* Once the end has begun, the kernel is fast again: builders are waited for, so not before. */
static void *let_end(void *arg)
{
	struct wv_builders *builders = arg;

	while (!atomic_load(&builders->jobs[0].cancelled))
		sched_yield();
	bench_fast_kernel();
	return NULL;
}

static void test_the_daemon_ends_meanwhile(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_server *s = b->server;
	pthread_t thread;

	begun(b, 10);
	assert_int_equal(pthread_create(&thread, NULL, let_end, &s->builders), 0);
	wv_server_unlisten(s);
	wv_server_finish(s);
	pthread_join(thread, NULL);
	wv_store_close(&s->store);
	free(s);
	b->server = NULL;
	assert_int_equal(bench_kernel.issued, MOST);
	assert_int_equal(count_fds(), b->fds_before);
}

static void test_the_daemon_ends_before_it_heard_of_a_result(void **state)
{
	struct daemon_bench *b = *state;

	begun(b, 1);
	bench_fast_kernel();
	await_result(b);
	bench_stop(b);
	assert_int_equal(count_fds(), b->fds_before);
}

/* All builds have ended. What failed is not tried again, however slow this machine is. */
static bool have_ended(struct wv_server *s, unsigned int n)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	(void)n;
	wv_each_user (&s->catalog, user) {
		wv_each_recipe (user, recipe) {
			if (recipe->pool->failures)
				recipe->pool->retry_us += INT64_C(3600000000);
		}
	}
	return !wv_builders_busy(&s->builders);
}

static void test_failures_side_by_side_are_one(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = begun(b, 10);

	bench_failing_kernel(EINVAL);
	bench_fast_kernel();
	bench_run_until(b, have_ended, 0);
	assert_int_equal(recipe->pool->failures, 1);
	assert_int_equal(recipe->pool->contradictions, 1);
	assert_false(recipe->unfit);
}

static void test_what_failed_is_tried_by_one_builder(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe = begun(b, 10);

	bench_failing_kernel(ENOMEM);
	bench_fast_kernel();
	bench_settle(b);
	bench_failing_kernel(0);
	bench_slow_kernel();
	recipe->pool->retry_us = 0;
	bench_await_commands(b, 1);
	assert_int_equal(busy(b), 1);
	bench_fast_kernel();
	recipe->pool->retry_us = 0;
	bench_settle(b);
	assert_int_equal(recipe->pool->n_ready, 10);
	assert_int_equal(recipe->pool->failures, 0);
}

/* Several tenants. */

#define OTHER 4711 /* a user */

static struct wv_tenant *tenant_of(const struct wv_recipe *recipe)
{
	return recipe->pool->tenant;
}

static void test_the_last_builder_is_for_who_has_none(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *first = begun(b, 10), *second;

	second = bench_recipe_of(b, OTHER, 10);
	bench_await_commands(b, WV_BUILDERS);
	assert_int_equal(first->pool->n_building, MOST);
	assert_int_equal(second->pool->n_building, 1);
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(first->pool->n_built + second->pool->n_built, 20);
}

static void test_who_used_builders_least_is_next(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *much = wanted(b, 60), *little = bench_recipe_of(b, OTHER, 10);

	tenant_of(much)->supply->builds.used_us = 1000000;
	bench_slow_kernel();
	bench_await_commands(b, WV_BUILDERS);
	assert_int_equal(little->pool->n_building, MOST);
	assert_int_equal(much->pool->n_building, 1);
	assert_int_equal(tenant_of(little)->supply->n_builds, MOST);
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(tenant_of(little)->supply->n_builds, 0);
	assert_true(tenant_of(little)->supply->builds.used_us > 0);
}

/* Whoever begins later is not owed the time that others used before. */
static void test_nobody_is_owed_the_past(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *first = wanted(b, 5), *second;

	b->server->scheduler.builds.now_us = 5000000;
	bench_settle(b);
	second = bench_recipe_of(b, OTHER, 5);
	bench_settle(b);
	assert_true(tenant_of(first)->supply->builds.used_us >= 5000000);
	assert_true(tenant_of(second)->supply->builds.used_us >= 5000000);
}

/* Only @recipe's tenant has made no request for the refill delay. */
static void test_others_requests_put_nothing_off(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_server *s = b->server;
	struct wv_recipe *busy = wanted(b, 3), *quiet = bench_recipe_of(b, OTHER, 3);

	tenant_of(quiet)->supply->asked_us -= s->config.refill_delay * INT64_C(1000);
	wv_scheduler_go_on(&s->scheduler);
	while (quiet->pool->n_ready < 3)
		sd_event_run(s->event, 1000);
	assert_int_equal(busy->pool->n_built, 0);
}

static int fill_backlog(struct daemon_bench *b, int socks[static 64])
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int n = 0;

	strcpy(to.sun_path, b->socket);
	for (; n < 64; n++) {
		socks[n] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (connect(socks[n], (struct sockaddr *)&to, sizeof(to)))
			break;
	}
	return n + (n < 64); /* with the one that was too many */
}

/* Whenever the loop looks, a client is there. */
static void test_leases_are_made_though_clients_never_pause(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_server *s = b->server;
	struct wv_recipe *recipe = wanted(b, 3);
	int socks[64], n;

	s->config.refill_delay = 1;
	wv_scheduler_poke(&s->scheduler, tenant_of(recipe));
	while (recipe->pool->n_ready < 3) {
		n = fill_backlog(b, socks);
		sd_event_run(s->event, 0);
		while (n)
			close(socks[--n]);
	}
}

static void test_what_is_being_closed_counts(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_server *s = b->server;
	struct wv_recipe *recipe = wanted(b, 1);

	s->planner.limits.total.leases = 1;
	bench_settle(b);
	assert_int_equal(s->tenants.held.leases, 1);
	assert_int_equal(s->tenants.held.bytes, recipe->cost.bytes);
	wv_builders_close(&s->builders, wv_pool_take(recipe->pool));
	await_result(b);
	assert_int_equal(tenant_of(recipe)->held.leases, 1);
	bench_run(b);
	assert_int_equal(tenant_of(recipe)->held.leases, 0);
	assert_int_equal(s->tenants.held.bytes, 0);
	bench_settle(b);
	assert_int_equal(recipe->pool->n_built, 2);
}

static void test_who_is_gone_holds_what_is_made(void **state)
{
	struct daemon_bench *b = *state;

	begun(b, 1);
	json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	assert_int_equal(b->server->tenants.held.leases, 1);
	bench_fast_kernel();
	bench_settle(b);
	assert_int_equal(b->server->tenants.held.leases, 0);
	assert_true(LIST_EMPTY(&b->server->tenants.all));
}

static void test_nothing_is_planned_twice(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_planner *p = &b->server->planner;
	struct wv_recipe *recipe = wanted(b, 5);

	bench_settle(b);
	p->limits.leases_per_recipe = 1;
	wv_plan_pools(p);
	assert_int_equal(recipe->pool->target, 5);
	p->changed = true;
	p->next_us = wv_now(b->server->event) + 1000000; /* enough time was spent on it */
	wv_plan_pools(p);
	assert_int_equal(recipe->pool->target, 5);
	p->next_us = 0;
	wv_plan_pools(p);
	assert_int_equal(recipe->pool->target, 1);
	assert_true(p->next_us > 0);
}

/* In a process that may have no further thread: what the server makes of it. */
static int start_without_threads(void)
{
	wv_auto_free struct wv_server *s = calloc(1, sizeof(*s));
	struct rlimit none = {0};
	unsigned int fds;
	int err;

	wv_log_init(WV_ERROR);
	if (!freopen("/dev/null", "w", stderr)) /* it says so there */
		return 97;
	fds = count_fds();
	if (!getuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
		return 98;
	if (setrlimit(RLIMIT_NPROC, &none))
		return 99;
	wv_config_defaults(&s->config);
	s->listener.admin_fd = -1;
	err = wv_server_init(s, open("/dev/null", O_RDONLY | O_CLOEXEC));
	return err == -EAGAIN && count_fds() == fds ? 0 : 1;
}

/* ThreadSanitizer asks. Detached threads of the daemon may not have ended when this forks. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
	return "die_after_fork=0 report_thread_leaks=0";
}

static void test_no_threads_no_daemon(void **state)
{
	struct daemon_bench *b = *state;
	pid_t child;
	int status = 0;

	bench_stop(b);
	child = fork();
	if (!child)
		_exit(start_without_threads());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_a_slow_kernel_keeps_no_program_waiting),
	    TEST(test_several_are_made_side_by_side),
	    TEST(test_no_more_than_the_target),
	    TEST(test_leases_of_a_user_are_limited),
	    TEST(test_leases_of_all_are_limited),
	    TEST(test_descriptors_are_limited),
	    TEST(test_memory_is_limited),
	    TEST(test_a_limit_that_falls_meanwhile),
	    TEST(test_a_device_removed_meanwhile),
	    TEST(test_a_device_removed_and_back_meanwhile),
	    TEST(test_a_device_removed_just_before_the_result),
	    TEST(test_a_device_replaced_meanwhile),
	    TEST(test_a_recipe_dropped_meanwhile),
	    TEST(test_what_is_dropped_counts_until_it_ends),
	    TEST(test_the_daemon_ends_meanwhile),
	    TEST(test_the_daemon_ends_before_it_heard_of_a_result),
	    TEST(test_failures_side_by_side_are_one),
	    TEST(test_what_failed_is_tried_by_one_builder),
	    TEST(test_the_last_builder_is_for_who_has_none),
	    TEST(test_who_used_builders_least_is_next),
	    TEST(test_nobody_is_owed_the_past),
	    TEST(test_others_requests_put_nothing_off),
	    TEST(test_leases_are_made_though_clients_never_pause),
	    TEST(test_what_is_being_closed_counts),
	    TEST(test_who_is_gone_holds_what_is_made),
	    TEST(test_nothing_is_planned_twice),
	    TEST(test_no_threads_no_daemon),
	};

	return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
