/* SPDX-License-Identifier: BSD-2-Clause */
/* Leases that are connected to a server's spares; client, server and kernel are the test's own. */
#include "daemon_bench.h"

#include "daemon/pairs/claims.h"
#include "daemon/pairs/keepers.h"
#include "daemon/pairs/kept_ends.h"
#include "daemon/pairs/pair_state.h"
#include "daemon/pairs/pairs.h"
#include "wire/pair.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <sys/resource.h>

#define SHAPE	  9
#define SERVER_QP 777
#define SPARE_QP  888
#define CLIENT_QP 55
#define GID	  "fe80:0000:0000:0000:0000:0000:0000:0001"

static const uint8_t gid[16] = {0xfe, 0x80, [15] = 1};
static struct bench_answer answer;

struct pairs_bench {
	struct daemon_bench b;
	int keeper;
};

static void keeper_says(int keeper, struct wv_pair_note note)
{
	struct wv_msg_pair msg = {.note = note};

	bench_send(keeper, WV_MSG_PAIR, &msg, sizeof(msg), NULL, 0);
}

/* On a busy machine, the daemon may ask for the next pair before it says what a test waits for. */
static struct wv_pair_note early_ask;

static int set_up(void **state)
{
	struct daemon_bench *b;

	early_ask.word = 0;
	bench_set_up(state);
	b = *state;
	bench_stop(b);
	bench_write_gids(b, GID);
	b->pairs = true;
	bench_start(b);
	bench_record(b, 1, "rc_pingpong");
	bench_settle(b);
	return 0;
}

static int connect_keeper(struct daemon_bench *b)
{
	int keeper = bench_connect(b);

	keeper_says(keeper, (struct wv_pair_note){.word = WV_PAIR_KEEPER});
	bench_run(b);
	return keeper;
}

/* What the daemon says to a keeper next; nothing: of no word. */
static struct wv_pair_note hear(struct daemon_bench *b, int keeper)
{
	const struct wv_msg_pair *msg = (const void *)answer.data;

	bench_receive(b, keeper, &answer);
	if (answer.bytes <= 0)
		return (struct wv_pair_note){.word = 0};
	assert_int_equal(msg->msg.type, WV_MSG_PAIR);
	return msg->note;
}

static struct wv_pairs *pairs_of(struct daemon_bench *b)
{
	return b->server->service.pairs;
}

static bool has_edge(struct wv_server *s, unsigned int agreed)
{
	const struct wv_edge *edge = TAILQ_FIRST(&s->service.pairs->edges.all);

	return edge && edge->agreed == agreed;
}

static bool has_pair(struct wv_server *s, unsigned int state)
{
	const struct wv_pair *pair = LIST_FIRST(&s->service.pairs->all);

	return pair && pair->state == state;
}

/* No lease is made meanwhile, for which the daemon would ask for the next pair. */
static void await_no_pairs(struct daemon_bench *b)
{
	for (int i = 0; i < 5000 && pairs_of(b)->n; i++) {
		bench_run(b);
		usleep(1000);
	}
	assert_int_equal(pairs_of(b)->n, 0);
}

/* The step of the recipe that creates the queue pair. */
static uint32_t create_step(struct daemon_bench *b)
{
	uint32_t index = 0;

	wv_each_step (bench_recipe(b)->cmdlog, step) {
		if (wv_abi_creates(wv_step_row(step), UVERBS_OBJECT_QP))
			break;
		index++;
	}
	return index;
}

static void say_connected_of(int sock, uint32_t create, uint32_t server_qp, enum wv_pair_why why)
{
	struct wv_qp_peer peer = {.qp_num = server_qp};
	wv_auto_free struct wv_cmdlog *moves = NULL;
	wv_auto_free struct wv_msg_connected *msg = NULL;
	size_t bytes;

	memcpy(peer.gid, gid, sizeof(gid));
	moves = moves_of(2, &peer);
	bytes = sizeof(*msg) + moves->bytes;
	msg = calloc(1, bytes);
	*msg =
	    (struct wv_msg_connected){.create = create, .qp_num = CLIENT_QP, .why = (uint16_t)why};
	memcpy(msg + 1, moves, moves->bytes);
	bench_send(sock, WV_MSG_CONNECTED, msg, bytes, NULL, 0);
}

