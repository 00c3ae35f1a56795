/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a container gets: the nodes of RDMA devices, and the hook that adds the rest if it fits. As
 * JSON for runtimes.
 */
#pragma once

#include <jansson.h>

/*
 * A specification of the Container Device Interface
 * (github.com/cncf-tags/container-device-interface): warmverbs/rdma=all, and a device for each RDMA
 * device of the node by its name. @hook: the path of this program. NULL: the node has no device
 * with a node in /dev/infiniband.
 */
json_t *wv_container_cdi(const char *hook);

/*
 * Adds all devices and the hook to @config, a config.json of the OCI runtime specification, unless
 * they are there. Returns 0, -ENODEV: as above, or -EINVAL: @config is no such file.
 */
int wv_container_add(json_t *config, const char *hook);
