/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon towards its clients, the well-behaved and the others. */
#include "daemon_bench.h"

#include "daemon/loop/loop.h"
#include "store/steps_json.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SOON_US 50000 /* REST_US of daemon/ipc/rest.c */

static struct bench_answer answer;

static void close_sock(int sock)
{
	bench_close_fds(&answer);
	close(sock);
}

/* On a fresh node nobody has recipes. */
static void test_a_daemon_without_users_sleeps(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_server *s = b->server;
	uint64_t due = 0;

	s->config.refill_delay = 0;
	wv_scheduler_poke(&s->scheduler, NULL);
	bench_run(b);
	assert_return_code(sd_event_source_get_time(s->scheduler.timer, &due), 0);
	assert_true(due > (uint64_t)wv_now(s->event) + 10000000);
}

/* The life of a recipe. */

static void test_first_run_records_second_is_served(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_lease *lease = (void *)answer.data;
	struct wv_recipe *recipe;
	int sock;

	bench_record(b, 1, "rc_pingpong");
	recipe = bench_recipe(b);
	assert_string_equal(recipe->comm, "program");
	bench_settle(b);
	assert_int_equal(recipe->pool->n_ready, 1);

	sock = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), 0);
	assert_int_equal(
	    wv_cmdlog_check(lease + 1, (size_t)answer.bytes - sizeof(*lease), WV_LEASE), 0);
	assert_int_equal(answer.n_fds, lease->n_fds + 1);
	assert_int_equal(lease->n_fds, ((struct wv_cmdlog *)(lease + 1))->n_fds);
	assert_int_equal(lease->recipe, recipe->id);
	assert_memory_equal(&lease->provider, &recipe->provider, sizeof(recipe->provider));
	assert_int_equal(recipe->counters.hits, 1);
	close_sock(sock);
}

static void test_the_daemon_keeps_no_copy(void **state)
{
	struct daemon_bench *b = *state;
	unsigned int before, made;
	int sock;

	bench_record(b, 1, "rc_pingpong_events");
	before = count_fds();
	bench_settle(b);
	made = count_fds() - before;
	assert_int_equal(made, bench_recipe(b)->cost.fds);
	sock = bench_ask(b, 1, &answer);
	assert_int_equal(answer.n_fds, made);
	/*
	 * Ours, the two ends of the connection, one that tells when the program ends, and the
	 * socket of the user, who has a recipe now, are all that is left.
	 */
	assert_int_equal(count_fds(), before + made + 4);
	close_sock(sock);
}

/* The program is this process, so it keeps its leases. */
static void test_leases_of_programs_are_limited(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_server *s = b->server;
	json_t *json;
	int leases, memory;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	s->handed_out.lender.max_bytes = 3 * bench_recipe(b)->cost.bytes;
	assert_int_equal(bench_run_program(b, 1, 0), 0);
	bench_settle(b);
	assert_int_equal(bench_recipe(b)->pool->n_ready, 1);
	assert_int_equal(bench_run_program(b, 1, 0), WV_NO_LEASE_DENIED);
	assert_int_equal(bench_recipe(b)->pool->n_ready, 1);
	assert_int_equal(s->service.tally.over_limit, 1);
	json = bench_question(b, "{\"op\": \"status\"}");
	assert_int_equal(json_unpack(json, "{s:{s:i, s:i}}", "use", "leases_out", &leases,
				     "memory_out", &memory),
			 0);
	assert_int_equal(leases, 1);
	assert_int_equal(memory, bench_recipe(b)->cost.bytes);
	json_decref(json);
	s->handed_out.lender.max_bytes = 4 * bench_recipe(b)->cost.bytes;
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

static void test_an_empty_pool_grows(void **state)
{
	struct daemon_bench *b = *state;
	int socks[3];

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	for (int i = 0; i < 3; i++) {
		socks[i] = bench_ask(b, 1, &answer);
		assert_int_equal(bench_reason(&answer), i ? WV_NO_LEASE_EMPTY : 0);
		bench_close_fds(&answer);
	}
	assert_int_equal(bench_recipe(b)->counters.misses, 2);
	bench_settle(b);
	assert_uint_in_range(bench_recipe(b)->pool->n_ready, 3, 4);
	for (int i = 0; i < 3; i++)
		close(socks[i]);
}

static void test_recipes_outlive_the_daemon(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "srq_pingpong");
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
	bench_stop(b);
	bench_start(b);
	bench_settle(b);
	assert_int_equal(bench_recipe(b)->counters.adopted, 7);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
	assert_int_equal(bench_recipe(b)->counters.hits, 2);
}

static void test_reports_are_counted(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 2), 0);
	recipe = bench_recipe(b);
	assert_int_equal(recipe->counters.reports, 1);
	assert_int_equal(recipe->counters.adopted, 7);
	assert_int_equal(recipe->counters.kernel, 3);
	assert_int_equal(recipe->counters.diverged, 2);
	assert_int_equal(recipe->divergence.why, WV_WHY_VALUE);
}

static void test_a_divergent_program_records_again_once(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 1), 0);
	bench_record(b, 1, "rc_pingpong"); /* no better */
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 1), 0);
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 1), 0);
}

static void test_a_lease_given_up_at_once_did_not_fit(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	close_sock(bench_ask(b, 1, &answer));
	bench_run(b);
	bench_settle(b);
	bench_record(b, 1, "rc_pingpong");
}

