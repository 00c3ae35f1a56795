/* SPDX-License-Identifier: BSD-2-Clause */
#include "rpc.h"

#include "next.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * High, since programs expect the lowest numbers for their own files; but below 64, since a process
 * with threads waits some milliseconds when its table of descriptors must grow.
 */
#define LOWEST_FD 48

static __thread struct connection {
	int fd;
	pid_t pid;	 /* the process that made it; a forked child makes its own */
	uint64_t cookie; /* of the descriptor, which the program may have closed and used again */
} connection;

static _Atomic pid_t server; /* 0: not known yet */
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t length = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) ? 0 : cookie;
}

static pid_t peer_of(int fd)
{
	struct ucred peer = {0};
	socklen_t length = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) ? 0 : peer.pid;
}

static void drop(void)
{
	if (connection.cookie && cookie_of(connection.fd) == connection.cookie)
		NEXT(close)(connection.fd);
	connection.cookie = 0;
}

static void end_thread(void *unused)
{
	(void)unused;
	drop();
}

static void make_key(void)
{
	pthread_key_create(&at_thread_end, end_thread);
}

static int open_connection(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv(STANDIN_SOCKET);
	int low, fd;

	if (!path || strlen(path) >= sizeof(address.sun_path))
		return -ENOENT;
	strcpy(address.sun_path, path);
	low = NEXT(socket)(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (low < 0)
		return -errno;
	fd = NEXT(fcntl)(low, F_DUPFD_CLOEXEC, LOWEST_FD);
	if (fd < 0)
		fd = low;
	else
		NEXT(close)(low);
	if (NEXT(connect)(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	NEXT(close)(fd);
	return -ENXIO;
}

static int connect_thread(void)
{
	int fd;

	if (connection.cookie && connection.pid == getpid() &&
	    cookie_of(connection.fd) == connection.cookie)
		return 0;
	drop();
	fd = open_connection();
	if (fd < 0)
		return fd;
	server = peer_of(fd);
	connection = (struct connection){fd, getpid(), cookie_of(fd)};
	/* The server reads and writes our memory, as the adapter would. */
	prctl(PR_SET_PTRACER, (unsigned long)server, 0, 0, 0);
	pthread_once(&once, make_key);
	pthread_setspecific(at_thread_end, &connection);
	return 0;
}

bool standin_is_ufile(int fd, uint64_t *cookie)
{
	int saved = errno;
	bool is;

	*cookie = standin_active() ? cookie_of(fd) : 0;
	is = *cookie && (server || connect_thread() == 0) && *cookie != connection.cookie &&
	     peer_of(fd) == server;
	errno = saved;
	return is;
}

static int send_request(struct iovec *iov, size_t n_iov, const int *fds, unsigned int n_fds)
{
	char control[CMSG_SPACE(STANDIN_MAX_FDS * sizeof(int))] __attribute__((aligned(8))) = {0};
	struct msghdr message = {.msg_iov = iov, .msg_iovlen = n_iov};
	struct cmsghdr *cmsg;
	ssize_t n;

	if (n_fds) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&message);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, n_fds * sizeof(int));
	}
	do {
		n = syscall(SYS_sendmsg, connection.fd, &message, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int receive_answer(struct standin_answer *answer)
{
	char control[CMSG_SPACE(STANDIN_MAX_FDS * sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = {answer->bytes, sizeof(answer->bytes)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *cmsg;
	ssize_t n;

	/* As in the kernel, a signal does not interrupt a command. */
	do {
		n = standin_receive(connection.fd, &message);
	} while (n < 0 && errno == EINTR);
	if (n < (ssize_t)sizeof(answer->reply))
		return n < 0 ? -errno : -EIO;
	answer->n_bytes = (size_t)n;
	answer->n_fds = 0;
	cmsg = CMSG_FIRSTHDR(&message);
	if (cmsg) {
		answer->n_fds = (unsigned int)((cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(answer->fds, CMSG_DATA(cmsg), answer->n_fds * sizeof(int));
	}
	if (!(message.msg_flags & MSG_CTRUNC))
		return 0;
	while (answer->n_fds)
		NEXT(close)(answer->fds[--answer->n_fds]);
	return -EMFILE; /* no number was free for a new file */
}

int standin_call(struct iovec *iov, size_t n_iov, const int *fds, unsigned int n_fds,
		 struct standin_answer *answer)
{
	int error = connect_thread();

	if (!error)
		error = send_request(iov, n_iov, fds, n_fds);
	if (!error)
		error = receive_answer(answer);
	return error ? error : -answer->reply.error;
}
