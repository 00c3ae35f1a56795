/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is charged, who is next, and who waits for what is closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/base.h"
#include "daemon/tenants/closer.h"
#include "daemon/tenants/container.h"
#include "daemon/tenants/namer.h"
#include "daemon/tenants/turns.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct wv_subordinates read_text(const char *text)
{
	char path[] = "/tmp/test_tenants.XXXXXX";
	struct wv_subordinates s;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(wv_subordinates_read(&s, path), 0);
	unlink(path);
	return s;
}

static void test_a_lent_user_is_its_owner(void **state)
{
	struct wv_subordinates s = read_text("root:100000:65536\n4711:200000:2\n");

	(void)state;
	assert_int_equal(wv_subordinate_owner(&s, 99999), 99999);
	assert_int_equal(wv_subordinate_owner(&s, 100000), 0);
	assert_int_equal(wv_subordinate_owner(&s, 165535), 0);
	assert_int_equal(wv_subordinate_owner(&s, 165536), 165536);
	assert_int_equal(wv_subordinate_owner(&s, 200001), 4711);
	assert_int_equal(wv_subordinate_owner(&s, 200002), 200002);
	wv_subordinates_free(&s);
}

static void test_wrong_lines_are_left_out(void **state)
{
	struct wv_subordinates s = read_text("# a comment\n\nno-such-user:1:5\nroot:x:5\n"
					     "root:1\n:1:5\nroot:1:99999999999\nroot:7:1");

	(void)state;
	assert_int_equal(s.n, 1);
	assert_int_equal(wv_subordinate_owner(&s, 7), 0);
	assert_int_equal(wv_subordinate_owner(&s, 1), 1);
	wv_subordinates_free(&s);
}

static void test_no_file_lends_nothing(void **state)
{
	struct wv_subordinates s;

	(void)state;
	assert_int_equal(wv_subordinates_read(&s, "/no/such/file"), 0);
	assert_int_equal(s.n, 0);
}

static void test_one_tenant_for_each_owner_and_container(void **state)
{
	struct wv_tenants t = {.subordinates = read_text("4711:200000:2\n")};
	struct wv_tenant *owner = wv_tenant_get(&t, 4711, 0);

	(void)state;
	assert_ptr_equal(wv_tenant_get(&t, 200001, 0), owner);
	assert_ptr_not_equal(wv_tenant_get(&t, 4711, 12), owner);
	assert_ptr_not_equal(wv_tenant_get(&t, 4712, 0), owner);
	wv_tenant_put(owner);
	assert_ptr_equal(LIST_NEXT(LIST_NEXT(LIST_FIRST(&t.all), link), link), owner);
	wv_tenant_put(owner);
	assert_null(LIST_NEXT(LIST_NEXT(LIST_FIRST(&t.all), link), link));
	wv_tenants_finish(&t);
}

/* Serves whoever of two is next, each time for as long as that one takes. */
static void serve(struct wv_share *a, int64_t a_us, struct wv_share *b, int64_t b_us,
		  struct wv_share_clock *clock, unsigned int turns, int64_t got_us[2])
{
	while (turns--) {
		bool b_is_next = wv_share_before(b, a);

		wv_share_charge(b_is_next ? b : a, clock, b_is_next ? b_us : a_us);
		got_us[b_is_next] += b_is_next ? b_us : a_us;
	}
}

static void test_equal_time_for_unequal_work(void **state)
{
	struct wv_share_clock clock = {0};
	struct wv_share dear = {0}, cheap = {0};
	int64_t got_us[2] = {0};

	(void)state;
	serve(&dear, 1000, &cheap, 10, &clock, 10000, got_us);
	assert_uint_in_range(got_us[0], got_us[1] - 1000, got_us[1] + 1000);
}

static void test_nobody_saves_up(void **state)
{
	struct wv_share_clock clock = {0};
	struct wv_share busy = {0}, late = {0};
	int64_t got_us[2] = {0};

	(void)state;
	serve(&busy, 10, &busy, 10, &clock, 100000, got_us);
	wv_share_join(&late, &clock);
	memset(got_us, 0, sizeof(got_us));
	serve(&busy, 10, &late, 10, &clock, 100, got_us);
	assert_uint_in_range(got_us[0], 490, 510);
}

static void test_whoever_comes_last_finds_something(void **state)
{
	uint64_t used = 0;

	(void)state;
	assert_int_equal(wv_share_limit(1000, 0), 500);
	for (unsigned int i = 0; i < 8; i++) {
		assert_true(wv_share_limit(1000, used) > 0);
		used += wv_share_limit(1000, used);
	}
	assert_int_equal(wv_share_limit(1000, 1000), 0);
	assert_int_equal(wv_share_limit(1000, 2000), 0);
}

