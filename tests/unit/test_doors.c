/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets of users' own, and clients that leave at once. */
#include "daemon_bench.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "wire/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER	2003
#define FURTHER 2002

static struct sockaddr_un own(const struct daemon_bench *b, uid_t uid)
{
	struct sockaddr_un at;

	assert_int_equal(wv_user_socket(&at, b->socket, uid), 0);
	return at;
}

static bool has_own(const struct daemon_bench *b, uid_t uid)
{
	const struct sockaddr_un at = own(b, uid);

	return !access(at.sun_path, F_OK);
}

/* The path of the socket that a program reaches. */
static struct sockaddr_un reached(const struct daemon_bench *b)
{
	wv_auto_fd sock = wv_connect(b->socket);
	struct sockaddr_un at = {0};
	socklen_t bytes = sizeof(at);

	assert_true(sock >= 0);
	assert_int_equal(getpeername(sock, (struct sockaddr *)&at, &bytes), 0);
	return at;
}

/* User @uid, who has a recipe, connects, as the tests cannot. */
static void let_in(struct daemon_bench *b, uid_t uid)
{
	bench_recipe_of(b, uid, 0);
	wv_doors_add(&b->server->acceptor.doors, wv_catalog_user(&b->server->catalog, uid, false));
}

static void test_who_has_recipes_has_a_socket(void **state)
{
	struct daemon_bench *b = *state;

	assert_false(has_own(b, getuid()));
	assert_string_equal(reached(b).sun_path, b->socket);
	bench_record(b, 1, "rc_pingpong");
	bench_run_program(b, 1, 0);
	assert_true(has_own(b, getuid()));
	assert_string_equal(reached(b).sun_path, own(b, getuid()).sun_path);
	bench_run(b);
}

static void test_leases_come_by_it(void **state)
{
	static struct bench_answer answer;
	struct daemon_bench *b = *state;
	struct wv_msg_request request = bench_request(1);
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC), sock = -1;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	bench_run_program(b, 1, 0);
	bench_settle(b);
	sock = wv_connect(b->socket);
	bench_send(sock, WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
	bench_receive(b, sock, &answer);
	assert_int_equal(bench_reason(&answer), 0);
	bench_close_fds(&answer);
}

static void test_it_is_there_after_a_restart(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	bench_save(b);
	bench_stop(b);
	assert_false(has_own(b, getuid()));
	bench_start(b);
	assert_true(has_own(b, getuid()));
}

static void test_a_killed_daemon_s_sockets(void **state)
{
	struct daemon_bench *b = *state;
	const struct sockaddr_un at = own(b, getuid());
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(sock, (const struct sockaddr *)&at, sizeof(at)), 0);
	close(sock);
	assert_string_equal(reached(b).sun_path, b->socket);
	bench_run(b);
	wv_server_finish(b->server);
	wv_store_close(&b->server->store);
	free(b->server);
	bench_start(b);
	assert_false(has_own(b, getuid()));
}

static void test_it_goes_with_the_recipes(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	bench_run_program(b, 1, 0);
	json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	bench_run(b);
	assert_false(has_own(b, getuid()));
}

/* Whether user @uid reaches the socket of user @owner. */
static bool reaches(struct daemon_bench *b, uid_t uid, uid_t owner)
{
	const struct sockaddr_un at = own(b, owner);
	int status;
	pid_t pid = fork();

	if (!pid) {
		int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);

		if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			_exit(2);
		_exit(connect(sock, (const struct sockaddr *)&at, sizeof(at)) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return !WEXITSTATUS(status);
}

static void test_it_is_the_user_s_alone(void **state)
{
	struct daemon_bench *b = *state;

	if (getuid())
		skip();
	assert_int_equal(chmod(b->dir, 0755), 0);
	let_in(b, OTHER);
	assert_true(reaches(b, OTHER, OTHER));
	assert_false(reaches(b, FURTHER, OTHER));
	bench_run(b);
}

/* Who may not connect to the common socket finds no way past its permissions. */
static void test_the_common_socket_s_permissions_count(void **state)
{
	struct daemon_bench *b = *state;

	if (getuid())
		skip();
	bench_stop(b);
	b->group = "daemon";
	bench_start(b);
	assert_int_equal(chmod(b->dir, 0755), 0);
	let_in(b, OTHER);
	assert_true(has_own(b, OTHER));
	assert_false(reaches(b, OTHER, OTHER));
}

static void test_users_share_what_there_can_be(void **state)
{
	struct daemon_bench *b = *state;
	uid_t uid;

	b->server->acceptor.doors.max_own = 4;
	for (uid = OTHER; uid < OTHER + 10; uid++)
		let_in(b, uid);
	assert_int_equal(b->server->acceptor.doors.n_own, 3); /* half of what the others leave */
}

static void test_who_has_left_costs_nothing_more(void **state)
{
	struct daemon_bench *b = *state;

	for (int i = 0; i < 100; i++)
		close(bench_connect(b));
	bench_run(b);
	assert_int_equal(b->server->service.tally.accepted, 100);
	assert_null(LIST_FIRST(&b->server->catalog.users));
	assert_int_equal(b->server->service.tally.malformed, 0);
}

/* Some messages await no answer. */
static void test_a_message_of_who_has_left_counts(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	close(bench_send_request(b, 1));
	bench_run(b);
	assert_int_equal(bench_recipe(b)->counters.misses, 1);
}

/* Leaves whoever knocks where they are, so that they knock all the time. */
static void count_knock(void *arg, int listen_fd, bool administrator)
{
	unsigned int *n = arg;

	(void)listen_fd;
	(void)administrator;
	++*n;
}

static int count_message(sd_event_source *source, int fd, uint32_t events, void *data)
{
	unsigned int *n = data;

	(void)source;
	(void)fd;
	(void)events;
	++*n;
	return 0;
}

static void test_where_neither_pauses_they_take_turns(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_doors *doors = &b->server->acceptor.doors;
	struct wv_doors before = *doors;
	unsigned int knocks = 0, messages = 0;
	wv_auto_fd sock = bench_connect(b), message = eventfd(1, EFD_CLOEXEC);
	sd_event_source *source;

	assert_true(sock >= 0);
	doors->knock = count_knock;
	doors->arg = &knocks;
	assert_true(sd_event_add_io(b->server->event, &source, message, EPOLLIN, count_message,
				    &messages) >= 0);
	assert_true(sd_event_source_set_priority(source, WV_PRIORITY_CLIENTS) >= 0);
	for (unsigned int i = 0; i < 100; i++)
		sd_event_run(b->server->event, 0);
	assert_true(knocks >= 20 && messages >= 20);
	sd_event_source_disable_unref(source);
	doors->knock = before.knock;
	doors->arg = before.arg;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, bench_set_up, bench_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_who_has_recipes_has_a_socket),
	    TEST(test_leases_come_by_it),
	    TEST(test_it_is_there_after_a_restart),
	    TEST(test_a_killed_daemon_s_sockets),
	    TEST(test_it_goes_with_the_recipes),
	    TEST(test_it_is_the_user_s_alone),
	    TEST(test_the_common_socket_s_permissions_count),
	    TEST(test_users_share_what_there_can_be),
	    TEST(test_where_neither_pauses_they_take_turns),
	    TEST(test_who_has_left_costs_nothing_more),
	    TEST(test_a_message_of_who_has_left_counts),
	};

	return cmocka_run_group_tests_name("doors", tests, NULL, NULL);
}
