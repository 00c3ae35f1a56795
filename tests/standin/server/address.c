/* SPDX-License-Identifier: BSD-2-Clause */
#include "address.h"

#include <errno.h>
#include <string.h>

int hca_check_address(const struct ibv_ah_attr *attr, bool global)
{
	static const uint8_t none[16];
	uint8_t own[16];

	if (attr->port_num != HCA_PORT)
		return -EINVAL;
	if (!attr->is_global)
		return global ? -EINVAL : 0;
	if (attr->grh.sgid_index >= HCA_N_GIDS)
		return -EINVAL;
	hca_gid(attr->grh.sgid_index, own);
	if (!memcmp(own, none, sizeof(own)))
		return -EINVAL;
	return global && !memcmp(&attr->grh.dgid, none, sizeof(none)) ? -EINVAL : 0;
}
