/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of several clients, and of a peer, to a daemon in this process, and its answers. */
#include "fuzz.h"

#include "daemon/ipc/service.h"
#include "daemon/pairs/links.h"
#include "daemon/pairs/pair_state.h"
#include "daemon/pairs/pairs.h"
#include "daemon/peers/user_names.h"
#include "daemon/services/notes.h"
#include "daemon_bench.h"
#include "turns.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define MEMORY (16u << 20) /* filling a pool takes long if there is more to fill */

static struct daemon_bench *bench;
static struct bench_answer answer;
static int clients[N_CLIENTS] = {-1, -1, -1, -1};
static int node;
static struct wv_pair_note heard;	     /* by a keeper, the last one */
static struct wv_service_note service_heard; /* by anybody, the same */
static struct wv_link link_of_peer = {.phase = WV_LINK_OPEN};
static struct wv_peer peer = {.state = WV_PEER_UP, .up = &link_of_peer};

static const uint8_t turn_gid[16] = {0xfe, 0x80, [15] = 1};

/* Servers and pairs have number 1, so that an input can speak of them, and does so each time. */
ssize_t __wrap_getrandom(void *to, size_t n, unsigned int flags);

ssize_t __wrap_getrandom(void *to, size_t n, unsigned int flags)
{
	(void)flags;
	memset(to, 0, n);
	*(uint8_t *)to = 1;
	return (ssize_t)n;
}

/* The peer is at the GID of this node, too. */
bool __wrap_wv_peers_is_at(const struct wv_peers *p, const struct wv_peer *at, const uint8_t *gid);

bool __wrap_wv_peers_is_at(const struct wv_peers *p, const struct wv_peer *at, const uint8_t *gid)
{
	(void)p;
	(void)at;
	return !memcmp(gid, turn_gid, sizeof(turn_gid));
}

struct wv_peer *__wrap_wv_peers_find(struct wv_peers *p, const uint8_t *gid);

struct wv_peer *__wrap_wv_peers_find(struct wv_peers *p, const uint8_t *gid)
{
	(void)p;
	return memcmp(gid, turn_gid, sizeof(turn_gid)) ? NULL : &peer;
}

/* What the peer is told. */
int __wrap_wv_link_send(struct wv_link *link, uint16_t type, const void *body, size_t length);

int __wrap_wv_link_send(struct wv_link *link, uint16_t type, const void *body, size_t length)
{
	(void)link;
	if (type == WV_FRAME_SERVICE)
		assert_int_equal(wv_service_note_read(body, length, &service_heard), 0);
	return 0;
}

static void end_daemon(void)
{
	bench_stop(bench);
	remove_tree(bench->dir);
	free(bench);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	void *state;

	(void)argc;
	(void)argv;
	bench_set_up(&state);
	bench = state;
	bench_stop(bench);
	bench->pairs = true;
	bench_write_gids(bench, TURN_GID);
	bench_start(bench);
	wv_log_init(WV_ERROR);
	bench->server->planner.limits.user.bytes = MEMORY;
	node = open(BENCH_NODE, O_RDWR | O_CLOEXEC);
	atexit(end_daemon);
	return 0;
}

static void check_lease(const struct wv_msg_lease *lease, size_t bytes)
{
	wv_auto_free struct wv_cmdlog *cmdlog = copy_exactly(lease + 1, bytes - sizeof(*lease));

	assert_int_equal(wv_cmdlog_check(cmdlog, bytes - sizeof(*lease), WV_LEASE), 0);
	assert_int_equal(answer.n_fds, 1 + cmdlog->n_fds + !!cmdlog->memory);
}

static void check_constants(const struct wv_msg_no_lease *none, size_t bytes)
{
	wv_auto_free struct wv_cmdlog *cmdlog = copy_exactly(none + 1, bytes - sizeof(*none));

	assert_int_equal(answer.n_fds, 0);
	if (bytes > sizeof(*none))
		assert_int_equal(wv_cmdlog_check(cmdlog, bytes - sizeof(*none), WV_LEASE), 0);
}

