/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ping-pong over dynamically connected transport, like ibv_rc_pingpong: a server, and a client that
 * gets the server's name. Each sends to the other, writes into its memory, reads from it, and
 * checks the data.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT	     1
#define RX_DEPTH     64
#define OWN_KEY	     0x5eedu
#define RTS_TIMEOUT  10 /* 4 ms: no network is in between */
#define RTS_RETRIES  3
#define MIN_RNR	     12 /* 0.64 ms */
#define RNR_FOR_EVER 7

/* The buffer's quarters. */
enum area { AREA_SEND, AREA_RECEIVE, AREA_REMOTE, AREA_READ, N_AREAS };

static struct options {
	const char *device, *server, *tcp_port;
	int gid_index;
	uint32_t size, iters;
	bool events;
	bool wrong_key;
} options = {.tcp_port = "18515", .size = 4096, .iters = 1000};

/* Each side's message to the other about itself, big-endian. */
struct endpoint {
	uint64_t key;
	uint64_t addr;
	uint32_t rkey;
	uint32_t dctn;
	uint8_t gid[16];
} __attribute__((packed));

static struct side {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *dct, *dci;
	struct ibv_qp_ex *sender;
	struct mlx5dv_qp_ex *dc_sender;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	uint8_t *buf;
	struct endpoint peer;
	uint32_t sent, received; /* completions that were not waited for yet */
} side;

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "dc_pingpong: %s: %s\n", what, why);
	exit(1);
}

static void need(bool ok, const char *what)
{
	if (!ok)
		die(what, strerror(errno));
}

/* Verbs return the errno that they failed with. */
static void need_zero(int ret, const char *what)
{
	if (ret)
		die(what, strerror(ret));
}

static uint8_t *area(enum area which)
{
	return side.buf + (size_t)which * options.size;
}

static void fill(enum area which, uint32_t seed)
{
	for (uint32_t i = 0; i < options.size; i++)
		area(which)[i] = seed * 7 + i * 3 + (i >> 8);
}

static void check(enum area which, uint32_t seed, const char *what)
{
	for (uint32_t i = 0; i < options.size; i++)
		if (area(which)[i] != (uint8_t)(seed * 7 + i * 3 + (i >> 8)))
			die(what, "wrong data");
}

static void open_device(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count), **at = list;

	need(list, "ibv_get_device_list");
	while (*at && options.device && strcmp(ibv_get_device_name(*at), options.device))
		at++;
	if (!*at)
		die("device", "none of that name");
	side.context = ibv_open_device(*at);
	need(side.context, "ibv_open_device");
	ibv_free_device_list(list);
}

static void make_shared_objects(void)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = RX_DEPTH, .max_sge = 1}};
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	size_t bytes = (size_t)options.size * N_AREAS;

	side.buf = calloc(1, bytes);
	need(side.buf, "buffer");
	side.pd = ibv_alloc_pd(side.context);
	need(side.pd, "ibv_alloc_pd");
	side.mr = ibv_reg_mr(side.pd, side.buf, bytes, access);
	need(side.mr, "ibv_reg_mr");
	if (options.events) {
		side.channel = ibv_create_comp_channel(side.context);
		need(side.channel, "ibv_create_comp_channel");
	}
	side.cq = ibv_create_cq(side.context, 2 * RX_DEPTH, NULL, side.channel, 0);
	need(side.cq, "ibv_create_cq");
	side.srq = ibv_create_srq(side.pd, &srq);
	need(side.srq, "ibv_create_srq");
}

static void make_dct(void)
{
	struct ibv_qp_init_attr_ex attr = {
	    .qp_type = IBV_QPT_DRIVER,
	    .send_cq = side.cq,
	    .recv_cq = side.cq,
	    .srq = side.srq,
	    .pd = side.pd,
	    .comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct mlx5dv_qp_init_attr dv = {
	    .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
	    .dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = OWN_KEY},
	};

	side.dct = mlx5dv_create_qp(side.context, &attr, &dv);
	need(side.dct, "DCT");
}

static void make_dci(void)
{
	struct ibv_qp_init_attr_ex attr = {
	    .qp_type = IBV_QPT_DRIVER,
	    .send_cq = side.cq,
	    .recv_cq = side.cq,
	    .cap = {.max_send_wr = RX_DEPTH, .max_send_sge = 1},
	    .pd = side.pd,
	    .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	    .send_ops_flags =
		IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ,
	};
	struct mlx5dv_qp_init_attr dv = {
	    .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
	    .dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCI},
	};

	side.dci = mlx5dv_create_qp(side.context, &attr, &dv);
	need(side.dci, "DCI");
	side.sender = ibv_qp_to_qp_ex(side.dci);
	side.dc_sender = mlx5dv_qp_ex_from_ibv_qp_ex(side.sender);
}

