/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects live as long as any descriptor of their ufile: a copy, or one in a message that is not
 * yet received. When the message is dropped, its descriptor is closed.
 */
#include "kernel.h"

#include <sys/socket.h>

static int with_qp(void)
{
	int ufile = open_context();
	uint32_t pd, cq, qp;

	EXPECT(alloc_pd(ufile, &pd) == 0);
	EXPECT(create_cq(ufile, 1, &cq, NULL) == 0);
	EXPECT(create_qp(ufile, pd, cq, &qp) == 0);
	return ufile;
}

int main(void)
{
	int base, ufile, copy, channel, socks[2];

	close(open_context());
	base = count_qps();

	ufile = with_qp();
	EXPECT(count_qps() == base + 1);
	copy = dup(ufile);
	close(ufile);
	EXPECT(count_qps() == base + 1);
	close(copy);
	EXPECT(await_qps(base));

	/* A descriptor of events keeps the ufile, but not its objects. */
	ufile = with_qp();
	EXPECT(create_channel(ufile, &channel) == 0);
	close(ufile);
	EXPECT(await_qps(base));
	close(channel);

	EXPECT(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks));
	ufile = with_qp();
	send_fd(socks[0], ufile);
	close(ufile);
	EXPECT(count_qps() == base + 1);
	ufile = receive_fd(socks[1]);
	send_fd(socks[0], ufile);
	close(ufile);
	EXPECT(count_qps() == base + 1);
	close(socks[0]);
	EXPECT(count_qps() == base + 1);
	close(socks[1]);
	EXPECT(await_qps(base));
	return 0;
}
