/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose constructor does what the variable CONSTRUCTOR says; its main() says what is left
 * of that.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int n_children;

static void child(void)
{
	n_children++;
}

static void handle_forks(void)
{
	pthread_atfork(NULL, NULL, child);
}

static void leave_host(void)
{
	unshare(CLONE_NEWUTS);
}

static void leave_host_in_children(void)
{
	pthread_atfork(NULL, NULL, leave_host);
}

/* Memory that each child has for itself. */
static void fill(void)
{
	static char memory[2 << 20];

	memset(memory, 1, sizeof(memory));
}

static void fill_in_children(void)
{
	pthread_atfork(NULL, NULL, fill);
}

static void die(void)
{
	raise(SIGKILL);
}

/* Whoever makes a child dies before it can tell of it. */
static void die_at_forks(void)
{
	pthread_atfork(NULL, die, NULL);
}

static void read_input(void)
{
	if (getchar() == EOF)
		abort();
}

static void close_output(void)
{
	close(STDOUT_FILENO);
}

static void begin_session(void)
{
	setsid();
}

static void lead_group(void)
{
	setpgid(0, 0);
}

static bool hangs_later;

static void hang(void)
{
	fputs("first line\nlast line\n", stderr);
	for (;;)
		pause();
}

static void hang_later(void)
{
	hangs_later = true;
}

static void end(void)
{
	fputs("first line\nlast line\n", stderr);
	_exit(1);
}

__attribute__((constructor)) static void construct(void)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} all[] = {
	    {"forks", handle_forks},
	    {"input", read_input},
	    {"output", close_output},
	    {"session", begin_session},
	    {"group", lead_group},
	    {"end", end},
	    {"other host", leave_host_in_children},
	    {"hang", hang},
	    {"hang later", hang_later},
	    {"memory", fill_in_children},
	    {"untold", die_at_forks},
	};
	const char *name = getenv("CONSTRUCTOR");

	for (size_t i = 0; name && i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i].name))
			all[i].function();
}

int main(void)
{
	if (hangs_later)
		hang();
	printf("children %d\n", n_children);
	return 0;
}
