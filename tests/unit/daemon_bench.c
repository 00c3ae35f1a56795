/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon_bench.h"

#include "daemon/loop/loop.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Pools are filled when a test says so, however slow the machine is. */
#define NEVER 3600000

struct fake_kernel bench_kernel;

/* The way into the kernel. Builders come by several at once; the kernel itself takes one. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t open;
	bool slow;
	int error;
	unsigned int n_waiting;
	unsigned int n_closed;	  /* commands on a descriptor that is not open */
	unsigned int n_unblocked; /* commands by a thread that could be given a signal */
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = PTHREAD_COND_INITIALIZER};

static bool takes_signals(void)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	return !sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGINT) ||
	       !sigismember(&blocked, SIGHUP);
}

static void pass_gate(void)
{
	gate.n_waiting++;
	while (gate.slow)
		pthread_cond_wait(&gate.open, &gate.lock);
	gate.n_waiting--;
}

/* In a builder's thread, where nothing may be asserted. */
static int issue(void *kernel, struct ib_uverbs_ioctl_hdr *cmd)
{
	int err;

	pthread_mutex_lock(&gate.lock);
	pass_gate();
	gate.n_closed += fcntl(*(int *)kernel, F_GETFD) < 0;
	gate.n_unblocked += takes_signals();
	err = gate.error ? gate.error : fake_kernel_issue(&bench_kernel, cmd);
	pthread_mutex_unlock(&gate.lock);
	return err;
}

void bench_slow_kernel(void)
{
	pthread_mutex_lock(&gate.lock);
	gate.slow = true;
	pthread_mutex_unlock(&gate.lock);
}

void bench_fast_kernel(void)
{
	pthread_mutex_lock(&gate.lock);
	gate.slow = false;
	pthread_cond_broadcast(&gate.open);
	pthread_mutex_unlock(&gate.lock);
}

void bench_failing_kernel(int error)
{
	pthread_mutex_lock(&gate.lock);
	gate.error = error;
	pthread_mutex_unlock(&gate.lock);
}

static unsigned int commands_waiting(void)
{
	unsigned int n;

	pthread_mutex_lock(&gate.lock);
	n = gate.n_waiting;
	pthread_mutex_unlock(&gate.lock);
	return n;
}

static void describe_device(struct wv_devices *devices)
{
	struct wv_device *device = &devices->all[0];
	struct stat st;

	assert_int_equal(stat(BENCH_NODE, &st), 0);
	*device =
	    (struct wv_device){.rdev = st.st_rdev, .driver_id = RDMA_DRIVER_RXE, .leasable = true};
	strcpy(device->name, "uverbs0");
	strcpy(device->ibdev, "rxe0");
	strcpy(device->node, BENCH_NODE);
	strcpy(device->provider, "/lib/librxe-rdmav34.so");
	devices->n = 1;
}

void bench_write_gids(const struct daemon_bench *b, const char *gid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/class/infiniband/rxe0/ports/1/gids", b->dir);
	for (char *at = path + strlen(b->dir) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = '\0';
		mkdir(path, 0700);
	}
	mkdir(path, 0700);
	for (unsigned int i = 0; i < 4; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/class/infiniband/rxe0/ports/1/gids/%u", b->dir, i);
		file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%s\n", gid);
		fclose(file);
	}
	setenv("SYSFS_PATH", b->dir, 1);
}

static int scan(struct wv_devices *devices, const struct wv_scan_options *options)
{
	(void)options;
	describe_device(devices);
	return 0;
}

static void configure(struct daemon_bench *b)
{
	struct wv_server *s = b->server;

	wv_config_defaults(&s->config);
	strcpy(s->config.socket, b->socket);
	strcpy(s->config.state_dir, b->state_dir);
	strcpy(s->config.group, b->group ? b->group : "no-such-group");
	s->config.refill_delay = NEVER;
	s->config.pairs = b->pairs;
	s->issue = issue;
	s->scan = scan;
	describe_device(&s->devices);
	fake_kernel_init(&bench_kernel);
}

