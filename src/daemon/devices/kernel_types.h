/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks for types of the running kernel: the kernel describes its own and its modules' data types in
 * BTF files, which everybody may read.
 */
#pragma once

#include <stddef.h>

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
