/*
 * The RDMA devices that sets are made of, listed once by the zygote; its children find them so.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* The devices, ended by NULL; listed if they were not. NULL and errno. One caller at a time. */
struct ibv_device **wv_devices(void);

/* They have changed: listed anew next time. One caller at a time, and none of the above. */
void wv_devices_forget(void);

/*
 * A copy for a program, as ibv_get_device_list() gives it; NULL: there are none, or no memory. One
 * caller at a time.
 */
struct ibv_device **wv_devices_copy(int *n);

/* Ends such a copy; false: it is none. One caller at a time. */
bool wv_devices_end_copy(struct ibv_device **list);
