/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hook that a runtime runs when it has made the root of a container, and before a program runs
 * in it (OCI runtime specification, createRuntime). A createContainer hook would be in the mount
 * namespace of the container already, but also in its user namespace. Root of that namespace may
 * not read the bundle, and crun 1.8 starts no such hook and no container there.
 */
#pragma once

#include <stdio.h>

/*
 * Reads the container's state from @in; @library is the one to preload. Mounts into the container
 * what a warm start needs, if all of it can be had, and says in the system's log why not. Returns 0
 * in any case: a container that is not served must start all the same.
 */
int wv_container_hook(FILE *in, const char *library);
