/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each allocation of the daemon fails once, or it has hardly any descriptors, in everything that it
 * does for clients. The client is then answered well or not at all, the daemon goes on, and nothing
 * is lost or left.
 */
#include "daemon/loop/loop.h"
#include "daemon/pool/pool.h"
#include "daemon_bench.h"
#include "failing.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define FIXTURE		   "rc_pingpong"
#define ARGV		   1
#define MANY		   24
#define ENOUGH_DESCRIPTORS 40

static struct bench_answer answer;
static int node = -1;
static bool with_pairs;
static int many[MANY];

/* In place of libc's: recipes are saved a thousand times, to a disk that is not tested here. */
int fsync(int fd)
{
	(void)fd;
	return 0;
}

/* A client's message, and what may follow. */
struct deed {
	const char *name;
	bool fresh; /* the daemon is new, and its tables are as small as they can be */
	bool known; /* the daemon has the program's recipe, and leases of it */
	/* Puts it to the daemon, which has not read it yet. Returns the connection. */
	int (*ask)(struct daemon_bench *b);
	/* Lets the daemon work on it. */
	void (*work)(struct daemon_bench *b);
	/* Checks the answer that came. NULL: there is to be none. */
	void (*check)(void);
};

static int send_on(int sock, enum wv_msg_type type, void *msg, size_t bytes, const int *fds,
		   unsigned int n_fds)
{
	bench_send(sock, type, msg, bytes, fds, n_fds);
	return sock;
}

static int ask_for_lease(struct daemon_bench *b)
{
	struct wv_msg_request request = bench_request(ARGV);

	return send_on(bench_connect(b), WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
}

static int ask_unfit(struct daemon_bench *b)
{
	struct wv_msg_request request = bench_request(ARGV + 1);

	strcpy(request.name, "unfit");
	request.flags = WV_REQUEST_UNFIT;
	return send_on(bench_connect(b), WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
}

static int ask_for_pool(struct daemon_bench *b)
{
	struct wv_msg_pool pool = {.program = bench_request(ARGV), .leases = 2};

	return send_on(bench_connect(b), WV_MSG_POOL, &pool, sizeof(pool), NULL, 0);
}

static int question(struct daemon_bench *b, const char *text)
{
	size_t bytes = sizeof(struct wv_msg) + strlen(text);
	wv_auto_free struct wv_msg *msg = calloc(1, bytes);

	memcpy(msg + 1, text, strlen(text));
	return send_on(bench_connect(b), WV_MSG_CONTROL, msg, bytes, NULL, 0);
}

static int ask_status(struct daemon_bench *b)
{
	return question(b, "{\"op\": \"status\"}");
}

static int ask_recipe(struct daemon_bench *b)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"op\": \"recipe\", \"id\": \"%016llx\"}",
		 (unsigned long long)bench_recipe(b)->id);
	return question(b, text);
}

static int ask_forget(struct daemon_bench *b)
{
	return question(b, "{\"op\": \"forget\", \"id\": \"all\"}");
}

static int send_record(struct daemon_bench *b)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load(FIXTURE);
	size_t bytes = sizeof(struct wv_msg_record) + record->bytes;
	wv_auto_free struct wv_msg_record *head = calloc(1, bytes);
	int sock = bench_ask(b, ARGV, &answer);

	assert_int_equal(bench_reason(&answer), WV_NO_LEASE_RECORD);
	memcpy(head + 1, record, record->bytes);
	return send_on(sock, WV_MSG_RECORD, head, bytes, NULL, 0);
}

