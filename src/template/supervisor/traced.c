/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/supervisor/traced.h"

#include "base/base.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static void let_go(const struct wv_traced_stop *stop)
{
	ptrace(PTRACE_DETACH, stop->pid, NULL, stop->signal);
}

/* The kernel sends one for execve(2), which nobody would get who is not traced. */
static bool is_of_exec(pid_t pid)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) && info.si_signo == SIGTRAP &&
	       info.si_code == SI_USER && info.si_pid == pid;
}

static bool make_room(struct wv_traced *t)
{
	size_t room = t->room ? 2 * t->room : 16;
	struct wv_traced_stop *stops = reallocarray(t->stops, room, sizeof(*stops));

	if (!stops)
		return false;
	t->stops = stops;
	t->room = room;
	return true;
}

static void collect(struct wv_traced *t, pid_t pid)
{
	struct wv_traced_stop stop = {.pid = pid};
	siginfo_t info = {0};

	/* Nothing but a stop: by now it may have been killed, and its number be that of another. */
	if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) || !info.si_pid)
		return;
	stop.signal = is_of_exec(pid) ? 0 : info.si_status;
	if (t->n < t->room || make_room(t))
		t->stops[t->n++] = stop;
	else
		let_go(&stop);
}

pid_t wv_traced_next_end(struct wv_traced *t)
{
	for (;;) {
		siginfo_t child = {0};

		if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) || !child.si_pid)
			return 0;
		if (child.si_code != CLD_TRAPPED)
			return child.si_pid;
		collect(t, child.si_pid);
	}
}

void wv_traced_let_go(struct wv_traced *t)
{
	while (t->n)
		let_go(&t->stops[--t->n]);
}

void wv_traced_free(struct wv_traced *t)
{
	free(t->stops);
}