/* Its program listed devices, and opened none. */
static void test_an_unread_lease_counts_for_nothing(void **state)
{
	struct daemon_bench *b = *state;
	int sock;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	sock = bench_send_request(b, 1);
	bench_run(b);
	assert_int_equal(bench_recipe(b)->counters.hits, 1);
	close(sock);
	bench_run(b);
	assert_int_equal(bench_recipe(b)->counters.hits, 0);
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

/* Asks with @flags, takes what the daemon answers, and reports. The reason. */
static int ask_with(struct daemon_bench *b, uint32_t flags)
{
	struct wv_msg_request request = bench_request(1);
	struct wv_msg_report report = {.adopted = 1};
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	int sock = bench_connect(b);

	request.flags = flags;
	bench_send(sock, WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
	bench_receive(b, sock, &answer);
	if (!bench_reason(&answer))
		bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	close_sock(sock);
	bench_run(b);
	bench_settle(b);
	return bench_reason(&answer);
}

/* From then on its leases stay in the pool, until its programs have opened what they list. */
static void test_a_lease_in_advance_that_nobody_reads_is_the_last(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_counters *counters;
	int sock;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	counters = &bench_recipe(b)->counters;
	sock = bench_send_request(b, 1);
	bench_run(b);
	close(sock);
	bench_run(b);
	bench_settle(b);
	for (unsigned int built = bench_recipe(b)->pool->n_built, i = 0; i < 3; i++) {
		assert_int_equal(ask_with(b, WV_REQUEST_AHEAD), WV_NO_LEASE_LATER);
		assert_int_equal(bench_recipe(b)->pool->n_built, built);
		assert_int_equal(bench_recipe(b)->pool->n_ready, 1);
		assert_int_equal(counters->hits + counters->misses, 0);
	}
	for (int i = 0; i < 8; i++) {
		assert_int_equal(ask_with(b, WV_REQUEST_AHEAD), WV_NO_LEASE_LATER);
		assert_int_equal(bench_run_program(b, 1, 0), 0);
		bench_settle(b);
	}
	assert_int_equal(ask_with(b, WV_REQUEST_AHEAD), 0);
}

/* A program says so itself when it opens a device at last, be it at its first run. */
static void test_a_program_that_lists_first_gets_nothing_in_advance(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	assert_int_equal(ask_with(b, WV_REQUEST_LISTED), 0);
	assert_int_equal(ask_with(b, WV_REQUEST_AHEAD), WV_NO_LEASE_LATER);
	assert_int_equal(ask_with(b, WV_REQUEST_LISTED), 0);
}

/* The daemon does not know then what the programs do. */
static void test_the_first_list_after_a_restart(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	bench_stop(b);
	bench_start(b);
	bench_settle(b);
	assert_int_equal(ask_with(b, WV_REQUEST_AHEAD), WV_NO_LEASE_LATER);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
	bench_settle(b);
	assert_int_equal(ask_with(b, WV_REQUEST_AHEAD), 0);
}

static void test_a_recording_of_nothing_is_not_kept(void **state)
{
	struct daemon_bench *b = *state;
	struct {
		struct wv_msg_record head;
		struct wv_cmdlog cmdlog;
	} record = {0};
	struct wv_cmdlog_writer w;
	int sock = bench_ask(b, 1, &answer);

	wv_cmdlog_begin(&w, &record.cmdlog, sizeof(record.cmdlog), WV_RECORD, 0);
	bench_send(sock, WV_MSG_RECORD, &record, sizeof(record), NULL, 0);
	bench_receive(b, sock, &answer);
	assert_int_equal(answer.bytes, 0);
	assert_int_equal(b->server->service.tally.malformed, 0);
	assert_null(wv_catalog_user(&b->server->catalog, getuid(), false));
	close(sock);
}

/* The fixture, as a recording that @more may follow. */
static void send_record(int sock, const char *fixture, uint32_t more)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load(fixture);
	size_t bytes = sizeof(struct wv_msg_record) + record->bytes;
	wv_auto_free struct wv_msg_record *head = calloc(1, bytes);

	head->more = more;
	memcpy(head + 1, record, record->bytes);
	bench_send(sock, WV_MSG_RECORD, head, bytes, NULL, 0);
}

static unsigned int count_recipes(struct daemon_bench *b)
{
	return wv_catalog_user(&b->server->catalog, getuid(), false)->n_recipes;
}

static void test_a_fuller_recording_takes_over(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_ask(b, 1, &answer);

	send_record(sock, "rc_pingpong", 1);
	bench_run(b);
	bench_settle(b);
	assert_int_equal(bench_recipe(b)->n_steps, 8);
	assert_int_equal(b->server->service.n_clients, 1);
	send_record(sock, "send_bw_q4", 0);
	bench_receive(b, sock, &answer);
	assert_int_equal(answer.bytes, 0);
	close(sock);
	assert_int_equal(count_recipes(b), 1);
	assert_int_equal(bench_recipe(b)->n_steps, 17);
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

/* Another program has had a lease meanwhile. */
static void test_a_preliminary_recipe_that_served_stays(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_ask(b, 1, &answer);

	send_record(sock, "rc_pingpong", 1);
	bench_run(b);
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 2, 0), 0);
	send_record(sock, "send_bw_q4", 1);
	bench_run(b);
	assert_int_equal(count_recipes(b), 2);
	close(sock);
	bench_run(b);
}

static void test_what_was_recorded_outlives_the_program(void **state)
{
	struct daemon_bench *b = *state;
	int sock = bench_ask(b, 1, &answer);

	send_record(sock, "rc_pingpong", 1);
	bench_run(b);
	close(sock); /* it was killed */
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

static int begin_reports(struct daemon_bench *b)
{
	int sock;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	sock = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), 0);
	bench_close_fds(&answer);
	return sock;
}

/* To read what it says at once would take the processor from it as it starts. */
static void test_a_program_with_a_new_lease_is_heard_later(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_report report = {.unused = 3, .more = 1};
	int64_t begin_us = wv_steady_clock();
	int sock = begin_reports(b);
	uint64_t heard;
	bool in_time;

	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	while (wv_loop_turn(b->server->event, 0) > 0)
		;
	heard = bench_recipe(b)->counters.reports;
	in_time = wv_steady_clock() - begin_us < SOON_US;
	bench_run(b); /* until it is heard */
	assert_int_equal(bench_recipe(b)->counters.reports, 1);
	close_sock(sock);
	bench_run(b);
	if (!in_time) {
		print_message("skipped: 1: this machine is too busy: \"later\" has begun\n");
		skip();
	}
	assert_int_equal(heard, 0);
}

/* Its end is noticed at once, and what it has said is not lost. */
static void test_a_program_that_ends_soon_is_heard(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_report report = {.unused = 3};
	int sock = begin_reports(b);

	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	close_sock(sock);
	while (wv_loop_turn(b->server->event, 0) > 0)
		;
	assert_int_equal(bench_recipe(b)->counters.reports, 1);
	assert_int_equal(b->server->service.n_clients, 0);
}

static void test_a_later_report_takes_the_place_of_the_first(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_report report = {
	    .adopted = 5, .kernel = 1, .unused = 3, .spares = 2, .more = 1};
	int sock = begin_reports(b);
	struct wv_counters *counters = &bench_recipe(b)->counters;

	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	bench_run(b);
	assert_int_equal(counters->unused, 3);
	report = (struct wv_msg_report){.adopted = 7,
					.kernel = 4,
					.diverged = 2,
					.unused = 1,
					.spares = 9,
					.late = 1,
					.why = WV_WHY_NO_STEP};
	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	bench_receive(b, sock, &answer);
	assert_int_equal(answer.bytes, 0);
	close(sock);
	assert_int_equal(counters->reports, 1);
	assert_int_equal(counters->adopted, 7);
	assert_int_equal(counters->kernel, 4);
	assert_int_equal(counters->diverged, 2);
	assert_int_equal(counters->unused, 1);
	assert_int_equal(counters->spares, 9);
	assert_int_equal(b->server->service.totals.adopted, 7);
	assert_int_equal(b->server->service.totals.hits, 1);
	assert_int_equal(bench_recipe(b)->divergence.why, WV_WHY_NO_STEP);
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0); /* not recorded for that alone */
}

