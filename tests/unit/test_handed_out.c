/* SPDX-License-Identifier: BSD-2-Clause */
/* Leases that programs have are charged until the programs end, which are other processes here. */
#include "fixture.h"

#include "base/base.h"
#include "cmdlog/arena.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/handed_out.h"
#include "daemon/pool/memory_file.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

static const struct wv_cost cost = {.fds = 2, .bytes = 30};

struct bench {
	struct wv_handed_out out;
	struct wv_tenants tenants;
	struct wv_tenant *alice, *bob, *carol;
	unsigned int fds_before;
};

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->fds_before = count_fds();
	b->alice = wv_tenant_get(&b->tenants, 1, 0);
	b->bob = wv_tenant_get(&b->tenants, 2, 0);
	b->carol = wv_tenant_get(&b->tenants, 3, 0);
	b->out.lender.max_bytes = 1000;
	b->out.lender.max_fds = 100;
	assert_true(sd_event_new(&b->out.lender.event) >= 0);
	assert_int_equal(wv_workers_start(&b->out.lender.workers, b->out.lender.event), 0);
	assert_int_equal(wv_lender_start(&b->out.lender), 0);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	wv_handed_out_finish(&b->out);
	wv_lender_stop(&b->out.lender);
	wv_workers_stop(b->out.lender.workers);
	assert_int_equal(b->out.lender.use.bytes, 0);
	assert_int_equal(b->out.lender.n_fds, 0);
	assert_int_equal(b->alice->out.leases, 0);
	assert_int_equal(b->alice->n_refs, 1);
	sd_event_unref(b->out.lender.event);
	wv_tenants_finish(&b->tenants);
	assert_int_equal(count_fds(), b->fds_before);
	free(b);
	return 0;
}

/* A program: a process that is connected to @peer. */
struct program {
	pid_t pid;
	int peer;
};

static struct program start(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	socklen_t bytes = sizeof(at.sun_family);
	wv_auto_fd listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct program p;

	/* A name that the kernel chooses (unix(7)). */
	assert_int_equal(bind(listener, (struct sockaddr *)&at, bytes), 0);
	assert_int_equal(listen(listener, 1), 0);
	bytes = sizeof(at);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &bytes), 0);
	p.pid = fork();
	if (!p.pid) {
		int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		if (connect(sock, (struct sockaddr *)&at, bytes))
			_exit(1);
		for (;;)
			pause();
	}
	p.peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(p.peer >= 0);
	return p;
}

static void kill_program(struct program *p)
{
	kill(p->pid, SIGKILL);
	assert_int_equal(waitpid(p->pid, NULL, 0), p->pid);
}

static void end(struct program *p)
{
	close(p->peer);
	kill_program(p);
}

static int charge(struct bench *b, struct wv_tenant *tenant, const struct program *p)
{
	struct wv_charge c;
	int err = wv_handed_out_charge(&b->out, tenant, p->peer, &cost, -1, &c);

	if (!err)
		assert_null(wv_holder_of_connection(c.holder));
	return err;
}

static void run(struct bench *b)
{
	while (sd_event_run(b->out.lender.event, 0) > 0)
		;
}

static void test_charged_until_the_process_ends(void **state)
{
	struct bench *b = *state;
	struct program p = start();

	assert_int_equal(charge(b, b->alice, &p), 0);
	close(p.peer); /* the report was sent */
	run(b);
	assert_int_equal(b->alice->out.bytes, cost.bytes);
	assert_int_equal(b->out.lender.use.leases, 1);
	kill_program(&p);
	run(b);
	assert_int_equal(b->alice->out.bytes, 0);
	assert_int_equal(b->out.lender.use.leases, 0);
	assert_int_equal(b->out.lender.n_fds, 0);
}

