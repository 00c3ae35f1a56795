/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/devices/leasable.h"

#include "abi/abi.h"
#include "abi/drivers.h"
#include "daemon/devices/kernel_types.h"

#include <stdio.h>

bool wv_driver_is_leasable(uint32_t driver_id, const char *sysfs, bool trust_kernel, char *why,
			   size_t capacity, const char **remedy)
{
	const struct wv_driver_need *need = wv_driver_need(driver_id);
	char unknown[256];
	int err;

	*remedy = NULL;
	if (!wv_abi_driver(driver_id)) {
		snprintf(why, capacity, "the commands of its driver are not known");
		return false;
	}
	if (!need)
		return true;
	err = wv_kernel_has_member(sysfs, need->module, need->type, need->member, unknown,
				   sizeof(unknown));
	if (!err || (err < 0 && trust_kernel))
		return true;
	if (err == WV_NO_MEMBER) {
		snprintf(why, capacity, "%s does not %s: struct %s has no member %s", need->module,
			 need->purpose, need->type, need->member);
		*remedy = need->remedy;
	} else {
		snprintf(why, capacity, "not known whether %s does %s: %s", need->module,
			 need->purpose, unknown);
		*remedy = need->remedy_unknown;
	}
	return false;
}
