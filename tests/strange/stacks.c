/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks thread|signal BYTES WORD...: does the words of tests/programs/words in a thread with a
 * stack of so many bytes, or in a signal handler on another stack of that size.
 */
#include "../programs/words/words.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Wider than any frame: a program that needs more stack than it has may leap over a page. */
#define GUARD (256 << 10)

static struct program program;
static char **words;
static int n_words;

static void *do_words(void *unused)
{
	(void)unused;
	run_words(&program, words, n_words);
	return NULL;
}

static void handle(int signal)
{
	(void)signal;
	do_words(NULL);
}

static int in_thread(size_t bytes)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	return pthread_attr_setstacksize(&attr, bytes) || pthread_attr_setguardsize(&attr, GUARD) ||
	       pthread_create(&thread, &attr, do_words, NULL) || pthread_join(thread, NULL);
}

/* Below the stack is memory that ends the program when it is touched, as below a thread's. */
static int in_signal(size_t bytes)
{
	uint8_t *at = mmap(NULL, GUARD + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = at + GUARD, .ss_size = bytes};

	return at == MAP_FAILED || mprotect(at + GUARD, bytes, PROT_READ | PROT_WRITE) ||
	       sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;

	alarm(LIMIT_S);
	if (!bytes)
		return 2;
	words = argv + 3;
	n_words = argc - 3;
	return strcmp(argv[1], "thread") ? in_signal(bytes) : in_thread(bytes);
}
