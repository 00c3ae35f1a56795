/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/record.h"

#include "base/base.h"
#include "cmdlog/command.h"
#include "cmdlog/pattern.h"

#include <errno.h>
#include <string.h>

#define MAX_MEMORY_REFS 4 /* of one command; no row has more than two */

void wv_allocations_add(struct wv_allocations *a, const void *at, size_t bytes)
{
	if (a->n == WV_MAX_ALLOCATIONS)
		return;
	a->all[a->n++] = (struct wv_allocation){.at = at, .bytes = bytes, .id = ++a->last_id};
}

void wv_allocations_remove(struct wv_allocations *a, const void *at)
{
	for (unsigned int i = 0; i < a->n; i++) {
		if (a->all[i].at != at)
			continue;
		a->all[i] = a->all[--a->n];
		return;
	}
}

struct wv_allocation *wv_allocations_find(struct wv_allocations *a, uint64_t address)
{
	for (unsigned int i = 0; i < a->n; i++)
		if (address - (uintptr_t)a->all[i].at < a->all[i].bytes)
			return &a->all[i];
	return NULL;
}

static int worth_recording(const struct wv_command_row *row)
{
	return row->class_ != WV_PASS && row->class_ != WV_DATA;
}

static int is_about_an_object(const struct wv_command_row *row)
{
	return row->class_ == WV_MODIFY || row->class_ == WV_QUERY || row->class_ == WV_DESTROY;
}

/* Forms of attributes that no row describes: arrays of handles, enum selectors. */
static int is_odd(const struct ib_uverbs_attr *attr, const struct wv_attr_row *known)
{
	int is_object = known->kind == WV_HANDLE || known->kind == WV_NEW_HANDLE ||
			known->kind == WV_FD || known->kind == WV_NEW_FD;

	return attr->attr_data.reserved || attr->flags > UINT8_MAX || (is_object && attr->len);
}

/* The address as memory id and offset (see cmdlog/cmdlog.h). */
static uint64_t name_memory(uint64_t address, struct wv_allocations *memory)
{
	struct wv_allocation *found;

	if (!address)
		return 0;
	found = memory ? wv_allocations_find(memory, address) : NULL;
	return found ? (uint64_t)found->id << 32 | (address - (uintptr_t)found->at)
		     : WV_FOREIGN_MEMORY;
}

/* Removes what is private to the process, so that equal commands have equal payloads. */
static void take_out_private(uint8_t *bytes, size_t len, const struct wv_attr_row *known,
			     struct wv_allocations *memory)
{
	for (unsigned int i = 0; i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];

		if (!wv_field_fits(f, len))
			continue;
		if (f->kind == WV_POINTER)
			wv_field_set(f, bytes, 0);
		else if (wv_names_memory(f))
			wv_field_set(f, bytes, name_memory(wv_field_get(f, bytes), memory));
	}
}

struct memory_refs {
	struct wv_allocations *memory;
	struct wv_allocation *all[MAX_MEMORY_REFS];
	unsigned int n;
};

/* In the order of allocation, because the next run will allocate in that order. */
static void add_ref(struct memory_refs *refs, struct wv_allocation *a)
{
	unsigned int i = refs->n;

	if (!a || a->recorded || refs->n == MAX_MEMORY_REFS)
		return;
	a->recorded = true;
	for (; i > 0 && refs->all[i - 1]->id > a->id; i--)
		refs->all[i] = refs->all[i - 1];
	refs->all[i] = a;
	refs->n++;
}

static int find_ref(void *data, const struct wv_field *f, uint8_t *payload)
{
	struct memory_refs *refs = data;

	if (wv_is_memory(f))
		add_ref(refs, wv_allocations_find(refs->memory, wv_field_get(f, payload)));
	return 0;
}

static int is_known(void *data, const struct wv_field *f, uint8_t *payload)
{
	return f->kind == WV_BUFFER && wv_allocations_find(data, wv_field_get(f, payload));
}

/* Whether @cmd registers memory of @memory, which a lease could have; other memory stays out. */
static bool registers_known(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row,
			    struct wv_allocations *memory)
{
	return memory && wv_command_fields(cmd, row, is_known, memory);
}

