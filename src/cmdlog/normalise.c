/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/normalise.h"

#include "cmdlog/qp_steps.h"
#include "cmdlog/validate.h"
#include "cmdlog/writer.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

/* Name spaces of the numbers in a record. */
enum space { HANDLES, FDS, NUMBERS, MEMORIES };

/* The step of the recipe that made a number which the program used. */
struct made {
	uint32_t number, step;
	enum space space;
	/* Of a QP: */
	const struct wv_ahead_row *ahead;
	uint8_t state; /* enum ibv_qp_state: where the recipe moves it */
	bool lost;     /* the program moved it in a way that the recipe does not follow */
};

struct normaliser {
	struct wv_cmdlog_writer out;
	unsigned int at;			   /* step of the record */
	uint16_t origins[WV_CMDLOG_MAX_STEPS];	   /* of steps of the recipe in the record */
	bool useless[WV_CMDLOG_MAX_STEPS];	   /* memory of the record that no command names */
	bool data[WV_CMDLOG_MAX_STEPS];		   /* memory of the record that is registered */
	struct made made[3 * WV_CMDLOG_MAX_STEPS]; /* a handle, a descriptor and a number each */
	unsigned int n_made;
};

static struct made *find(struct normaliser *n, uint32_t number, enum space space)
{
	for (unsigned int i = 0; i < n->n_made; i++)
		if (n->made[i].number == number && n->made[i].space == space)
			return &n->made[i];
	return NULL;
}

static void forget(struct normaliser *n, uint32_t number, enum space space)
{
	struct made *made = find(n, number, space);

	if (made)
		*made = n->made[--n->n_made];
}

/* The kernel reuses numbers as soon as they are free, so the newest maker is the right one. */
static struct made *remember(struct normaliser *n, uint32_t number, uint32_t step, enum space space)
{
	if (number == WV_NONE)
		return NULL;
	forget(n, number, space);
	n->made[n->n_made] = (struct made){.number = number, .step = step, .space = space};
	return &n->made[n->n_made++];
}

static int resolve(struct normaliser *n, uint32_t *number, enum space space)
{
	struct made *made = find(n, *number, space);

	if (!made)
		return -ENOENT;
	*number = made->step;
	return 0;
}

static int resolve_handle(struct normaliser *n, const struct wv_field *f, uint8_t *payload)
{
	uint32_t number = (uint32_t)wv_field_get(f, payload);

	if (resolve(n, &number, HANDLES))
		return -ENOENT;
	wv_field_set(f, payload, number);
	return 0;
}

/* A number that no step made was chosen by the program. */
static int resolve_number(struct normaliser *n, const struct wv_field *f, uint8_t *payload)
{
	uint32_t number = (uint32_t)wv_field_get(f, payload);
	struct made *made = find(n, number, NUMBERS);

	if (made)
		wv_field_set(f, payload, wv_number_is_step(f) | made->step);
	return !made && number & wv_number_is_step(f) ? -ENOENT : 0;
}

static int resolve_memory(struct normaliser *n, const struct wv_field *f, uint8_t *payload)
{
	uint64_t ref = wv_field_get(f, payload);
	uint32_t number = (uint32_t)(ref >> 32);

	if (!ref)
		return 0;
	if (resolve(n, &number, MEMORIES))
		return -ENOENT;
	wv_field_set(f, payload, (uint64_t)(number + 1) << 32 | (uint32_t)ref);
	return 0;
}

static int resolve_field(void *data, const struct wv_field *f, uint8_t *payload)
{
	switch (f->kind) {
	case WV_HANDLE:
		return resolve_handle(data, f, payload);
	case WV_NUMBER:
		return resolve_number(data, f, payload);
	case WV_BUFFER:
	case WV_DOORBELL:
	case WV_IOVA:
		return resolve_memory(data, f, payload);
	case WV_VOLATILE: /* differs from run to run */
		wv_field_set(f, payload, 0);
		return 0;
	default:
		return 0;
	}
}

static int resolve_attrs(struct normaliser *n, struct wv_step *step)
{
	wv_each_attr (step, attr) {
		uint32_t number = attr->data;

		if (attr->kind != WV_HANDLE && attr->kind != WV_FD)
			continue;
		if (resolve(n, &number, attr->kind == WV_FD ? FDS : HANDLES))
			return -ENOENT;
		attr->data = number;
	}
	return wv_step_fields(step, resolve_field, n);
}

/*
 * Whether a step that moves or reads a QP may be done ahead: moves go from one state to the next,
 * and a query is done only while the QP is as it was created. A later query would show the moves
 * that follow it.
 */
static int qp_step_allowed(struct normaliser *n, struct wv_step *step)
{
	struct made *qp = find(n, step->target, HANDLES);
	int state = wv_step_qp_state(step);

	if (!qp || qp->lost)
		return 0;
	if (step->class_ == WV_QUERY) {
		qp->lost = qp->state != IBV_QPS_RESET;
		return !qp->lost;
	}
	qp->lost = !wv_qp_may_move(qp->ahead, qp->state, state);
	if (!qp->lost)
		qp->state = (uint8_t)state;
	return !qp->lost;
}

/* No queue is in memory that is registered, whether or not that became a step of the recipe. */
static int note_data(void *data, const struct wv_field *f, uint8_t *payload)
{
	struct normaliser *n = data;
	struct made *memory = f->kind == WV_BUFFER
				  ? find(n, (uint32_t)(wv_field_get(f, payload) >> 32), MEMORIES)
				  : NULL;

	if (memory)
		n->data[n->origins[memory->step]] = true;
	return 0;
}

