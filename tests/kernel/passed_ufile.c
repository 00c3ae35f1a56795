/* SPDX-License-Identifier: BSD-2-Clause */
/* A ufile from another process takes every ioctl(), but refuses write(). */
#include "kernel.h"

#include <sys/socket.h>
#include <sys/wait.h>

/* The legacy write() of a command that changes nothing. */
static int write_query(int ufile)
{
	struct ib_uverbs_query_device_resp answer;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_query_device in;
	} command = {
	    .hdr = {.command = IB_USER_VERBS_CMD_QUERY_DEVICE,
		    .in_words = sizeof(command) / 4,
		    .out_words = sizeof(answer) / 4},
	    .in = {.response = (uintptr_t)&answer},
	};

	return write(ufile, &command, sizeof(command)) < 0 ? errno : 0;
}

int main(void)
{
	uint32_t pd, cq, qp;
	int socks[2], ufile;
	pid_t opener;

	close(open_context()); /* skips here, and learns the driver for both */
	EXPECT(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks));
	opener = fork();
	EXPECT(opener >= 0);
	if (!opener) {
		close(socks[0]);
		ufile = open_context();
		EXPECT(write_query(ufile) == 0);
		send_fd(socks[1], ufile);
		/* The other process uses it first while the opener lives. */
		_exit(read(socks[1], &pd, 1) == 1 ? 0 : 1);
	}
	ufile = receive_fd(socks[0]);
	EXPECT(alloc_pd(ufile, &pd) == 0);
	EXPECT(create_cq(ufile, 1, &cq, NULL) == 0);
	EXPECT(create_qp(ufile, pd, cq, &qp) == 0);
	EXPECT(modify_qp(ufile, qp, INIT, 7) == 0);
	EXPECT(write_query(ufile) == EACCES);
	EXPECT(write(socks[0], "x", 1) == 1);
	EXPECT(waitpid(opener, NULL, 0) == opener);
	EXPECT(write_query(ufile) == EACCES);
	EXPECT(destroy_qp(ufile, qp) == 0);
	return 0;
}
