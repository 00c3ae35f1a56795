/* SPDX-License-Identifier: BSD-2-Clause */
/* Leases that programs have are charged until the programs end, which are other processes here. */
#include "fixture.h"

#include "daemon/pool/handed_out.h"

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
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
	b->out.max_bytes = 1000;
	b->out.max_processes = 100;
	assert_true(sd_event_new(&b->out.event) >= 0);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	wv_handed_out_finish(&b->out);
	assert_int_equal(b->out.use.bytes, 0);
	assert_int_equal(b->alice->out.leases, 0);
	assert_int_equal(b->alice->n_refs, 1);
	sd_event_unref(b->out.event);
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
	struct wv_holder *holder;
	int err = wv_handed_out_charge(&b->out, tenant, p->peer, &cost, &holder);

	if (!err)
		assert_null(wv_holder_of_connection(holder));
	return err;
}

static void run(struct bench *b)
{
	while (sd_event_run(b->out.event, 0) > 0)
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
	assert_int_equal(b->out.use.leases, 1);
	kill_program(&p);
	run(b);
	assert_int_equal(b->alice->out.bytes, 0);
	assert_int_equal(b->out.use.leases, 0);
	assert_int_equal(b->out.n_processes, 0);
}

static void test_leases_of_a_process_share_a_descriptor(void **state)
{
	struct bench *b = *state;
	struct program p = start();
	unsigned int before = count_fds();

	for (int i = 0; i < 5; i++)
		assert_int_equal(charge(b, b->alice, &p), 0);
	run(b); /* the event loop's own descriptors are there by now */
	assert_int_equal(b->out.n_processes, 1);
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
	assert_int_equal(b->out.use.leases, 0);
}

static void test_a_process_that_ended_unnoticed(void **state)
{
	struct bench *b = *state;
	struct program p = start();

	assert_int_equal(charge(b, b->alice, &p), 0);
	kill_program(&p);
	assert_int_equal(charge(b, b->alice, &p), -ESRCH);
	assert_int_equal(b->out.use.leases, 0);
	close(p.peer);
}

static void test_half_of_what_others_leave(void **state)
{
	struct bench *b = *state;
	struct program p = start();

	b->out.max_bytes = 100;
	assert_int_equal(charge(b, b->alice, &p), 0);
	assert_int_equal(charge(b, b->alice, &p), -EDQUOT); /* 60 of 100 */
	assert_int_equal(charge(b, b->bob, &p), 0);	    /* 30 of the 70 that are left */
	assert_int_equal(charge(b, b->bob, &p), -EDQUOT);
	assert_int_equal(charge(b, b->carol, &p), -EDQUOT); /* 30 of 40 */
	assert_int_equal(b->out.use.bytes, 60);
	end(&p);
	run(b);
	p = start();
	assert_int_equal(charge(b, b->carol, &p), 0);
	end(&p);
}

static void test_what_does_not_fit_at_all(void **state)
{
	struct bench *b = *state;
	const struct wv_cost huge = {.bytes = UINT64_MAX};
	struct program p = start();
	struct wv_holder *holder;

	assert_int_equal(wv_handed_out_charge(&b->out, b->alice, p.peer, &huge, &holder), -EDQUOT);
	end(&p);
}

static void test_processes_are_limited(void **state)
{
	struct bench *b = *state;
	struct program first = start(), second = start();

	b->out.max_processes = 2;
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
	struct wv_holder *holder;

	assert_int_equal(wv_handed_out_charge(&b->out, b->alice, p.peer, &cost, &holder), 0);
	assert_int_equal(charge(b, b->alice, &p), 0);
	wv_handed_out_refund(holder, &cost);
	assert_int_equal(b->out.use.leases, 1);
	wv_handed_out_refund(holder, &cost);
	assert_int_equal(b->out.n_processes, 0);
	end(&p);
}

/* In a PID namespace that the peer is not in. */
static int charge_a_stranger(struct bench *b, int peer)
{
	struct wv_holder *holder;

	if (wv_handed_out_charge(&b->out, b->alice, peer, &cost, &holder))
		return 1;
	if (!wv_holder_of_connection(holder) || b->alice->out.bytes != cost.bytes)
		return 2;
	wv_handed_out_disconnect(holder);
	return b->alice->out.bytes ? 3 : 0;
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
	    TEST(test_what_does_not_fit_at_all),
	    TEST(test_processes_are_limited),
	    TEST(test_what_was_not_handed_out),
	    TEST(test_a_process_that_is_not_visible),
	};

	return cmocka_run_group_tests_name("handed_out", tests, NULL, NULL);
}