static int serve(struct wv_server *s)
{
	int err = wv_listener_init(&s->listener, &s->config);
	int listen_fd = err ? err : wv_listen(&s->listener, &s->config);

	if (listen_fd < 0)
		return listen_fd;
	err = wv_server_init(s, listen_fd);
	if (err)
		wv_server_unlisten(s);
	return err;
}

int bench_try_start(struct daemon_bench *b)
{
	int err;

	b->server = calloc(1, sizeof(*b->server));
	if (!b->server)
		return -ENOMEM;
	configure(b);
	err = wv_store_open(&b->server->store, b->state_dir);
	if (!err) {
		err = serve(b->server);
		if (!err)
			return 0;
		wv_store_close(&b->server->store);
	}
	free(b->server);
	b->server = NULL;
	return err;
}

void bench_start(struct daemon_bench *b)
{
	assert_int_equal(bench_try_start(b), 0);
}

void bench_stop(struct daemon_bench *b)
{
	wv_server_unlisten(b->server);
	wv_server_finish(b->server);
	wv_store_close(&b->server->store);
	free(b->server);
	b->server = NULL;
}

int bench_set_up(void **state)
{
	struct daemon_bench *b = calloc(1, sizeof(*b));

	wv_log_init(WV_ERROR);
	strcpy(b->dir, "/tmp/test_server.XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	snprintf(b->socket, sizeof(b->socket), "%s/run/socket", b->dir);
	snprintf(b->state_dir, sizeof(b->state_dir), "%s/state", b->dir);
	b->fds_before = count_fds();
	bench_start(b);
	*state = b;
	return 0;
}

int bench_tear_down(void **state)
{
	struct daemon_bench *b = *state;

	bench_fast_kernel();
	if (b->server)
		bench_stop(b);
	bench_failing_kernel(0);
	assert_int_equal(gate.n_closed, 0);
	assert_int_equal(gate.n_unblocked, 0);
	assert_int_equal(count_fds(), b->fds_before);
	remove_tree(b->dir);
	free(b);
	return 0;
}

/* Whether a message waits for its time: a costly one, or of a program that just got a lease. */
static bool is_later(struct wv_connections *cs)
{
	struct wv_connection *cn;
	int bytes = 0;

	TAILQ_FOREACH (cn, &cs->all, link)
		if (cn->rest.is_on && !ioctl(cn->client.fd, FIONREAD, &bytes) && bytes)
			return true;
	return !STAILQ_EMPTY(&cs->turns.postponed);
}

void bench_run(struct daemon_bench *b)
{
	struct wv_server *s = b->server;
	int more;

	do
		more = wv_loop_turn(s->event, is_later(&s->connections) ? 100000 : 0);
	while (more > 0 || (!more && is_later(&s->connections)));
	assert_int_equal(more, 0); /* or the daemon would end */
	while (wv_closer_busy(&b->server->closer, NULL))
		sched_yield();
}

static bool is_settled(struct wv_server *s, unsigned int n)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	(void)n;
	wv_plan_pools(&s->planner);
	wv_each_user (&s->catalog, user) {
		wv_each_recipe (user, recipe) {
			if (recipe->pool->n_ready != recipe->pool->target ||
			    recipe->pool->n_building || (recipe->dirty && !recipe->refused))
				return false;
		}
	}
	return !wv_builders_busy(&s->builders) && !wv_line_busy(s->builders.closing) &&
	       !wv_line_busy(s->saver.line);
}

void bench_run_until(struct daemon_bench *b, bool (*is_so)(struct wv_server *s, unsigned int n),
		     unsigned int n)
{
	struct wv_server *s = b->server;

	s->config.refill_delay = 0;
	wv_scheduler_poke(&s->scheduler, NULL);
	for (int i = 0; i < 5000 && !is_so(s, n); i++)
		sd_event_run(s->event, 1000);
	bench_run(b);
	assert_true(is_so(s, n));
	s->config.refill_delay = NEVER;
}

void bench_settle(struct daemon_bench *b)
{
	bench_run_until(b, is_settled, 0);
}

void bench_save(struct daemon_bench *b)
{
	struct wv_saver *saver = &b->server->saver;

	while (wv_save_one(saver) || wv_line_busy(saver->line))
		sd_event_run(b->server->event, 1000);
}

