/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/adopt_memory.h"

#include "cmdlog/mr_steps.h"

#include <infiniband/verbs.h>

void *wv_lease_claim_memory(struct wv_lease *lease, size_t bytes)
{
	if (!lease->memory)
		return NULL;
	wv_each_step (lease->cmdlog, step) {
		if (step->class_ != WV_MEMORY || step->state != WV_FREE ||
		    wv_step_memory_size(step) != bytes ||
		    wv_lease_registers(lease->cmdlog, (uintptr_t)lease->memory + step->new_number))
			continue;
		step->state = WV_TAKEN;
		return lease->memory + step->new_number;
	}
	return NULL;
}

static struct wv_step *memory_at(struct wv_lease *lease, uint64_t start)
{
	wv_each_step (lease->cmdlog, step)
		if (step->class_ == WV_MEMORY &&
		    (uintptr_t)lease->memory + step->new_number == start)
			return step;
	return NULL;
}

/* Takes the memory at @start. False: it is taken already. */
static bool take(struct wv_lease *lease, uint64_t start)
{
	struct wv_step *memory = memory_at(lease, start);

	if (!memory || memory->state != WV_FREE)
		return false;
	memory->state = WV_TAKEN;
	return true;
}

/* libibverbs takes optional flags out for kernels that do not know them. */
static bool is_for(const struct ib_uverbs_reg_mr *mr, int access)
{
	return !((mr->access_flags ^ (uint32_t)access) & ~(uint32_t)IBV_ACCESS_OPTIONAL_RANGE);
}

void *wv_lease_claim_registered(struct wv_lease *lease, size_t bytes, int access)
{
	if (!lease->memory)
		return NULL;
	wv_each_step (lease->cmdlog, step) {
		const struct ib_uverbs_reg_mr *mr = wv_step_registration(step);

		if (mr && step->state == WV_FREE && !step->error && mr->length == bytes &&
		    is_for(mr, access) && take(lease, mr->start))
			return (void *)(uintptr_t)mr->start;
	}
	return NULL;
}

void wv_lease_free_memory(struct wv_lease *lease, const void *at)
{
	struct wv_step *memory = lease->memory ? memory_at(lease, (uintptr_t)at) : NULL;

	if (memory)
		memory->state = WV_DEAD;
}

bool wv_lease_is_data(struct wv_lease *lease, struct wv_step *memory)
{
	return memory->class_ == WV_MEMORY && memory->state == WV_TAKEN &&
	       wv_lease_registers(lease->cmdlog, (uintptr_t)lease->memory + memory->new_number);
}

void wv_lease_kill_registrations(struct wv_lease *lease)
{
	wv_each_step (lease->cmdlog, step)
		if (step->class_ == WV_REGISTER)
			step->state = WV_DEAD;
}
