/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider of soft-RoCE rings the doorbell by write(). ioctl() can ring it too, also in a
 * process that has not opened the device.
 */
#include "traffic.h"

#include <dlfcn.h>
#include <sys/wait.h>

static bool by_ioctl;
static int rung;

/* What the provider calls. */
__attribute__((visibility("default"))) ssize_t write(int fd, const void *buffer, size_t bytes)
{
	ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
	const struct ib_uverbs_cmd_hdr *hdr = buffer;
	struct ib_uverbs_post_send_resp answer;
	int err;

	if (bytes < sizeof(*hdr) + 8 || hdr->command != IB_USER_VERBS_CMD_POST_SEND || !by_ioctl)
		return real(fd, buffer, bytes);
	rung++;
	err =
	    invoke_write(fd, hdr->command, hdr + 1, bytes - sizeof(*hdr), &answer, sizeof(answer));
	errno = err;
	return err ? -1 : (ssize_t)bytes;
}

static int send_in_child(struct traffic *t)
{
	int status;
	pid_t child = fork();

	EXPECT(child >= 0);
	if (!child)
		_exit(traffic_send(t));
	EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

int main(void)
{
	struct traffic t;

	close(open_context());
	need_rxe();
	t = traffic_new();
	by_ioctl = true;
	EXPECT(traffic_send(&t) == 0 && rung > 0);
	traffic_check(&t);
	EXPECT(send_in_child(&t) == 0);
	by_ioctl = false;
	EXPECT(send_in_child(&t) == EACCES);
	return 0;
}