static void test_a_report_cannot_spoil_the_totals(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_report report = {
	    .adopted = UINT32_MAX,
	    .kernel = UINT32_MAX,
	    .diverged = UINT32_MAX,
	    .unused = UINT32_MAX,
	    .spares = UINT32_MAX,
	    .late = 1,
	};
	const struct wv_counters *totals = &b->server->service.totals;
	int sock = begin_reports(b);
	uint32_t steps = bench_recipe(b)->n_steps;

	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	bench_receive(b, sock, &answer);
	close(sock);
	assert_int_equal(totals->reports, 1);
	assert_uint_in_range(totals->adopted, steps, steps + 2);
	assert_uint_in_range(totals->unused, steps, steps + 2);
	assert_int_equal(totals->kernel, 1000000);
	assert_int_equal(totals->diverged, 1000000);
	assert_int_equal(totals->spares, 1000000);
}

/* What was counted is not taken back. */
static void test_reports_that_shrink(void **state)
{
	static const struct wv_msg_report wrong[] = {
	    {.adopted = 4, .kernel = 1, .diverged = 1, .unused = 3, .spares = 1},
	    {.adopted = 5, .diverged = 1, .unused = 3, .spares = 1},
	    {.adopted = 5, .kernel = 1, .unused = 3, .spares = 1},
	    {.adopted = 5, .kernel = 1, .diverged = 1, .unused = 4, .spares = 1},
	    {.adopted = 5, .kernel = 1, .diverged = 1, .unused = 3},
	};
	struct daemon_bench *b = *state;

	for (size_t i = 0; i < WV_ARRAY_SIZE(wrong); i++) {
		struct wv_msg_report report = {.adopted = 5,
					       .kernel = 1,
					       .diverged = 1,
					       .unused = 3,
					       .spares = 1,
					       .late = 1,
					       .more = 1};
		int sock = begin_reports(b);

		bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
		bench_run(b);
		report = wrong[i];
		bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
		bench_receive(b, sock, &answer);
		assert_int_equal(answer.bytes, 0);
		assert_int_equal(b->server->service.tally.malformed, i + 1);
		assert_int_equal(bench_recipe(b)->counters.adopted, 5);
		close(sock);
		json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	}
}

static void end_programs(struct daemon_bench *b, unsigned int reached, uint8_t more)
{
	for (unsigned int i = 0; i < WV_RECIPE_RUNS; i++) {
		struct wv_msg_report report = {
		    .adopted = 7, .unused = 1, .reached = (uint16_t)reached, .more = more};
		int sock;

		bench_settle(b);
		sock = bench_ask(b, 1, &answer);
		assert_int_equal(bench_reason(&answer), 0);
		bench_close_fds(&answer);
		bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
		bench_run(b);
		close(sock);
		bench_run(b);
	}
}

