/*
 * Listing and opening devices by libibverbs' own verbs, with a lease asked for and collected on the
 * way. Call with no lock held, and prepared (interpose/prepare.h).
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

/* ibv_get_device_list(); with @ask, a lease is asked for beside, if it is clear of which device. */
struct ibv_device **wv_list_devices(int *n, bool ask);

/* ibv_open_device(). */
struct ibv_context *wv_open_device(struct ibv_device *device);

/* A provider's own way to open @device: @open, with @arg. */
typedef struct ibv_context *(*wv_open_fn)(struct ibv_device *device, void *arg);
struct ibv_context *wv_open_device_by(wv_open_fn open, struct ibv_device *device, void *arg);
