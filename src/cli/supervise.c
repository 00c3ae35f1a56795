/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/supervise.h"

#include "base/base.h"
#include "base/outer_signals.h"
#include "cli/complain.h"
#include "cli/launch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/*
 * Stops as the program did: a shell then takes its terminal back. A shell continues both; whoever
 * continues this process alone means the program.
 */
static void stop_alike(pid_t child, int signal_number)
{
	siginfo_t continued = {0};
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, signal_number);
	raise(signal_number);
	sigprocmask(SIG_UNBLOCK, &stop, NULL); /* stops here; SIGSTOP did above */
	sigprocmask(SIG_BLOCK, &stop, NULL);
	if (waitid(P_PID, (id_t)child, &continued, WCONTINUED | WNOHANG) || !continued.si_pid)
		kill(child, SIGCONT);
}

/*
 * Whether the program did not get the signal itself. The terminal sends its signals to both
 * processes, except that of a hangup, which it sends to the leader of the session. A signal from
 * the program is not sent back: it went to their process group. A timer that was set before this
 * process began is the program's.
 */
static bool is_for_program(const siginfo_t *info, pid_t child)
{
	switch (info->si_signo) {
	case SIGCHLD: /* this process's own */
	case SIGCONT: /* stop_alike() knows who was continued */
		return false;
	default:
		break;
	}
	if (info->si_code == SI_KERNEL)
		return info->si_signo == SIGALRM ||
		       (info->si_signo == SIGHUP && getsid(0) == getpid());
	return info->si_pid != child;
}

/* Waits with @signals blocked until the program has ended. 0 or an exit code. */
static int await(pid_t child, const sigset_t *signals, int *status)
{
	for (;;) {
		siginfo_t info;
		pid_t changed = waitpid(child, status, WNOHANG | WUNTRACED);

		if (changed < 0)
			return WV_EXIT_NOT_STARTED;
		if (changed && !WIFSTOPPED(*status))
			return 0;
		if (changed)
			stop_alike(child, WSTOPSIG(*status));
		else if (sigwaitinfo(signals, &info) > 0 && is_for_program(&info, child))
			kill(child, info.si_signo);
	}
}

/* In the child. The end of this process by SIGKILL, which cannot be passed on, is the program's. */
static void become_program(char **program, const sigset_t *before, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(WV_EXIT_NOT_STARTED);
	sigprocmask(SIG_SETMASK, before, NULL);
	_exit(wv_launch_exec(program));
}

int wv_supervise(char **program, int *status)
{
	struct sigaction of_children, tell = {.sa_handler = SIG_DFL};
	sigset_t signals, before;
	pid_t parent = getpid(), child;

	wv_outer_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &before);
	/* A process that ignores SIGCHLD is not told that a child ended. */
	sigaction(SIGCHLD, &tell, &of_children);
	child = fork();
	if (child < 0) {
		wv_complain("see 'ulimit -a' for limits of processes and memory",
			    "cannot start %s: %s", program[0], strerror(errno));
		return WV_EXIT_NOT_STARTED;
	}
	if (!child) {
		sigaction(SIGCHLD, &of_children, NULL);
		become_program(program, &before, parent);
	}
	return await(child, &signals, status);
}
