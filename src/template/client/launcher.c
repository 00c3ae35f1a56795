/* SPDX-License-Identifier: BSD-2-Clause */
/* The public functions for who wants a program to start. */
#include "warmverbs-template.h"

#include "base/base.h"
#include "base/message.h"
#include "template/control.h"
#include "template/numbers.h"
#include "template/signals.h"
#include "template/start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* A start in the making. */
struct request {
	struct wv_start *start; /* of WV_START_BYTES */
	size_t bytes;
	int files[WV_START_OWN + WV_START_FDS];
};

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	wv_auto_fd sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (sock < 0)
		return -errno;
	if (!wv_copy_string(address.sun_path, sizeof(address.sun_path), path))
		return -ENAMETOOLONG;
	if (connect(sock, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	return wv_steal_fd(&sock);
}

/*
 * Who may not trace the supervisor cannot open it. -EPERM if the supervisor, who is told all that
 * this process has, is another user's.
 */
static int open_proof(int connection)
{
	struct ucred supervisor;
	socklen_t bytes = sizeof(supervisor);
	char path[64];
	int fd;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &supervisor, &bytes))
		return -errno;
	if (supervisor.uid != geteuid())
		return -EPERM;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", supervisor.pid, WV_TEMPLATE_PROOF);
	fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* One that the start has as @fd. */
static int add_descriptor(struct wv_start *start, int fd)
{
	if (start->n_fds == WV_START_FDS)
		return -E2BIG;
	start->fds[start->n_fds++] = fd;
	return 0;
}

static bool is_left_open(int fd)
{
	int flags = fcntl(fd, F_GETFD);

	return flags >= 0 && !(flags & FD_CLOEXEC);
}

static int add_if_left_open(void *start, int fd)
{
	return is_left_open(fd) ? add_descriptor(start, fd) : 0;
}

/* All that execve(2) leaves open. */
static int add_own_descriptors(struct request *r)
{
	struct wv_start *start = r->start;
	int err = wv_numbers_each(add_if_left_open, start);

	wv_numbers_sort(start->fds, start->n_fds);
	memcpy(r->files + WV_START_OWN, start->fds, start->n_fds * sizeof(start->fds[0]));
	return err;
}

static int add_chosen_descriptors(struct request *r, const int *fds, unsigned int n)
{
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++) {
		if (fds[i] < 0)
			continue;
		err = add_descriptor(r->start, (int)i);
		if (!err)
			r->files[WV_START_OWN + r->start->n_fds - 1] = fds[i];
	}
	return err;
}

static int add_strings(struct request *r, char *const *list, uint32_t *n)
{
	for (; list && *list; list++, ++*n) {
		if (!wv_copy_string((char *)r->start + r->bytes, WV_START_BYTES - r->bytes, *list))
			return -E2BIG;
		r->bytes += strlen(*list) + 1;
	}
	return 0;
}

static int compose(struct request *r, const struct wv_template_request *what)
{
	uint32_t unused = 0;
	int err;

	r->start->magic = WV_START_MAGIC;
	r->start->version = WV_START_VERSION;
	r->start->thread = syscall(SYS_gettid);
	r->start->blocked = what->mask ? *(const uint64_t *)what->mask : wv_signals_blocked();
	wv_unseen_read(r->start->unseen);
	r->bytes = sizeof(*r->start);
	err =
	    what->fds ? add_chosen_descriptors(r, what->fds, what->n_fds) : add_own_descriptors(r);
	if (!err)
		err = add_strings(r, (char *const[]){(char *)what->path, NULL}, &unused);
	if (!err)
		err = add_strings(r, what->argv, &r->start->argc);
	return err ? err : add_strings(r, what->envp, &r->start->envc);
}

/*
 * Returns 0, or -errno if there is none. A descriptor that comes replaces *@fd. A start counts even
 * if this process had no number left for its pidfd: it then has none.
 */
static int take_answer(int connection, struct wv_start_answer *answer, int *fd)
{
	int fds[WV_MESSAGE_FDS];
	unsigned int n;
	ssize_t bytes;
	bool all;

	*answer = (struct wv_start_answer){0};
	bytes = wv_recv_any(connection, answer, sizeof(*answer), fds, &n, NULL);
	all = bytes == sizeof(*answer) || (bytes == -EPROTO && answer->word == WV_START_STARTED);
	if (n) {
		wv_close_fd(fd);
		*fd = fds[0];
	}
	while (n > 1)
		close(fds[--n]);
	answer->why.text[sizeof(answer->why.text) - 1] = '\0';
	return all ? 0 : -EPIPE;
}

