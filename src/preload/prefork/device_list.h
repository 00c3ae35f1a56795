/*
 * The RDMA devices that sets are made of, listed once by the zygote; its children find them so.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* The devices, ended by NULL; listed if they were not. NULL and errno. One caller at a time. */
struct ibv_device **wv_device_list(void);

/* They have changed: listed anew next time. One caller at a time, and none of the above. */
void wv_device_list_forget(void);

#define WV_DEVICES_COPIES 8 /* at a time; programs hold one */
#define WV_DEVICES_MAX	  16

/* Copies of the list that a program has; zero at first, and guarded by the caller. */
struct wv_device_copies {
	struct ibv_device **copies[WV_DEVICES_COPIES];
	struct ibv_device *first[WV_DEVICES_MAX + 1]; /* memory of the first, without malloc() */
};

/*
 * A copy for a program, as ibv_get_device_list() gives it; NULL: there are none, no memory, or the
 * program has too many.
 */
struct ibv_device **wv_device_list_copy(struct wv_device_copies *to, int *n);

/* Ends such a copy; false: it is none. */
bool wv_device_list_end_copy(struct wv_device_copies *of, struct ibv_device **list);
