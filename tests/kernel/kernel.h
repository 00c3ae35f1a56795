/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the kernel share: raw uverbs commands, without a verbs library. Each test
 * checks one fact that warmverbs relies on; where that is impossible, it skips and prints the
 * reason.
 */
#pragma once

#include "support/check.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_rxe.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* QP states and types of the verbs, which the kernel's headers do not name. */
enum { RESET, INIT };
enum { STATE = 1 << 0, ACCESS = 1 << 3, PKEY = 1 << 4, PORT = 1 << 5 };

/* Says why and exits with 77. */
__attribute__((noreturn, format(printf, 1, 2))) void skip(const char *format, ...);

/* The first device's node; skips if there is none. */
const char *node_path(void);
int open_node(void);
/* The name of its device, "rxe0". */
const char *device_name(void);
/* Skips unless the device of the ufile, which has a context, is soft-RoCE. */
void need_rxe(void);

/* 0 or an errno value, and what the kernel answered. */
int get_context(int ufile);
int alloc_pd(int ufile, uint32_t *handle);
int dealloc_pd(int ufile, uint32_t handle);
int create_channel(int ufile, int *fd);
/* @queue receives where rxe's queue can be mapped. */
int create_cq(int ufile, uint64_t user_handle, uint32_t *handle, struct mminfo *queue);
int create_qp(int ufile, uint32_t pd, uint32_t cq, uint32_t *handle);
int destroy_qp(int ufile, uint32_t handle);
int modify_qp(int ufile, uint32_t handle, int state, uint32_t access);
int query_qp(int ufile, uint32_t handle, struct ib_uverbs_query_qp_resp *answer);
/* A legacy command as an ioctl; without buffers if they are NULL. */
int invoke_write(int ufile, uint32_t command, const void *in, size_t in_bytes, void *out,
		 size_t out_bytes);

/* A ufile with a context. */
int open_context(void);

/* Passing a descriptor over a socket. */
void send_fd(int sock, int fd);
int receive_fd(int sock);

/* How many queue pairs of user programs the device has; skips if rdma(8) is not installed. */
int count_qps(void);
/* Waits until it is @n; whether it was. */
bool await_qps(int n);