static void record_memory_attr(struct wv_cmdlog_writer *w, struct wv_step *step, uint16_t id,
			       const void *bytes, size_t len)
{
	wv_step_attrs(step)[id] =
	    (struct wv_attr){.id = id, .len = (uint16_t)len, .kind = WV_EQUAL};
	wv_step_attrs(step)[id].payload = wv_cmdlog_payload(w, bytes, len);
}

static void record_memory(struct wv_cmdlog_writer *w, const struct wv_allocation *a)
{
	const struct wv_command_row *row =
	    wv_abi_find(WV_ANY_DRIVER, WV_OBJECT_MEMORY, 0, WV_NO_WRITE_CMD);
	struct wv_step *step = wv_cmdlog_step(w, row, 2);
	struct wv_series series[WV_MAX_SERIES];
	uint64_t size = a->bytes;
	int n = a->bytes % 8 ? -EINVAL : wv_pattern_read(a->at, a->bytes, series);

	if (!step)
		return;
	step->new_number = a->id;
	step->error = n < 0 ? -n : 0; /* memory without a pattern is not made ahead */
	record_memory_attr(w, step, WV_ATTR_MEMORY_SIZE, &size, sizeof(size));
	record_memory_attr(w, step, WV_ATTR_MEMORY_PATTERN, series,
			   n < 0 ? 0 : (size_t)n * sizeof(series[0]));
	wv_cmdlog_commit(w);
}

static void record_attr(struct wv_cmdlog_writer *w, struct wv_attr *to,
			const struct ib_uverbs_attr *from, const struct wv_attr_row *known,
			struct wv_allocations *memory)
{
	*to = (struct wv_attr){
	    .id = from->attr_id,
	    .len = from->len,
	    .flags = (uint8_t)from->flags,
	    .kind = known->kind,
	};
	if (known->kind == WV_HANDLE || known->kind == WV_FD)
		to->data = (uint32_t)from->data;
	if (known->kind != WV_EQUAL)
		return;
	to->payload = wv_cmdlog_payload(w, wv_attr_input(from), from->len);
	if (to->payload)
		take_out_private(wv_step_at(w->step, to->payload), from->len, known, memory);
}

int wv_record_command(struct wv_cmdlog_writer *w, const struct ib_uverbs_ioctl_hdr *cmd,
		      const struct wv_command_row *row, struct wv_allocations *memory)
{
	struct memory_refs refs = {.memory = memory};
	struct wv_step *step;

	wv_cmdlog_abandon(w);
	if (!row)
		return WV_UNKNOWN;
	if (!worth_recording(row) ||
	    (row->class_ == WV_REGISTER && !registers_known(cmd, row, memory)))
		return 0;
	if (row->class_ == WV_PRIVILEGED) {
		/* Its presence is enough: there will be no lease. */
		wv_cmdlog_step(w, row, 0);
		return 0;
	}
	if (memory)
		wv_command_fields(cmd, row, find_ref, &refs);
	for (unsigned int i = 0; i < refs.n; i++)
		record_memory(w, refs.all[i]);
	step = wv_cmdlog_step(w, row, cmd->num_attrs);
	if (!step)
		return 0;
	for (unsigned int i = 0; i < cmd->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &cmd->attrs[i];
		const struct wv_attr_row *known = wv_abi_attr(row, attr->attr_id);

		if (!known || is_odd(attr, known)) {
			wv_cmdlog_abandon(w);
			return WV_UNKNOWN;
		}
		record_attr(w, &wv_step_attrs(step)[i], attr, known, memory);
	}
	if (is_about_an_object(row))
		step->target = wv_command_target(cmd, row);
	return 0;
}

void wv_record_answer(struct wv_cmdlog_writer *w, const struct ib_uverbs_ioctl_hdr *cmd,
		      const struct wv_command_row *row, int error)
{
	if (!w->step)
		return;
	w->step->error = error;
	if (!error) {
		w->step->new_handle = wv_command_made(cmd, row, WV_NEW_HANDLE);
		w->step->new_fd = wv_command_made(cmd, row, WV_NEW_FD);
		w->step->new_number = wv_command_made(cmd, row, WV_NEW_NUMBER);
	}
	wv_cmdlog_commit(w);
}
