/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The RDMA devices that sets are made of. The zygote lists them once, and its children inherit the
 * list.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The devices, with NULL at the end; lists them if there is no list. NULL and errno. Not
 * thread-safe.
 */
struct ibv_device **wv_device_list(void);

/* The devices have changed: drops the list. Not thread-safe. */
void wv_device_list_forget(void);

/*
 * In a forked child: the list is what its copies are of, and is never freed, since the program may
 * hold some for ever. The sets of the child itself are made of a new list.
 */
void wv_device_list_forked(void);

#define WV_DEVICES_COPIES 8 /* at a time; most programs hold one */
#define WV_DEVICES_MAX	  16

/* The copies of the list that a program holds. Zero at first; the caller guards it. */
struct wv_device_copies {
	uint32_t n;
	struct ibv_device **copies[WV_DEVICES_COPIES];
	struct ibv_device *first[WV_DEVICES_MAX + 1]; /* of the first copy, without malloc() */
};

/*
 * A copy for the program, as of ibv_get_device_list(). NULL: there is no list, no memory, or the
 * program holds too many copies.
 */
struct ibv_device **wv_device_list_copy(struct wv_device_copies *to, int *n);

/* Frees such a copy. False: @list is not one. */
bool wv_device_list_end_copy(struct wv_device_copies *of, struct ibv_device **list);
