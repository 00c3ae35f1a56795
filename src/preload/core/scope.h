/*
 * What a thread is in the middle of while it runs code of libibverbs or of a provider. That code
 * calls back into this library by names that carry no argument of ours (open(), mmap(), ioctl(), an
 * allocator), so the thread has to remember it.
 *
 * Only the functions that are called back read it; below them it is an argument.
 */
#pragma once

#include <rdma/rdma_user_ioctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wv_fd_owner;

/* On whose behalf a thread makes objects ahead of the process that is to have them. */
struct wv_maker {
	const struct wv_fd_owner *owner; /* of the contexts that it opens */
	uint32_t open_number;		 /* which open of an RDMA device it will be to its user */
	/* A shared mapping of @bytes at @at has come: of the ufile @fd, or of queue memory (-1). */
	void (*mapped)(void *data, void *at, size_t bytes, int fd);
	void *data;
};

struct wv_scope {
	/*
	 * Inside ibv_open_device(). The provider asks there for the state of ports only to learn
	 * what does not change of it, so that a lease may answer; later the program asks for
	 * itself.
	 */
	bool opening;
	const struct wv_maker *maker; /* NULL: objects are made for the program itself */
	/* Answers commands of this thread in the kernel's stead, as ioctl() does; NULL: nobody
	 * does. */
	int (*answer)(struct ib_uverbs_ioctl_hdr *cmd);
};

extern __thread struct wv_scope wv_scope __attribute__((tls_model("initial-exec")));