static void say_connected(struct daemon_bench *b, int sock, uint32_t server_qp,
			  enum wv_pair_why why)
{
	say_connected_of(sock, create_step(b), server_qp, why);
}

/*
 * A program gets a lease, connects to a server that has said @keeper, and ends. @by_request: the
 * server has seen the program's request first.
 */
static void connect_plainly(struct daemon_bench *b, int keeper, bool by_request)
{
	wv_auto_fd sock = bench_ask(b, 1, &answer);
	struct wv_pair_note own = {
	    .word = WV_PAIR_CONNECTED,
	    .shape = SHAPE,
	    .qp_num = SERVER_QP,
	    .peer_qp_num = CLIENT_QP,
	    .by_request = by_request,
	};

	struct wv_msg_report report = {.adopted = 7};

	assert_int_equal(bench_reason(&answer), 0);
	bench_close_fds(&answer);
	memcpy(own.gid, gid, sizeof(gid));
	memcpy(own.peer_gid, gid, sizeof(gid));
	say_connected(b, sock, SERVER_QP, WV_PAIR_NO_REASON);
	bench_run(b);
	keeper_says(keeper, own);
	bench_run(b);
	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	bench_run(b);
}

/* A program that reports makes the loop wait for no file. */
static void test_gids_are_read_seldom(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = connect_keeper(b);
	char path[128];

	connect_plainly(b, keeper, false);
	bench_settle(b);
	snprintf(path, sizeof(path), "%s/class", b->dir);
	remove_tree(path);
	for (unsigned int i = 0; i < 10 && !has_edge(b->server, WV_EDGE_AGREE); i++) {
		connect_plainly(b, keeper, false);
		bench_settle(b);
	}
	assert_true(has_edge(b->server, WV_EDGE_AGREE));
}

/* Twice: an edge is known then. */
static int learn_as(struct daemon_bench *b, bool by_request)
{
	int keeper = connect_keeper(b);

	/* The name of the user is looked up at the first. */
	for (unsigned int i = 0; i < 10 && !has_edge(b->server, WV_EDGE_AGREE); i++) {
		connect_plainly(b, keeper, by_request);
		bench_settle(b);
	}
	assert_true(has_edge(b->server, WV_EDGE_AGREE));
	return keeper;
}

static int learn(struct daemon_bench *b)
{
	return learn_as(b, false);
}

static struct wv_pair_note await_ask(struct daemon_bench *b, int keeper)
{
	struct wv_pair_note note;

	bench_run_until(b, has_pair, WV_PAIR_ASKED);
	note = early_ask.word ? early_ask : hear(b, keeper);
	early_ask.word = 0;
	assert_int_equal(note.word, WV_PAIR_ASK);
	return note;
}

static uint64_t make_pair(struct daemon_bench *b, int keeper)
{
	struct wv_pair_note note = await_ask(b, keeper);

	assert_int_equal(note.shape, SHAPE);
	assert_int_not_equal(note.qp_num, 0);
	assert_memory_equal(note.gid, gid, sizeof(gid));
	note.word = WV_PAIR_MADE;
	note.qp_num = SPARE_QP;
	memcpy(note.gid, gid, sizeof(gid));
	keeper_says(keeper, note);
	bench_run_until(b, has_pair, WV_PAIR_READY);
	return note.pair;
}

/* The lease with a pair. The socket of its program. */
static int claim(struct daemon_bench *b, int keeper, struct wv_pair_note *claimed)
{
	int sock = bench_ask(b, 1, &answer);
	const struct wv_msg_lease *lease = (const void *)answer.data;

	assert_int_equal(bench_reason(&answer), 0);
	assert_int_not_equal(lease->pair.pair, 0);
	assert_int_equal(lease->pair.peer_qp_num, SPARE_QP);
	bench_close_fds(&answer);
	*claimed = hear(b, keeper);
	if (claimed->word == WV_PAIR_ASK) {
		early_ask = *claimed;
		*claimed = hear(b, keeper);
	}
	assert_int_equal(claimed->word, WV_PAIR_CLAIMED);
	return sock;
}