static void check_answer(void)
{
	switch (wv_msg_check(answer.data, (size_t)answer.bytes)) {
	case WV_MSG_LEASE:
		check_lease((const void *)answer.data, (size_t)answer.bytes);
		break;
	case WV_MSG_NO_LEASE:
		check_constants((const void *)answer.data, (size_t)answer.bytes);
		break;
	case WV_MSG_CONTROL:
		json_decref(bench_document(&answer));
		break;
	case WV_MSG_PAIR:
		heard = ((const struct wv_msg_pair *)answer.data)->note;
		break;
	case WV_MSG_SERVICE:
		service_heard = ((const struct wv_msg_service *)answer.data)->note;
		assert_true(wv_service_note_is_sound(&service_heard));
		break;
	case WV_MSG_PAIR_GONE:
		break;
	default:
		assert_int_equal(wv_msg_check(answer.data, (size_t)answer.bytes),
				 WV_MSG_POOL_STATE);
	}
	bench_close_fds(&answer);
}

/* Reads all that the daemon has for @client. */
static void read_answers(int *client)
{
	for (;;) {
		bench_receive(bench, *client, &answer);
		if (answer.bytes <= 0)
			break;
		check_answer();
	}
	if (answer.bytes != -EAGAIN)
		wv_close_fd(client);
}

static void say(int *client, const struct turn *turn, const uint8_t *data)
{
	const int nodes[] = {node, node};
	struct wv_msg head;

	if (*client < 0)
		*client = bench_connect(bench);
	wv_msg_init(&head, turn->what % N_TURNS, sizeof(head) + turn->bytes);
	if (turn->what % N_TURNS == TURN_RAW)
		wv_send(*client, data, turn->bytes, NULL, 0, nodes, turn->n_nodes % 3);
	else
		wv_send(*client, &head, sizeof(head), data, turn->bytes, nodes, turn->n_nodes % 3);
	read_answers(client);
}

static void hear_peer(uint16_t type, const uint8_t *data, size_t bytes)
{
	const struct wv_peers *peers = bench->server->service.peers;
	wv_auto_free void *note = copy_exactly(data, bytes);

	peers->events->message(peers->arg, &peer, type, note, bytes);
	bench_run(bench);
}

/* The number of the process that keeps spares; it was told to nobody here. */
static uint32_t keeper_number(void)
{
	const struct wv_keeper *keeper = LIST_FIRST(&bench->server->service.pairs->keepers.all);

	return keeper ? keeper->id : 0;
}

static struct wv_pair_note note_of(const struct spoken *said)
{
	struct wv_pair_note note = {
	    .keeper = keeper_number(),
	    .pair = said->pair,
	    .shape = said->shape,
	    .peer_qp_num = said->peer_qp_num,
	    .by_request = !!(said->flags & SPOKEN_BY_REQUEST),
	};
	const char *user = wv_user_name(bench->server->service.pairs->names, getuid());

	if (!(said->flags & SPOKEN_OF_OTHERS)) {
		memcpy(note.gid, turn_gid, sizeof(turn_gid));
		memcpy(note.peer_gid, turn_gid, sizeof(turn_gid));
	}
	if (user && !(said->flags & SPOKEN_FOR_OTHERS))
		snprintf(note.user, sizeof(note.user), "%s", user);
	if (said->flags & SPOKEN_AS_HEARD)
		note = heard;
	note.word = said->word % WV_PAIR_WORDS;
	note.why = said->why % WV_PAIR_WHYS;
	note.qp_num = said->qp_num;
	return note;
}

static void talk(const uint8_t *data, size_t bytes)
{
	struct turn as_message = {.what = WV_MSG_PAIR, .bytes = sizeof(struct wv_pair_note)};
	struct spoken said;

	for (; bytes >= sizeof(said); data += sizeof(said), bytes -= sizeof(said)) {
		struct wv_pair_note note;

		memcpy(&said, data, sizeof(said));
		note = note_of(&said);
		if (said.flags & SPOKEN_BY_PEER) {
			wv_pair_note_swap(&note);
			hear_peer(WV_FRAME_FIRST_MESSAGE, (const uint8_t *)&note, sizeof(note));
		} else {
			say(&clients[TURN_KEEPER], &as_message, (const uint8_t *)&note);
		}
	}
}

static struct wv_service_note service_note_of(const struct served *said)
{
	struct wv_service_note note = {
	    .word = said->word % WV_SERVICE_WORDS,
	    .error = said->error,
	    .number = said->flags & SERVED_AS_HEARD ? service_heard.from : said->number,
	    .from = said->flags & SERVED_AS_HEARD ? service_heard.number : said->from,
	    .name = {(char)('a' + said->name % 4)},
	    .qp = {.qp_num = said->qp_num},
	};
	const char *user = wv_user_name(bench->server->service.pairs->names, getuid());