static void test_the_end_of_a_recipe_is_dropped(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	end_programs(b, 6, 1); /* killed, so nobody knows */
	assert_int_equal(bench_recipe(b)->n_steps, 8);
	end_programs(b, 6, 0);
	assert_int_equal(count_recipes(b), 1);
	assert_int_equal(bench_recipe(b)->n_steps, 6);
	assert_int_equal(bench_recipe(b)->counters.reports, 2 * WV_RECIPE_RUNS);
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

/* Rights. */

static void expect_denied(struct daemon_bench *b, int node)
{
	struct wv_msg_request request = bench_request(1);
	int sock = bench_connect(b);

	assert_true(node >= 0);
	bench_send(sock, WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
	bench_receive(b, sock, &answer);
	assert_int_equal(bench_reason(&answer), WV_NO_LEASE_DENIED);
	close_sock(sock);
	close(node);
}

static void test_only_an_opened_node_proves_a_right(void **state)
{
	struct daemon_bench *b = *state;
	int ends[2];

	bench_record(b, 1, "rc_pingpong");
	expect_denied(b, open(BENCH_NODE, O_RDONLY | O_CLOEXEC));
	expect_denied(b, open(BENCH_NODE, O_WRONLY | O_CLOEXEC));
	expect_denied(b, open(BENCH_NODE, O_PATH | O_CLOEXEC));
	expect_denied(b, open("/dev/zero", O_RDWR | O_CLOEXEC));
	expect_denied(b, open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	expect_denied(b, ends[0]);
	close(ends[1]);
	assert_int_equal(b->server->service.tally.denied, 6);
}

static void test_a_driver_that_is_not_understood(void **state)
{
	struct daemon_bench *b = *state;
	int sock;

	b->server->devices.all[0].leasable = false; /* its driver is not in the table */
	sock = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), WV_NO_LEASE_UNFIT);
	close_sock(sock);
}

/* Recipes of an earlier run, of a daemon that leased the device, say. */
static void test_a_device_that_is_not_leased_has_no_leases(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	b->server->devices.all[0].leasable = false;
	bench_settle(b);
	assert_int_equal(bench_recipe(b)->pool->n_built, 0);
}

/*
 * As another user, in another process: its exit status is what @play returns. The daemon runs here
 * meanwhile.
 */
static int as_nobody(struct daemon_bench *b, int (*play)(struct daemon_bench *b))
{
	pid_t child;
	int status = 0;

	if (getuid()) {
		print_message("only root can become another user\n");
		skip();
	}
	assert_int_equal(chmod(b->dir, 0755), 0);
	child = fork();
	if (!child)
		_exit(setgroups(0, NULL) || setgid(65534) || setuid(65534) ? 99 : play(b));
	while (waitpid(child, &status, WNOHANG) == 0)
		sd_event_run(b->server->event, 1000);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Blocking, since the daemon is in another process. */
static int ask_from_afar(struct daemon_bench *b)
{
	struct wv_msg_request request = bench_request(1);
	int node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	int sock = bench_connect(b);
	struct wv_msg_no_lease no_lease;

	fcntl(sock, F_SETFL, 0);
	bench_send(sock, WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
	if (recv(sock, &no_lease, sizeof(no_lease), 0) != sizeof(no_lease))
		return 98;
	return no_lease.msg.type == WV_MSG_NO_LEASE ? (int)no_lease.reason : 97;
}

static void test_a_user_s_leases_are_that_user_s_only(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	assert_int_equal(as_nobody(b, ask_from_afar), WV_NO_LEASE_RECORD);
	assert_int_equal(bench_recipe(b)->counters.hits, 0);
}

static int forget_from_afar(struct daemon_bench *b)
{
	static const char question[] = "{\"op\": \"forget\", \"id\": \"all\"}";
	struct {
		struct wv_msg msg;
		char text[sizeof(question) - 1];
	} msg;
	int sock = bench_connect(b);

	fcntl(sock, F_SETFL, 0);
	memcpy(msg.text, question, sizeof(msg.text));
	bench_send(sock, WV_MSG_CONTROL, &msg, sizeof(msg), NULL, 0);
	return recv(sock, &msg, sizeof(msg), 0) > (ssize_t)sizeof(msg.msg) ? 0 : 98;
}

static void test_nobody_forgets_another_user_s_recipes(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	assert_int_equal(as_nobody(b, forget_from_afar), 0);
	assert_int_equal(bench_recipe(b)->n_steps, 8);
}

static int status_from_afar(struct daemon_bench *b)
{
	static const char question[] = "{\"op\": \"status\"}";
	static _Alignas(8) char text[WV_WIRE_MAX];
	struct {
		struct wv_msg msg;
		char text[sizeof(question) - 1];
	} msg;
	json_int_t leases = -1, on_device = -1;
	int sock = bench_connect(b);
	json_t *json;
	ssize_t got;

	fcntl(sock, F_SETFL, 0);
	memcpy(msg.text, question, sizeof(msg.text));
	bench_send(sock, WV_MSG_CONTROL, &msg, sizeof(msg), NULL, 0);
	got = recv(sock, text, sizeof(text), 0);
	if (got <= (ssize_t)sizeof(msg.msg))
		return 98;
	json = json_loadb(text + sizeof(msg.msg), (size_t)got - sizeof(msg.msg), 0, NULL);
	if (json_unpack(json, "{s:{s:I}, s:[{s:I}]}", "use", "leases", &leases, "devices", "leases",
			&on_device))
		return 97;
	return leases || on_device || json_object_get(json_object_get(json, "clients"), "accepted");
}

static void test_nobody_sees_what_others_do(void **state)
{
	struct daemon_bench *b = *state;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	assert_int_equal(as_nobody(b, status_from_afar), 0);
}

/* Malformed messages: the connection is closed, nothing leaks, and others are served. */

static void expect_hung_up(struct daemon_bench *b, int sock)
{
	uint64_t before = b->server->service.tally.malformed;

	bench_receive(b, sock, &answer);
	assert_int_equal(answer.bytes, 0);
	assert_int_equal(b->server->service.tally.malformed, before + 1);
	close(sock);
	bench_run(b);
	assert_int_equal(b->server->service.n_clients, 0);
}

static void send_raw(int sock, const void *data, size_t bytes, const int *fds, unsigned int n_fds)
{
	assert_int_equal(wv_send(sock, data, bytes, NULL, 0, fds, n_fds), 0);
}

static void test_wrong_sizes(void **state)
{
	struct daemon_bench *b = *state;
	char data[512] = {0};
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);

	for (size_t bytes = 1; bytes < 2 * sizeof(struct wv_msg_request); bytes++) {
		struct wv_msg_request request = bench_request(1);
		int sock = bench_connect(b);

		if (bytes == sizeof(request)) {
			close(sock);
			bench_run(b);
			continue;
		}
		wv_msg_init(&request.msg, WV_MSG_REQUEST, bytes);
		memcpy(data, &request, sizeof(request));
		send_raw(sock, data, bytes, &node, 1);
		expect_hung_up(b, sock);
	}
}

static void test_wrong_headers(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 6; i++) {
		struct wv_msg_request request = bench_request(1);
		int sock = bench_connect(b);

		wv_msg_init(&request.msg, WV_MSG_REQUEST, sizeof(request));
		request.msg.magic ^= i == 0;
		request.msg.version = i == 1 ? 0 : i == 2 ? WV_WIRE_VERSION + 1 : WV_WIRE_VERSION;
		request.msg.type = i == 3 ? 0 : i == 4 ? 4000 : WV_MSG_REQUEST;
		request.msg.bytes += i == 5;
		send_raw(sock, &request, sizeof(request), &node, 1);
		expect_hung_up(b, sock);
	}
}

static void test_wrong_numbers_of_descriptors(void **state)
{
	static const unsigned int numbers[] = {0, 2, WV_WIRE_MAX_FDS};
	struct daemon_bench *b = *state;
	int fds[WV_WIRE_MAX_FDS];

	for (unsigned int i = 0; i < WV_WIRE_MAX_FDS; i++)
		fds[i] = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(numbers); i++) {
		struct wv_msg_request request = bench_request(1);
		int sock = bench_connect(b);

		bench_send(sock, WV_MSG_REQUEST, &request, sizeof(request), fds, numbers[i]);
		expect_hung_up(b, sock);
	}
	for (unsigned int i = 0; i < WV_WIRE_MAX_FDS; i++)
		close(fds[i]);
}

/* More than the protocol allows, so that the daemon's buffer for them is too small. */
static void test_far_too_many_descriptors(void **state)
{
	struct daemon_bench *b = *state;
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int) * 250)];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int) * 250),
			      .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS}};
	struct wv_msg_request request = bench_request(1);
	struct iovec part = {&request, sizeof(request)};
	struct msghdr msg = {.msg_iov = &part,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	int sock = bench_connect(b);

	wv_msg_init(&request.msg, WV_MSG_REQUEST, sizeof(request));
	for (int i = 0; i < 250; i++)
		((int *)CMSG_DATA(&control.head))[i] = node;
	assert_int_equal(sendmsg(sock, &msg, 0), sizeof(request));
	expect_hung_up(b, sock);
}

static void test_a_message_longer_than_any(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_free char *data = calloc(1, WV_WIRE_MAX + 100);
	int sock = bench_connect(b);

	wv_msg_init((struct wv_msg *)data, WV_MSG_CONTROL, WV_WIRE_MAX + 100);
	send_raw(sock, data, WV_WIRE_MAX + 100, NULL, 0);
	expect_hung_up(b, sock);
}

static void test_messages_out_of_turn(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_report report = {0};
	struct wv_msg_no_lease no_lease = {0};
	int sock = bench_connect(b);

	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	expect_hung_up(b, sock);
	sock = bench_connect(b);
	bench_send(sock, WV_MSG_NO_LEASE, &no_lease, sizeof(no_lease), NULL, 0);
	expect_hung_up(b, sock);
	sock = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), WV_NO_LEASE_RECORD);
	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	expect_hung_up(b, sock);
}

/* Sends the record with some bytes changed. */
static void send_spoiled(int sock, const struct wv_cmdlog *good, unsigned int n, uint64_t *random)
{
	size_t bytes = sizeof(struct wv_msg_record) + good->bytes;
	wv_auto_free struct wv_msg_record *head = calloc(1, bytes);

	memcpy(head + 1, good, good->bytes);
	while (n--)
		((uint8_t *)(head + 1))[pseudo_random(random) % good->bytes] =
		    (uint8_t)pseudo_random(random);
	bench_send(sock, WV_MSG_RECORD, head, bytes, NULL, 0);
}