/* A program gets a lease and ends. Returns whether it was asked how it connects. */
static bool is_asked(struct daemon_bench *b)
{
	wv_auto_fd sock = bench_ask(b, 1, &answer);
	const struct wv_msg_lease *lease = (const void *)answer.data;
	struct wv_msg_report report = {.adopted = 7};

	assert_int_equal(bench_reason(&answer), 0);
	bench_close_fds(&answer);
	bench_send(sock, WV_MSG_REPORT, &report, sizeof(report), NULL, 0);
	bench_run(b);
	return lease->flags & WV_ANSWER_CONNECTED;
}

static unsigned int asked_of(struct daemon_bench *b, unsigned int programs)
{
	unsigned int n = 0;

	while (programs--) {
		n += is_asked(b);
		bench_settle(b);
	}
	return n;
}

/* Each answer costs a program some time. */
static void test_few_are_asked_in_vain(void **state)
{
	struct daemon_bench *b = *state;

	assert_int_equal(asked_of(b, 16), 16);
	assert_int_equal(asked_of(b, 16), 2);
}

static void test_nobody_is_asked_for_a_known_edge(void **state)
{
	struct daemon_bench *b = *state;
	int keeper = learn(b);

	assert_int_equal(asked_of(b, 2), 0);
	close(keeper);
}

static void test_an_edge_takes_more_than_one_connection(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = connect_keeper(b);

	connect_plainly(b, keeper, false);
	bench_settle(b);
	assert_false(has_edge(b->server, WV_EDGE_AGREE));
	assert_int_equal(hear(b, keeper).word, 0);
}

static void test_a_lease_with_a_pair(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	wv_auto_fd sock = -1;
	struct wv_pair_note note;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	note.word = WV_PAIR_USED;
	for (unsigned int i = 0; i < 2; i++) {
		keeper_says(keeper, note);
		bench_run(b);
	}
	assert_int_equal(pairs_of(b)->tally.used, 1);
	/* It lasts as long as its queue pairs. */
	wv_close_fd(&sock);
	note = hear(b, keeper);
	assert_int_equal(note.word, WV_PAIR_DROP);
	note.word = WV_PAIR_DROPPED;
	keeper_says(keeper, note);
	await_no_pairs(b);
}

static struct wv_pooled_lease *claim_without_descriptors(struct wv_pairs *p,
							 const struct wv_recipe *recipe)
{
	dev_t rdev = LIST_FIRST(&p->all)->lease->rdev;
	struct rlimit limit, none;
	struct wv_pooled_lease *lease;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	lease = wv_pairs_claim(p, recipe, rdev);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return lease;
}

/* Without a descriptor that keeps its number, another queue pair could pass for the pair's end. */
static void test_a_number_that_cannot_be_kept(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	wv_auto_fd sock = -1;
	struct wv_pair_note note;

	make_pair(b, keeper);
	assert_null(claim_without_descriptors(pairs_of(b), bench_recipe(b)));
	sock = claim(b, keeper, &note);
}

static void test_the_moves_are_in_the_lease(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	wv_auto_fd sock = -1;
	struct wv_pair_note note;
	const struct wv_msg_lease *lease = (const void *)answer.data;
	struct wv_cmdlog *cmdlog = (struct wv_cmdlog *)(lease + 1);

	make_pair(b, keeper);
	sock = bench_ask(b, 1, &answer);
	assert_int_equal(wv_cmdlog_check(cmdlog, (size_t)answer.bytes - sizeof(*lease), WV_LEASE),
			 0);
	assert_int_equal(cmdlog->n_steps, bench_recipe(b)->n_steps + 2);
	bench_close_fds(&answer);
	note = hear(b, keeper);
	assert_int_equal(note.word, WV_PAIR_CLAIMED);
}

static void test_the_program_ends_first(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note;
	int sock;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	close(sock);
	note = hear(b, keeper);
	assert_int_equal(note.word, WV_PAIR_DROP);
	assert_true(has_pair(b->server, WV_PAIR_LEFT));
	note.word = WV_PAIR_DROPPED;
	keeper_says(keeper, note);
	bench_run(b);
	assert_false(has_pair(b->server, WV_PAIR_LEFT));
}

