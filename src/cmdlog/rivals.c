/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/rivals.h"

#include "cmdlog/command.h"

/* An address that a command names. */
struct place {
	uint64_t address;
	enum wv_kind kind;	/* WV_BUFFER or WV_DOORBELL */
	struct wv_step *memory; /* that it lies in */
	const struct wv_lease *lease;
};

static struct wv_step *memory_at(const struct wv_lease *lease, uint64_t address)
{
	uint64_t offset = address - (uintptr_t)lease->memory;

	wv_each_step (lease->cmdlog, step)
		if (step->class_ == WV_MEMORY &&
		    offset - step->new_number < wv_step_memory_size(step))
			return step;
	return NULL;
}

/* Doorbell records share a page; a queue shares its memory with nothing. */
static int collides(void *data, const struct wv_field *field, uint8_t *payload)
{
	const struct place *place = data;
	uint64_t address = wv_field_get(field, payload);

	if (!wv_is_memory(field) || !address)
		return 0;
	if (address == place->address)
		return 1;
	return (field->kind == WV_BUFFER || place->kind == WV_BUFFER) &&
	       memory_at(place->lease, address) == place->memory;
}

static struct wv_step *rival_at(struct wv_lease *lease, const struct wv_field *field,
				uint64_t address)
{
	struct place place = {
	    .address = address,
	    .kind = field->kind,
	    .memory = memory_at(lease, address),
	    .lease = lease,
	};
	struct wv_step *last = NULL;

	if (!place.memory)
		return NULL;
	wv_each_step (lease->cmdlog, step)
		if ((step->state == WV_FREE || step->state == WV_DEAD) &&
		    step->new_handle != WV_NONE && wv_step_fields(step, collides, &place))
			last = step;
	return last;
}

struct search {
	struct wv_lease *lease;
	struct wv_step *rival;
};

static int find_rival(void *data, const struct wv_field *field, uint8_t *payload)
{
	struct search *search = data;

	if (wv_is_memory(field))
		search->rival = rival_at(search->lease, field, wv_field_get(field, payload));
	return search->rival != NULL;
}

struct wv_step *wv_lease_rival(struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
			       const struct wv_command_row *row)
{
	struct search search = {.lease = lease};

	if (lease->memory)
		wv_command_fields(cmd, row, find_rival, &search);
	return search.rival;
}
