/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/client/follow.h"

#include "base/base.h"
#include "template/numbers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

/* Whoever reads a pipe that the start closes is to see its end. */
static void close_rest(const struct wv_template_start *s, int signals)
{
	int stay[] = {s->connection, signals, s->pidfd};
	unsigned int n = WV_ARRAY_SIZE(stay) - (s->pidfd < 0);

	wv_numbers_sort(stay, n);
	wv_numbers_close_others(stay, n);
	if (chdir("/"))
		return; /* it then holds a folder, for as long as the start lasts */
}

/* Nobody, if there is no pidfd: a template that lies has sent none. */
static void tell(const struct wv_template_start *s, int signal_number)
{
	syscall(SYS_pidfd_send_signal, s->pidfd, signal_number, NULL, 0);
}

static bool is_ignored(int signal_number)
{
	struct sigaction action;

	return !sigaction(signal_number, NULL, &action) && action.sa_handler == SIG_IGN;
}

/* A shell that stops a job waits until it has stopped, and continues all of its processes. */
static void stop_both(const struct wv_template_start *s)
{
	tell(s, SIGSTOP);
	kill(getpid(), SIGSTOP);
	tell(s, SIGCONT);
}

static void pass_on(const struct wv_template_start *s, int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGCHLD:
		if (info.ssi_code <= 0) /* SI_USER and others: not of the kernel, for a child */
			tell(s, SIGCHLD);
		break;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		if (!is_ignored((int)info.ssi_signo))
			stop_both(s);
		break;
	default:
		tell(s, (int)info.ssi_signo);
	}
}

/* Until @fd is readable. */
static void pass_on_until(const struct wv_template_start *s, int fd, int signals)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = signals, .events = POLLIN}};

	while (poll(fds, WV_ARRAY_SIZE(fds), -1) < 0 || !fds[0].revents)
		if (fds[1].revents)
			pass_on(s, signals);
}

int wv_template_follow(struct wv_template_start *s, int signals, int *status)
{
	close_rest(s, signals);
	pass_on_until(s, s->connection, signals);
	if (!wv_template_wait(s, status))
		return 0;
	if (s->pidfd >= 0)
		pass_on_until(s, s->pidfd, signals); /* the supervisor has gone */
	return -EPIPE;
}