static void test_leases_of_a_process_share_a_descriptor(void **state)
{
	struct bench *b = *state;
	struct program p = start();
	unsigned int before = count_fds();

	for (int i = 0; i < 5; i++)
		assert_int_equal(charge(b, b->alice, &p), 0);
	run(b); /* the event loop's own descriptors are there by now */
	assert_int_equal(b->out.lender.n_fds, 1);
	assert_int_equal(b->alice->out.bytes, 5 * cost.bytes);
	assert_int_equal(count_fds(), before + 1);
	end(&p);
	run(b);
	assert_int_equal(count_fds(), before - 1);
}

static void test_a_process_that_has_ended(void **state)
{
	struct bench *b = *state;
	struct program p = start();

	kill_program(&p);
	assert_int_equal(charge(b, b->alice, &p), -ESRCH);
	close(p.peer);
	p = start();
	kill(p.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)p.pid, NULL, WEXITED | WNOWAIT), 0);
	assert_int_equal(charge(b, b->alice, &p), -ESRCH); /* though it has a number yet */
	end(&p);
	assert_int_equal(b->out.lender.use.leases, 0);
}

static void test_a_process_that_ended_unnoticed(void **state)
{
	struct bench *b = *state;
	struct program p = start();

	assert_int_equal(charge(b, b->alice, &p), 0);
	kill_program(&p);
	assert_int_equal(charge(b, b->alice, &p), -ESRCH);
	assert_int_equal(b->out.lender.use.leases, 0);
	close(p.peer);
}

static void test_half_of_what_others_leave(void **state)
{
	struct bench *b = *state;
	struct program p = start();

	b->out.lender.max_bytes = 100;
	assert_int_equal(charge(b, b->alice, &p), 0);
	assert_int_equal(charge(b, b->alice, &p), -EDQUOT); /* 60 of 100 */
	assert_int_equal(charge(b, b->bob, &p), 0);	    /* 30 of the 70 that are left */
	assert_int_equal(charge(b, b->bob, &p), -EDQUOT);
	assert_int_equal(charge(b, b->carol, &p), -EDQUOT); /* 30 of 40 */
	assert_int_equal(b->out.lender.use.bytes, 60);
	end(&p);
	run(b);
	p = start();
	assert_int_equal(charge(b, b->carol, &p), 0);
	end(&p);
}

/* The memory of a lease. */

#define LONG_US	     200000 /* in which the kernel is asked at least once */
#define MEMORY_BYTES 65536

static int make_memory(void)
{
	struct wv_arena arena;
	int created, fd;

	assert_int_equal(wv_arena_make(&arena, MEMORY_BYTES), 0);
	memset(arena.base, 1, MEMORY_BYTES);
	created = wv_arena_finish(&arena);
	fd = wv_memory_open(created);
	assert_true(fd >= 0);
	close(created);
	return fd;
}

static void run_for(struct bench *b, int64_t us)
{
	int64_t until = wv_steady_clock() + us;

	while (wv_steady_clock() < until)
		sd_event_run(b->out.lender.event, 1000);
}

/* A lease with @memory was handed to a process that has ended since. */
static void lend(struct bench *b, int memory)
{
	struct program p = start();
	struct wv_charge c;

	assert_int_equal(wv_handed_out_charge(&b->out, b->alice, p.peer, &cost, memory, &c), 0);
	end(&p);
	run_for(b, LONG_US);
}

static void expect_charged(struct bench *b)
{
	run_for(b, LONG_US);
	assert_int_equal(b->alice->out.bytes, cost.bytes);
	assert_int_equal(b->out.lender.use.leases, 1);
}

static void expect_free(struct bench *b)
{
	while (b->alice->out.bytes)
		sd_event_run(b->out.lender.event, 1000);
	assert_int_equal(b->out.lender.use.leases, 0);
	assert_int_equal(b->out.lender.n_fds, 0);
}

