/* SPDX-License-Identifier: BSD-2-Clause */
#include "kit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int (*command_hook)(int fd, struct ib_uverbs_ioctl_hdr *cmd);
int last_error;

/* libibverbs calls this definition: the program's comes before those of preloaded libraries. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long number, ...)
{
	static int (*next)(int, unsigned long, void *);
	int error = 0, result;
	va_list args;
	void *arg;

	va_start(args, number);
	arg = va_arg(args, void *);
	va_end(args);
	if (!next)
		next = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	if (number == RDMA_VERBS_IOCTL && command_hook)
		error = command_hook(fd, arg);
	if (error) {
		errno = error;
		return -1;
	}
	result = next(fd, number, arg);
	last_error = result ? errno : 0;
	return result;
}

struct ib_uverbs_attr *find_attr(struct ib_uverbs_ioctl_hdr *cmd, uint16_t id)
{
	for (int i = 0; i < cmd->num_attrs; i++) {
		if (cmd->attrs[i].attr_id == id)
			return &cmd->attrs[i];
	}
	return NULL;
}

struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	assert_non_null(list);
	assert_non_null(list[0]);
	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	assert_non_null(context);
	return context;
}

void open_kit(struct kit *kit)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 64, .max_sge = 1}};

	kit->context = open_device();
	kit->pd = ibv_alloc_pd(kit->context);
	assert_non_null(kit->pd);
	kit->channel = ibv_create_comp_channel(kit->context);
	assert_non_null(kit->channel);
	kit->cq = ibv_create_cq(kit->context, 100, NULL, kit->channel, 0);
	assert_non_null(kit->cq);
	kit->srq = ibv_create_srq(kit->pd, &srq);
	assert_non_null(kit->srq);
}

void close_kit(struct kit *kit)
{
	if (kit->srq)
		assert_int_equal(ibv_destroy_srq(kit->srq), 0);
	if (kit->cq)
		assert_int_equal(ibv_destroy_cq(kit->cq), 0);
	if (kit->channel)
		assert_int_equal(ibv_destroy_comp_channel(kit->channel), 0);
	if (kit->pd)
		assert_int_equal(ibv_dealloc_pd(kit->pd), 0);
	assert_int_equal(ibv_close_device(kit->context), 0);
}

static struct ibv_qp *make_plain(const struct kit *kit, enum qp_kind kind)
{
	static const enum ibv_qp_type types[] = {
	    [RC] = IBV_QPT_RC, [UC] = IBV_QPT_UC, [UD] = IBV_QPT_UD};
	struct ibv_qp_init_attr init = {
	    .send_cq = kit->cq,
	    .recv_cq = kit->cq,
	    .cap = {.max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 1, .max_recv_sge = 1},
	    .qp_type = types[kind]};

	return ibv_create_qp(kit->pd, &init);
}

static struct ibv_qp *make_dc(const struct kit *kit, enum qp_kind kind)
{
	struct ibv_qp_init_attr_ex init = {.send_cq = kit->cq,
					   .recv_cq = kit->cq,
					   .srq = kit->srq,
					   .qp_type = IBV_QPT_DRIVER,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = kit->pd};
	struct mlx5dv_qp_init_attr dc = {.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC};

	if (kind == DCT) {
		dc.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCT;
		dc.dc_init_attr.dct_access_key = 73;
	} else {
		dc.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI;
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE;
		init.cap = (struct ibv_qp_cap){.max_send_wr = 32, .max_send_sge = 1};
	}
	return mlx5dv_create_qp(kit->context, &init, &dc);
}

static char *next_queue;

static void *allocate(size_t size, void *unused)
{
	char *at = next_queue;

	(void)unused;
	next_queue += (size + 4095) & ~4095ul;
	return size ? at : NULL;
}

static void release(void *at, void *unused)
{
	(void)at;
	(void)unused;
}

void place_queues(struct ibv_context *context, void *arena)
{
	struct mlx5dv_ctx_allocators hooks = {.alloc = allocate, .free = release};

	next_queue = arena;
	assert_int_equal(mlx5dv_set_context_attr(context, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &hooks),
			 0);
}

struct ibv_qp *make_qp(const struct kit *kit, enum qp_kind kind)
{
	return kind == DCI || kind == DCT ? make_dc(kit, kind) : make_plain(kit, kind);
}

struct ibv_qp *must_make_qp(const struct kit *kit, enum qp_kind kind)
{
	struct ibv_qp *qp = make_qp(kit, kind);

	assert_non_null(qp);
	return qp;
}

#define TIMERS                                                                                     \
	(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |                    \
	 IBV_QP_MAX_QP_RD_ATOMIC)

int mask_of(enum qp_kind kind, enum ibv_qp_state to)
{
	static const int masks[QP_KINDS][IBV_QPS_RTS + 1] = {
	    [RC] = {[IBV_QPS_INIT] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		    [IBV_QPS_RTR] = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		    [IBV_QPS_RTS] = TIMERS},
	    [UC] = {[IBV_QPS_INIT] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		    [IBV_QPS_RTR] = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
		    [IBV_QPS_RTS] = IBV_QP_SQ_PSN},
	    [UD] = {[IBV_QPS_INIT] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
		    [IBV_QPS_RTR] = IBV_QP_STATE,
		    [IBV_QPS_RTS] = IBV_QP_SQ_PSN},
	    [DCI] = {[IBV_QPS_INIT] = IBV_QP_PKEY_INDEX | IBV_QP_PORT,
		     [IBV_QPS_RTR] = IBV_QP_PATH_MTU,
		     [IBV_QPS_RTS] = TIMERS},
	    [DCT] = {[IBV_QPS_INIT] = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		     [IBV_QPS_RTR] = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER},
	};

	return to <= IBV_QPS_RTS ? masks[kind][to] : 0;
}

int step_qp_masked(struct ibv_qp *qp, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr attr = {.qp_state = to,
				   .port_num = 1,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = qp->qp_num,
				   .min_rnr_timer = 12,
				   .timeout = 14,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .max_rd_atomic = 1,
				   .max_dest_rd_atomic = 1,
				   .qkey = 0x1234,
				   .ah_attr = {.is_global = 1, .port_num = 1}};

	attr.ah_attr.grh.sgid_index = 1;
	attr.ah_attr.grh.hop_limit = 1;
	assert_int_equal(ibv_query_gid(qp->context, 1, 1, &attr.ah_attr.grh.dgid), 0);
	return ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE);
}

int step_qp(struct ibv_qp *qp, enum qp_kind kind, enum ibv_qp_state to)
{
	return step_qp_masked(qp, to, mask_of(kind, to));
}

int move_qp(struct ibv_qp *qp, enum qp_kind kind, enum ibv_qp_state to)
{
	int error = 0;

	for (enum ibv_qp_state state = IBV_QPS_INIT; !error && state <= to; state++)
		error = step_qp(qp, kind, state);
	return error;
}

static json_t *ask_words(char *line)
{
	char *words[16] = {getenv("STANDIN_HCA"), "ctl", strtok(line, " ")};
	json_t *answer;
	int out[2];
	pid_t child;
	FILE *file;

	for (int i = 2; i < 14 && words[i]; i++)
		words[i + 1] = strtok(NULL, " ");
	assert_non_null(words[0]);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		/* The server is not to get this program's preloaded libraries. */
		unsetenv("LD_PRELOAD");
		dup2(out[1], STDOUT_FILENO);
		execv(words[0], words);
		_exit(127);
	}
	close(out[1]);
	file = fdopen(out[0], "r");
	answer = json_loadf(file, 0, NULL);
	fclose(file);
	must_succeed(child);
	assert_non_null(answer);
	return answer;
}

