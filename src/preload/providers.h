/* SPDX-License-Identifier: BSD-2-Clause */
/* The modules of all providers. */
#pragma once

#include "preload/core/provider.h"

/* The module of the driver. NULL: its provider needs nothing special. */
const struct wv_provider *wv_provider_find(uint32_t driver_id);

/*
 * Whether environment variables choose the memory of queues (core/provider.h), for the provider in
 * the file of this name, as rdma-core gives it.
 */
bool wv_provider_queues_are_chosen(const char *file);

/* Whether the file at @path should be unreadable for providers while they open a device. */
bool wv_provider_hides_file(const char *path);

/*
 * The command @create has made a queue pair, and its provider is about to map the queues: notes in
 * @ring where it will map the receives that are lost in RESET, none if they are not. mmap() fills
 * in the rest while wv_scope.ring is @ring.
 */
void wv_provider_find_ring(const struct ib_uverbs_ioctl_hdr *create, struct wv_ring *ring);

/* What puts back the receives of the driver's queue pairs. NULL: they are not lost. */
const struct wv_receives *wv_provider_receives(uint32_t driver_id);

/* In a forked child, with the lock of the control path held. */
void wv_provider_forked(void);

/* The first library of direct verbs for which @fits says so of @text; NULL: none. */
const struct wv_library *wv_provider_library(bool (*fits)(const struct wv_library *, const char *),
					     const char *text);
