/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose arguments are words. It does them in their order; each is a verb or two and
 * prints one line with its result, so that a run with a lease can be compared with a plain one.
 * Lines that begin with '#' hold what differs between any two runs.
 */
#pragma once

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define LIMIT_S 100 /* a completion that never comes ends the program, not the machine */
#define PORT	1
#define MAX_QPS 128
#define MAX_CQS 32

enum qp_kind { RC, UC, UD, DCI, DCT, RAW, QP_KINDS };
extern const char *const qp_kind_names[QP_KINDS];

struct cq {
	struct ibv_cq *cq;
	struct ibv_cq_ex *ex; /* NULL: made by ibv_create_cq() */
	struct ibv_comp_channel *channel;
};

struct qp {
	struct ibv_qp *qp;
	enum qp_kind kind;
	bool ex; /* posted to by ibv_wr_*() */
	struct cq *cq;
};

/* What the words work on: what was made last, and all queue pairs and completion queues. */
struct program {
	struct ibv_device **list; /* NULL: not asked for, or freed again */
	int n_list;
	struct ibv_context *context;
	struct ibv_pd *pd, *parent;
	struct ibv_comp_channel *channel;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct cq cqs[MAX_CQS];
	struct qp qps[MAX_QPS];
	unsigned int n_cqs, n_qps;
};

/* A word's options: "word:text,name=number,...". */
struct options {
	const char *text;
};

/* The number of an option, or @otherwise. */
long option(struct options o, const char *name, long otherwise);
/* Whether there is an option of that name, with or without a number. */
bool has(struct options o, const char *name);

/* What a word does; 0 or an errno. */
typedef int (*word_fn)(struct program *p, struct options o);

int do_list(struct program *p, struct options o);
int do_open(struct program *p, struct options o);
int do_close(struct program *p, struct options o);
int do_pd(struct program *p, struct options o);
int do_channel(struct program *p, struct options o);
int do_cq(struct program *p, struct options o);
int do_srq(struct program *p, struct options o);
int do_qp(struct program *p, struct options o);
int do_mr(struct program *p, struct options o);
int do_destroy(struct program *p, struct options o);
int do_resize(struct program *p, struct options o);

int do_move(struct program *p, struct options o);
int do_query(struct program *p, struct options o);

int do_traffic(struct program *p, struct options o);

int do_receives(struct program *p, struct options o);
int do_push(struct program *p, struct options o);
int do_pull(struct program *p, struct options o);
int do_listen(struct program *p, struct options o);

int do_async(struct program *p, struct options o);
int do_attributes(struct program *p, struct options o);
int do_allocators(struct program *p, struct options o);
int do_parent(struct program *p, struct options o);
int do_devx(struct program *p, struct options o);
int do_cpuinfo(struct program *p, struct options o);
int do_flow(struct program *p, struct options o);
int do_look(struct program *p, struct options o);
int do_compare(struct program *p, struct options o);
int do_fork(struct program *p, struct options o);

int do_buffer(struct program *p, struct options o);
int do_send(struct program *p, struct options o);
int do_receive(struct program *p, struct options o);
int do_see(struct program *p, struct options o);

int do_address(struct program *p, struct options o);
int do_meet(struct program *p, struct options o);
int do_post(struct program *p, struct options o);
int do_await(struct program *p, struct options o);
int do_arrived(struct program *p, struct options o);

int do_fork_init(struct program *p, struct options o);

int do_keeper(struct program *p, struct options o);
int do_turn(struct program *p, struct options o);
/* Whether this process does the words, not its child or parent. */
bool is_my_turn(void);

int do_longer(struct program *p, struct options o);

int do_silent(struct program *p, struct options o);
int do_spoken(struct program *p, struct options o);
int do_closefrom(struct program *p, struct options o);
int do_daemon(struct program *p, struct options o);
int do_exec(struct program *p, struct options o);
int do_crash(struct program *p, struct options o);

int do_vfork(struct program *p, struct options o);
int do_spawn(struct program *p, struct options o);
int do_clearenv(struct program *p, struct options o);
int do_title(struct program *p, struct options o);
int do_timer(struct program *p, struct options o);
int do_chroot(struct program *p, struct options o);
int do_setuid(struct program *p, struct options o);
int do_seccomp(struct program *p, struct options o);
int do_seal(struct program *p, struct options o);
int do_capset(struct program *p, struct options o);
int do_unshare(struct program *p, struct options o);

int do_idle_thread(struct program *p, struct options o);
int do_leave(struct program *p, struct options o);
int do_doze(struct program *p, struct options o);

int do_descriptors(struct program *p, struct options o);
int do_limit(struct program *p, struct options o);
int do_stdout(struct program *p, struct options o);
int do_raw_close(struct program *p, struct options o);
int do_pairs(struct program *p, struct options o);

/* Does the words in their order; returns how many failed. */
unsigned int run_words(struct program *p, char *const *list, int n);

/* The queue pair that "qp=N" says, or the last. */
struct qp *chosen_qp(struct program *p, struct options o);

/* The peer in another program; all zero before "meet". */
struct peer {
	union ibv_gid gid;
	uint32_t qpn, psn, rkey;
	uint64_t memory;
};
const struct peer *met(void);

/* Adds to a word's line. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