static void test_the_server_ends_first(void **state)
{
	struct daemon_bench *b = *state;
	int keeper = learn(b);
	const struct wv_msg_pair_gone *gone = (const void *)answer.data;
	wv_auto_fd sock = -1;
	struct wv_pair_note note;
	uint64_t pair;

	make_pair(b, keeper);
	pair = LIST_FIRST(&pairs_of(b)->all)->id;
	sock = claim(b, keeper, &note);
	close(keeper);
	bench_receive(b, sock, &answer);
	assert_int_equal(gone->msg.type, WV_MSG_PAIR_GONE);
	assert_int_equal(gone->pair, pair);
	assert_int_equal(pairs_of(b)->n, 0);
}

/* The process is this one, which goes on. */
static void test_a_program_that_closes_its_connection(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note;
	int sock;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	keeper_says(sock, (struct wv_pair_note){.word = WV_PAIR_STAYS});
	close(sock);
	bench_run(b);
	assert_true(has_pair(b->server, WV_PAIR_HANDED_OUT));
	assert_int_equal(hear(b, keeper).word, 0);
}

static void test_a_server_that_closes_its_connection(void **state)
{
	struct daemon_bench *b = *state;
	int keeper = learn(b);
	wv_auto_fd sock = -1;
	struct wv_pair_note note;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	keeper_says(keeper, (struct wv_pair_note){.word = WV_PAIR_STAYS});
	close(keeper);
	bench_run(b);
	bench_receive(b, sock, &answer);
	assert_true(answer.bytes <= 0); /* the client hears nothing */
	assert_true(has_pair(b->server, WV_PAIR_HANDED_OUT));
	assert_int_equal(pairs_of(b)->keepers.n, 1);
	/* Nobody can tell the server, and what the client had must not stay with the daemon. */
	wv_close_fd(&sock);
	await_no_pairs(b);
	assert_int_equal(pairs_of(b)->keepers.n, 0);
}

/* It has not answered when it closes its connection. */
static void test_a_client_ends_before_the_server_closes_its_connection(void **state)
{
	struct daemon_bench *b = *state;
	int keeper = learn(b);
	struct wv_pair_note note;
	int sock;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	close(sock);
	assert_int_equal(hear(b, keeper).word, WV_PAIR_DROP);
	keeper_says(keeper, (struct wv_pair_note){.word = WV_PAIR_STAYS});
	close(keeper);
	await_no_pairs(b);
	assert_int_equal(pairs_of(b)->keepers.n, 0);
}

/* What nobody has claimed is of no use to it any more. */
static void test_a_server_that_closes_its_connection_too_early(void **state)
{
	struct daemon_bench *b = *state;
	int keeper = learn(b);

	make_pair(b, keeper);
	keeper_says(keeper, (struct wv_pair_note){.word = WV_PAIR_STAYS});
	close(keeper);
	await_no_pairs(b);
	assert_int_equal(pairs_of(b)->keepers.n, 0);
}

static void address_moves(struct daemon_bench *b, const uint8_t *at)
{
	const struct wv_addresses *a = &b->server->service.pairs->addresses;

	a->own(a->arg, at);
	bench_run(b);
}

/* However often it says so: each time is a note to the client's node. */
static void test_an_end_is_lost_once(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	wv_auto_fd sock = -1;
	struct wv_pair_note note;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	note.word = WV_PAIR_DROP;
	for (unsigned int i = 0; i < 10; i++) {
		keeper_says(keeper, note);
		bench_run(b);
	}
	assert_int_equal(pairs_of(b)->tally.lost, 1);
}

/* Until nothing more fits into the socket. How many. */
static unsigned int fill_with(struct daemon_bench *b, struct wv_pair_note note)
{
	const struct wv_keeper *k = LIST_FIRST(&b->server->service.pairs->keepers.all);
	unsigned int n = 0;

	while (!wv_keeper_tell(k, &note))
		n++;
	return n;
}

static bool is_told(struct wv_server *s, unsigned int unused)
{
	(void)unused;
	return !LIST_FIRST(&LIST_FIRST(&s->service.pairs->keepers.all)->pairs)->untold;
}