void bench_rest(struct daemon_bench *b)
{
	struct wv_server *s = b->server;

	bench_run(b);
	while (wv_builders_busy(&s->builders) || wv_line_busy(s->builders.closing) ||
	       wv_line_busy(s->saver.line)) {
		sd_event_run(s->event, 1000);
		bench_run(b);
	}
}

void bench_fill(struct daemon_bench *b)
{
	struct wv_server *s = b->server;

	s->config.refill_delay = 0;
	wv_scheduler_poke(&s->scheduler, NULL);
	bench_rest(b);
	s->config.refill_delay = NEVER;
}

void bench_await_ends(struct daemon_bench *b)
{
	while (wv_line_busy(b->server->builders.closing))
		sd_event_run(b->server->event, 1000);
}

static bool commands_wait(struct wv_server *s, unsigned int n)
{
	(void)s;
	return commands_waiting() >= n;
}

void bench_await_commands(struct daemon_bench *b, unsigned int n)
{
	bench_run_until(b, commands_wait, n);
}

static int connect_to(const struct sockaddr_un *to)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(sock >= 0);
	assert_int_equal(connect(sock, (const struct sockaddr *)to, sizeof(*to)), 0);
	return sock;
}

int bench_connect(struct daemon_bench *b)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	strcpy(to.sun_path, b->socket);
	return connect_to(&to);
}

static int connect_as_administrator(const struct daemon_bench *b)
{
	struct sockaddr_un to;

	assert_int_equal(wv_admin_socket(&to, b->socket), 0);
	return connect_to(&to);
}

void bench_send(int sock, enum wv_msg_type type, void *msg, size_t bytes, const int *fds,
		unsigned int n_fds)
{
	wv_msg_init(msg, type, bytes);
	assert_int_equal(wv_send(sock, msg, bytes, NULL, 0, fds, n_fds), 0);
}

void bench_receive(struct daemon_bench *b, int sock, struct bench_answer *answer)
{
	bench_run(b);
	answer->bytes = wv_recv(sock, answer->data, sizeof(answer->data), answer->fds,
				WV_WIRE_MAX_FDS, &answer->n_fds);
	if (answer->bytes == -ECONNRESET) /* it had not read all that was sent */
		answer->bytes = 0;
	if (answer->bytes > 0)
		assert_true(wv_msg_check(answer->data, (size_t)answer->bytes) > 0);
}

void bench_close_fds(struct bench_answer *answer)
{
	while (answer->n_fds)
		close(answer->fds[--answer->n_fds]);
}

int bench_reason(const struct bench_answer *answer)
{
	const struct wv_msg *msg = (const void *)answer->data;

	assert_true(answer->bytes >= 0);
	if (!answer->bytes)
		return -1;
	if (msg->type == WV_MSG_LEASE)
		return 0;
	assert_int_equal(msg->type, WV_MSG_NO_LEASE);
	return (int)((const struct wv_msg_no_lease *)msg)->reason;
}

struct wv_msg_request bench_request(uint64_t argv)
{
	struct wv_msg_request request = {.argv = argv, .comm = "program"};

	memset(&request.program, 0x11, sizeof(request.program));
	memset(&request.verbs, 0x22, sizeof(request.verbs));
	return request;
}

int bench_send_request(struct daemon_bench *b, uint64_t argv)
{
	struct wv_msg_request request = bench_request(argv);
	wv_auto_fd node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	int sock = bench_connect(b);

	bench_send(sock, WV_MSG_REQUEST, &request, sizeof(request), &node, 1);
	return sock;
}

int bench_ask(struct daemon_bench *b, uint64_t argv, struct bench_answer *answer)
{
	int sock = bench_send_request(b, argv);

	bench_receive(b, sock, answer);
	return sock;
}

