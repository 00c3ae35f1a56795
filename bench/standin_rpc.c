/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time that the stand-in itself adds to each system call that it emulates, since its kernel is
 * another process: a refused ioctl, opening and closing the device, mapping a page of it.
 */
#include "loopback.h"
#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define NODE "/dev/infiniband/uverbs0"
/* The provider maps this page at each open (rdma-core, mlx5.c): the adapter's clock. */
#define CLOCK_OFFSET ((off_t)(5 << 8) * 4096)

static int open_node(void)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		give_up(errno, "%s; run this under tests/standin/run", NODE);
	return fd;
}

/* Before GET_CONTEXT, every command that creates an object is refused. */
static void ask(int fd)
{
	struct ib_uverbs_ioctl_hdr cmd = {.length = sizeof(cmd), .object_id = UVERBS_OBJECT_PD};

	if (ioctl(fd, RDMA_VERBS_IOCTL, &cmd) == 0)
		give_up(0, "the stand-in carried out an empty command");
}

static uint64_t measure_ioctl(size_t n, uint64_t *values)
{
	int fd = open_node();

	for (size_t i = 0; i < n; i++) {
		uint64_t start = clock_ns();

		ask(fd);
		values[i] = clock_ns() - start;
	}
	close(fd);
	return median(values, n);
}

static uint64_t measure_open(size_t n, uint64_t *values)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t start = clock_ns();

		close(open_node());
		values[i] = clock_ns() - start;
	}
	return median(values, n);
}

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = made(ibv_get_device_list(NULL), "ibv_get_device_list");

	if (!list[0])
		give_up(0, "no RDMA device here; run this under tests/standin/run");
	return made(ibv_open_device(list[0]), "ibv_open_device");
}

static uint64_t measure_mmap(size_t n, uint64_t *values)
{
	struct ibv_context *context = open_device();

	for (size_t i = 0; i < n; i++) {
		uint64_t start = clock_ns();
		void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, context->cmd_fd, CLOCK_OFFSET);

		values[i] = clock_ns() - start;
		if (page == MAP_FAILED)
			give_up(errno, "mapping the clock");
		munmap(page, 4096);
	}
	ibv_close_device(context);
	return median(values, n);
}

int main(int argc, char **argv)
{
	size_t n = argc == 2 ? number(argv[1], 1) : 0;
	uint64_t *values;

	if (!n)
		give_up(0, "usage: standin_rpc TIMES");
	values = made(calloc(n, sizeof(*values)), "memory");
	printf("ioctl %lu\n", (unsigned long)measure_ioctl(n, values));
	printf("open_close %lu\n", (unsigned long)measure_open(n, values));
	printf("mmap %lu\n", (unsigned long)measure_mmap(n, values));
	free(values);
	return fflush(stdout) ? 1 : 0;
}
