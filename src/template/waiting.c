/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/waiting.h"

#include "base/base.h"
#include "base/message.h"
#include "template/become.h"
#include "template/client_check.h"
#include "template/control.h"
#include "template/likeness.h"
#include "template/ready.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* A client says all that it has to say at once. */
#define CLIENT_WAIT_MS 1000

/* Page faults would cost each start; the kernel fills the whole of it in one message. */
static char message[WV_START_BYTES] __attribute__((aligned(8)));

#define refuse(c, ...) wv_because(&(c)->answer.why, __VA_ARGS__)

/*
 * Returns 0, or 1 with the reason. The client is who has sent its request: not who has connected,
 * whose number another process may have by now.
 */
static int receive(struct wv_client *c, struct wv_started *s)
{
	struct pollfd readable = {.fd = c->connection, .events = POLLIN};
	ssize_t n;

	if (poll(&readable, 1, CLIENT_WAIT_MS) <= 0)
		return refuse(c, "the client's request has timed out");
	n = wv_recv_any(c->connection, message, sizeof(message), c->fds, &c->n_fds, &c->pid);
	if (!n)
		return refuse(c, "the client has gone");
	if (n < 0)
		return refuse(c, "the client said nothing that can be understood");
	return wv_start_read((const struct wv_start *)message, (size_t)n, c->fds, c->n_fds, s)
		   ? refuse(c, "the client is of another version")
		   : 0;
}

/* First the supervisor: a client that is told of a start also learns how it ends. */
static int announce(const struct wv_client *c, int control)
{
	const struct wv_control started = {.word = WV_CONTROL_STARTED, .value = getpid()};
	const struct wv_start_answer answer = {.word = WV_START_STARTED, .value = getpid()};
	wv_auto_fd pidfd = pidfd_open(getpid(), 0);
	int err = pidfd < 0
		      ? -errno
		      : wv_send(control, &started, sizeof(started), NULL, 0, &c->connection, 1);

	/* A client that waits no longer executes the program itself. */
	return err ? err : wv_send(c->connection, &answer, sizeof(answer), NULL, 0, &pidfd, 1);
}

static void answer(const struct wv_client *c)
{
	wv_send(c->connection, &c->answer, sizeof(c->answer), NULL, 0, NULL, 0);
}

/* Returns in a start. From the first change on, there is no way back to waiting. */
static void start(struct wv_client *c, const struct wv_started *s)
{
	int control = WV_TEMPLATE_CONTROL, err;

	prctl(PR_SET_PDEATHSIG, 0);
	err = wv_become(s, &c->around, (int *const[]){&c->connection, &control}, 2);
	if (!err)
		err = announce(c, control);
	if (err) {
		refuse(c, "becoming the program: %s", strerror(-err));
		answer(c);
		_exit(WV_CHILD_FAILED);
	}
	close(control);
	close(c->connection);
}

static int serve(struct wv_client *c, struct wv_started *s)
{
	const struct wv_start_answer ready = {.word = WV_START_READY};
	int on = 1;

	if (setsockopt(c->connection, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    wv_send(c->connection, &ready, sizeof(ready), NULL, 0, NULL, 0))
		return refuse(c, "the client has gone");
	if (wv_likeness_renew()) /* while the client composes its message */
		return refuse(c, "the template cannot read its own /proc");
	if (receive(c, s))
		return 1;
	if (wv_client_check(c, s)) {
		wv_start_free(s);
		return 1;
	}
	start(c, s);
	return 0;
}

static void close_files(struct wv_client *c)
{
	for (unsigned int i = 0; i < c->n_fds; i++)
		close(c->fds[i]);
}

/*
 * The answer comes last: then the client's descriptors are its own again. What the client says too
 * late is dropped, or cannot be sent: if this end were closed with a message in it, the client
 * would get an error in place of the answer.
 */
static void turn_away(struct wv_client *c)
{
	ssize_t n;

	shutdown(c->connection, SHUT_RD);
	do {
		close_files(c);
		n = wv_recv_any(c->connection, message, sizeof(message), c->fds, &c->n_fds, NULL);
	} while (n > 0 || n == -EPROTO);
	wv_close_fd(&c->proc);
	answer(c);
	wv_close_fd(&c->connection);
	memset(message, 0, sizeof(message)); /* the next one may become a start */
}

/* Ends with the supervisor, whose child this process is as soon as its first parent has ended. */
static void await_supervisor(const struct wv_origin *origin)
{
	while (getppid() == origin->parent)
		usleep(500);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != origin->supervisor)
		_exit(0);
	setpgid(0, 0); /* what a start sends to its group is for no other */
}

void wv_child_wait(const struct wv_origin *origin, struct wv_started *s)
{
	static struct wv_client c; /* of which most is filled in by the client */

	await_supervisor(origin);
	if (wv_likeness_note() || wv_become_prepare(wv_likeness_status(), origin->set_signals))
		_exit(1);
	wv_ready_make();
	for (;;) {
		c.proc = -1;
		c.n_fds = 0;
		c.answer = (struct wv_start_answer){.word = WV_START_REFUSED};
		c.connection = accept4(WV_TEMPLATE_LISTENER, NULL, NULL, SOCK_CLOEXEC);
		if (c.connection < 0)
			_exit(0);
		if (!serve(&c, s))
			return;
		turn_away(&c);
	}
}