/* The number of its end is another queue pair's once the client's end is closed. */
static void test_a_server_that_does_not_read(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note = {.word = WV_PAIR_CLAIMED};
	unsigned int n;

	make_pair(b, keeper);
	n = fill_with(b, note);
	address_moves(b, gid);
	wv_pairs_drop_recipe(pairs_of(b), bench_recipe(b));
	bench_run(b);
	while (n--)
		assert_int_equal(hear(b, keeper).word, WV_PAIR_CLAIMED);
	bench_run_until(b, is_told, 0);
	assert_int_equal(hear(b, keeper).word, WV_PAIR_DROP);
	assert_int_equal(hear(b, keeper).word, 0);
}

static void test_a_pair_that_nobody_has_is_closed_with_its_server(void **state)
{
	struct daemon_bench *b = *state;
	int keeper = learn(b);

	make_pair(b, keeper);
	close(keeper);
	await_no_pairs(b);
	assert_int_equal(pairs_of(b)->tally.lost, 1);
}

static void test_a_refused_pair_costs_no_lease(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note = await_ask(b, keeper);
	unsigned int ready = bench_recipe(b)->pool->n_ready;

	note.word = WV_PAIR_REFUSED;
	note.why = WV_PAIR_NO_SPARE;
	keeper_says(keeper, note);
	bench_run(b);
	assert_int_equal(pairs_of(b)->tally.refused[WV_PAIR_NO_SPARE], 1);
	assert_int_equal(bench_recipe(b)->pool->n_ready, ready + 1);
	assert_int_equal(bench_run_program(b, 1, 0), 0);
}

/* What a server says must not reach a peer if the peer would take it for a broken protocol. */
static void test_a_server_that_says_nonsense_is_let_go(void **state)
{
	struct daemon_bench *b = *state;

	for (unsigned int i = 0; i < 2; i++) {
		wv_auto_fd keeper = connect_keeper(b);
		struct wv_pair_note note = {.word = WV_PAIR_CONNECTED};

		if (i)
			note.why = WV_PAIR_WHYS;
		else
			memset(note.user, 'u', sizeof(note.user));
		keeper_says(keeper, note);
		bench_run(b);
		assert_int_equal(b->server->service.tally.malformed, i + 1);
		assert_int_equal(b->server->service.pairs->keepers.n, 0);
	}
}

static void test_the_kernel_refuses(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note = await_ask(b, keeper);

	bench_failing_kernel(EINVAL);
	note.word = WV_PAIR_MADE;
	memcpy(note.gid, gid, sizeof(gid));
	keeper_says(keeper, note);
	await_no_pairs(b);
	bench_failing_kernel(0);
	assert_int_equal(hear(b, keeper).word, WV_PAIR_DROP);
}

static void test_one_claim_at_a_time(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note;
	wv_auto_fd first = -1, second = -1;
	const struct wv_msg_lease *lease = (const void *)answer.data;

	make_pair(b, keeper);
	first = claim(b, keeper, &note);
	make_pair(b, keeper);
	second = bench_ask(b, 1, &answer);
	assert_int_equal(bench_reason(&answer), 0);
	assert_int_equal(lease->pair.pair, 0);
	bench_close_fds(&answer);
}

static void test_several_claims_if_requests_name_them(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn_as(b, true);
	struct wv_pair_note first, second;
	wv_auto_fd one = -1, two = -1;

	make_pair(b, keeper);
	one = claim(b, keeper, &first);
	make_pair(b, keeper);
	two = claim(b, keeper, &second);
	assert_int_not_equal(first.pair, second.pair);
	second.word = WV_PAIR_USED;
	keeper_says(keeper, second);
	bench_run(b);
	assert_int_equal(pairs_of(b)->tally.used, 1);
	assert_int_equal(TAILQ_FIRST(&pairs_of(b)->edges.all)->n_awaited, 1);
}

/* Whoever plays both ends may say so while the daemon connects the lease. */
static void test_used_before_any_program_has_it(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note = await_ask(b, keeper);

	note.word = WV_PAIR_MADE;
	note.qp_num = SPARE_QP;
	keeper_says(keeper, note);
	note.word = WV_PAIR_USED;
	keeper_says(keeper, note);
	bench_run_until(b, has_pair, WV_PAIR_READY);
	assert_int_equal(pairs_of(b)->tally.used, 0);
}