json_t *ask(const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	return ask_words(line);
}

void tell(const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	json_decref(ask_words(line));
}

int64_t count_objects(const char *kind)
{
	json_t *answer = ask("objects"), *count = json_object_get(answer, kind);
	int64_t n;

	assert_non_null(count);
	n = json_integer_value(count);
	json_decref(answer);
	return n;
}

void wait_objects(const char *kind, int64_t n)
{
	/* Runs into the test's time limit if there are never @n. */
	while (count_objects(kind) != n)
		usleep(1000);
}

int64_t count_firmware(const char *name)
{
	json_t *answer = ask("counts"), *counts, *count;
	const char *key;
	int64_t n = 0;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	counts = json_object_get(json_object_get(answer, pid), "firmware");
	json_object_foreach(counts, key, count)
	{
		if (!name || !strcmp(key, name))
			n += json_integer_value(count);
	}
	json_decref(answer);
	return n;
}

void reset_counts(void)
{
	tell("counts --reset");
}

void send_fds(int sock, const int *fds, unsigned int n)
{
	char control[CMSG_SPACE(8 * sizeof(int))] __attribute__((aligned(8))) = {0}, byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(cmsg), fds, n * sizeof(int));
	assert_int_equal(sendmsg(sock, &message, 0), 1);
}

void receive_fds(int sock, int *fds, unsigned int n)
{
	char control[CMSG_SPACE(8 * sizeof(int))] __attribute__((aligned(8))), byte;
	struct iovec iov = {&byte, 1};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};

	assert_int_equal(recvmsg(sock, &message, MSG_CMSG_CLOEXEC), 1);
	assert_non_null(CMSG_FIRSTHDR(&message));
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), n * sizeof(int));
}

void must_succeed(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}