static void test_hostile_recordings(void **state)
{
	struct daemon_bench *b = *state;
	uint64_t random = 7;

	for (unsigned int i = 0; i < 60 * N_FIXTURES; i++) {
		wv_auto_free struct wv_cmdlog *good = fixture_load(fixture_names[i % N_FIXTURES]);
		int sock = bench_ask(b, 1, &answer);

		assert_int_equal(bench_reason(&answer), WV_NO_LEASE_RECORD);
		send_spoiled(sock, good, 1 + i % 5, &random);
		bench_receive(b, sock, &answer);
		assert_int_equal(answer.bytes, 0);
		close(sock);
		bench_settle(b); /* it may be carried out */
		json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	}
	assert_uint_in_range(b->server->service.tally.malformed, 10, 60 * N_FIXTURES);
}

static void test_a_recording_of_another_driver(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_free struct wv_cmdlog *record = fixture_load("rc_pingpong");
	size_t bytes = sizeof(struct wv_msg_record) + record->bytes;
	wv_auto_free struct wv_msg_record *head = calloc(1, bytes);
	int sock = bench_ask(b, 1, &answer);

	record->driver_id = RDMA_DRIVER_MLX5;
	memcpy(head + 1, record, record->bytes);
	bench_send(sock, WV_MSG_RECORD, head, bytes, NULL, 0);
	expect_hung_up(b, sock);
}

static void test_one_report_is_all_that_is_read(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_report report = {.adopted = 1};
	int sock;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	sock = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), 0);
	for (int i = 0; i < 5; i++)
		bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	bench_run(b);
	assert_int_equal(bench_recipe(b)->counters.reports, 1);
	assert_int_equal(b->server->service.n_clients, 0);
	close_sock(sock);
}

/* Floods and the silent. */

static void test_a_silent_client_is_closed(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_server *s = b->server;
	int sock = bench_connect(b), later = bench_connect(b);

	bench_run(b);
	assert_int_equal(s->service.n_clients, 2);
	TAILQ_FIRST(&s->connections.all)->client.since_us -= WV_FIRST_MESSAGE_US;
	sd_event_source_set_time(s->connections.silence_timer, 0);
	bench_receive(b, sock, &answer);
	assert_int_equal(answer.bytes, 0);
	assert_int_equal(s->service.tally.silent, 1);
	assert_int_equal(s->service.n_clients, 1);
	close(sock);
	close(later);
	bench_run(b);
}

static void test_a_recording_program_may_be_silent(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_server *s = b->server;
	int silent = bench_connect(b), sock;

	bench_run(b);
	sock = bench_ask(b, 1, &answer);
	TAILQ_LAST(&s->connections.all, wv_connections_list)->client.since_us -=
	    10 * WV_FIRST_MESSAGE_US;
	sd_event_source_set_time(s->connections.silence_timer, 0);
	bench_run(b);
	assert_int_equal(s->service.n_clients, 2);
	close_sock(sock);
	close(silent);
	bench_run(b);
}

/* A program that has its lease says only how that served, and perhaps not before it ends. */
static void test_who_owes_a_report_makes_room(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_service *service = &b->server->service;
	int leased, sock;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	leased = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), 0);
	bench_close_fds(&answer);
	b->server->acceptor.max_clients = 2 * service->n_clients; /* a tenant has half of it */
	sock = bench_connect(b);
	bench_run(b);
	assert_int_equal(service->n_clients, 1);
	assert_int_equal(service->tally.over_limit, 0);
	bench_receive(b, leased, &answer);
	assert_int_equal(answer.bytes, 0);
	close(leased);
	close_sock(sock);
}

/* What a program may add to the recording that it has sent, the daemon can do without. */
static void test_who_has_sent_a_recording_makes_room(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_service *service = &b->server->service;
	int recording = bench_ask(b, 1, &answer), sock;

	send_record(recording, "rc_pingpong", 1);
	bench_run(b);
	b->server->acceptor.max_clients = 2 * service->n_clients; /* a tenant has half of it */
	sock = bench_connect(b);
	bench_run(b);
	assert_int_equal(service->n_clients, 1);
	bench_receive(b, recording, &answer);
	assert_int_equal(answer.bytes, 0);
	close(recording);
	close_sock(sock);
}

static void test_too_many_clients(void **state)
{
	struct daemon_bench *b = *state;
	int socks[30];

	b->server->acceptor.max_clients = 20; /* a tenant has half of it */
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++)
		socks[i] = bench_connect(b);
	bench_run(b);
	assert_int_equal(b->server->service.n_clients, 10);
	assert_int_equal(b->server->service.tally.over_limit, 20);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++)
		close(socks[i]);
	bench_run(b);
	assert_int_equal(b->server->service.n_clients, 0);
	bench_record(b, 1, "rc_pingpong");
}

/* What is not read. */

static void put_question(int sock, const char *question)
{
	size_t bytes = sizeof(struct wv_msg) + strlen(question);
	wv_auto_free struct wv_msg *msg = calloc(1, bytes);

	memcpy(msg + 1, question, strlen(question));
	bench_send(sock, WV_MSG_CONTROL, msg, bytes, NULL, 0);
}

static void test_an_answer_keeps_its_connection_until_it_is_read(void **state)
{
	struct daemon_bench *b = *state;
	int socks[10];

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++) {
		socks[i] = bench_connect(b);
		put_question(socks[i], "{\"op\": \"status\"}");
	}
	bench_run(b);
	assert_int_equal(b->server->service.n_clients, 10);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++) {
		bench_receive(b, socks[i], &answer);
		assert_uint_in_range(answer.bytes, sizeof(struct wv_msg) + 1, WV_WIRE_MAX);
		bench_receive(b, socks[i], &answer);
		assert_int_equal(answer.bytes, 0); /* the daemon is done */
		close(socks[i]);
	}
	bench_run(b);
	assert_int_equal(b->server->service.n_clients, 0);
}