void bench_record(struct daemon_bench *b, uint64_t argv, const char *fixture)
{
	static struct bench_answer answer;
	wv_auto_free struct wv_cmdlog *record = fixture_load(fixture);
	size_t bytes = sizeof(struct wv_msg_record) + record->bytes;
	wv_auto_free struct wv_msg_record *head = calloc(1, bytes);
	wv_auto_fd sock = bench_ask(b, argv, &answer);

	assert_int_equal(bench_reason(&answer), WV_NO_LEASE_RECORD);
	memset(&head->provider, 0x33, sizeof(head->provider));
	memcpy(head + 1, record, record->bytes);
	bench_send(sock, WV_MSG_RECORD, head, bytes, NULL, 0);
	bench_receive(b, sock, &answer);
	assert_int_equal(answer.bytes, 0);
}

int bench_run_program(struct daemon_bench *b, uint64_t argv, uint32_t diverged)
{
	static struct bench_answer answer;
	wv_auto_fd sock = bench_ask(b, argv, &answer);
	struct wv_msg_report report = {.adopted = 7, .kernel = 3, .diverged = diverged};
	int reason = bench_reason(&answer);

	bench_close_fds(&answer);
	if (reason)
		return reason;
	report.why = diverged ? WV_WHY_VALUE : WV_WHY_NONE;
	report.driver_id = RDMA_DRIVER_RXE;
	report.object = UVERBS_OBJECT_CQ;
	report.method = UVERBS_METHOD_CQ_CREATE;
	report.write_cmd = WV_NO_WRITE_CMD;
	report.attr = UVERBS_ATTR_CREATE_CQ_CQE;
	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	bench_receive(b, sock, &answer);
	assert_int_equal(answer.bytes, 0);
	return 0;
}

static json_t *read_memory(struct bench_answer *answer)
{
	json_t *json;

	assert_int_equal(answer->n_fds, 1);
	assert_int_equal(fcntl(answer->fds[0], F_GET_SEALS),
			 F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	json = json_loadfd(answer->fds[0], JSON_REJECT_DUPLICATES, NULL);
	bench_close_fds(answer);
	return json;
}

json_t *bench_document(struct bench_answer *answer)
{
	const size_t head = sizeof(struct wv_msg);
	json_t *json = answer->n_fds ? read_memory(answer)
				     : json_loadb(answer->data + head, (size_t)answer->bytes - head,
						  JSON_REJECT_DUPLICATES, NULL);

	assert_true(json_is_object(json));
	return json;
}

struct wv_recipe *bench_recipe_of(struct daemon_bench *b, uid_t uid, uint32_t n)
{
	wv_auto_free struct wv_cmdlog *cmdlog = fixture_recipe("rc_pingpong");
	struct wv_build_id provider = {.bytes = {1}};
	struct wv_server *s = b->server;
	struct wv_key key = {.driver_id = RDMA_DRIVER_RXE};
	struct wv_recipe *recipe;

	strcpy(key.ibdev, "rxe0");
	strcpy(key.kernel, s->planner.kernel);
	assert_int_equal(wv_recipe_new(uid, &key, &provider, cmdlog, &recipe), 0);
	recipe = wv_catalog_add(&s->catalog, recipe);
	assert_int_equal(wv_scheduler_adopt(&s->scheduler, recipe), 0);
	while (n--)
		wv_pool_claim(recipe->pool, wv_now(s->event), wv_now(s->event),
			      wv_idle_us(&s->planner));
	s->planner.changed = true;
	return recipe;
}

json_t *bench_question(struct daemon_bench *b, const char *question)
{
	static struct bench_answer answer;
	wv_auto_fd sock = connect_as_administrator(b);
	size_t bytes = sizeof(struct wv_msg) + strlen(question);
	wv_auto_free struct wv_msg *msg = calloc(1, bytes);
	json_t *json;

	memcpy(msg + 1, question, strlen(question));
	bench_send(sock, WV_MSG_CONTROL, msg, bytes, NULL, 0);
	bench_receive(b, sock, &answer);
	json = bench_document(&answer);
	wv_close_fd(&sock);
	bench_run(b);
	return json;
}

struct wv_recipe *bench_recipe(struct daemon_bench *b)
{
	struct wv_user *user = wv_catalog_user(&b->server->catalog, getuid(), false);

	assert_non_null(user);
	assert_int_equal(user->n_recipes, 1);
	return TAILQ_FIRST(&user->recipes);
}
