/* SPDX-License-Identifier: BSD-2-Clause */
/* Words about the numbers of descriptors. */
#include "words.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Opens files until all numbers up to "n" are taken. */
int do_descriptors(struct program *p, struct options o)
{
	long n = option(o, "n", 0);
	int fd;

	(void)p;
	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	} while (fd >= 0 && fd < n);
	return fd < 0 ? errno : 0;
}

/*
 * The process may have no descriptors from "n" on from now on, or with "addresses" no more than "n"
 * bytes of them, or with "tasks" its user no more than "n" threads; it keeps what it has.
 */
int do_limit(struct program *p, struct options o)
{
	int resource = has(o, "addresses") ? RLIMIT_AS
		       : has(o, "tasks")   ? RLIMIT_NPROC
					   : RLIMIT_NOFILE;
	struct rlimit limit;

	(void)p;
	if (getrlimit(resource, &limit))
		return errno;
	limit.rlim_cur = (rlim_t)option(o, "n", 0);
	if (has(o, "prlimit"))
		return prlimit(0, resource, &limit, NULL) ? errno : 0;
	return setrlimit(resource, &limit) ? errno : 0;
}

/* Prints into a file from now on. */
int do_stdout(struct program *p, struct options o)
{
	(void)p;
	return freopen(o.text, "w", stdout) ? 0 : errno;
}

struct ring {
	int fd;
	uint8_t *sq, *cq;
	struct io_uring_sqe *sqe;
	struct io_uring_params params;
};

static int ring_open(struct ring *r)
{
	size_t bytes;

	r->fd = (int)syscall(SYS_io_uring_setup, 1, &r->params);
	if (r->fd < 0)
		return errno;
	bytes = r->params.sq_off.array + r->params.sq_entries * sizeof(uint32_t);
	r->sq = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
	r->sqe =
	    mmap(NULL, sizeof(*r->sqe), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQES);
	return r->sq == MAP_FAILED || r->sqe == MAP_FAILED ? errno : 0;
}

/*
 * One at a time. The result, which is in the completion queue, is not looked at: close() as such is
 * tested by others.
 */
static int ring_close(struct ring *r, int fd)
{
	uint32_t *tail = (uint32_t *)(r->sq + r->params.sq_off.tail);
	uint32_t *array = (uint32_t *)(r->sq + r->params.sq_off.array);

	*r->sqe = (struct io_uring_sqe){.opcode = IORING_OP_CLOSE, .fd = fd};
	array[0] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 ? errno
											     : 0;
}

static int close_by_ring(unsigned int first, unsigned int last)
{
	struct ring ring = {.fd = -1};
	int error = ring_open(&ring);

	for (unsigned int fd = first; fd <= last && !error; fd++)
		if ((int)fd != ring.fd)
			error = ring_close(&ring, (int)fd);
	close(ring.fd);
	return error;
}

/* Closes all descriptors but the standard ones, unnoticed by libc. "ring": by io_uring. */
int do_raw_close(struct program *p, struct options o)
{
	unsigned int first = STDERR_FILENO + 1;

	(void)p;
	if (has(o, "ring"))
		return close_by_ring(first, 255);
	return syscall(SYS_close_range, first, ~0u, 0) ? errno : 0;
}

#define MAX_PAIRS 32

static int pairs[MAX_PAIRS][2];

/* How much has arrived that nobody sent. */
static size_t arrived(void)
{
	char bytes[4096];
	size_t sum = 0;
	ssize_t n;

	for (int i = 0; i < MAX_PAIRS; i++)
		for (int side = 0; side < 2; side++)
			while ((n = recv(pairs[i][side], bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
				sum += (size_t)n;
	return sum;
}

/* Has many sockets of its own; with "say" prints whether they are as they were. */
int do_pairs(struct program *p, struct options o)
{
	int closed = 0;

	(void)p;
	for (int i = 0; i < MAX_PAIRS && !has(o, "say"); i++)
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pairs[i]))
			return errno;
	for (int i = 0; i < MAX_PAIRS && has(o, "say"); i++)
		closed += fcntl(pairs[i][0], F_GETFD) < 0 || fcntl(pairs[i][1], F_GETFD) < 0;
	if (has(o, "say"))
		say(" %d closed, %zu bytes", closed, arrived());
	return 0;
}