static int send_report(struct daemon_bench *b)
{
	struct wv_msg_report report = {.adopted = 1}; /* all is well, so that leases go on */
	int sock = bench_ask(b, ARGV, &answer);

	assert_int_equal(bench_reason(&answer), 0);
	bench_close_fds(&answer);
	return send_on(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
}

/* Nothing but what is to be done already. */
static int record_only(struct daemon_bench *b)
{
	bench_record(b, ARGV, FIXTURE);
	return -1;
}

/* More at once than ever before, so that tables grow. */
static int connect_many(struct daemon_bench *b)
{
	for (unsigned int i = 0; i < MANY; i++)
		many[i] = bench_connect(b);
	return -1;
}

static json_t *example; /* the answer to the same question, if no allocation fails */

/* Whether both have the same members, all the way down. Values may have changed. */
static bool is_as_complete(json_t *a, json_t *b)
{
	const char *key;
	json_t *value;
	size_t i;

	if (json_object_size(a) != json_object_size(b) || json_array_size(a) != json_array_size(b))
		return false;
	json_object_foreach(
	    a, key, value) if (!is_as_complete(value, json_object_get(b, key))) return false;
	json_array_foreach (a, i, value)
		if (!is_as_complete(value, json_array_get(b, i)))
			return false;
	return b;
}

static void check_document(void)
{
	json_t *document = bench_document(&answer);

	if (!example)
		example = json_incref(document);
	assert_true(is_as_complete(example, document));
	json_decref(document);
}

static void check_request(void)
{
	const struct wv_msg *msg = (const void *)answer.data;

	if (msg->type == WV_MSG_LEASE)
		assert_int_equal(answer.n_fds,
				 1 + ((const struct wv_msg_lease *)answer.data)->n_fds);
	else
		assert_int_equal(msg->type, WV_MSG_NO_LEASE);
}

static void check_pool(void)
{
	assert_int_equal(((const struct wv_msg *)answer.data)->type, WV_MSG_POOL_STATE);
}

static const struct deed deeds[] = {
    {"many connections", true, false, connect_many, bench_run, NULL},
    {"request of a stranger", true, false, ask_for_lease, bench_run, check_request},
    {"record", true, false, send_record, bench_run, NULL},
    {"pool filled", false, false, record_only, bench_fill, NULL},
    {"request", false, true, ask_for_lease, bench_run, check_request},
    {"report", false, true, send_report, bench_run, NULL},
    {"request of an unfit program", false, true, ask_unfit, bench_run, NULL},
    {"pool request", false, true, ask_for_pool, bench_run, check_pool},
    {"status", false, true, ask_status, bench_run, check_document},
    {"recipe", false, true, ask_recipe, bench_run, check_document},
    {"forget", false, true, ask_forget, bench_run, check_document},
};

static bool has_recipe(struct daemon_bench *b)
{
	struct wv_user *user = wv_catalog_user(&b->server->catalog, getuid(), false);

	return user && user->n_recipes;
}

/* Makes the daemon as it is to be before. A save that failed is tried again now, not later. */
static void prepare(struct daemon_bench *b, const struct deed *deed)
{
	bool known = deed->known;

	if (deed->fresh) {
		bench_stop(b);
		bench_start(b);
	}
	b->server->saver.retry_us = 0;
	wv_handed_out_finish(&b->server->handed_out); /* the programs are this process */
	if (!known || !has_recipe(b))
		json_decref(bench_question(b, "{\"op\": \"forget\", \"id\": \"all\"}"));
	if (known && !has_recipe(b))
		bench_record(b, ARGV, FIXTURE);
	bench_settle(b);
	bench_rest(b);
	fake_kernel_init(&bench_kernel);
}

/* Without descriptors the daemon pauses before it accepts again. */
static void await_acceptance(struct daemon_bench *b)
{
	int enabled = SD_EVENT_OFF;

	while (sd_event_source_get_enabled(b->server->acceptor.doors.common.source, &enabled) >=
		   0 &&
	       enabled == SD_EVENT_OFF)
		assert_true(wv_loop_turn(b->server->event, 100000) >= 0);
}

/* The daemon, and what it knows, is as good as ever. */
static void expect_health(struct daemon_bench *b)
{
	await_acceptance(b);
	json_decref(bench_question(b, "{\"op\": \"status\"}"));
	bench_rest(b);
}

/*
 * Descriptors but those of pooled leases, of which there may be more after a request, and of the
 * user's door, which opens with a later recipe if it could not.
 */
static unsigned int own_fds(struct daemon_bench *b)
{
	struct wv_pool *pool = has_recipe(b) ? bench_recipe(b)->pool : NULL;
	struct wv_pooled_lease *lease;
	unsigned int n = count_fds() - b->server->acceptor.doors.n_own;

	if (pool)
		SLIST_FOREACH (lease, &pool->leases, link)
			n -= lease->fds.n;
	return n;
}

/* Something that the machine denies. */
struct fault {
	/* From now on, the @n-th is denied, counted from 1; 0: none. */
	void (*begin)(unsigned int n);
	/* From now on nothing is. Returns whether it is worth while to go on with a larger @n. */
	bool (*end)(void);
};

static const struct fault no_memory = {failing_begin, failing_end};

static struct rlimit files;
static unsigned int n_left;

/* Leaves numbers for @n - 1 descriptors, and none for more. */
static void leave_descriptors(unsigned int n)
{
	struct rlimit few = files;

	n_left = n;
	if (!n)
		return;
	for (few.rlim_cur = 0; n; few.rlim_cur++)
		n -= fcntl((int)few.rlim_cur, F_GETFD) < 0;
	few.rlim_cur--;
	setrlimit(RLIMIT_NOFILE, &few);
}

static bool give_descriptors(void)
{
	setrlimit(RLIMIT_NOFILE, &files);
	return n_left < ENOUGH_DESCRIPTORS;
}

static const struct fault no_descriptors = {leave_descriptors, give_descriptors};

static bool try(struct daemon_bench *b, const struct deed *deed, const struct fault *fault,
		unsigned int n)
{
	wv_auto_fd sock = -1;
	unsigned int fds;
	bool failed;

	prepare(b, deed);
	fds = own_fds(b);
	sock = deed->ask(b);
	fault->begin(n);
	deed->work(b);
	failed = fault->end();
	if (sock >= 0)
		bench_receive(b, sock, &answer);
	if (sock >= 0 && answer.bytes > 0) {
		assert_non_null(deed->check);
		deed->check();
	}
	bench_close_fds(&answer);
	wv_close_fd(&sock);
	for (unsigned int i = 0; i < MANY; i++)
		wv_close_fd(&many[i]);
	bench_rest(b);
	expect_health(b);
	prepare(b, deed);
	assert_int_equal(own_fds(b), fds);
	return failed;
}

static void sweep(struct daemon_bench *b, const struct fault *fault, const char *what)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(deeds); i++) {
		unsigned int n = 1;

		try(b, &deeds[i], fault, 0);
		while (try(b, &deeds[i], fault, n))
			n++;
		json_decref(example);
		example = NULL;
		printf("%s: %u %s\n", deeds[i].name, n - 1, what);
		assert_true(n > 1);
	}
}

