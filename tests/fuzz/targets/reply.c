/* SPDX-License-Identifier: BSD-2-Clause */
/* A message of the daemon to a program: a lease, no lease, or the state of a pool. */
#include "reply.h"

#include "cmdlog/adopt_memory.h"
#include "fuzz.h"
#include "mlx5_program.h"
#include "preload/client/daemon_connection.h"
#include "preload/client/pool_request.h"
#include "preload/core/context.h"
#include "preload/core/process.h"
#include "preload/lease/control_path.h"
#include "preload/lease/device_open.h"
#include "program.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define NODE "/dev/null"

/* The connection on which the answer waits already. */
static int waiting = -1;
static struct wv_cmdlog *programs[N_FIXTURES]; /* one more is on mlx5, and has no record */

/* A daemon that is asked again and again, whatever it answered before. */
enum wv_reason __wrap_wv_client_why_unasked(const char *path);
void __wrap_wv_client_note_silence(void);
int __wrap_wv_client_connect(void);
int __wrap_wv_client_ask(int fd, uint32_t open_number, uint32_t flags);
bool __wrap_wv_provider_list_known(void);
bool __wrap_wv_provider_list_id(const char *path, struct wv_build_id *id);

enum wv_reason __wrap_wv_client_why_unasked(const char *path)
{
	(void)path;
	return WV_REASON_NONE;
}

void __wrap_wv_client_note_silence(void)
{
}

int __wrap_wv_client_connect(void)
{
	return wv_steal_fd(&waiting);
}

int __wrap_wv_client_ask(int fd, uint32_t open_number, uint32_t flags)
{
	(void)fd;
	(void)open_number;
	(void)flags;
	return wv_steal_fd(&waiting);
}

bool __wrap_wv_provider_list_known(void)
{
	return true;
}

bool __wrap_wv_provider_list_id(const char *path, struct wv_build_id *id)
{
	(void)path;
	memset(id, 0, sizeof(*id));
	return true;
}

/* The kernel makes nothing for this program, and has nothing against what else it does. */
static int kernel(const struct ib_uverbs_ioctl_hdr *cmd)
{
	const struct wv_command_row *row;

	if (!cmd->length)
		return EINVAL; /* so says a device's file */
	row = wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd));
	return !row || row->class_ == WV_CREATE || row->class_ == WV_PRIVILEGED ? ENOMEM : 0;
}

/* In place of libc's: the preload is linked into this program. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request != RDMA_VERBS_IOCTL)
		return (int)syscall(SYS_ioctl, fd, request, arg);
	errno = kernel(arg);
	return errno ? -1 : 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	wv_process_adopt();
	for (unsigned int i = 0; i < N_FIXTURES; i++)
		programs[i] = fixture_load(fixture_names[i]);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity, unsigned int seed)
{
	const size_t before = sizeof(struct reply) + sizeof(struct wv_msg_lease);
	struct wv_msg head;

	if (seed % 4 && bytes > before)
		bytes = before + fuzz_mutate_cmdlog(data + before, bytes - before,
						    capacity - before, seed, WV_LEASE);
	else
		bytes = LLVMFuzzerMutate(data, bytes, capacity);
	if (bytes < sizeof(struct reply) + sizeof(head))
		return bytes;
	memcpy(&head, data + sizeof(struct reply), sizeof(head));
	head.magic = WV_WIRE_MAGIC;
	head.version = WV_WIRE_VERSION;
	head.bytes = (uint32_t)(bytes - sizeof(struct reply));
	memcpy(data + sizeof(struct reply), &head, sizeof(head));
	return bytes;
}

static int through_control_path(void *fd, struct ib_uverbs_ioctl_hdr *cmd)
{
	return wv_control_path(wv_context_of(*(int *)fd), *(int *)fd, cmd) ? errno : 0;
}

/* Memory of the lease, or else of this program's own. */
static void *claim_memory(void *lease, size_t bytes)
{
	static _Alignas(4096) uint8_t own[16384];
	void *at = bytes && ((struct wv_lease *)lease)->cmdlog ? wv_lease_claim_memory(lease, bytes)
							       : NULL;

	assert_true(bytes <= sizeof(own));
	return at || !bytes ? at : own;
}