static void test_who_needs_a_lease_comes_before_dear_questions(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_connections *cs = &b->server->connections;
	struct wv_msg_request request = bench_request(1);
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	int asks = bench_connect(b), needs = bench_connect(b);

	cs->dear_us = wv_steady_clock() + INT64_C(3600000000);
	put_question(asks, "{\"op\": \"status\"}");
	bench_send(needs, WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
	while (sd_event_run(b->server->event, 0) > 0)
		;
	assert_false(STAILQ_EMPTY(&cs->turns.postponed));
	assert_true(recv(asks, &answer, sizeof(answer), MSG_PEEK) < 0);
	assert_true(recv(needs, &answer, sizeof(answer), MSG_PEEK) > 0);
	cs->dear_us = 0;
	wv_timer_arm(cs->dear_timer, 0);
	bench_run(b);
	assert_true(recv(asks, &answer, sizeof(answer), MSG_PEEK) > 0);
	close(asks);
	close(needs);
	bench_run(b);
}

static void test_who_is_postponed_may_leave(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_connections *cs = &b->server->connections;
	int asks = bench_connect(b);

	cs->dear_us = wv_steady_clock() + INT64_C(3600000000);
	put_question(asks, "{\"op\": \"status\"}");
	while (sd_event_run(b->server->event, 0) > 0)
		;
	assert_false(STAILQ_EMPTY(&cs->turns.postponed));
	close(asks);
	bench_stop(b); /* which closes it */
}

static int ask_unread(struct daemon_bench *b)
{
	struct wv_msg_request request = bench_request(1);
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	int sock = bench_connect(b);

	bench_send(sock, WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
	bench_run(b);
	return sock;
}

static void test_leases_that_are_not_read_are_bounded(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_service *service = &b->server->service;
	int socks[4];

	bench_record(b, 1, "rc_pingpong");
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++)
		close_sock(bench_ask(b, 1, &answer));
	bench_settle(b);
	service->max_in_flight = 4 * bench_recipe(b)->cost.fds; /* a tenant has half of it */
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++)
		socks[i] = ask_unread(b);
	assert_int_equal(service->tally.over_limit, 2);
	assert_int_equal(service->in_flight, 2 * bench_recipe(b)->cost.fds);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++) {
		bench_receive(b, socks[i], &answer);
		assert_int_equal(bench_reason(&answer), i < 2 ? 0 : WV_NO_LEASE_DENIED);
		close_sock(socks[i]);
	}
	bench_run(b);
	assert_int_equal(service->in_flight, 0);
	close_sock(bench_ask(b, 1, &answer));
	assert_int_not_equal(bench_reason(&answer), WV_NO_LEASE_DENIED);
}

static void test_fifty_programs_at_once(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_request request = bench_request(1);
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	int socks[50], served = 0;

	bench_record(b, 1, "rc_pingpong");
	for (int round = 0; round < 2; round++) {
		bench_settle(b);
		for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++) {
			socks[i] = bench_connect(b);
			bench_send(socks[i], WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
		}
		served = 0;
		for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++) {
			struct wv_msg_report report = {.adopted = 1};

			bench_receive(b, socks[i], &answer);
			if (bench_reason(&answer) == 0) {
				served++;
				bench_send(socks[i], WV_MSG_REPORT, &report, sizeof(report), NULL,
					   0);
			}
			close_sock(socks[i]);
		}
	}
	assert_int_equal(served, 50); /* the second time */
}

static void test_a_client_that_leaves_before_the_answer(void **state)
{
	struct daemon_bench *b = *state;
	int sock;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	sock = bench_send_request(b, 1);
	close(sock);
	bench_run(b);
	assert_int_equal(bench_recipe(b)->pool->n_ready, 1);
	assert_int_equal(b->server->service.n_clients, 0);
}

static bool accepts(struct wv_server *s, unsigned int unused)
{
	int waits;

	(void)unused;
	return sd_event_source_get_enabled(s->acceptor.pause_timer, &waits) == SD_EVENT_OFF;
}

static void test_out_of_descriptors(void **state)
{
	struct daemon_bench *b = *state;
	struct rlimit limit, none;
	int sock;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	getrlimit(RLIMIT_NOFILE, &limit);
	sock = bench_connect(b);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	bench_run(b);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(b->server->service.tally.over_limit > 0);
	assert_false(accepts(b->server, 0));
	bench_run_until(b, accepts, 0);
	close(sock);
	bench_run(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

/* Devices and the kernel. */

static void test_a_device_that_goes_takes_its_leases_along(void **state)
{
	struct daemon_bench *b = *state;
	unsigned int before;
	int sock;

	bench_record(b, 1, "rc_pingpong_events");
	before = count_fds();
	bench_settle(b);
	assert_true(count_fds() > before);
	wv_scheduler_drop_device(&b->server->scheduler, "rxe0");
	bench_await_ends(b);
	assert_int_equal(count_fds(), before);
	sock = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), WV_NO_LEASE_EMPTY);
	close_sock(sock);
	b->server->devices.n = 0;
	bench_settle(b);
	assert_int_equal(bench_recipe(b)->pool->target, 0);
	b->server->devices.n = 1;
	wv_scheduler_retry(&b->server->scheduler);
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

static void test_leases_of_a_device_before_are_not_handed_out(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_pooled_lease *old;
	int sock;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	old = SLIST_FIRST(&bench_recipe(b)->pool->leases);
	old->rdev++;
	sock = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), WV_NO_LEASE_EMPTY);
	close_sock(sock);
}

/* Lets the pool's next try happen now. */
static void try_again(struct daemon_bench *b)
{
	bench_recipe(b)->pool->retry_us = 0;
	bench_settle(b);
}

