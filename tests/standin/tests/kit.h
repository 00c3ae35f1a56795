/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the stand-in share: the device and its objects, made by the real library, the
 * server's view of them, and a hook for each command on its way to the server.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants these first. */
#include <cmocka.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <jansson.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdbool.h>
#include <stdint.h>

/* What most tests need; open_kit makes it, close_kit destroys what is still there. */
struct kit {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq; /* with the channel */
	struct ibv_srq *srq;
};

struct ibv_context *open_device(void);
void open_kit(struct kit *kit);
void close_kit(struct kit *kit);

enum qp_kind { RC, UC, UD, DCI, DCT, QP_KINDS };
/* Queues made from now on lie one after the other in @arena, which must be large enough. */
void place_queues(struct ibv_context *context, void *arena);
/* NULL and errno if it is refused. */
struct ibv_qp *make_qp(const struct kit *kit, enum qp_kind kind);
struct ibv_qp *must_make_qp(const struct kit *kit, enum qp_kind kind);
/* To @to, through all states before it; a QP with a peer is its own peer. 0 or an errno. */
int move_qp(struct ibv_qp *qp, enum qp_kind kind, enum ibv_qp_state to);
/* One step with the attributes that it needs. */
int step_qp(struct ibv_qp *qp, enum qp_kind kind, enum ibv_qp_state to);
/* The same with another mask. */
int step_qp_masked(struct ibv_qp *qp, enum ibv_qp_state to, int mask);
/* The attributes that a step requires; 0: no such step. */
int mask_of(enum qp_kind kind, enum ibv_qp_state to);

/* The server's answer to "ctl ..."; a new reference. Fails the test if there is none. */
json_t *ask(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same; the answer is dropped. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Live objects of a kind, by the names of "ctl objects". */
int64_t count_objects(const char *kind);
/* Waits until there are @n; the server notices closed descriptors a little later. */
void wait_objects(const char *kind, int64_t n);
/* How many firmware commands of a name this process gave; NULL: of all names. */
int64_t count_firmware(const char *name);
/* Sets all counts to 0. */
void reset_counts(void);

/*
 * The hook, if there is one, sees each command and may change it; if it returns an errno, the
 * command fails with that and is not given. @last_error is the server's answer to the last command.
 */
extern int (*command_hook)(int fd, struct ib_uverbs_ioctl_hdr *cmd);
extern int last_error;

struct ib_uverbs_attr *find_attr(struct ib_uverbs_ioctl_hdr *cmd, uint16_t id);

/* Descriptors between processes. */
void send_fds(int sock, const int *fds, unsigned int n);
void receive_fds(int sock, int *fds, unsigned int n);

/* Waits for a child and fails unless it ended with 0. */
void must_succeed(pid_t child);