/* Each message makes the daemon ask another one. */
static void test_connections_of_a_lease_are_limited(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note;
	wv_auto_fd sock = -1;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	for (unsigned int i = 0; i <= WV_PAIR_TOLD + WV_PAIR_TOLD_MORE; i++) {
		assert_int_equal(b->server->service.tally.malformed, 0);
		say_connected_of(sock, create_step(b) + 1, SERVER_QP, WV_PAIR_NO_REASON);
		bench_run(b);
	}
	assert_int_equal(b->server->service.tally.malformed, 1);
	/* The program does not know that, and keeps to the pair as long as the server does. */
	assert_true(has_pair(b->server, WV_PAIR_HANDED_OUT));
	assert_int_equal(hear(b, keeper).word, 0);
}

/* As one in another PID namespace, whose end nobody would tell. */
static void test_a_program_that_cannot_be_watched(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	const struct wv_msg_pair_gone *gone = (const void *)answer.data;
	struct wv_pair_note note;
	wv_auto_fd sock = -1;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	wv_pairs_leave(pairs_of(b), LIST_FIRST(&pairs_of(b)->all));
	assert_int_equal(hear(b, keeper).word, WV_PAIR_DROP);
	bench_receive(b, sock, &answer);
	assert_int_equal(gone->msg.type, WV_MSG_PAIR_GONE);
}

/* A program can choose what it records so that its recipe has the id of another user's. */
static void test_a_recipe_of_another_user_with_the_same_id(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_recipe *recipe = bench_recipe(b), *other = bench_recipe_of(b, getuid() + 1, 0);
	dev_t device = b->server->devices.all[0].rdev;
	struct wv_pooled_lease *lease;

	make_pair(b, keeper);
	other->id = recipe->id;
	assert_null(wv_pairs_claim(pairs_of(b), other, device));
	wv_pairs_drop_recipe(pairs_of(b), other);
	assert_true(has_pair(b->server, WV_PAIR_READY));
	lease = wv_pairs_claim(pairs_of(b), recipe, device);
	assert_non_null(lease);
	wv_pairs_return(pairs_of(b), lease);
}

static void test_another_peer_ends_the_edge(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note;
	wv_auto_fd sock = -1;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	say_connected(b, sock, SERVER_QP + 1, WV_PAIR_OTHER_PEER);
	bench_run(b);
	assert_int_equal(pairs_of(b)->tally.unlike[WV_PAIR_OTHER_PEER], 1);
	assert_false(has_edge(b->server, WV_EDGE_AGREE));
	/* The program may still turn to the server. */
	assert_true(has_pair(b->server, WV_PAIR_HANDED_OUT));
	assert_int_equal(hear(b, keeper).word, 0);
}

/* The program is so short that the server's word comes after its own. */
static void test_destroyed_before_the_server_says_that_it_is_used(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note, drop;
	wv_auto_fd sock = -1;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	say_connected(b, sock, SPARE_QP, WV_PAIR_NO_REASON);
	drop = hear(b, keeper);
	assert_int_equal(drop.word, WV_PAIR_DROP);
	assert_int_equal(LIST_FIRST(&pairs_of(b)->all)->fd, -1); /* it would keep all else, too */
	note.word = WV_PAIR_USED;
	keeper_says(keeper, note);
	drop.word = WV_PAIR_DROPPED;
	keeper_says(keeper, drop);
	await_no_pairs(b);
	assert_int_equal(pairs_of(b)->tally.used, 1);
	assert_int_equal(pairs_of(b)->tally.unlike[WV_PAIR_ENDED], 0);
	assert_true(has_edge(b->server, WV_EDGE_AGREE));
}

static void test_another_queue_pair_of_the_lease(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_pair_note note;
	wv_auto_fd sock = -1;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	say_connected_of(sock, create_step(b) + 1, SERVER_QP, WV_PAIR_NO_REASON);
	assert_int_equal(hear(b, keeper).word, 0);
	assert_true(has_pair(b->server, WV_PAIR_HANDED_OUT));
}

static void test_another_device_goes(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	const struct wv_device other = {.rdev = 1};
	struct wv_server *s = b->server;
	wv_auto_fd sock = -1;
	struct wv_pair_note note;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	s->watch.gone(s->watch.arg, &other);
	assert_true(LIST_FIRST(&pairs_of(b)->all)->fd >= 0);
	s->watch.gone(s->watch.arg, &s->devices.all[0]);
	assert_int_equal(LIST_FIRST(&pairs_of(b)->all)->fd, -1);
}

