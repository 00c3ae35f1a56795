/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A daemon with one lease, and a server that the lease's queue pair may be connected to already, as
 * one process: what two nodes must agree about is then decided here, by lines of input. Usage:
 * pairing SOCKET. After "@NAME" it has done the line, which is one of actions[].
 */
#include "programs/kit.h"

#include "abi/qp.h"
#include "base/base.h"
#include "cmdlog/normalise.h"
#include "cmdlog/replay.h"
#include "cmdlog/validate.h"
#include "wire/exchange.h"
#include "wire/pair.h"

#include <fcntl.h>
#include <rdma/rdma_user_ioctl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define NODE "/dev/infiniband/uverbs0"
#define PAIR 7

/* The packet sequence numbers of a pair; the usual ones are others. */
#define CLIENT_PSN 1100
#define SERVER_PSN 2200

static int listener, client = -1;
static _Alignas(8) uint8_t message[WV_WIRE_MAX];
static struct wv_cmdlog *record, *moves;
static struct wv_build_id provider;

/* What the next program gets; nothing: it is to be recorded. */
static _Alignas(8) uint8_t lease_bytes[WV_CMDLOG_MAX_BYTES];
static struct wv_replay lease;
static struct wv_lease_pair pair;
static int ufile = -1;

static struct ibv_context *context;
static struct ibv_cq *cq;
static struct ibv_qp *qp, *other_qp;
static struct memory memory;

static int issue(void *kernel, struct ib_uverbs_ioctl_hdr *cmd)
{
	return ioctl(*(int *)kernel, RDMA_VERBS_IOCTL, cmd) ? errno : 0;
}

static void *keep(void *cmdlog)
{
	size_t bytes = ((struct wv_cmdlog *)cmdlog)->bytes;

	return memcpy(MADE(malloc(bytes)), cmdlog, bytes);
}

