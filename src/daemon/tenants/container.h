/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which container a process is in, by its cgroup.
 *
 * A process may make cgroups below the one that it was put into, and must not become another tenant
 * by that. So the path is cut where others may be given the right to go on: after a user's slice,
 * so that each login of a user is no tenant of its own; after the first unit of systemd that is no
 * slice, but after a job of Slurm (cgroup.conf(5)), whose jobs are all in one unit; or after the
 * first name with a runtime's id (32 hexadecimal digits or more) in it; else after its first name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How much of @path, a cgroup from the root of the hierarchy, names the container; in bytes. */
size_t wv_container_path(const char *path);

/* The number of the container that the file @path, as /proc/PID/cgroup is, tells of; or 0. */
uint64_t wv_container_in(const char *path);

/*
 * The number of the container that process @pid is in; 0 if that is not known. @peer is the socket
 * that the process connected, which tells (from Linux 6.5 on) whether @pid is still that process.
 * On older kernels a process that ended at once, and whose number was given to another, is taken
 * for that other one. Reads /proc, so it may wait for the kernel.
 */
uint64_t wv_container_of(int peer, pid_t pid);