static void test_a_kernel_that_contradicts(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe;
	unsigned int before;

	bench_record(b, 1, "rc_pingpong");
	/* On a busy disk this takes longer than the pause between two tries. */
	bench_save(b);
	recipe = bench_recipe(b);
	before = count_fds();
	for (unsigned int i = 0; i < 4; i++) {
		bench_kernel.fail_at = (int)bench_kernel.issued + 3;
		bench_kernel.fail_errno = EINVAL;
		assert_false(recipe->unfit);
		try_again(b);
		assert_int_equal(recipe->pool->failures, i + 1);
		assert_int_equal(count_fds(), before);
	}
	assert_true(recipe->unfit);
	assert_non_null(strstr(recipe->pool->error, "Invalid argument"));
	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

static void test_a_kernel_that_is_short_of_memory(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_recipe *recipe;

	bench_record(b, 1, "rc_pingpong");
	bench_save(b); /* likewise */
	recipe = bench_recipe(b);
	for (unsigned int i = 0; i < 10; i++) {
		bench_kernel.fail_at = (int)bench_kernel.issued + 3;
		bench_kernel.fail_errno = ENOMEM;
		try_again(b);
	}
	assert_int_equal(recipe->pool->failures, 10);
	assert_false(recipe->unfit);
	try_again(b);
	assert_int_equal(recipe->pool->n_ready, 1);
}

static void test_failures_are_not_hammered_at(void **state)
{
	struct daemon_bench *b = *state;
	unsigned int issued;

	bench_record(b, 1, "rc_pingpong");
	bench_kernel.fail_at = (int)bench_kernel.issued;
	bench_kernel.fail_errno = EINVAL;
	bench_settle(b);
	assert_true(bench_recipe(b)->pool->retry_us > 0);
	bench_recipe(b)->pool->retry_us += INT64_C(3600000000); /* however slow the machine is */
	issued = bench_kernel.issued;
	for (int i = 0; i < 20; i++)
		close_sock(bench_ask(b, 1, &answer));
	bench_settle(b);
	assert_int_equal(bench_kernel.issued, issued);
}

static void test_budgets_hold(void **state)
{
	struct daemon_bench *b = *state;

	b->server->planner.limits.user.leases = 3;
	bench_record(b, 1, "rc_pingpong");
	for (int i = 0; i < 20; i++)
		close_sock(bench_ask(b, 100, &answer));
	bench_settle(b);
	assert_int_equal(bench_recipe(b)->pool->n_ready, 3);
	b->server->planner.limits.user.leases = 1;
	bench_settle(b);
	assert_int_equal(bench_recipe(b)->pool->n_ready, 1);
}

/* The socket. */

/* What it returns; what it complains of is not for the test's output. */
static int listen_quietly(struct wv_server *s)
{
	int kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int err;

	fflush(stderr);
	dup2(null, STDERR_FILENO);
	err = wv_listener_init(&s->listener, &s->config);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(null);
	return err;
}

static void test_a_second_daemon_is_refused(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_free struct wv_server *second = calloc(1, sizeof(*second));

	second->config = b->server->config;
	assert_int_equal(listen_quietly(second), -EADDRINUSE);
	bench_run(b);
}

static void test_a_stale_socket_is_replaced(void **state)
{
	struct daemon_bench *b = *state;

	wv_server_finish(b->server); /* as if killed: the socket stays */
	wv_store_close(&b->server->store);
	free(b->server);
	bench_start(b);
	bench_record(b, 1, "rc_pingpong");
}

static void test_what_is_no_socket_is_left_alone(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_free struct wv_server *second = calloc(1, sizeof(*second));
	char path[80];
	wv_auto_fd fd = -1;

	snprintf(path, sizeof(path), "%s/file", b->dir);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	second->config = b->server->config;
	strcpy(second->config.socket, path);
	assert_int_equal(listen_quietly(second), -EEXIST);
	assert_int_equal(access(path, F_OK), 0);
}

static void test_the_providers_file(void **state)
{
	struct daemon_bench *b = *state;
	char path[80], text[128] = "";
	struct stat st;
	FILE *in;

	snprintf(path, sizeof(path), "%s/run/" WV_PROVIDERS_FILE, b->dir);
	in = fopen(path, "re");
	assert_non_null(in);
	assert_non_null(fgets(text, sizeof(text), in));
	fclose(in);
	assert_string_equal(text, "uverbs0 librxe-rdmav34.so\n");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	bench_stop(b);
	assert_int_not_equal(access(path, F_OK), 0);
}

/* Questions. */

static void expect_error(struct daemon_bench *b, const char *question)
{
	json_t *json = bench_question(b, question);

	assert_non_null(json_string_value(json_object_get(json, "error")));
	assert_non_null(json_string_value(json_object_get(json, "remedy")));
	json_decref(json);
}

/* Recipes like the one that there is, under other names, so that a status is long. */
static void add_recipes(struct daemon_bench *b, unsigned int n)
{
	const struct wv_recipe *like = bench_recipe(b);
	struct wv_key key = like->key;
	struct wv_recipe *recipe;

	while (n--) {
		snprintf(key.name, sizeof(key.name), "%u", n);
		assert_int_equal(
		    wv_recipe_new(like->uid, &key, &like->provider, like->cmdlog, &recipe), 0);
		assert_non_null(wv_catalog_add(&b->server->catalog, recipe));
	}
}

static void test_a_long_answer_is_in_a_file_of_memory(void **state)
{
	struct daemon_bench *b = *state;
	int socks[8];
	json_t *json;

	bench_record(b, 1, "rc_pingpong");
	add_recipes(b, 120);
	json = bench_question(b, "{\"op\": \"status\"}"); /* which checks its seals */
	assert_int_equal(json_array_size(json_object_get(json, "recipes")), 121);
	json_decref(json);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++) {
		socks[i] = bench_connect(b);
		put_question(socks[i], "{\"op\": \"status\"}");
	}
	bench_run(b);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(socks); i++) {
		bench_receive(b, socks[i], &answer);
		assert_int_equal(answer.n_fds, i < 4); /* so many that are not read */
		close_sock(socks[i]);
	}
}

static void test_status_of_a_device_that_is_not_leased(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_device *device = &b->server->devices.all[0];
	const char *because, *remedy;
	json_t *json;
	int leased;

	json = bench_question(b, "{\"op\": \"status\"}");
	assert_int_equal(
	    json_unpack(json, "{s:[{s:b, s:n}]}", "devices", "leased", &leased, "unleased_because"),
	    0);
	assert_true(leased);
	json_decref(json);
	device->leasable = false;
	strcpy(device->unleased_because, "of its colour");
	device->remedy = "paint it";
	json = bench_question(b, "{\"op\": \"status\"}");
	assert_int_equal(json_unpack(json, "{s:[{s:b, s:s, s:s}]}", "devices", "leased", &leased,
				     "unleased_because", &because, "remedy", &remedy),
			 0);
	assert_false(leased);
	assert_string_equal(because, "of its colour");
	assert_string_equal(remedy, "paint it");
	json_decref(json);
}

static void test_status(void **state)
{
	struct daemon_bench *b = *state;
	const char *comm, *why, *command, *driver;
	int uid, ready, target, diverged, diverged_on, n_fds;
	json_t *json;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	bench_run_program(b, 1, 1);
	bench_settle(b);
	json = bench_question(b, "{\"op\": \"status\"}");
	assert_int_equal(
	    json_unpack(
		json,
		"{s:[{s:s, s:i, s:{s:i, s:i}, s:{s:i}, s:{s:s, s:s, s:i}, s:{s:i}}], s:[{s:s}]}",
		"recipes", "comm", &comm, "uid", &uid, "pool", "ready", &ready, "target", &target,
		"counters", "diverged", &diverged, "divergence", "why", &why, "command", &command,
		"driver_id", &diverged_on, "cost", "fds", &n_fds, "devices", "driver", &driver),
	    0);
	assert_string_equal(comm, "program");
	assert_int_equal(uid, getuid());
	assert_int_equal(ready, 1);
	assert_int_equal(target, 1);
	assert_int_equal(diverged, 1);
	assert_string_equal(why, wv_why_name(WV_WHY_VALUE));
	assert_string_equal(command, "CQ_CREATE");
	assert_int_equal(diverged_on, RDMA_DRIVER_RXE);
	assert_int_equal(n_fds, 2);
	assert_string_equal(driver, "rxe");
	json_decref(json);
}

