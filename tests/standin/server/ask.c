/* SPDX-License-Identifier: BSD-2-Clause */
#include "ask.h"

#include "../protocol.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_server(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv(STANDIN_SOCKET);
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (!path || strlen(path) >= sizeof(address.sun_path)) {
		fputs("standin-hca: " STANDIN_SOCKET " is not set\n", stderr);
		return -1;
	}
	strcpy(address.sun_path, path);
	if (connect(sock, (struct sockaddr *)&address, sizeof(address)) == 0)
		return sock;
	fprintf(stderr, "standin-hca: %s: %s\n", path, strerror(errno));
	return -1;
}

static int receive_answer(int sock)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct standin_reply reply;
	struct iovec iov = {&reply, sizeof(reply)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *cmsg;
	int fd = -1;

	if (recvmsg(sock, &message, MSG_CMSG_CLOEXEC) <= 0)
		return -1;
	cmsg = CMSG_FIRSTHDR(&message);
	if (cmsg)
		memcpy(&fd, CMSG_DATA(cmsg), sizeof(fd));
	return fd;
}

static int print_answer(int fd)
{
	char answer[4096];
	bool refused = false;
	ssize_t n;

	if (fd < 0) {
		fputs("standin-hca: the server does not answer\n", stderr);
		return 1;
	}
	for (bool first = true; (n = read(fd, answer, sizeof(answer))) > 0; first = false) {
		refused |= first && memmem(answer, (size_t)n, "\"error\"", 7);
		fwrite(answer, 1, (size_t)n, stdout);
	}
	putchar('\n');
	close(fd);
	return refused;
}

int hca_ask(int n_words, char **words)
{
	struct standin_request request = {.op = STANDIN_CONTROL};
	char line[256] = "";
	struct iovec iov[2] = {{&request, sizeof(request)}, {line, 0}};
	struct msghdr message = {.msg_iov = iov, .msg_iovlen = 2};
	int sock = connect_server(), status;

	for (int i = 0; i < n_words; i++) {
		size_t used = strlen(line);

		snprintf(line + used, sizeof(line) - used, "%s%s", i ? " " : "", words[i]);
	}
	iov[1].iov_len = strlen(line);
	if (sock < 0 || sendmsg(sock, &message, 0) < 0)
		return 1;
	status = print_answer(receive_answer(sock));
	close(sock);
	return status;
}
