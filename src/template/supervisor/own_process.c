/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/supervisor/own_process.h"

#include "base/base.h"
#include "base/file_limit.h"
#include "base/outer_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

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
	sigset_t signals;

	/* Starts may send them to their parent, and that is this process. */
	wv_outer_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	leave_terminal();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return -errno;
	/* Starts are more than a shell usually lets a process have files. */
	return wv_file_limit_raise(files);
}
