/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's (include/uapi/asm-generic/signal.h), on x86-64 and aarch64. */
struct action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t blocked;
};

/* nptl: SIGCANCEL and SIGSETXID; posix_spawn(3) has its children ignore them. */
const uint64_t wv_signals_of_libc = UINT64_C(3) << 31;

uint64_t wv_signals_blocked(void)
{
	uint64_t set = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &set, sizeof(set));
	return set;
}

void wv_signals_block(uint64_t set)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &set, NULL, sizeof(set));
}

void wv_signal_ignore(int signal_number)
{
	const struct action ignore = {.handler = SIG_IGN};

	syscall(SYS_rt_sigaction, signal_number, &ignore, NULL, sizeof(ignore.blocked));
}

int wv_signals_fd(uint64_t set)
{
	return (int)syscall(SYS_signalfd4, -1, &set, sizeof(set), SFD_CLOEXEC);
}
