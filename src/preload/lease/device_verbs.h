/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists and opens devices with the genuine verbs of libibverbs, and requests and uses a lease
 * meanwhile. Call with no lock held, after wv_prepare() (interpose/prepare.h).
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* ibv_get_device_list(). With @ask, also requests a lease if the node has only one device. */
struct ibv_device **wv_list_devices(int *n, bool ask);

/* ibv_open_device(). */
struct ibv_context *wv_open_device(struct ibv_device *device);

/*
 * Around a provider's own function that opens a device, and @verbs, which it has returned. Returns
 * @verbs, and keeps errno.
 */
void wv_open_begin(void);
struct ibv_context *wv_open_end(struct ibv_context *verbs);