static void ready_dct(void)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_INIT,
	    .port_num = PORT,
	    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	    .path_mtu = IBV_MTU_1024,
	    .min_rnr_timer = MIN_RNR,
	    .ah_attr = {.is_global = 1,
			.port_num = PORT,
			.grh = {.sgid_index = options.gid_index, .hop_limit = 1}},
	};

	need_zero(
	    ibv_modify_qp(side.dct, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    "DCT to INIT");
	attr.qp_state = IBV_QPS_RTR;
	need_zero(ibv_modify_qp(side.dct, &attr,
				IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_AV | IBV_QP_MIN_RNR_TIMER),
		  "DCT to RTR");
}

static void ready_dci(void)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_INIT,
	    .port_num = PORT,
	    .path_mtu = IBV_MTU_1024,
	    .timeout = RTS_TIMEOUT,
	    .retry_cnt = RTS_RETRIES,
	    .rnr_retry = RNR_FOR_EVER,
	    .max_rd_atomic = 1,
	};

	need_zero(ibv_modify_qp(side.dci, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT),
		  "DCI to INIT");
	attr.qp_state = IBV_QPS_RTR;
	need_zero(ibv_modify_qp(side.dci, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU), "DCI to RTR");
	attr.qp_state = IBV_QPS_RTS;
	need_zero(ibv_modify_qp(side.dci, &attr,
				IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
		  "DCI to RTS");
}

