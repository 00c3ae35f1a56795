/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A daemon in this process, its clients, and a kernel in memory. /dev/null plays the device node.
 */
#pragma once

#include "fixture.h"

#include "daemon/loop/loop.h"
#include "daemon/server.h"
#include "fake_kernel.h"

#include <jansson.h>

#define BENCH_NODE "/dev/null"

struct daemon_bench {
	struct wv_server *server;
	char dir[32], socket[64], state_dir[64];
	unsigned int fds_before;
	/* Options, from the next start on: */
	bool pairs;
	const char *group; /* NULL: there is no such group */
};

/* To be looked at only while no builder is at work. */
extern struct fake_kernel bench_kernel;

/* For cmocka: makes and ends a daemon; the end checks that no descriptor is left. */
int bench_set_up(void **state);
int bench_tear_down(void **state);

/* Sysfs has the device, whose GIDs are all @gid: both ends of a pair can be on this node. */
void bench_write_gids(const struct daemon_bench *b, const char *gid);

void bench_start(struct daemon_bench *b);
/* The same, where the start may fail: 0, or -errno and there is no daemon. */
int bench_try_start(struct daemon_bench *b);
void bench_stop(struct daemon_bench *b);

/* Runs the daemon until there is nothing to do now; builders may still be at work. */
void bench_run(struct daemon_bench *b);
/* Runs it until all pools are full and no builder is at work. */
void bench_settle(struct daemon_bench *b);
/* Runs it, which fills its pools, until it is as the caller wants it. */
void bench_run_until(struct daemon_bench *b, bool (*is_so)(struct wv_server *s, unsigned int n),
		     unsigned int n);
/* Runs it until the disk is as the catalog is; pools stay as they are. */
void bench_save(struct daemon_bench *b);
/* Runs it until none of its threads has anything to do. */
void bench_rest(struct daemon_bench *b);
/* Lets it fill its pools, as far as it can, and then rest. */
void bench_fill(struct daemon_bench *b);
/* Waits, without running the loop, until the leases that were given up have ended. */
void bench_await_ends(struct daemon_bench *b);

/* From now on the kernel is slow: every command waits in it until it is fast again. */
void bench_slow_kernel(void);
void bench_fast_kernel(void);
/* Runs the daemon, which may fill its pools, until @n commands or more wait in the slow kernel. */
void bench_await_commands(struct daemon_bench *b, unsigned int n);
/* From now on every command fails with the errno value @error; 0: no more. */
void bench_failing_kernel(int error);

/* A connection, and one message over it; @fds are borrowed. */
int bench_connect(struct daemon_bench *b);
void bench_send(int sock, enum wv_msg_type type, void *msg, size_t bytes, const int *fds,
		unsigned int n_fds);

/* What the daemon answers. */
struct bench_answer {
	_Alignas(8) char data[WV_WIRE_MAX];
	ssize_t bytes; /* 0: it closed the connection */
	int fds[WV_WIRE_MAX_FDS];
	unsigned int n_fds;
};

/* Runs the daemon and receives. */
void bench_receive(struct daemon_bench *b, int sock, struct bench_answer *answer);
void bench_close_fds(struct bench_answer *answer);
/* The reason of a WV_MSG_NO_LEASE, 0 for a lease, -1 for the end of the connection. */
int bench_reason(const struct bench_answer *answer);

/* A request like that of a program started with @argv, whose node is @node. */
struct wv_msg_request bench_request(uint64_t argv);
/* Connects and sends that request. The socket; the daemon has not read it yet. */
int bench_send_request(struct daemon_bench *b, uint64_t argv);
/* Connects and asks. The socket; the answer is in @answer. */
int bench_ask(struct daemon_bench *b, uint64_t argv, struct bench_answer *answer);

/* A program's first run: asks, is told to record, sends @fixture. */
void bench_record(struct daemon_bench *b, uint64_t argv, const char *fixture);

/* Asks for a lease, takes it, and gives it back with a report. The reason, as above. */
int bench_run_program(struct daemon_bench *b, uint64_t argv, uint32_t diverged);

/* The document in the answer to a question; it is the caller's. */
json_t *bench_document(struct bench_answer *answer);
/* A recipe of another user, @uid, of which @n leases are wanted. */
struct wv_recipe *bench_recipe_of(struct daemon_bench *b, uid_t uid, uint32_t n);

/* Puts a question as the administrator; the answer is the caller's. */
json_t *bench_question(struct daemon_bench *b, const char *question);

/* The only recipe of this user. */
struct wv_recipe *bench_recipe(struct daemon_bench *b);
