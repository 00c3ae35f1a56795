/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that the state of this library describes. A child of fork() takes the state over
 * (interpose/fork_handlers.c). Other children do not: those of _Fork(), clone() and vfork(), and of
 * a fork in the middle of a change (core/guard.h). The library leaves them alone; what they do
 * reaches the kernel as it is.
 */
#pragma once

#include <stdbool.h>

/* This process takes the state over. */
void wv_process_adopt(void);

/*
 * Whether this process has taken the state over. Makes no system call in a program without RDMA,
 * and elsewhere only if the kernel is older than 4.14 or has no memory for the mark. Takes a child
 * that shares its parent's memory, as one of vfork() does, for its parent.
 */
bool wv_process_is_adopted(void);

/* The same, right in such a child too; by a system call, if any process has taken it over. */
bool wv_process_is_mine(void);
