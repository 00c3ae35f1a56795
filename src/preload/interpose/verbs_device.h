/* The verbs that open the scope of a request, as a program without sets has them. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* ibv_get_device_list(); with @ask, a lease is asked for beside. */
struct ibv_device **wv_list_plainly(int *n, bool ask);

/* ibv_open_device(). */
struct ibv_context *wv_open_plainly(struct ibv_device *device);