/* The descriptor that keeps the number of its queue pair. */
static void test_who_has_a_lease_with_a_pair_is_charged(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	const struct wv_use *held = &bench_recipe(b)->pool->tenant->held;
	struct wv_pair_note note;
	uint32_t fds;
	int sock;

	make_pair(b, keeper);
	bench_recipe(b)->pool->target = 0;
	fds = held->fds;
	sock = claim(b, keeper, &note);
	assert_int_equal(held->fds, fds - bench_recipe(b)->cost.fds + 1);
	close(sock);
	assert_int_equal(hear(b, keeper).word, WV_PAIR_DROP);
	note.word = WV_PAIR_DROPPED;
	keeper_says(keeper, note);
	bench_run(b);
	assert_int_equal(held->fds, fds - bench_recipe(b)->cost.fds);
}

static void test_an_end_that_nobody_claims(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_keepers *keepers = &b->server->service.pairs->keepers;
	struct wv_kept_pair *pair;
	struct wv_pair_note note;

	make_pair(b, keeper);
	pair = LIST_FIRST(&LIST_FIRST(&keepers->all)->pairs);
	pair->since_us -= 3600000000;
	LIST_FIRST(&pairs_of(b)->all)->since_us = INT64_MAX / 2; /* its daemon does not drop it */
	wv_timer_arm(keepers->again, wv_steady_clock());
	note = hear(b, keeper);
	assert_int_equal(note.word, WV_PAIR_LEAVE);
	note.word = WV_PAIR_DROP;
	keeper_says(keeper, note);
	assert_int_equal(hear(b, keeper).word, WV_PAIR_DROPPED);
	assert_int_equal(LIST_FIRST(&keepers->all)->n_pairs, 0);
}

static void test_the_device_goes(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	struct wv_server *s = b->server;

	make_pair(b, keeper);
	s->watch.gone(s->watch.arg, &s->devices.all[0]);
	bench_rest(b);
	assert_int_equal(pairs_of(b)->n, 0);
}

static void test_the_address_goes(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	uint8_t other[16] = {1};

	make_pair(b, keeper);
	address_moves(b, other);
	assert_true(has_pair(b->server, WV_PAIR_READY));
	address_moves(b, gid);
	assert_false(has_pair(b->server, WV_PAIR_READY));
	assert_int_equal(hear(b, keeper).word, WV_PAIR_LEAVE);
	assert_int_equal(hear(b, keeper).word, WV_PAIR_DROP);
	assert_false(has_edge(b->server, WV_EDGE_AGREE));
}

/* News were lost. */
static void test_any_address_may_have_gone(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);

	make_pair(b, keeper);
	address_moves(b, NULL);
	assert_false(has_pair(b->server, WV_PAIR_READY));
}

static void test_the_address_goes_while_a_program_has_the_pair(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	wv_auto_fd sock = -1;
	struct wv_pair_note note;

	make_pair(b, keeper);
	sock = claim(b, keeper, &note);
	address_moves(b, gid);
	assert_true(has_pair(b->server, WV_PAIR_HANDED_OUT));
	assert_int_equal(hear(b, keeper).word, WV_PAIR_LEAVE);
	note.word = WV_PAIR_USED; /* it is too late for the server to give it up */
	keeper_says(keeper, note);
	bench_run(b);
	assert_int_equal(pairs_of(b)->tally.used, 1);
}

static void neighbour_is_at(struct daemon_bench *b, const uint8_t *of, uint8_t last)
{
	const struct wv_addresses *a = &b->server->service.pairs->addresses;
	const uint8_t at[WV_LINK_ADDRESS] = {2, [5] = last};

	a->neighbour(a->arg, of, at);
	bench_run(b);
}

static void test_the_peer_has_another_link_address(void **state)
{
	struct daemon_bench *b = *state;
	wv_auto_fd keeper = learn(b);
	uint8_t other[16] = {1};

	make_pair(b, keeper);
	neighbour_is_at(b, gid, 1);
	neighbour_is_at(b, gid, 1);
	neighbour_is_at(b, other, 2);
	assert_true(has_pair(b->server, WV_PAIR_READY));
	neighbour_is_at(b, gid, 2);
	assert_false(has_pair(b->server, WV_PAIR_READY));
}