/* Returns 0, or -errno if none comes. */
static int hear(int connection, int wait_ms, struct wv_start_answer *answer, int *fd)
{
	struct pollfd readable = {.fd = connection, .events = POLLIN};
	int n;

	do {
		n = poll(&readable, 1, wait_ms);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		return take_answer(connection, answer, fd);
	/*
	 * From here on, a child that answers too late learns so before it has begun: its message is
	 * there already, or cannot be sent any more. READY is of no use then: STARTED cannot be.
	 */
	shutdown(connection, SHUT_RD);
	if (take_answer(connection, answer, fd) || answer->word == WV_START_READY)
		return -ETIMEDOUT;
	return 0;
}

/* Returns 0 if the answer is @word. */
static int await(struct wv_template_start *s, enum wv_start_word word, int wait_ms)
{
	struct wv_start_answer answer;
	int err = hear(s->connection, wait_ms, &answer, &s->pidfd);

	if (err)
		return err == -EPIPE ? -ECONNREFUSED : err; /* the template has just ended */
	wv_copy_string(s->why, sizeof(s->why), answer.why.text);
	s->pid = answer.value;
	return answer.word == word ? 0 : -EPERM;
}

/* Which a start has not. */
static bool has_terminal(void)
{
	wv_auto_fd terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return terminal >= 0;
}

/* Returns 0 or -errno: -EPIPE if a child had an answer before it heard all. */
static int ask(const char *socket, const struct wv_template_request *what,
	       struct wv_template_start *s)
{
	wv_auto_free struct wv_start *message = calloc(1, WV_START_BYTES);
	wv_auto_fd cwd = open(".", O_PATH | O_CLOEXEC), proof = -1;
	wv_auto_fd program = open(what->path, O_PATH | O_CLOEXEC);
	struct request r = {.start = message};
	int err;

	if (!message || cwd < 0 || program < 0)
		return -errno;
	if (has_terminal()) {
		strcpy(s->why, "this process has a controlling terminal: setsid(1) gives it up");
		return -EPERM;
	}
	s->connection = connect_to(socket);
	if (s->connection < 0)
		return s->connection;
	proof = open_proof(s->connection);
	if (proof < 0)
		return proof;
	err = await(s, WV_START_READY, (int)what->timeout_ms);
	if (err)
		return err;
	r.files[WV_START_CWD] = cwd;
	r.files[WV_START_PROGRAM] = program;
	r.files[WV_START_PROOF] = proof;
	err = compose(&r, what);
	return err ? err
		   : wv_send(s->connection, r.start, r.bytes, NULL, 0, r.files,
			     WV_START_OWN + r.start->n_fds);
}

/* Returns 0 or -errno. ask() has closed its files: there are numbers for the answer's pidfd. */
static int start(const char *socket, const struct wv_template_request *what,
		 struct wv_template_start *s)
{
	int err = ask(socket, what, s);

	wv_close_fd(&s->pidfd); /* none comes with the first answer */
	return err && err != -EPIPE ? err : await(s, WV_START_STARTED, (int)what->timeout_ms);
}

WV_PUBLIC int wv_template_start(const char *socket, const struct wv_template_request *request,
				struct wv_template_start *s)
{
	int err;

	*s = (struct wv_template_start){.connection = -1, .pidfd = -1};
	err = start(socket, request, s);
	if (err)
		wv_template_close(s);
	return -err;
}

WV_PUBLIC int wv_template_wait(struct wv_template_start *s, int *status)
{
	struct wv_start_answer answer;
	int unused = -1, err;

	if (s->connection < 0)
		return EBADF;
	err = hear(s->connection, -1, &answer, &unused);
	wv_close_fd(&unused);
	if (!err && answer.word != WV_START_ENDED)
		err = -EPIPE;
	if (!err)
		*status = answer.value;
	return -err;
}

WV_PUBLIC void wv_template_close(struct wv_template_start *s)
{
	wv_close_fd(&s->connection);
	wv_close_fd(&s->pidfd);
}