static int wanted(struct normaliser *n, struct wv_step *step)
{
	switch (step->class_) {
	case WV_CREATE:
		return step->error == 0 || wv_step_is_probe(n->out.cmdlog, step);
	case WV_MEMORY:
		return step->error == 0 && !(n->data[n->at] && n->useless[n->at]);
	case WV_REGISTER:
	case WV_OPENING:
		return step->error == 0;
	case WV_CONSTANT:
	case WV_PRIVILEGED: /* for wv_validate() to refuse */
		return 1;
	case WV_MODIFY:
	case WV_QUERY:
		return step->error == 0 && qp_step_allowed(n, step);
	default:
		return 0;
	}
}

/* A step that is not in the recipe made these numbers, so they no longer name earlier objects. */
static void forget_made(struct normaliser *n, struct wv_step *step)
{
	forget(n, step->new_handle, HANDLES);
	forget(n, step->new_fd, FDS);
	forget(n, step->new_number, step->class_ == WV_MEMORY ? MEMORIES : NUMBERS);
}

static void remember_made(struct normaliser *n, struct wv_step *step, struct wv_step *copy,
			  uint32_t index)
{
	struct made *object = remember(n, step->new_handle, index, HANDLES);

	if (object)
		object->ahead = wv_step_ahead(n->out.cmdlog, copy);
	remember(n, step->new_fd, index, FDS);
	remember(n, step->new_number, index, step->class_ == WV_MEMORY ? MEMORIES : NUMBERS);
}

/*
 * Memory for queues that no command of the recipe names keeps the order in which memory of its size
 * is given to the program, but nothing is written there.
 */
static bool is_left_out(const struct normaliser *n, const struct wv_attr *attr)
{
	return n->useless[n->at] && attr->id == WV_ATTR_MEMORY_PATTERN;
}

/*
 * Copies only what determines the command, so that two programs that do the same get recipes that
 * are equal byte by byte.
 */
static bool copy_step(struct normaliser *n, struct wv_step *copy, struct wv_step *step)
{
	struct wv_attr *to = wv_step_attrs(copy);

	copy->error = step->error;
	copy->target = step->target;
	wv_each_attr (step, from) {
		if (is_left_out(n, from))
			continue;
		*to = (struct wv_attr){
		    .id = from->id, .len = from->len, .flags = from->flags, .kind = from->kind};
		if (from->kind == WV_HANDLE || from->kind == WV_FD)
			to->data = from->data;
		if (from->kind == WV_EQUAL)
			to->payload =
			    wv_cmdlog_payload(&n->out, wv_attr_bytes(step, from), from->len);
		if (n->out.full)
			return false;
		to++;
	}
	return true;
}

static void keep(struct normaliser *n, struct wv_step *step)
{
	uint32_t index = n->out.cmdlog->n_steps;
	unsigned int n_attrs = 0;
	struct wv_step *copy;

	wv_each_attr (step, attr)
		n_attrs += !is_left_out(n, attr);
	copy = wv_cmdlog_step(&n->out, wv_step_row(step), n_attrs);
	if (!copy || !copy_step(n, copy, step))
		return;
	if (resolve_attrs(n, copy) ||
	    (copy->target != WV_NONE && resolve(n, &copy->target, HANDLES))) {
		wv_cmdlog_abandon(&n->out);
		forget_made(n, step);
		return;
	}
	wv_cmdlog_commit(&n->out);
	n->origins[index] = (uint16_t)n->at;
	remember_made(n, step, copy, index);
}

static int copy_wanted(struct normaliser *n, struct wv_cmdlog *record, void *memory,
		       size_t capacity)
{
	wv_cmdlog_begin(&n->out, memory, capacity, WV_RECIPE, record->driver_id);
	n->n_made = n->at = 0;
	wv_each_step (record, step) {
		if (step->class_ == WV_REGISTER)
			wv_step_fields(step, note_data, n);
		if (wanted(n, step)) {
			keep(n, step);
		} else {
			if (step->class_ == WV_DESTROY && !step->error)
				forget(n, step->target, HANDLES);
			forget_made(n, step);
		}
		if (n->out.full)
			return -ENOSPC;
		n->at++;
	}
	return 0;
}

static int note_use(void *data, const struct wv_field *f, uint8_t *payload)
{
	struct normaliser *n = data;
	uint64_t ref = wv_is_memory(f) ? wv_field_get(f, payload) : 0;

	if (ref)
		n->useless[n->origins[(ref >> 32) - 1]] = false;
	return 0;
}

/* Finds memory that no command of the recipe names. True if there is any. */
static bool find_useless(struct normaliser *n)
{
	unsigned int i = 0;

	wv_each_step (n->out.cmdlog, step)
		n->useless[n->origins[i++]] = step->class_ == WV_MEMORY;
	wv_each_step (n->out.cmdlog, step)
		wv_step_fields(step, note_use, n);
	for (i = 0; i < n->out.cmdlog->n_steps; i++)
		if (n->useless[n->origins[i]])
			return true;
	return false;
}

int wv_normalise(struct wv_cmdlog *record, void *memory, size_t capacity)
{
	struct normaliser n = {0};
	int err = copy_wanted(&n, record, memory, capacity);

	return !err && find_useless(&n) ? copy_wanted(&n, record, memory, capacity) : err;
}
