/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offers services, and is connected to services of others, as the lines of standard input say; for
 * each line, prints what came of it, and "@ready".
 */
#include "programs/kit.h"
#include "warmverbs-service.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define LIMIT_S	    100
#define MOST	    1024
#define MOST_WORDS  8
#define TEXT_BYTES  64 /* of messages, and of what is read and written */
#define PATIENCE_MS 20000

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct memory memory; /* clients reach its second half */
static struct wv_offer *offer;
static struct wv_service_connection *all[MOST];
static unsigned int n_all;
static struct ibv_qp_init_attr shape = {.qp_type = IBV_QPT_RC, .cap = {8, 8, 1, 1, 0}};

/* The words of a line: the first is what to do, the second to what. */
struct line {
	char *words[MOST_WORDS];
};

/* The value of the word NAME=VALUE; NULL: there is none. */
static const char *option(const struct line *line, const char *name)
{
	size_t bytes = strlen(name);

	for (unsigned int i = 1; i < MOST_WORDS && line->words[i]; i++)
		if (!strncmp(line->words[i], name, bytes) && line->words[i][bytes] == '=')
			return line->words[i] + bytes + 1;
	return NULL;
}

static unsigned int number(const struct line *line, const char *name)
{
	const char *value = option(line, name);

	return value ? (unsigned int)strtoul(value, NULL, 0) : 0;
}

static struct wv_service_connection *connection(const struct line *line)
{
	unsigned int i = line->words[1] ? (unsigned int)strtoul(line->words[1], NULL, 0) : MOST;

	if (i >= n_all || !all[i])
		give_up(__FILE__, __LINE__, "no connection %u", i);
	return all[i];
}

static void tell(const char *what, int err)
{
	if (err)
		printf("%s: %s\n", what, strerrorname_np(err));
	else
		printf("%s\n", what);
}

static void do_offer(const struct line *line)
{
	const char *text = option(line, "text");
	struct wv_service_attr attr = {
	    .name = line->words[1],
	    .users = option(line, "users"),
	    .pd = pd,
	    .qp = &shape,
	    .access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	    .ready = number(line, "ready"),
	    .mrs = &memory.mr,
	    .n_mrs = 1,
	    .data = text,
	    .data_bytes = text ? strlen(text) : 0,
	};

	tell("offer", wv_service_offer(&attr, sizeof(attr), &offer));
}

static void keep(struct wv_service_connection *connection)
{
	EXPECT(n_all < MOST);
	connection->context = &all[n_all];
	all[n_all++] = connection;
}

/* Events until none comes for as long as is said. */
static void do_next(const struct line *line)
{
	struct pollfd file = {.fd = wv_service_fd(offer), .events = POLLIN};
	struct wv_service_event event;

	DONE(poll(&file, 1, (int)number(line, "ms")));
	while (!wv_service_next(offer, &event)) {
		struct wv_service_connection **place;

		if (event.type == WV_SERVICE_CAME)
			keep(event.connection);
		place = event.connection->context;
		printf("%s %td\n", event.type == WV_SERVICE_CAME ? "came" : "left", place - all);
	}
}

static void do_connect(const struct line *line)
{
	struct wv_connect_attr attr = {
	    .node = option(line, "node"),
	    .user = option(line, "user"),
	    .name = line->words[1],
	    .pd = pd,
	    .qp = &shape,
	    .timeout_ms = number(line, "ms"),
	    .ahead = number(line, "ahead"),
	};
	struct wv_service_connection *made;
	int err = wv_service_connect(&attr, sizeof(attr), &made);

	tell("connect", err);
	if (err)
		return;
	printf("regions %u data %.*s\n", made->n_regions, (int)made->data_bytes,
	       made->data ? (const char *)made->data : "");
	keep(made);
}

/* Posts to a connection, and prints what becomes of it. */
static void work(struct ibv_qp *qp, struct ibv_send_wr wr)
{
	struct ibv_sge sge = {(uintptr_t)memory.bytes, TEXT_BYTES, memory.mr->lkey};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int n = 0;

	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_SIGNALED;
	OK(ibv_post_send(qp, &wr, &bad));
	for (int ms = 0; !n && ms < PATIENCE_MS; ms++) {
		n = DONE(ibv_poll_cq(cq, 1, &wc));
		if (!n)
			usleep(1000);
	}
	printf("completion: %s\n", n ? ibv_wc_status_str(wc.status) : "none");
}

