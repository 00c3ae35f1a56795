/* SPDX-License-Identifier: BSD-2-Clause */
/* Parent and child take turns at doing the words. */
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
static int from[SIDES], to[SIDES]; /* pipes by which each gets its turn */

/* Gives the turn to the other process, which may have ended. */
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

/* Closes all other ends of its own pipe: only the giver of the turn keeps one. */
static void take_ends(void)
{
	enum side other = me == PARENT ? CHILD : PARENT;

	close(to[me]);
	close(from[other]);
}

static int begin(bool unseen)
{
	int pipes[SIDES][2];

	for (int i = 0; i < SIDES; i++) {
		if (pipe(pipes[i]))
			return errno;
		from[i] = pipes[i][0];
		to[i] = pipes[i][1];
	}
	fflush(stdout);
	child = unseen ? _Fork() : fork();
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

static int begin_turn(enum side next, bool unseen)
{
	int error = 0;

	if (next == CHILD && !child && me == PARENT)
		error = begin(unseen);
	else if (turn == me && next != me)
		pass(next);
	else if (turn != me && next == me)
		error = await_turn();
	turn = next;
	return error;
}

/* Ends the child; the parent does the rest. */
static int end_turns(void)
{
	if (me == CHILD)
		exit(0);
	turn = PARENT;
	return await_child();
}

/*
 * "turn:child": the child does the words that follow; it is forked if there is none, "unseen": by
 * _Fork(). "turn:parent": the parent does them. "turn:end": the child exits, and its status is the
 * word's result.
 */
int do_turn(struct program *p, struct options o)
{
	(void)p;
	if (has(o, "end"))
		return end_turns();
	return begin_turn(has(o, "child") ? CHILD : PARENT, has(o, "unseen"));
}

bool is_my_turn(void)
{
	return turn == me;
}
