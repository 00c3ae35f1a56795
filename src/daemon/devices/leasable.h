/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides whether leases can be made of the devices of a driver, also by types of the running
 * kernel: the kernel describes its own and its modules' data types in BTF files, which everybody
 * may read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wv_kernel_type {
	WV_NO_MEMBER = 1, /* the kernel's type does not have the member */
};

/*
 * Whether the structure @type of the kernel module @module, which may also be built into the
 * kernel, has a member @member. @sysfs is the path of sysfs. 0 if it has; WV_NO_MEMBER; or -errno
 * if that is not known, with the reason in @why, of @capacity bytes. Reading the types takes some
 * milliseconds and, while it lasts, some MiB of memory.
 */
int wv_kernel_has_member(const char *sysfs, const char *module, const char *type,
			 const char *member, char *why, size_t capacity);

/*
 * Whether warmverbs understands all that the driver says, and the kernel lets a process use what
 * another one made in the same ufile. The second is asked of the kernel below @sysfs; where the
 * kernel does not tell, @trust_kernel decides. If false, @why, of @capacity bytes, gets the reason,
 * and *@remedy what the administrator can do, or NULL if that is nothing.
 */
bool wv_driver_is_leasable(uint32_t driver_id, const char *sysfs, bool trust_kernel, char *why,
			   size_t capacity, const char **remedy);