/* Turns. */

static void test_a_tenant_with_many_waits_for_its_own(void **state)
{
	struct wv_turns turns;
	struct wv_tenants t = {0};
	struct wv_tenant *many = wv_tenant_get(&t, 1, 0), *one = wv_tenant_get(&t, 2, 0);
	struct wv_turn of_many[10] = {0}, of_one = {0};

	(void)state;
	wv_turns_init(&turns);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(of_many); i++)
		wv_turns_add(&turns, &of_many[i], many);
	assert_ptr_equal(wv_turns_next(&turns), &of_many[0]);
	wv_turns_charge(&turns, many, 50);
	wv_turns_add(&turns, &of_one, one);
	wv_turns_add(&turns, &of_one, one); /* waits already */
	assert_ptr_equal(wv_turns_next(&turns), &of_one);
	wv_turns_charge(&turns, one, 10);
	for (unsigned int i = 1; i < WV_ARRAY_SIZE(of_many); i++)
		assert_ptr_equal(wv_turns_next(&turns), &of_many[i]);
	assert_null(wv_turns_next(&turns));
	wv_tenants_finish(&t);
}

static void test_whoever_leaves_has_no_turn(void **state)
{
	struct wv_turns turns;
	struct wv_tenants t = {0};
	struct wv_tenant *tenant = wv_tenant_get(&t, 1, 0);
	struct wv_turn stays = {0}, leaves = {0};

	(void)state;
	wv_turns_init(&turns);
	wv_turns_add(&turns, &leaves, tenant);
	wv_turns_add(&turns, &stays, tenant);
	wv_turns_remove(&turns, &leaves);
	wv_turns_remove(&turns, &leaves);
	assert_ptr_equal(wv_turns_next(&turns), &stays);
	assert_false(wv_turns_any(&turns));
	wv_tenants_finish(&t);
}

/* Closing. */