static struct ibv_send_wr one_sided(const struct line *line, enum ibv_wr_opcode opcode)
{
	const struct wv_region *region = connection(line)->regions;

	return (struct ibv_send_wr){
	    .opcode = opcode,
	    .wr.rdma = {.remote_addr = region->addr + MEMORY_HALF, .rkey = region->rkey}};
}

static void do_write(const struct line *line)
{
	struct ibv_send_wr wr = one_sided(line, IBV_WR_RDMA_WRITE);

	strncpy(memory.bytes, option(line, "text"), TEXT_BYTES);
	work(connection(line)->qp, wr);
}

static void do_read(const struct line *line)
{
	struct ibv_send_wr wr = one_sided(line, IBV_WR_RDMA_READ);

	memset(memory.bytes, 0, TEXT_BYTES);
	work(connection(line)->qp, wr);
	printf("read %s\n", memory.bytes);
}

static void do_send(const struct line *line)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	strncpy(memory.bytes, option(line, "text"), TEXT_BYTES);
	work(connection(line)->qp, wr);
}

/* What others have written, or sent. */
static void do_memory(const struct line *line)
{
	(void)line;
	printf("memory %s\n", memory.bytes + MEMORY_HALF);
}

static void do_receive(const struct line *line)
{
	post_receive(connection(line)->qp, memory);
}

static void do_received(const struct line *line)
{
	await_completions(cq, 1);
	do_memory(line);
}

static void do_disconnect(const struct line *line)
{
	struct wv_service_connection *ended = connection(line);
	struct wv_service_connection **place = ended->context;

	wv_service_disconnect(ended);
	*place = NULL;
}

static void do_release(const struct line *line)
{
	(void)line;
	wv_service_release(pd);
}

static void do_withdraw(const struct line *line)
{
	(void)line;
	wv_service_withdraw(offer);
	offer = NULL;
}

/* A child that lives for as long as is said, or until this process ends. */
static void do_fork(const struct line *line)
{
	pid_t child = DONE(fork());

	if (child) {
		printf("# child %d\n", child);
		return;
	}
	if (offer)
		wv_service_withdraw(offer);
	usleep(1000 * number(line, "ms"));
	_exit(0);
}

static const struct {
	const char *name;
	void (*run)(const struct line *line);
} commands[] = {
    {"offer", do_offer},       {"next", do_next},
    {"connect", do_connect},   {"write", do_write},
    {"read", do_read},	       {"send", do_send},
    {"receive", do_receive},   {"memory", do_memory},
    {"received", do_received}, {"disconnect", do_disconnect},
    {"withdraw", do_withdraw}, {"release", do_release},
    {"fork", do_fork},
};

static void run(char *text)
{
	struct line line = {.words = {strtok(text, " \n")}};

	for (unsigned int i = 1; i < MOST_WORDS && line.words[i - 1]; i++)
		line.words[i] = strtok(NULL, " \n");
	for (unsigned int i = 0; line.words[0] && i < COUNT(commands); i++)
		if (!strcmp(commands[i].name, line.words[0]))
			commands[i].run(&line);
}

int main(void)
{
	char text[4096];

	alarm(LIMIT_S);
	signal(SIGCHLD, SIG_IGN);
	pd = MADE(ibv_alloc_pd(open_device()));
	cq = shape.send_cq = shape.recv_cq = MADE(ibv_create_cq(pd->context, 4096, NULL, NULL, 0));
	memory.bytes = MADE(aligned_alloc(4096, MEMORY_BYTES));
	memset(memory.bytes, 0, MEMORY_BYTES);
	memory.mr = MADE(
	    ibv_reg_mr(pd, memory.bytes, MEMORY_BYTES,
		       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
	do {
		puts("@ready");
		fflush(stdout);
	} while (fgets(text, sizeof(text), stdin) && (run(text), 1));
	return 0;
}
