/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/end_alike.h"

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>

int wv_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int wv_end_alike(int status)
{
	const struct rlimit no_core = {0};
	sigset_t one;

	if (WIFSIGNALED(status)) {
		sigemptyset(&one);
		sigaddset(&one, WTERMSIG(status));
		setrlimit(RLIMIT_CORE, &no_core);
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
		sigprocmask(SIG_UNBLOCK, &one, NULL);
	}
	return wv_exit_code(status);
}
