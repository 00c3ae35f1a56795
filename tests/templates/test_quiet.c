/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process must not have if it is to be a template. Each case is a child that has one. */
#include "fixture.h"

#include "base/base.h"
#include "template/quiet.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN 7

static void *wait_for_ever(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static bool nothing(void)
{
	return true;
}

static bool thread(void)
{
	pthread_t thread;

	return !pthread_create(&thread, NULL, wait_for_ever, NULL);
}

static bool child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid > 0;
}

static bool interval(void)
{
	const struct itimerval in_an_hour = {.it_value.tv_sec = 3600};

	return !setitimer(ITIMER_REAL, &in_an_hour, NULL);
}

static bool posix_timer(void)
{
	timer_t timer;

	return !timer_create(CLOCK_MONOTONIC, NULL, &timer);
}

static bool pending_signal(void)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	return !sigprocmask(SIG_BLOCK, &one, NULL) && !raise(SIGUSR1);
}

static bool descriptor(void)
{
	return open("/dev/zero", O_RDONLY) == 3;
}

static bool own_descriptor(void)
{
	return dup2(0, OWN) == OWN;
}

static char *page(int flags)
{
	char *at = mmap(NULL, wv_page_size(), PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	*at = 1;
	return at;
}

static bool shared_memory(void)
{
	return page(MAP_SHARED);
}

/* With a sanitizer, mlock() does nothing. */
static bool locked_memory(void)
{
	return !syscall(SYS_mlock, page(MAP_PRIVATE), wv_page_size());
}

static bool left_out_memory(void)
{
	return !madvise(page(MAP_PRIVATE), wv_page_size(), MADV_DONTFORK);
}

static const struct {
	bool (*get)(void);
	const char *why; /* a part of it; NULL: it can be a template */
} cases[] = {
    {nothing, NULL},
    {own_descriptor, NULL},
    {thread, "a second thread"},
    {child, "has children"},
    {interval, "set a timer"},
    {posix_timer, "a POSIX timer"},
    {pending_signal, "signal 10 waits for it"},
    {descriptor, "opened /dev/zero (descriptor 3)"},
    {shared_memory, "shares memory"},
    {locked_memory, "locked memory"},
    {left_out_memory, "fork() leaves out memory"},
};

static void try(size_t number)
{
	struct wv_reason_text why = {""};
	int found;

	close_range(3, ~0u, 0);
	if (!cases[number].get())
		_exit(2);
	found = wv_quiet_check(OWN, OWN + 1, &why);
	if (found == (cases[number].why != NULL) && (!found || strstr(why.text, cases[number].why)))
		_exit(0);
	fprintf(stderr, "%d: \"%s\", expected: %s\n", found, why.text,
		cases[number].why ? cases[number].why : "nothing");
	_exit(1);
}

static void test_what_a_template_must_not_have(void **state)
{
	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			try(i);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_what_a_template_must_not_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
