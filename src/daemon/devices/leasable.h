/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides whether leases can be made of the devices of a driver.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether warmverbs understands all that the driver says, and the kernel lets a process use what
 * another one made in the same ufile. The second is asked of the kernel below @sysfs; where the
 * kernel does not tell, @trust_kernel decides. If false, @why, of @capacity bytes, gets the reason,
 * and *@remedy what the administrator can do, or NULL if that is nothing.
 */
bool wv_driver_is_leasable(uint32_t driver_id, const char *sysfs, bool trust_kernel, char *why,
			   size_t capacity, const char **remedy);