/* A TCP socket with data that nobody reads: closing it takes @seconds, unless *@reader goes. */
static int slow_to_close(int seconds, int *reader)
{
	const struct linger linger = {.l_onoff = 1, .l_linger = seconds};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	wv_auto_fd listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t bytes = sizeof(at);
	char data[4096] = {0};

	assert_int_equal(bind(listener, (struct sockaddr *)&at, bytes), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &bytes), 0);
	assert_int_equal(connect(sock, (struct sockaddr *)&at, bytes), 0);
	*reader = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	while (send(sock, data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(setsockopt(sock, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	return sock;
}

struct workshop {
	sd_event *event;
	struct wv_workers *workers;
};

static struct workshop open_workshop(void)
{
	struct workshop w;

	assert_int_equal(sd_event_new(&w.event), 0);
	assert_int_equal(wv_workers_start(&w.workers, w.event), 0);
	return w;
}

static void close_workshop(struct workshop *w)
{
	wv_workers_stop(w->workers);
	sd_event_unref(w->event);
}

static void await_busy(struct wv_closer *c, const struct wv_tenant *tenant, unsigned int n)
{
	while (wv_closer_busy(c, tenant) != n)
		sched_yield();
}

static void test_who_is_slow_waits_alone(void **state)
{
	struct wv_tenants t = {0};
	struct wv_tenant *slow = wv_tenant_get(&t, 1, 0), *other = wv_tenant_get(&t, 2, 0);
	struct wv_closer c = {0};
	struct workshop w = open_workshop();
	int reader, later = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(wv_closer_start(&c, w.workers), 0);
	wv_closer_give(&c, slow, slow_to_close(100, &reader));
	wv_closer_give(&c, slow, later);
	for (unsigned int i = 0; i < 100; i++)
		wv_closer_give(&c, other, open("/dev/null", O_RDONLY | O_CLOEXEC));
	await_busy(&c, other, 0);
	assert_int_equal(wv_closer_busy(&c, slow), 2);
	assert_true(fcntl(later, F_GETFD) >= 0);
	close(reader);
	await_busy(&c, NULL, 0);
	assert_true(fcntl(later, F_GETFD) < 0);
	assert_int_equal(wv_closer_stop(&c), 0);
	close_workshop(&w);
	wv_tenants_finish(&t);
}

static void test_who_has_more_than_its_share_is_full(void **state)
{
	struct wv_tenants t = {0};
	struct wv_tenant *slow = wv_tenant_get(&t, 1, 0), *other = wv_tenant_get(&t, 2, 0);
	struct wv_closer c = {.max_fds = 20};
	struct workshop w = open_workshop();
	int reader;

	(void)state;
	assert_int_equal(wv_closer_start(&c, w.workers), 0);
	wv_closer_give(&c, slow, slow_to_close(100, &reader));
	for (unsigned int i = 1; i < 10; i++)
		wv_closer_give(&c, slow, open("/dev/null", O_RDONLY | O_CLOEXEC));
	assert_false(wv_closer_is_full(&c, slow));
	wv_closer_give(&c, slow, open("/dev/null", O_RDONLY | O_CLOEXEC));
	assert_true(wv_closer_is_full(&c, slow));
	assert_false(wv_closer_is_full(&c, other));
	close(reader);
	await_busy(&c, NULL, 0);
	assert_false(wv_closer_is_full(&c, slow));
	assert_int_equal(wv_closer_stop(&c), 0);
	close_workshop(&w);
	wv_tenants_finish(&t);
}

/* Each keeps a thread from doing anything else. */
static void test_many_who_are_slow(void **state)
{
	struct wv_tenants t = {0};
	struct wv_tenant *other = wv_tenant_get(&t, 1000, 0);
	struct wv_closer c = {0};
	struct workshop w = open_workshop();
	int readers[20];

	(void)state;
	assert_int_equal(wv_closer_start(&c, w.workers), 0);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(readers); i++)
		wv_closer_give(&c, wv_tenant_get(&t, i, 0), slow_to_close(100, &readers[i]));
	wv_closer_give(&c, other, open("/dev/null", O_RDONLY | O_CLOEXEC));
	await_busy(&c, other, 0);
	assert_int_equal(wv_closer_busy(&c, NULL), WV_ARRAY_SIZE(readers));
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(readers); i++)
		close(readers[i]);
	assert_int_equal(wv_closer_stop(&c), 0);
	close_workshop(&w);
	wv_tenants_finish(&t);
}

/* Containers. */

static void test_where_a_container_s_path_ends(void **state)
{
	static const struct {
		const char *path;
		size_t bytes; /* 0: all */
	} paths[] = {
	    {"/system.slice/ssh.service", 0},
	    {"/system.slice/ssh.service/below", 25},
	    {"/user.slice/user-1.slice/session-3.scope", 24},
	    {"/user.slice/user-1.slice/user@1.service/app.slice/a.scope", 24},
	    {"/user.slice/user-1.slice", 0},
	    {"/system.slice/slurmstepd.scope/job_12/step_0/user/task_0", 37},
	    {"/system.slice/node1_slurmstepd.scope/job_12/step_0", 43},
	    {"/system.slice/slurmstepd.scope/system", 30},
	    {"/slurm/uid_7/job_12/step_0", 19},
	    {"/slurm/job_12/step_0", 13},
	    {"/slurm/system", 6},
	    {"/system.slice/a.scope/slurm/job_12", 21},
	    {"/docker/0123456789abcdef0123456789abcdef", 0},
	    {"/docker/0123456789abcdef0123456789abcdef/below/it", 40},
	    {"/kubepods.slice/pod.slice/cri-0123456789abcdef0123456789abcdef.scope/x", 68},
	    {"/batch/job7/step0", 6},
	    {"/", 1},
	    {"", 0},
	};

	(void)state;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(paths); i++)
		assert_int_equal(wv_container_path(paths[i].path),
				 paths[i].bytes ? paths[i].bytes : strlen(paths[i].path));
}

#define LATECOMER 8

struct named {
	unsigned int n;
	unsigned int turn; /* of the latecomer; 0: it has had none */
	uid_t uid;
	uint64_t container;
	bool settled;
};

static void on_named(void *arg, int fd, uid_t uid, uint64_t container)
{
	struct named *named = arg;

	named->n++;
	if (uid == LATECOMER)
		named->turn = named->n;
	named->uid = uid;
	named->container = container;
	close(fd);
}

static void on_settled(void *arg)
{
	struct named *named = arg;

	named->settled = true;
}