/* Of the server's end, which then has a posted receive. */
static void connect_by(uint32_t peer, uint32_t psn, uint32_t peer_psn)
{
	struct manner how = usual;

	how.sq_psn = psn;
	how.rq_psn = peer_psn;
	OK(to_state(qp, IBV_QPS_RESET));
	OK(to_init(qp, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	post_receive(qp, memory);
	OK(to_rtr_by(qp, peer, how));
	OK(to_rts_by(qp, how));
}

static void make_lease(uint32_t ignored)
{
	struct wv_cmdlog *recipe = (void *)message;
	struct wv_cost cost;
	const char *why;

	(void)ignored;
	OK(-wv_normalise(record, recipe, sizeof(message)));
	OK(-wv_cmdlog_check(recipe, recipe->bytes, WV_RECIPE));
	OK(-wv_validate(recipe, &cost, &why));
	ufile = DONE(open(NODE, O_RDWR | O_CLOEXEC));
	OK(-wv_replay(recipe, issue, &ufile, lease_bytes, sizeof(lease_bytes), &lease));
	pair.pair = 0;
}

static uint32_t qp_number(struct wv_step *create)
{
	struct wv_attr *attr = wv_step_attr(create, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM);
	uint32_t number;

	memcpy(&number, wv_attr_bytes(create, attr), sizeof(number));
	return number;
}

/* Makes a lease whose last queue pair is connected to the server's. */
static void make_pair(uint32_t ignored)
{
	struct wv_qp_peer peer = {.qp_num = qp->qp_num, .psn = CLIENT_PSN, .peer_psn = SERVER_PSN};
	struct wv_step *create = NULL;
	union ibv_gid gid;
	uint32_t index = 0;

	make_lease(ignored);
	OK(ibv_query_gid(context, PORT, GID_INDEX, &gid));
	memcpy(peer.gid, &gid, sizeof(peer.gid));
	pair = (struct wv_lease_pair){
	    .pair = PAIR, .peer_qp_num = peer.qp_num, .psn = peer.psn, .peer_psn = peer.peer_psn};
	memcpy(pair.peer_gid, &gid, sizeof(gid));
	wv_each_step (lease.lease, step) {
		if (wv_abi_creates(wv_step_row(step), UVERBS_OBJECT_QP)) {
			create = step;
			pair.create = index;
		}
		index++;
	}
	connect_by(qp_number(create), SERVER_PSN, CLIENT_PSN);
	OK(-wv_replay_moves(lease.lease, sizeof(lease_bytes), pair.create, moves, &peer, issue,
			    &ufile));
}

static dev_t rdev_of(int fd)
{
	struct stat st;

	OK(fstat(fd, &st));
	return st.st_rdev;
}

/* Whether a program waited for it is not known here: on a busy machine it may not have. */
static void answer(const void *head, size_t bytes, const struct wv_cmdlog *log, const int *fds,
		   unsigned int n)
{
	int err = -wv_send(client, head, bytes, log, log ? log->bytes : 0, fds, n);

	EXPECT(!err || err == EPIPE || err == ECONNRESET);
}

static void send_lease(int node)
{
	struct wv_msg_lease head = {
	    .rdev = rdev_of(node),
	    .provider = provider,
	    .n_fds = lease.n_fds,
	    .flags = WV_ANSWER_PAIRS | WV_ANSWER_CONNECTED,
	    .pair = pair,
	};
	int fds[WV_WIRE_MAX_FDS] = {ufile};
	unsigned int n = 1;

	for (unsigned int i = 0; i < lease.n_fds; i++)
		fds[n++] = lease.fds[i];
	if (lease.memory >= 0)
		fds[n++] = lease.memory;
	wv_msg_init(&head.msg, WV_MSG_LEASE, sizeof(head) + lease.lease->bytes);
	answer(&head, sizeof(head), lease.lease, fds, n);
	for (unsigned int i = 0; i < n; i++)
		close(fds[i]);
	ufile = -1;
}

static void please_record(void)
{
	struct wv_msg_no_lease none = {.reason = WV_NO_LEASE_RECORD};

	wv_msg_init(&none.msg, WV_MSG_NO_LEASE, sizeof(none));
	answer(&none, sizeof(none), NULL, NULL, 0);
}

/* Answers the next program's request. */
static void serve(uint32_t ignored)
{
	struct wv_fds fds;

	(void)ignored;
	wv_close_fd(&client);
	client = DONE(accept(listener, NULL, NULL));
	EXPECT(wv_receive(client, 999, message, sizeof(message), &fds) == WV_MSG_REQUEST);
	EXPECT(fds.n == 1);
	if (ufile >= 0)
		send_lease(fds.all[0]);
	else
		please_record();
	wv_fds_close(&fds);
}

/* The type of the program's next message; 0: it has ended. */
static int next_message(void)
{
	ssize_t got = DONE(recv(client, message, sizeof(message), 0));

	return got ? wv_msg_check(message, (size_t)got) : 0;
}

/* Keeps what the program records, up to its end. */
static void keep_record(uint32_t ignored)
{
	struct wv_msg_record *head = (void *)message;
	int type;

	(void)ignored;
	while ((type = next_message())) {
		EXPECT(type == WV_MSG_RECORD);
		free(record);
		OK(-wv_cmdlog_check(head + 1, head->msg.bytes - sizeof(*head), WV_RECORD));
		record = keep(head + 1);
		provider = head->provider;
	}
	EXPECT(record);
}

/* Prints what the program has said of its connection, and keeps the first moves of all. */
static void told(uint32_t ignored)
{
	struct wv_msg_connected *head = (void *)message;
	struct wv_cmdlog *said = (void *)(head + 1);
	const char *why;
	int type;

	(void)ignored;
	while ((type = next_message()) == WV_MSG_REPORT)
		;
	if (!type) {
		printf("# told nothing\n");
		return;
	}
	EXPECT(type == WV_MSG_CONNECTED);
	OK(-wv_cmdlog_check(said, head->msg.bytes - sizeof(*head), WV_RECORD));
	printf("# told %u,%u\n", head->why, said->n_steps);
	if (said->n_steps)
		OK(-wv_validate_moves(said, &why));
	if (said->n_steps && !moves)
		moves = keep(said);
}

static void say_gone(uint32_t ignored)
{
	struct wv_msg_pair_gone gone = {.pair = PAIR};

	(void)ignored;
	wv_msg_init(&gone.msg, WV_MSG_PAIR_GONE, sizeof(gone));
	OK(-wv_send(client, &gone, sizeof(gone), NULL, 0, NULL, 0));
}

static void die(uint32_t ignored)
{
	(void)ignored;
	wv_close_fd(&client);
}

/* The server connects as programs do, with the numbers that it has chosen itself. */
static void connect_plainly(uint32_t peer)
{
	connect_by(peer, usual.sq_psn, usual.rq_psn);
}

/* From now on, the server uses its other queue pair. */
static void change_qp(uint32_t ignored)
{
	struct ibv_qp *last = qp;

	(void)ignored;
	qp = other_qp;
	other_qp = last;
}

static void send_text(uint32_t ignored)
{
	(void)ignored;
	OK(post_text(qp, memory, "from the server"));
	await_completions(cq, 1);
}

static void receive_text(uint32_t ignored)
{
	(void)ignored;
	await_completions(cq, 1);
	EXPECT(arrived(memory, "from the client"));
	memset(memory.bytes, 0, MEMORY_BYTES);
}

static const struct {
	const char *name;
	void (*run)(uint32_t number);
} actions[] = {
    {"lease", make_lease}, {"pair", make_pair},
    {"serve", serve},	   {"record", keep_record},
    {"told", told},	   {"gone", say_gone},
    {"die", die},	   {"plain", connect_plainly},
    {"send", send_text},   {"receive", receive_text},
    {"other", change_qp},
};

static void begin_server(void)
{
	struct ibv_qp_init_attr attr = {.cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct ibv_pd *pd;

	context = open_device();
	pd = MADE(ibv_alloc_pd(context));
	cq = MADE(ibv_create_cq(context, 16, NULL, NULL, 0));
	attr.send_cq = attr.recv_cq = cq;
	memory = memory_new(pd);
	qp = MADE(ibv_create_qp(pd, &attr));
	other_qp = MADE(ibv_create_qp(pd, &attr));
	printf("# qp %u\n# qp %u\n", qp->qp_num, other_qp->qp_num);
}

static void listen_at(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	EXPECT(wv_copy_string(at.sun_path, sizeof(at.sun_path), path));
	listener = DONE(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	OK(bind(listener, (struct sockaddr *)&at, sizeof(at)));
	OK(listen(listener, 8));
}

static void act(const char *line)
{
	char name[32];
	uint32_t number = 0;

	EXPECT(sscanf(line, "%31s %u", name, &number) >= 1);
	for (size_t i = 0; i < COUNT(actions); i++)
		if (!strcmp(actions[i].name, name)) {
			actions[i].run(number);
			printf("@%s\n", name);
			fflush(stdout);
			return;
		}
	give_up(__FILE__, __LINE__, "no such action: %s", name);
}

int main(int argc, char **argv)
{
	char line[64];

	EXPECT(argc == 2);
	alarm(100);
	listen_at(argv[1]);
	begin_server();
	printf("@begun\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		act(line);
	return 0;
}