	if (!(said->flags & SERVED_STRANGELY))
		memcpy(note.qp.gid, turn_gid, sizeof(turn_gid));
	if (said->flags & SERVED_ELSEWHERE)
		memcpy(note.node, turn_gid, sizeof(turn_gid));
	if (said->flags & SERVED_BY_OTHERS)
		strcpy(note.user, "other");
	if (said->flags & SERVED_FOR_OTHERS)
		strcpy(note.client_user, "other");
	else if (user)
		snprintf(note.client_user, sizeof(note.client_user), "%s", user);
	if (note.word == WV_SERVICE_OFFER && said->flags & SERVED_FOR_OTHERS)
		note.data_bytes =
		    (uint32_t)snprintf((char *)note.data, sizeof(note.data), "x,other");
	return note;
}

/* The connection to the peer ends, and another one is made. */
static void lose_peer(void)
{
	const struct wv_peers *peers = bench->server->service.peers;

	peer.up = NULL;
	peers->events->down(peers->arg, &peer);
	bench_run(bench);
	peer.up = &link_of_peer;
	peers->events->up(peers->arg, &peer);
	bench_run(bench);
}

static void say_of_service(const struct served *said)
{
	struct turn as_message = {.what = WV_MSG_SERVICE, .bytes = sizeof(struct wv_service_note)};
	struct wv_service_note note = service_note_of(said);
	unsigned int client = said->client % (N_CLIENTS + 1);
	size_t bytes = wv_service_note_bytes(&note);

	link_of_peer.out.end = said->flags & SERVED_SLOWLY ? WV_OUTBOX_MOST : 0;
	if (said->flags & SERVED_LOST)
		lose_peer();
	if (client < N_CLIENTS) {
		say(&clients[client], &as_message, (const uint8_t *)&note);
		return;
	}
	wv_service_note_swap(&note);
	hear_peer(WV_FRAME_SERVICE, (const uint8_t *)&note, bytes);
}

static void serve(const uint8_t *data, size_t bytes)
{
	struct served said;

	for (; bytes >= sizeof(said); data += sizeof(said), bytes -= sizeof(said)) {
		memcpy(&said, data, sizeof(said));
		say_of_service(&said);
		for (unsigned int i = 0; i < N_CLIENTS; i++)
			if (clients[i] >= 0)
				read_answers(&clients[i]);
	}
	link_of_peer.out.end = 0;
}

static void take(const struct turn *turn, const uint8_t *data)
{
	int *client = &clients[turn->client % N_CLIENTS];

	switch (turn->what % N_TURNS) {
	case TURN_CLOSE:
		wv_close_fd(client);
		bench_run(bench);
		break;
	case TURN_FILL:
		bench_fill(bench);
		break;
	case TURN_NOTE:
		hear_peer(turn->client % 2 ? WV_FRAME_SERVICE : WV_FRAME_FIRST_MESSAGE, data,
			  turn->bytes);
		break;
	case TURN_TALK:
		talk(data, turn->bytes);
		break;
	case TURN_SERVE:
		serve(data, turn->bytes);
		break;
	default:
		say(client, turn, data);
	}
}

/* Without processes and peers there are no connections. */
static void forget_pairs(void)
{
	struct wv_pairs *pairs = bench->server->service.pairs;

	peer.up = NULL;
	pairs->peers->events->down(pairs->peers->arg, &peer);
	peer.up = &link_of_peer;
	assert_int_equal(bench->server->service.services->conns.n, 0);
	wv_pairs_stop(pairs);
	assert_int_equal(wv_pairs_start(pairs), 0);
}

/* Nothing may be left of an input. */
static void forget_all(void)
{
	for (unsigned int i = 0; i < N_CLIENTS; i++)
		wv_close_fd(&clients[i]);
	bench_run(bench);
	forget_pairs();
	json_decref(bench_question(bench, "{\"op\": \"forget\", \"id\": \"all\"}"));
	bench_rest(bench);
	wv_handed_out_finish(&bench->server->handed_out); /* the programs are this process */
	fake_kernel_init(&bench_kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static unsigned int fds; /* once the first input has opened what is kept */
	struct turn turn;

	for (; bytes >= sizeof(turn); data += turn.bytes, bytes -= turn.bytes) {
		memcpy(&turn, data, sizeof(turn));
		data += sizeof(turn);
		bytes -= sizeof(turn);
		if (turn.bytes > bytes)
			turn.bytes = (uint32_t)bytes;
		if (turn.bytes <= WV_WIRE_MAX)
			take(&turn, data);
	}
	forget_all();
	if (!fds)
		fds = count_fds();
	assert_int_equal(count_fds(), fds);
	return 0;
}
