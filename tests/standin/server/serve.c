/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: each belongs to one thread of a program, and has a thread here. */
#include "serve.h"

#include "call.h"
#include "control.h"
#include "process.h"
#include "uar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct connection {
	struct hca *hca;
	int sock;
	pid_t pid;
	uint64_t began;		  /* that process: its number may come again */
	int fds[STANDIN_MAX_FDS]; /* received with the request */
	unsigned int n_fds;
	union {
		struct standin_reply reply;
		uint8_t out[STANDIN_ANSWER];
	};
	size_t out_bytes;
	int new_fds[STANDIN_MAX_FDS];
	unsigned int n_new_fds;
	uint64_t delay;
	/* Last, so that it is not zeroed with the rest, which takes time. */
	union {
		struct standin_request request;
		uint8_t in[STANDIN_MAX];
	};
};

int hca_listen(struct hca *hca, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	hca->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (hca->listener < 0 ||
	    bind(hca->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(path, 0666) < 0 || listen(hca->listener, SOMAXCONN) < 0)
		return -errno;
	return hca_watch(hca, hca->listener, EPOLLIN, HCA_WATCH_ID(HCA_WATCH_LISTEN, 0));
}

static void close_all(int *fds, unsigned int *n)
{
	while (*n)
		close(fds[--*n]);
}

static void take_fds(struct connection *c, struct msghdr *message)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(message);

	if (!cmsg || cmsg->cmsg_type != SCM_RIGHTS)
		return;
	c->n_fds = (unsigned int)((cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(c->fds, CMSG_DATA(cmsg), c->n_fds * sizeof(int));
}

/* Bytes of the next request; 0 when there will be none. */
static size_t receive(struct connection *c)
{
	char control[CMSG_SPACE(STANDIN_MAX_FDS * sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = {c->in, sizeof(c->in)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t n;

	do {
		n = standin_receive(c->sock, &message);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	take_fds(c, &message);
	return (size_t)n < sizeof(c->request) ? 0 : (size_t)n;
}

static bool reply(struct connection *c)
{
	char control[CMSG_SPACE(STANDIN_MAX_FDS * sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = {c->out, c->out_bytes};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cmsg;

	if (c->n_new_fds) {
		memset(control, 0, sizeof(control));
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(c->n_new_fds * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&message);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(c->n_new_fds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), c->new_fds, c->n_new_fds * sizeof(int));
	}
	return sendmsg(c->sock, &message, MSG_NOSIGNAL) >= 0;
}

static int do_open(struct connection *c, size_t n_bytes)
{
	struct hca_ufile *ufile;
	int fd, error;

	(void)n_bytes;
	hca_lock(c->hca);
	error = c->hca->removed ? -ENOENT : hca_ufile_new(c->hca, &ufile, &fd);
	hca_unlock(c->hca);
	if (!error)
		c->new_fds[c->n_new_fds++] = fd;
	return error;
}

/* If the command failed, what it had answered so far is dropped. */
static void take_answer(struct connection *c, struct hca_call *call, int error)
{
	if (error)
		close_all(call->new_fds, &call->n_new_fds);
	c->reply.n_out = error ? 0 : call->n_out;
	c->out_bytes = sizeof(c->reply) + (error ? 0 : call->out_bytes);
	memcpy(c->new_fds, call->new_fds, sizeof(c->new_fds));
	c->n_new_fds = call->n_new_fds;
	c->delay = call->work.delay;
}

static struct hca_work work_of(const struct connection *c)
{
	return (struct hca_work){.oracle = c->hca->oracle, .pid = c->pid, .began = c->began};
}

static int do_ioctl(struct connection *c, size_t n_bytes)
{
	struct hca_call call = {.hca = c->hca,
				.work = work_of(c),
				.pid = c->pid,
				.tid = (pid_t)c->request.tid,
				.request = &c->request,
				.fds = c->fds,
				.n_fds = c->n_fds,
				.out = c->out + sizeof(c->reply)};
	int error = hca_call_parse(&call, c->in + sizeof(c->request), n_bytes - sizeof(c->request));

	hca_lock(c->hca);
	call.ufile = hca_ufile_by_cookie(c->hca, c->request.ufile);
	if (!call.ufile)
		error = -ENOTTY;
	else if (call.ufile->disassociated)
		error = -EIO;
	if (!error)
		error = hca_call_run(&call);
	hca_unlock(c->hca);
	take_answer(c, &call, error);
	return error;
}

static int do_mmap(struct connection *c, size_t n_bytes)
{
	struct hca_ufile *ufile;
	int fd;

	(void)n_bytes;
	hca_lock(c->hca);
	ufile = hca_ufile_by_cookie(c->hca, c->request.ufile);
	fd = ufile ? hca_mmap(ufile, &c->request, &c->reply.offset) : -ENODEV;
	hca_unlock(c->hca);
	if (fd >= 0)
		c->new_fds[c->n_new_fds++] = fd;
	return fd < 0 ? fd : 0;
}

static int do_cpuinfo(struct connection *c, size_t n_bytes)
{
	struct hca_work work = work_of(c);

	(void)n_bytes;
	hca_lock(c->hca);
	hca_note_cpuinfo(&work);
	hca_unlock(c->hca);
	c->delay = work.delay;
	return 0;
}

/* A file that holds @text; or -errno. */
static int text_file(const char *text)
{
	size_t bytes = strlen(text);
	int fd = memfd_create("answer", MFD_CLOEXEC);

	if (fd >= 0 && pwrite(fd, text, bytes, 0) != (ssize_t)bytes) {
		close(fd);
		return -EIO;
	}
	return fd < 0 ? -errno : fd;
}

/*
 * The answer may be long, so it is sent as a file. json_dumpfd() would write each word by itself.
 */
static int do_control(struct connection *c, size_t n_bytes)
{
	char line[256] = {0};
	size_t length = n_bytes - sizeof(c->request);
	json_t *answer;
	char *text;
	int fd;

	memcpy(line, c->in + sizeof(c->request), length < sizeof(line) ? length : sizeof(line) - 1);
	answer = hca_control(c->hca, line);
	text = json_dumps(answer, JSON_INDENT(2) | JSON_SORT_KEYS);
	fd = text ? text_file(text) : -ENOMEM;
	free(text);
	json_decref(answer);
	if (fd < 0)
		return fd;
	c->new_fds[c->n_new_fds++] = fd;
	return 0;
}

static int (*const operations[])(struct connection *, size_t) = {
    [STANDIN_OPEN] = do_open,	    [STANDIN_IOCTL] = do_ioctl,	    [STANDIN_MMAP] = do_mmap,
    [STANDIN_CPUINFO] = do_cpuinfo, [STANDIN_CONTROL] = do_control,
};

static void *serve(void *connection)
{
	struct connection *c = connection;
	bool alive = true;
	size_t n;

	while (alive && (n = receive(c))) {
		int error = -EINVAL;

		c->reply = (struct standin_reply){0};
		c->out_bytes = sizeof(c->reply);
		c->delay = 0;
		if (c->request.op < sizeof(operations) / sizeof(operations[0]))
			error = operations[c->request.op](c, n);
		c->reply.error = -error;
		hca_sleep(c->delay);
		alive = reply(c);
		close_all(c->fds, &c->n_fds);
		close_all(c->new_fds, &c->n_new_fds);
	}
	close(c->sock);
	free(c);
	return NULL;
}

void hca_accept(struct hca *hca)
{
	int sock = accept4(hca->listener, NULL, NULL, SOCK_CLOEXEC);
	struct connection *c = malloc(sizeof(*c));
	struct ucred peer;
	socklen_t length = sizeof(peer);
	pthread_attr_t attr;
	pthread_t thread;

	if (sock < 0 || !c || getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		goto fail;
	c->hca = hca;
	c->sock = sock;
	c->pid = peer.pid;
	c->began = hca_process_began(peer.pid);
	c->n_fds = c->n_new_fds = 0;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, serve, c) == 0)
		return;
fail:
	if (sock >= 0)
		close(sock);
	free(c);
}
