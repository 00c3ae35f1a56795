/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread is doing while it runs code of libibverbs or of a provider. That code calls
 * functions of this library whose arguments cannot tell them (open(), mmap(), ioctl(), an
 * allocator), so it is kept in a variable of the thread.
 *
 * Only those functions read the variable; they pass it on as an argument.
 */
#pragma once

#include <rdma/rdma_user_ioctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wv_fd_owner;
struct wv_ring;

/* For a thread that makes objects ahead, as a rule for another process. */
struct wv_maker {
	const struct wv_fd_owner *owner; /* of the contexts that the thread opens */
	uint32_t open_number;		 /* which open of a device it will be to its user */
	bool is_user;			 /* this process itself will use them */
	/*
	 * The thread made a shared mapping of @bytes at @at: of the ufile @fd, or of queue memory
	 * (-1).
	 */
	void (*mapped)(void *data, void *at, size_t bytes, int fd);
	void (*opened)(void *data, int fd); /* a command of the thread made the descriptor @fd */
	void *data;
};

struct wv_scope {
	/*
	 * Inside ibv_open_device(). There the provider queries ports only for attributes that never
	 * change, so a lease may answer. Later queries come from the program itself.
	 */
	bool opening;
	const struct wv_maker *maker; /* NULL: the program makes objects for itself */
	/* This library makes objects for the program that the program has not asked for yet. */
	bool aside;
	/*
	 * enum wv_why: why a command is needed that a pair could have spared; or WV_WHY_PASS: a PD
	 * that is allocated is librdmacm's; or 0
	 */
	uint16_t why;
	bool alloc_mr; /* wv_alloc_mr() registers memory that a lease could have. */
	bool data;     /* The provider allocates or frees memory for data, not for a queue. */
	/* The provider is about to map this ring (core/provider.h). NULL: none that is wanted. */
	struct wv_ring *ring;
	/*
	 * Answers commands of this thread in place of the kernel; returns what ioctl() would. NULL:
	 * the kernel answers.
	 */
	int (*answer)(struct ib_uverbs_ioctl_hdr *cmd);
};

extern __thread struct wv_scope wv_scope __attribute__((tls_model("initial-exec")));