static void test_newcomers_are_named(void **state)
{
	struct named named = {0};
	struct workshop w = open_workshop();
	struct wv_namer n = {
	    .workers = w.workers, .named = on_named, .settled = on_settled, .arg = &named};
	int ends[2];

	(void)state;
	assert_int_equal(wv_namer_start(&n), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_true(wv_namer_give(&n, ends[0], 7, &(struct ucred){.uid = 7, .pid = getpid()}));
	while (!named.settled)
		sd_event_run(w.event, UINT64_MAX);
	assert_int_equal(named.n, 1);
	assert_int_equal(named.uid, 7);
	assert_int_equal(named.container, wv_container_of(ends[1], getpid()));
	wv_namer_stop(&n);
	close(ends[1]);
	close_workshop(&w);
}

static void give_one_of(struct wv_namer *n, uid_t owner)
{
	const struct ucred peer = {.uid = owner, .pid = getpid()};

	assert_true(wv_namer_give(n, open("/dev/null", O_RDONLY | O_CLOEXEC), owner, &peer));
}

/* However many of another user are before it. */
static void test_users_take_turns(void **state)
{
	struct named named = {0};
	struct workshop w = open_workshop();
	struct wv_namer n = {
	    .workers = w.workers, .named = on_named, .settled = on_settled, .arg = &named};

	(void)state;
	assert_int_equal(wv_namer_start(&n), 0);
	for (unsigned int i = 0; i < 100; i++)
		give_one_of(&n, 7);
	give_one_of(&n, LATECOMER);
	while (!named.turn)
		sd_event_run(w.event, UINT64_MAX);
	assert_true(named.turn <= 2);
	wv_namer_stop(&n);
	assert_int_equal(n.n, 0);
	close_workshop(&w);
}

/* Nor may one user have all the places. */
static void test_a_user_s_newcomers_are_limited(void **state)
{
	struct named named = {0};
	struct workshop w = open_workshop();
	struct wv_namer n = {.workers = w.workers, .named = on_named, .arg = &named};
	const struct ucred peer = {.uid = 7, .pid = getpid()};

	(void)state;
	assert_int_equal(wv_namer_start(&n), 0);
	for (unsigned int i = 0; i < WV_NAMER_MOST / 2; i++)
		give_one_of(&n, 7);
	assert_false(wv_namer_give(&n, -1, 7, &peer));
	give_one_of(&n, LATECOMER);
	wv_namer_stop(&n);
	assert_int_equal(n.n, 0);
	close_workshop(&w);
}

static uint64_t in_file(const char *text)
{
	char path[] = "/tmp/test_tenants.XXXXXX";
	int fd = mkstemp(path);
	uint64_t container;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	container = wv_container_in(path);
	unlink(path);
	return container;
}

/* Users can be given the right to make cgroups in hierarchies of version 1. */
static void test_only_the_unified_hierarchy_counts(void **state)
{
	uint64_t expected = in_file("0::/a\n");
	char far[8192];

	(void)state;
	assert_int_not_equal(expected, 0);
	assert_int_equal(in_file("1:name=systemd:/0::/mine\n0::/a\n"), expected);
	assert_int_equal(in_file("10::/mine\n0::/a\n"), expected);
	snprintf(far, sizeof(far), "1:cpu:/%05000d\n0::/a\n", 0);
	assert_int_equal(in_file(far), expected);
	assert_int_equal(in_file("1:cpu:/0::/mine\n"), 0);
	assert_int_equal(in_file(""), 0);
}

static void test_a_process_that_has_ended_is_in_no_container(void **state)
{
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(wv_container_of(-1, child), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_lent_user_is_its_owner),
	    cmocka_unit_test(test_wrong_lines_are_left_out),
	    cmocka_unit_test(test_no_file_lends_nothing),
	    cmocka_unit_test(test_one_tenant_for_each_owner_and_container),
	    cmocka_unit_test(test_equal_time_for_unequal_work),
	    cmocka_unit_test(test_nobody_saves_up),
	    cmocka_unit_test(test_whoever_comes_last_finds_something),
	    cmocka_unit_test(test_a_tenant_with_many_waits_for_its_own),
	    cmocka_unit_test(test_whoever_leaves_has_no_turn),
	    cmocka_unit_test(test_who_is_slow_waits_alone),
	    cmocka_unit_test(test_who_has_more_than_its_share_is_full),
	    cmocka_unit_test(test_many_who_are_slow),
	    cmocka_unit_test(test_where_a_container_s_path_ends),
	    cmocka_unit_test(test_newcomers_are_named),
	    cmocka_unit_test(test_users_take_turns),
	    cmocka_unit_test(test_a_user_s_newcomers_are_limited),
	    cmocka_unit_test(test_only_the_unified_hierarchy_counts),
	    cmocka_unit_test(test_a_process_that_has_ended_is_in_no_container),
	};

	return cmocka_run_group_tests_name("tenants", tests, NULL, NULL);
}
