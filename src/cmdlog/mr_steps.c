/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/mr_steps.h"

#include <infiniband/verbs.h>

/*
 * What memory may be registered for that another process will use. Paging on demand would read the
 * page table of the process that registers.
 */
#define LEASED_ACCESS                                                                              \
	((uint32_t)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |    \
		    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_RELAXED_ORDERING))

bool wv_access_may_be_leased(uint32_t access)
{
	return !(access & ~LEASED_ACCESS);
}

const struct ib_uverbs_reg_mr *wv_step_registration(struct wv_step *step)
{
	struct wv_attr *in =
	    step->class_ == WV_REGISTER ? wv_step_attr(step, UVERBS_ATTR_CORE_IN) : NULL;

	if (!in || in->len < sizeof(struct ib_uverbs_reg_mr))
		return NULL;
	return (const void *)wv_attr_bytes(step, in);
}

const char *wv_registration_obstacle(struct wv_step *step, uint64_t size)
{
	const struct ib_uverbs_reg_mr *mr = wv_step_registration(step);

	if (step->error)
		return "a registration that failed";
	if (mr->start != mr->hca_va)
		return "a registration under another address than the program's";
	if (!mr->length || mr->length > size)
		return "a registration that is longer than its memory";
	return wv_access_may_be_leased(mr->access_flags)
		   ? NULL
		   : "memory for an access that is not prepared";
}

uint64_t wv_lease_place_wanted(struct wv_cmdlog *lease)
{
	wv_each_step (lease, step) {
		const struct ib_uverbs_reg_mr *mr = wv_step_registration(step);

		if (mr)
			return mr->hca_va - mr->start;
	}
	return 0;
}

bool wv_lease_registers(struct wv_cmdlog *lease, uint64_t start)
{
	wv_each_step (lease, step) {
		const struct ib_uverbs_reg_mr *mr = wv_step_registration(step);

		if (mr && mr->start == start)
			return true;
	}
	return false;
}
