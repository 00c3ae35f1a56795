/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a context stops being recorded or leased. Call all functions with the lock of the control
 * path held, unless they say otherwise.
 */
#pragma once

#include "preload/core/context.h"

/*
 * The last command descriptor of the context is closed. This is its end function (core/context.h).
 */
void wv_lease_end(struct wv_context *c);

/*
 * The program wants a context that differs from the lease's, and a ufile can have only one. So @fd
 * becomes the node that the program opened itself, and the lease ends.
 */
void wv_lease_give_back(struct wv_context *c, int fd);

/*
 * Everything that a child will use in the context of @fd exists: sends the report, and closes the
 * lease's other descriptors. Takes the lock.
 */
void wv_lease_complete(int fd);

/*
 * Sends the recordings and reports of all contexts, unless a thread holds the lock. Call with no
 * lock held.
 */
void wv_lease_settle_all(void);

/*
 * The same when the process ends. Makes no system call if everything is sent already, since a
 * sandbox may forbid it. May run in a signal handler.
 */
void wv_lease_settle_at_exit(void);