/* Connects the queue pair that is connected already; whatever the kernel says. */
static void connect_qp(struct program *program, const struct wv_context *c, uint8_t how)
{
	struct wv_qp_peer peer = {.qp_num = c->pair.peer.qp_num, .psn = 1, .peer_psn = 2};
	struct ib_uverbs_modify_qp move;
	struct command cmd;

	memcpy(peer.gid, c->pair.peer.gid, sizeof(peer.gid));
	peer.qp_num += !!(how & REPLY_ELSEWHERE);
	for (enum ibv_qp_state to = IBV_QPS_RTR; to <= IBV_QPS_RTS; to++) {
		if (how & REPLY_QUERIES)
			program_query(program, c->pair.qp);
		move = connecting_move(to, c->pair.qp, &peer);
		if (how & REPLY_OTHERWISE)
			move.path_mtu = move.timeout = 5;
		command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, &move, sizeof(move), NULL, 0);
		cmd.hdr.driver_id = c->lease.cmdlog->driver_id;
		program->issue(program->kernel, &cmd.hdr);
	}
}

static void use(int fd, struct wv_context *c, unsigned int number, uint8_t how)
{
	static struct program program;
	struct mlx5_program on_mlx5;

	if (number == N_FIXTURES) {
		mlx5_init(&on_mlx5, through_control_path, &fd);
		on_mlx5.alloc = claim_memory;
		on_mlx5.owner = &c->lease;
		mlx5_run(&on_mlx5);
	} else {
		program_init(&program, through_control_path, &fd, 0x7f0000000000);
		program_run(&program, programs[number]);
		if (c->mode == WV_LEASED && c->pair.id)
			connect_qp(&program, c, how);
	}
}

static void close_as_program(int fd)
{
	wv_context_close(fd);
	assert_int_equal(close(fd), 0);
}

static void open_device(unsigned int program, uint8_t how)
{
	static const struct wv_scope opening = {.opening = true};
	int given[WV_CMDLOG_MAX_FDS];
	unsigned int n_given = 0;
	int fd = wv_device_open(NODE, &opening);
	struct wv_context *c = wv_context_of(fd);
	bool leased = c && c->mode == WV_LEASED; /* the program may give it back */

	assert_true(fd >= 0 && c);
	use(fd, c, program, how);
	for (unsigned int i = 0; leased && i < c->lease.cmdlog->n_fds; i++)
		if (c->lease.given & (1u << i))
			given[n_given++] = c->lease.fds[i];
	close_as_program(fd);
	while (n_given)
		close_as_program(given[--n_given]);
	assert_int_equal(c->files, 0);
}

static void request_pool(void)
{
	struct wv_status status = {0};
	int err = wv_client_request_pool(3);

	wv_client_pool_state(&status);
	if (err)
		assert_true(!status.pool_asked && !status.pool_granted && !status.pool_ready);
	wv_client_end_pool();
}

static void send_reply(int sock, const void *message, size_t bytes, unsigned int n_fds)
{
	wv_auto_fd file = memfd_create("reply", MFD_CLOEXEC);
	int fds[WV_WIRE_MAX_FDS];

	assert_int_equal(ftruncate(file, REPLY_MEMORY), 0);
	for (unsigned int i = 0; i < n_fds; i++)
		fds[i] = file;
	wv_send(sock, message, bytes, NULL, 0, fds, n_fds);
}

static bool is_lease(const void *message, size_t bytes)
{
	return wv_msg_check(message, bytes) == WV_MSG_LEASE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	unsigned int fds = count_fds();
	struct reply reply;
	int pair[2];

	if (bytes < sizeof(reply))
		return 0;
	memcpy(&reply, data, sizeof(reply));
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	send_reply(pair[0], data + sizeof(reply), bytes - sizeof(reply),
		   reply.n_fds % (WV_WIRE_MAX_FDS + 1));
	waiting = pair[1];
	if (reply.to_pool_request % 2) {
		request_pool();
	} else {
		if (!(reply.how & REPLY_ALIVE) ||
		    !is_lease(data + sizeof(reply), bytes - sizeof(reply)))
			shutdown(pair[0], SHUT_WR); /* no wait for what will never come */
		open_device(reply.program % (N_FIXTURES + 1), reply.how);
	}
	wv_close_fd(&waiting);
	close(pair[0]);
	assert_int_equal(count_fds(), fds);
	return 0;
}