static void test_show_and_forget(void **state)
{
	struct daemon_bench *b = *state;
	char question[64], path[128];
	struct wv_cmdlog *cmdlog;
	char why[160];
	json_t *json;
	uint64_t id;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	id = bench_recipe(b)->id;
	snprintf(path, sizeof(path), "%s/%u/%016llx.json", b->state_dir, getuid(),
		 (unsigned long long)id);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(question, sizeof(question), "{\"op\": \"recipe\", \"id\": \"%016llx\"}",
		 (unsigned long long)id);
	json = bench_question(b, question);
	assert_int_equal(wv_steps_from_json(json_object_get(json, "steps"), RDMA_DRIVER_RXE,
					    &cmdlog, why, sizeof(why)),
			 0);
	free(cmdlog);
	json_decref(json);
	memcpy(question + 8, "forget", 6); /* as long as "recipe" */
	json = bench_question(b, question);
	assert_int_equal(json_integer_value(json_object_get(json, "forgotten")), 1);
	json_decref(json);
	bench_save(b);
	assert_int_not_equal(access(path, F_OK), 0);
	expect_error(b, question);
	assert_null(wv_catalog_user(&b->server->catalog, getuid(), false));
}

static void test_forget_all(void **state)
{
	struct daemon_bench *b = *state;
	json_t *json;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	json = bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}");
	assert_int_equal(json_integer_value(json_object_get(json, "forgotten")), 1);
	json_decref(json);
	assert_null(wv_catalog_user(&b->server->catalog, getuid(), false));
	bench_record(b, 1, "rc_pingpong");
}

static void test_forgotten_while_in_use(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_msg_report report = {.adopted = 1};
	int sock;

	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	sock = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), 0);
	json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	bench_run(b);
	close_sock(sock);
	assert_int_equal(b->server->service.n_clients, 0);
}

static void test_questions_that_make_no_sense(void **state)
{
	static const char *const questions[] = {
	    "",
	    "status",
	    "[]",
	    "{}",
	    "{\"op\": 1}",
	    "{\"op\": \"stat\"}",
	    "{\"op\": \"recipe\"}",
	    "{\"op\": \"recipe\", \"id\": 7}",
	    "{\"op\": \"recipe\", \"id\": \"../../etc/passwd\"}",
	    "{\"op\": \"forget\"}",
	    "{\"op\": \"forget\", \"id\": \"0123456789abcdef\"}",
	};
	struct daemon_bench *b = *state;
	wv_auto_free char *deep = calloc(1, 4001);

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(questions); i++)
		expect_error(b, questions[i]);
	memset(deep, '[', 4000);
	expect_error(b, deep);
}

static void test_a_question_too_long(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_free struct wv_msg *msg = calloc(1, 8192);
	int sock = bench_connect(b);

	bench_send(sock, WV_MSG_CONTROL, msg, 8192, NULL, 0);
	expect_hung_up(b, sock);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_set_up, bench_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_a_daemon_without_users_sleeps),
	    TEST(test_first_run_records_second_is_served),
	    TEST(test_the_daemon_keeps_no_copy),
	    TEST(test_leases_of_programs_are_limited),
	    TEST(test_an_empty_pool_grows),
	    TEST(test_recipes_outlive_the_daemon),
	    TEST(test_reports_are_counted),
	    TEST(test_a_divergent_program_records_again_once),
	    TEST(test_a_lease_given_up_at_once_did_not_fit),
	    TEST(test_an_unread_lease_counts_for_nothing),
	    TEST(test_a_lease_in_advance_that_nobody_reads_is_the_last),
	    TEST(test_a_program_that_lists_first_gets_nothing_in_advance),
	    TEST(test_the_first_list_after_a_restart),
	    TEST(test_a_recording_of_nothing_is_not_kept),
	    TEST(test_a_fuller_recording_takes_over),
	    TEST(test_a_preliminary_recipe_that_served_stays),
	    TEST(test_what_was_recorded_outlives_the_program),
	    TEST(test_a_program_with_a_new_lease_is_heard_later),
	    TEST(test_a_program_that_ends_soon_is_heard),
	    TEST(test_a_later_report_takes_the_place_of_the_first),
	    TEST(test_a_report_cannot_spoil_the_totals),
	    TEST(test_reports_that_shrink),
	    TEST(test_the_end_of_a_recipe_is_dropped),
	    TEST(test_only_an_opened_node_proves_a_right),
	    TEST(test_a_driver_that_is_not_understood),
	    TEST(test_a_device_that_is_not_leased_has_no_leases),
	    TEST(test_a_user_s_leases_are_that_user_s_only),
	    TEST(test_nobody_forgets_another_user_s_recipes),
	    TEST(test_nobody_sees_what_others_do),
	    TEST(test_wrong_sizes),
	    TEST(test_wrong_headers),
	    TEST(test_wrong_numbers_of_descriptors),
	    TEST(test_far_too_many_descriptors),
	    TEST(test_a_message_longer_than_any),
	    TEST(test_messages_out_of_turn),
	    TEST(test_hostile_recordings),
	    TEST(test_a_recording_of_another_driver),
	    TEST(test_one_report_is_all_that_is_read),
	    TEST(test_a_silent_client_is_closed),
	    TEST(test_a_recording_program_may_be_silent),
	    TEST(test_who_owes_a_report_makes_room),
	    TEST(test_who_has_sent_a_recording_makes_room),
	    TEST(test_too_many_clients),
	    TEST(test_an_answer_keeps_its_connection_until_it_is_read),
	    TEST(test_who_needs_a_lease_comes_before_dear_questions),
	    TEST(test_who_is_postponed_may_leave),
	    TEST(test_leases_that_are_not_read_are_bounded),
	    TEST(test_fifty_programs_at_once),
	    TEST(test_a_client_that_leaves_before_the_answer),
	    TEST(test_out_of_descriptors),
	    TEST(test_a_device_that_goes_takes_its_leases_along),
	    TEST(test_leases_of_a_device_before_are_not_handed_out),
	    TEST(test_a_kernel_that_contradicts),
	    TEST(test_a_kernel_that_is_short_of_memory),
	    TEST(test_failures_are_not_hammered_at),
	    TEST(test_budgets_hold),
	    TEST(test_a_second_daemon_is_refused),
	    TEST(test_a_stale_socket_is_replaced),
	    TEST(test_what_is_no_socket_is_left_alone),
	    TEST(test_the_providers_file),
	    TEST(test_status),
	    TEST(test_a_long_answer_is_in_a_file_of_memory),
	    TEST(test_status_of_a_device_that_is_not_leased),
	    TEST(test_show_and_forget),
	    TEST(test_forget_all),
	    TEST(test_forgotten_while_in_use),
	    TEST(test_questions_that_make_no_sense),
	    TEST(test_a_question_too_long),
	};

	return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
