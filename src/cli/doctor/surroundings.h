/* SPDX-License-Identifier: BSD-2-Clause */
/* Containers. */
#pragma once

#include <stdbool.h>

/*
 * What containers need, and what to look at if they have that: their hook says why it did not
 * serve.
 */
#define WV_CONTAINER_REMEDY                                                                        \
	"start the container with --device warmverbs/rdma=all; if it was, 'journalctl -t "         \
	"warmverbs' on the node says why it has plain verbs"

/*
 * Whether this process is in a container, as far as that shows, or in a user namespace. @root: "",
 * or a folder that stands for "/".
 */
bool wv_is_contained(const char *root);