static void post_receive(void)
{
	struct ibv_sge sge = {(uintptr_t)area(AREA_RECEIVE), options.size, side.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	need_zero(ibv_post_srq_recv(side.srq, &wr, &bad), "ibv_post_srq_recv");
}

/* A stream that listens (@host NULL) or is connected to @host. */
static int stream(const char *host)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
	int fd, one = 1;

	if (getaddrinfo(host ? host : "0.0.0.0", options.tcp_port, &hints, &found))
		die("address", "not found");
	fd = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
	need(fd >= 0, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (host)
		need(!connect(fd, found->ai_addr, found->ai_addrlen), "connect");
	else
		need(!bind(fd, found->ai_addr, found->ai_addrlen) && !listen(fd, 1), "listen");
	freeaddrinfo(found);
	return fd;
}

static int meet(void)
{
	int fd = stream(options.server), client;

	if (options.server)
		return fd;
	client = accept(fd, NULL, NULL);
	need(client >= 0, "accept");
	close(fd);
	return client;
}

static void swap(int fd, const void *mine, void *theirs, size_t bytes)
{
	need(send(fd, mine, bytes, MSG_NOSIGNAL) == (ssize_t)bytes, "send to the other side");
	if (recv(fd, theirs, bytes, MSG_WAITALL) != (ssize_t)bytes)
		die("the other side", "gone");
}

static void exchange(int fd)
{
	struct endpoint mine = {
	    .key = htobe64(OWN_KEY),
	    .addr = htobe64((uintptr_t)area(AREA_REMOTE)),
	    .rkey = htobe32(side.mr->rkey),
	    .dctn = htobe32(side.dct->qp_num),
	};
	struct ibv_ah_attr attr = {
	    .is_global = 1,
	    .port_num = PORT,
	    .grh = {.sgid_index = options.gid_index, .hop_limit = 1},
	};
	union ibv_gid gid;

	need(!ibv_query_gid(side.context, PORT, options.gid_index, &gid), "ibv_query_gid");
	memcpy(mine.gid, gid.raw, sizeof mine.gid);
	swap(fd, &mine, &side.peer, sizeof mine);
	memcpy(attr.grh.dgid.raw, side.peer.gid, sizeof side.peer.gid);
	side.ah = ibv_create_ah(side.pd, &attr);
	need(side.ah, "ibv_create_ah");
}

/* Waits for the other side, before the memory of either is used, and again after it. */
static void barrier(int fd)
{
	char mine = 0, theirs;

	swap(fd, &mine, &theirs, sizeof mine);
}

static void wait_for_event(void)
{
	struct ibv_cq *cq;
	void *context;

	need(!ibv_get_cq_event(side.channel, &cq, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

/* Takes one completion, if there is one. */
static bool take(void)
{
	struct ibv_wc wc;
	int count = ibv_poll_cq(side.cq, 1, &wc);

	need(count >= 0, "ibv_poll_cq");
	if (!count)
		return false;
	if (wc.status != IBV_WC_SUCCESS)
		die("completion", ibv_wc_status_str(wc.status));
	if (wc.opcode == IBV_WC_RECV) {
		if (wc.qp_num != side.dct->qp_num || wc.byte_len != options.size)
			die("receive", "not what was sent");
		side.received++;
	} else {
		side.sent++;
	}
	return true;
}

static void wait_for(uint32_t *count)
{
	while (!*count) {
		if (take() || !options.events)
			continue;
		need_zero(ibv_req_notify_cq(side.cq, 0), "ibv_req_notify_cq");
		if (!take())
			wait_for_event();
	}
	(*count)--;
}

static void begin(void)
{
	ibv_wr_start(side.sender);
	side.sender->wr_id = 0;
	side.sender->wr_flags = IBV_SEND_SIGNALED;
}

static void finish(enum area which)
{
	uint64_t key = be64toh(side.peer.key) + options.wrong_key;

	mlx5dv_wr_set_dc_addr(side.dc_sender, side.ah, be32toh(side.peer.dctn), key);
	ibv_wr_set_sge(side.sender, side.mr->lkey, (uintptr_t)area(which), options.size);
	need_zero(ibv_wr_complete(side.sender), "ibv_wr_complete");
	wait_for(&side.sent);
}

static void send_one(uint32_t seed)
{
	fill(AREA_SEND, seed);
	begin();
	ibv_wr_send(side.sender);
	finish(AREA_SEND);
}

static void receive_one(uint32_t seed)
{
	wait_for(&side.received);
	check(AREA_RECEIVE, seed, "SEND");
	memset(area(AREA_RECEIVE), 0, options.size);
	post_receive();
}

static void ping_pong(void)
{
	for (uint32_t i = 0; i < options.iters; i++) {
		if (options.server)
			send_one(2 * i);
		receive_one(2 * i + !!options.server);
		if (!options.server)
			send_one(2 * i + 1);
	}
}

static void write_and_read(int fd)
{
	bool client = options.server;

	fill(AREA_SEND, 1000 + client);
	begin();
	ibv_wr_rdma_write(side.sender, be32toh(side.peer.rkey), be64toh(side.peer.addr));
	finish(AREA_SEND);
	barrier(fd);
	check(AREA_REMOTE, 1000 + !client, "RDMA WRITE");
	begin();
	ibv_wr_rdma_read(side.sender, be32toh(side.peer.rkey), be64toh(side.peer.addr));
	finish(AREA_READ);
	check(AREA_READ, 1000 + client, "RDMA READ");
	barrier(fd);
}

static void clean_up(void)
{
	need_zero(ibv_destroy_ah(side.ah), "ibv_destroy_ah");
	need_zero(ibv_destroy_qp(side.dci), "destroy DCI");
	need_zero(ibv_destroy_qp(side.dct), "destroy DCT");
	need_zero(ibv_destroy_srq(side.srq), "ibv_destroy_srq");
	need_zero(ibv_destroy_cq(side.cq), "ibv_destroy_cq");
	if (side.channel)
		need_zero(ibv_destroy_comp_channel(side.channel), "ibv_destroy_comp_channel");
	need_zero(ibv_dereg_mr(side.mr), "ibv_dereg_mr");
	need_zero(ibv_dealloc_pd(side.pd), "ibv_dealloc_pd");
	need_zero(ibv_close_device(side.context), "ibv_close_device");
	free(side.buf);
}

static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr, "usage: dc_pingpong [-d DEVICE] [-g GID-INDEX] [-p TCP-PORT] [-s SIZE] "
			"[-n ITERATIONS] [-e] [-k] [SERVER]\n"
			"  -e  sleep on completion events instead of polling\n"
			"  -k  use a wrong access key\n");
	exit(2);
}

static void read_options(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "d:g:p:s:n:ek")) != -1) {
		switch (opt) {
		case 'd':
			options.device = optarg;
			break;
		case 'g':
			options.gid_index = atoi(optarg);
			break;
		case 'p':
			options.tcp_port = optarg;
			break;
		case 's':
			options.size = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			options.iters = strtoul(optarg, NULL, 0);
			break;
		case 'e':
			options.events = true;
			break;
		case 'k':
			options.wrong_key = true;
			break;
		default:
			usage();
		}
	}
	if (argc - optind > 1 || !options.size)
		usage();
	options.server = argv[optind];
}

int main(int argc, char **argv)
{
	int fd;

	read_options(argc, argv);
	open_device();
	make_shared_objects();
	make_dct();
	make_dci();
	ready_dct();
	ready_dci();
	post_receive();
	fd = meet();
	exchange(fd);
	barrier(fd);
	ping_pong();
	write_and_read(fd);
	printf("%u round trips of %u bytes, one RDMA WRITE and one RDMA READ: data correct\n",
	       options.iters, options.size);
	clean_up();
	close(fd);
	return 0;
}