static void test_each_allocation_fails(void **state)
{
	sweep(*state, &no_memory, "allocations");
}

static void test_hardly_any_descriptors(void **state)
{
	getrlimit(RLIMIT_NOFILE, &files);
	sweep(*state, &no_descriptors, "descriptors");
}

/* Whether the daemon starts or not, the next one has the recipe. */
static bool try_start(struct daemon_bench *b, unsigned int n)
{
	unsigned int fds;
	bool failed;

	bench_run_program(b, ARGV, 0); /* counters change, so there is something to save */
	bench_stop(b);
	fds = count_fds();
	failing_begin(n);
	if (!bench_try_start(b))
		bench_stop(b);
	failed = failing_end();
	assert_int_equal(count_fds(), fds);
	bench_start(b);
	assert_true(has_recipe(b));
	bench_settle(b);
	return failed;
}

static void test_each_allocation_fails_at_the_start(void **state)
{
	static const struct deed known = {.known = true};
	unsigned int n = 1;

	prepare(*state, &known);
	while (try_start(*state, n))
		n++;
	printf("start and stop: %u allocations\n", n - 1);
}

static int set_up(void **state)
{
	struct daemon_bench *b;

	memset(many, -1, sizeof(many));
	node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	if (bench_set_up(state))
		return -1;
	b = *state;
	if (with_pairs) {
		bench_stop(b);
		b->pairs = true;
		bench_start(b);
	}
	return 0;
}

static int tear_down(void **state)
{
	bench_tear_down(state);
	wv_close_fd(&node);
	return 0;
}

#define SKIPPED 77

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* With an argument: the start and the end. */
int main(int argc, char **argv)
{
	const struct CMUnitTest work[] = {
	    cmocka_unit_test_setup_teardown(test_each_allocation_fails, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_hardly_any_descriptors, set_up, tear_down),
	};
	const struct CMUnitTest start[] = {
	    cmocka_unit_test_setup_teardown(test_each_allocation_fails_at_the_start, set_up,
					    tear_down),
	};

	(void)argv;
	with_pairs = getenv("WITH_PAIRS") != NULL;
	if (argc == 1)
		return cmocka_run_group_tests_name("memory at work", work, NULL, NULL);
	if (SANITIZED) {
		puts("skipped: a sanitizer ends the process if it has no memory for a new thread");
		return SKIPPED;
	}
	return cmocka_run_group_tests_name("memory at the start", start, NULL, NULL);
}