static uint8_t *map(int fd, int prot, int flags)
{
	uint8_t *memory = mmap(NULL, MEMORY_BYTES, prot, flags, fd, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

static void test_charged_until_the_memory_is_closed(void **state)
{
	struct bench *b = *state;
	int memory = make_memory();

	lend(b, memory);
	expect_charged(b);
	close(memory);
	expect_free(b);
}

static void charged_while_mapped(struct bench *b, int access, int kind)
{
	int memory = make_memory();
	uint8_t *mapped = map(memory, access, kind);

	lend(b, memory);
	close(memory);
	expect_charged(b);
	munmap(mapped, MEMORY_BYTES);
	expect_free(b);
}

static void test_charged_until_the_memory_is_unmapped(void **state)
{
	charged_while_mapped(*state, PROT_READ | PROT_WRITE, MAP_SHARED);
}

static void test_charged_while_it_is_only_read(void **state)
{
	charged_while_mapped(*state, PROT_READ, MAP_PRIVATE);
}

/* As a ufile keeps those of its queues. */
static void test_charged_while_a_pipe_has_its_pages(void **state)
{
	struct bench *b = *state;
	int memory = make_memory(), ends[2];
	uint8_t *mapped = map(memory, PROT_READ | PROT_WRITE, MAP_SHARED);
	struct iovec pages = {.iov_base = mapped, .iov_len = MEMORY_BYTES};

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(vmsplice(ends[1], &pages, 1, SPLICE_F_NONBLOCK) > 0);
	munmap(mapped, MEMORY_BYTES);
	lend(b, memory);
	close(memory);
	expect_charged(b);
	close(ends[0]);
	close(ends[1]);
	expect_free(b);
}

static void send_fd(int to, int fd)
{
	char byte = 0;
	struct iovec text = {.iov_base = &byte, .iov_len = 1};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS,
			      .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct msghdr message = {.msg_iov = &text,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	assert_int_equal(sendmsg(to, &message, 0), 1);
}

static void test_charged_while_it_is_on_its_way(void **state)
{
	struct bench *b = *state;
	int memory = make_memory(), ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	send_fd(ends[0], memory);
	lend(b, memory);
	close(memory);
	expect_charged(b);
	close(ends[0]);
	close(ends[1]);
	expect_free(b);
}

/* Then nothing tells who reads it. */
static void test_charged_for_ever_if_somebody_seals_it(void **state)
{
	struct bench *b = *state;
	int memory = make_memory();

	assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE), 0);
	lend(b, memory);
	close(memory);
	expect_charged(b);
}

/* By itself it keeps the file, but no pages; and nobody makes it larger. */
static void test_a_path_keeps_no_pages(void **state)
{
	struct bench *b = *state;
	int memory = make_memory(), path, again;
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", memory);
	path = open(name, O_PATH | O_CLOEXEC);
	lend(b, memory);
	close(memory);
	expect_free(b);
	again = wv_memory_open(path);
	assert_true(again >= 0);
	assert_int_equal(fstat(again, &st), 0);
	assert_int_equal(st.st_blocks, 0);
	assert_int_equal(ftruncate(again, MEMORY_BYTES), -1);
	close(again);
	close(path);
}

static void test_memory_takes_a_descriptor(void **state)
{
	struct bench *b = *state;
	struct program p = start();
	int memory = make_memory();
	struct wv_charge c;

	b->out.lender.max_fds = 4; /* a tenant has half */
	assert_int_equal(wv_handed_out_charge(&b->out, b->alice, p.peer, &cost, memory, &c), 0);
	assert_int_equal(b->out.lender.n_fds, 2);
	assert_int_equal(wv_handed_out_charge(&b->out, b->alice, p.peer, &cost, memory, &c),
			 -EDQUOT);
	assert_int_equal(b->out.lender.use.leases, 1);
	end(&p);
	close(memory);
	run_for(b, LONG_US);
	expect_free(b);
}

static void test_what_does_not_fit_at_all(void **state)
{
	struct bench *b = *state;
	const struct wv_cost huge = {.bytes = UINT64_MAX};
	struct program p = start();
	struct wv_charge c;

	assert_int_equal(wv_handed_out_charge(&b->out, b->alice, p.peer, &huge, -1, &c), -EDQUOT);
	end(&p);
}

static void test_processes_are_limited(void **state)
{
	struct bench *b = *state;
	struct program first = start(), second = start();

	b->out.lender.max_fds = 2;
	assert_int_equal(charge(b, b->alice, &first), 0);
	assert_int_equal(charge(b, b->alice, &second), -EDQUOT);
	assert_int_equal(charge(b, b->alice, &first), 0);
	end(&first);
	run(b);
	assert_int_equal(charge(b, b->alice, &second), 0);
	end(&second);
}

static void test_what_was_not_handed_out(void **state)
{
	struct bench *b = *state;
	struct program p = start();
	struct wv_charge c[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(wv_handed_out_charge(&b->out, b->alice, p.peer, &cost, -1, &c[i]),
				 0);
	wv_handed_out_refund(&c[0]);
	assert_int_equal(b->out.lender.use.leases, 1);
	wv_handed_out_refund(&c[1]);
	assert_int_equal(b->out.lender.n_fds, 0);
	end(&p);
}

/* In a PID namespace that the peer is not in. */
static int charge_a_stranger(struct bench *b, int peer)
{
	int memory = make_memory();
	struct wv_charge c;

	/* Neither threads nor an event loop survive a fork. */
	if (sd_event_new(&b->out.lender.event) < 0 ||
	    wv_workers_start(&b->out.lender.workers, b->out.lender.event) ||
	    wv_lender_start(&b->out.lender) ||
	    wv_handed_out_charge(&b->out, b->alice, peer, &cost, memory, &c))
		return 1;
	if (!wv_holder_of_connection(c.holder) || b->alice->out.bytes != cost.bytes)
		return 2;
	wv_handed_out_disconnect(c.holder);
	run_for(b, LONG_US);
	if (b->alice->out.bytes != cost.bytes)
		return 3; /* though the program has the memory yet */
	close(memory);
	while (b->alice->out.bytes)
		sd_event_run(b->out.lender.event, 1000);
	return 0;
}

static int in_namespace(struct bench *b, int peer)
{
	int status = 0;
	pid_t child;

	if (unshare(CLONE_NEWPID))
		return 77;
	child = fork();
	if (!child)
		_exit(charge_a_stranger(b, peer));
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void test_a_process_that_is_not_visible(void **state)
{
	struct bench *b = *state;
	int ends[2], status = 0;
	pid_t child;

#if defined(__SANITIZE_THREAD__)
	print_message("TSan ends a child that starts threads\n");
	skip();
#endif
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	child = fork();
	if (!child)
		_exit(in_namespace(b, ends[0]));
	assert_int_equal(waitpid(child, &status, 0), child);
	close(ends[0]);
	close(ends[1]);
	if (WEXITSTATUS(status) == 77) {
		print_message("a PID namespace cannot be made: needs CAP_SYS_ADMIN\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_charged_until_the_process_ends),
	    TEST(test_leases_of_a_process_share_a_descriptor),
	    TEST(test_a_process_that_has_ended),
	    TEST(test_a_process_that_ended_unnoticed),
	    TEST(test_half_of_what_others_leave),
	    TEST(test_charged_until_the_memory_is_closed),
	    TEST(test_charged_until_the_memory_is_unmapped),
	    TEST(test_charged_while_it_is_only_read),
	    TEST(test_charged_while_a_pipe_has_its_pages),
	    TEST(test_charged_while_it_is_on_its_way),
	    TEST(test_charged_for_ever_if_somebody_seals_it),
	    TEST(test_a_path_keeps_no_pages),
	    TEST(test_memory_takes_a_descriptor),
	    TEST(test_what_does_not_fit_at_all),
	    TEST(test_processes_are_limited),
	    TEST(test_what_was_not_handed_out),
	    TEST(test_a_process_that_is_not_visible),
	};

	return cmocka_run_group_tests_name("handed_out", tests, NULL, NULL);
}
