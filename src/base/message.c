/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/message.h"

#include "base/base.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int wv_send(int sock, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes,
	    const int *fds, unsigned int n_fds)
{
	struct iovec parts[2] = {
	    {.iov_base = (void *)head, .iov_len = head_bytes},
	    {.iov_base = (void *)tail, .iov_len = tail_bytes},
	};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * WV_MESSAGE_FDS)];
	struct msghdr msg = {.msg_iov = parts, .msg_iovlen = tail ? 2 : 1};

	if (n_fds) {
		size_t bytes = sizeof(int) * n_fds;
		struct cmsghdr *rights = (struct cmsghdr *)control;

		memset(control, 0, CMSG_SPACE(bytes));
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(bytes);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(rights), fds, bytes);
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static pid_t process_of(const struct cmsghdr *c)
{
	struct ucred sender;

	memcpy(&sender, CMSG_DATA(c), sizeof(sender));
	return sender.pid;
}

/* The descriptors of a received message, in @all, and who has sent it. */
static unsigned int take_control(struct msghdr *msg, int *all, pid_t *sender)
{
	unsigned int n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		unsigned int here = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS && sender)
			*sender = process_of(c);
		if (c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(all + n, CMSG_DATA(c), here * sizeof(int));
		n += here;
	}
	return n;
}

ssize_t wv_recv_any(int sock, void *data, size_t capacity, int fds[static WV_MESSAGE_FDS],
		    unsigned int *n_fds, pid_t *sender)
{
	_Alignas(struct cmsghdr) char
	    control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int) * WV_MESSAGE_FDS)];
	struct iovec part = {.iov_base = data, .iov_len = capacity};
	struct msghdr msg = {
	    .msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = control,
	    .msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*n_fds = 0;
	if (sender)
		*sender = 0;
	if (got < 0)
		return -errno;
	*n_fds = take_control(&msg, fds, sender);
	if (!got && msg.msg_controllen) /* a message without bytes, not the end */
		return -EPROTO;
	return msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -EPROTO : got;
}
