/* Two processes, parent and child, that take turns at the words. */
#include "words.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum side { PARENT, CHILD, SIDES };

static pid_t child;
static enum side me = PARENT, turn = PARENT;
static int from[SIDES], to[SIDES]; /* pipes to give each its turn by */

/* Gives the turn away. The other may have ended. */
static void pass(enum side next)
{
	fflush(stdout);
	signal(SIGPIPE, SIG_IGN);
	if (write(to[next], "", 1) < 0)
		return;
}

static int await_turn(void)
{
	char byte;

	return read(from[me], &byte, 1) < 0 ? errno : 0;
}

/* The last to hold the other end of its own pipe is who gives the turn. */
static void take_ends(void)
{
	enum side other = me == PARENT ? CHILD : PARENT;

	close(to[me]);
	close(from[other]);
}

static int begin(void)
{
	int pipes[SIDES][2];

	for (int i = 0; i < SIDES; i++) {
		if (pipe(pipes[i]))
			return errno;
		from[i] = pipes[i][0];
		to[i] = pipes[i][1];
	}
	fflush(stdout);
	child = fork();
	if (child < 0)
		return errno;
	me = child ? PARENT : CHILD;
	if (me == CHILD)
		alarm(LIMIT_S);
	take_ends();
	return 0;
}

static int await_child(void)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return errno;
	child = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

static int begin_turn(enum side next)
{
	int error = 0;

	if (next == CHILD && !child && me == PARENT)
		error = begin();
	else if (turn == me && next != me)
		pass(next);
	else if (turn != me && next == me)
		error = await_turn();
	turn = next;
	return error;
}

/* The child's part is over, and the rest the parent's. */
static int end_turns(void)
{
	if (me == CHILD)
		exit(0);
	turn = PARENT;
	return await_child();
}

/*
 * "turn:child": the words that follow are the child's, which is made if there is none;
 * "turn:parent": the parent's; "turn:end": the child exits, and its status is the word's.
 */
int do_turn(struct program *p, struct options o)
{
	(void)p;
	if (has(o, "end"))
		return end_turns();
	return begin_turn(has(o, "child") ? CHILD : PARENT);
}

bool is_my_turn(void)
{
	return turn == me;
}
