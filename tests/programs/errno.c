/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets errno to a value that is no error, and prints it after calls that succeed. */
#include "kit.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>

#define SENTINEL 4321

#define KEEPS(call)                                                                                \
	({                                                                                         \
		errno = SENTINEL;                                                                  \
		__typeof__(call) result_ = (call);                                                 \
		int after_ = errno;                                                                \
		printf("%s: %s\n", #call, after_ == SENTINEL ? "kept" : strerrorname_np(after_));  \
		result_;                                                                           \
	})

static void files(int fd)
{
	int copy = KEEPS(dup(fd));
	int null = KEEPS(open("/dev/null", O_RDWR | O_CLOEXEC));
	int available;
	char byte;

	KEEPS(dup2(null, copy));
	KEEPS(dup3(fd, copy, O_CLOEXEC));
	KEEPS(close(copy));
	copy = KEEPS(fcntl(fd, F_DUPFD, 0));
	KEEPS(close(copy));
	copy = KEEPS(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	KEEPS(fcntl(copy, F_GETFD));
	KEEPS(close_range((unsigned int)copy, (unsigned int)copy, 0));
	KEEPS(write(null, "x", 1));
	KEEPS(read(null, &byte, 1));
	KEEPS(openat(AT_FDCWD, "/dev/null", O_RDONLY));
	KEEPS(ioctl(0, FIONREAD, &available));
	KEEPS(close(null));
}

static void verbs(struct ibv_device *device)
{
	struct ibv_context *context = KEEPS(ibv_open_device(device));
	struct ibv_comp_channel *channel = KEEPS(ibv_create_comp_channel(context));
	struct ibv_pd *pd = KEEPS(ibv_alloc_pd(context));
	struct ibv_cq *cq = KEEPS(ibv_create_cq(context, 16, NULL, channel, 0));
	struct ibv_qp_init_attr attr = {
	    .send_cq = cq,
	    .recv_cq = cq,
	    .cap = {8, 8, 1, 1, 0},
	    .qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = KEEPS(ibv_create_qp(pd, &attr));
	struct memory memory = memory_new(pd);
	struct ibv_cq *event_cq;
	void *cookie;

	EXPECT(context && channel && pd && cq && qp);
	KEEPS(to_init(qp, 7));
	KEEPS(to_rtr(qp, qp->qp_num));
	KEEPS(to_rts(qp));
	KEEPS(ibv_req_notify_cq(cq, 0));
	post_receive(qp, memory);
	KEEPS(post_text(qp, memory, "errno"));
	KEEPS(ibv_get_cq_event(channel, &event_cq, &cookie));
	ibv_ack_cq_events(cq, 1);
	await_completions(cq, 2);
	files(context->cmd_fd);
	KEEPS(ibv_destroy_qp(qp));
	KEEPS(ibv_destroy_cq(cq));
	KEEPS(ibv_destroy_comp_channel(channel));
	memory_free(memory);
	KEEPS(ibv_dealloc_pd(pd));
	KEEPS(ibv_close_device(context));
}

int main(void)
{
	struct ibv_device **list = MADE(ibv_get_device_list(NULL));

	verbs(list[0]);
	KEEPS((ibv_free_device_list(list), 0));
	return 0;
}
