/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/supervisor/own_process.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

/* All of them: starts may send signals to their parent, and that is this process. */
static void block_signals(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < WV_ARRAY_SIZE(faults); i++)
		sigdelset(&set, faults[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Starts are more than a shell usually lets a process have files. The program has the old limit. */
static int raise_limit(struct rlimit *before)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, before))
		return -errno;
	limit = (struct rlimit){before->rlim_max, before->rlim_max};
	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

/* Starts have none either: their clients have none (template/likeness.c). */
static void leave_terminal(void)
{
	wv_auto_fd terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NONBLOCK);

	/* The leader of a session would take the terminal from all others. */
	if (terminal >= 0 && getsid(0) != getpid())
		ioctl(terminal, TIOCNOTTY);
}

int wv_own_process_prepare(struct rlimit *files)
{
	block_signals();
	leave_terminal();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return -errno;
	return raise_limit(files);
}
