/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connects a queue pair to that of another process, sends a message and receives one, which may
 * have been sent before it has connected. Usage: connect [query] [mtu] [timeout] [fork]: reads the
 * queue pair first, wants other attributes at RTR or RTS, connects in a child and then only
 * receives. After "@bound" it reads the number of its peer, after "@connected" a line to go on.
 */
#include "kit.h"

#include <sys/wait.h>

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct memory memory;
static int n_options;
static char **options;

static bool has(const char *option)
{
	for (int i = 1; i < n_options; i++)
		if (!strcmp(options[i], option))
			return true;
	return false;
}

static uint32_t wait_at(const char *name)
{
	char answer[32];

	printf("@%s\n", name);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) ? (uint32_t)atoi(answer) : 0;
}

static void create(void)
{
	struct ibv_qp_init_attr attr = {.cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_RC};

	context = open_device();
	pd = MADE(ibv_alloc_pd(context));
	cq = MADE(ibv_create_cq(context, 16, NULL, NULL, 0));
	attr.send_cq = attr.recv_cq = cq;
	qp = MADE(ibv_create_qp(pd, &attr));
	printf("# qp %u\n", qp->qp_num);
	OK(to_init(qp, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	memory = memory_new(pd);
	post_receive(qp, memory);
}

static void expect_state(enum ibv_qp_state state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	OK(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN, &init));
	EXPECT(attr.qp_state == state);
	EXPECT(state >= IBV_QPS_RTR || (!attr.dest_qp_num && !attr.rq_psn));
}

static void connect_to(uint32_t peer)
{
	struct manner how = usual;

	if (has("mtu"))
		how.mtu = IBV_MTU_512;
	if (has("timeout"))
		how.timeout = 16;
	if (has("query"))
		expect_state(IBV_QPS_INIT);
	OK(to_rtr_by(qp, peer, how));
	if (has("query"))
		expect_state(IBV_QPS_RTR);
	OK(to_rts_by(qp, how));
}

static void connect_somewhere(uint32_t peer)
{
	pid_t child = has("fork") ? DONE(fork()) : 0;
	int status;

	if (!child)
		connect_to(peer);
	if (!child && has("fork"))
		_exit(0);
	if (child)
		EXPECT(waitpid(child, &status, 0) == child && !status);
}

int main(int argc, char **argv)
{
	n_options = argc;
	options = argv;
	alarm(100);
	create();
	connect_somewhere(wait_at("bound"));
	wait_at("connected");
	if (!has("fork"))
		OK(post_text(qp, memory, "from the client"));
	await_completions(cq, has("fork") ? 1 : 2);
	EXPECT(arrived(memory, "from the server"));
	wait_at("exchanged");
	OK(ibv_destroy_qp(qp));
	OK(ibv_destroy_cq(cq));
	memory_free(memory);
	OK(ibv_dealloc_pd(pd));
	OK(ibv_close_device(context));
	return 0;
}