static void test_what_no_keeper_says(void **state)
{
	static const uint16_t words[] = {
	    0, WV_PAIR_KEEPER, WV_PAIR_ASK, WV_PAIR_FORGOTTEN, WV_PAIR_WORDS, 0xffff};
	struct daemon_bench *b = *state;

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(words); i++) {
		wv_auto_fd keeper = connect_keeper(b);

		keeper_says(keeper, (struct wv_pair_note){.word = words[i]});
		bench_receive(b, keeper, &answer);
		assert_int_equal(answer.bytes, 0);
	}
	assert_int_equal(b->server->service.pairs->keepers.n, 0);
}

static void test_keepers_are_limited(void **state)
{
	struct daemon_bench *b = *state;
	int keepers[WV_KEEPERS_OF_ONE + 1];

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(keepers); i++)
		keepers[i] = connect_keeper(b);
	assert_int_equal(b->server->service.pairs->keepers.n, WV_KEEPERS_OF_ONE);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(keepers); i++)
		close(keepers[i]);
	bench_run(b);
	assert_int_equal(b->server->service.pairs->keepers.n, 0);
}

/* However many users have as many as they may, the next one finds room. */
static void test_many_with_keepers_leave_room(void **state)
{
	struct daemon_bench *b = *state;
	struct wv_keepers *keepers = &b->server->service.pairs->keepers;
	struct wv_tenant tenants[WV_KEEPERS_MOST / WV_KEEPERS_OF_ONE + 1];
	struct wv_keeper *keeper;

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(tenants); i++) {
		assert_non_null(wv_keeper_add(pairs_of(b), -1, i, &tenants[i]));
		for (unsigned int n = 1; n < WV_KEEPERS_OF_ONE; n++)
			wv_keeper_add(pairs_of(b), -1, i, &tenants[i]);
	}
	while ((keeper = LIST_FIRST(&keepers->all)))
		wv_keeper_remove(pairs_of(b), keeper);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, bench_tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_an_edge_takes_more_than_one_connection),
	    TEST(test_few_are_asked_in_vain),
	    TEST(test_nobody_is_asked_for_a_known_edge),
	    TEST(test_gids_are_read_seldom),
	    TEST(test_a_lease_with_a_pair),
	    TEST(test_a_number_that_cannot_be_kept),
	    TEST(test_the_moves_are_in_the_lease),
	    TEST(test_the_program_ends_first),
	    TEST(test_the_server_ends_first),
	    TEST(test_a_program_that_closes_its_connection),
	    TEST(test_a_server_that_closes_its_connection),
	    TEST(test_a_client_ends_before_the_server_closes_its_connection),
	    TEST(test_a_server_that_closes_its_connection_too_early),
	    TEST(test_an_end_is_lost_once),
	    TEST(test_a_server_that_does_not_read),
	    TEST(test_a_pair_that_nobody_has_is_closed_with_its_server),
	    TEST(test_a_refused_pair_costs_no_lease),
	    TEST(test_a_server_that_says_nonsense_is_let_go),
	    TEST(test_the_kernel_refuses),
	    TEST(test_one_claim_at_a_time),
	    TEST(test_several_claims_if_requests_name_them),
	    TEST(test_used_before_any_program_has_it),
	    TEST(test_connections_of_a_lease_are_limited),
	    TEST(test_a_program_that_cannot_be_watched),
	    TEST(test_a_recipe_of_another_user_with_the_same_id),
	    TEST(test_another_peer_ends_the_edge),
	    TEST(test_destroyed_before_the_server_says_that_it_is_used),
	    TEST(test_another_queue_pair_of_the_lease),
	    TEST(test_another_device_goes),
	    TEST(test_who_has_a_lease_with_a_pair_is_charged),
	    TEST(test_an_end_that_nobody_claims),
	    TEST(test_the_device_goes),
	    TEST(test_the_address_goes),
	    TEST(test_any_address_may_have_gone),
	    TEST(test_the_address_goes_while_a_program_has_the_pair),
	    TEST(test_the_peer_has_another_link_address),
	    TEST(test_what_no_keeper_says),
	    TEST(test_keepers_are_limited),
	    TEST(test_many_with_keepers_leave_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
