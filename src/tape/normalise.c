#include "base/base.h"
#include "tape/record.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

/* Which step of the recipe made a number that the program used. */
struct made {
	uint32_t number, step;
	int is_fd;
	int moved; /* a QP that is no longer as created */
};

struct normaliser {
	struct wv_tape_writer out;
	struct made made[2 * WV_TAPE_MAX_STEPS]; /* a handle and a descriptor each */
	unsigned int n_made;
};

static struct made *find(struct normaliser *n, uint32_t number, int is_fd)
{
	for (unsigned int i = 0; i < n->n_made; i++)
		if (n->made[i].number == number && n->made[i].is_fd == is_fd)
			return &n->made[i];
	return NULL;
}

static void forget(struct normaliser *n, uint32_t number, int is_fd)
{
	struct made *made = find(n, number, is_fd);

	if (made)
		*made = n->made[--n->n_made];
}

/* Numbers are used again as soon as they are free, so the newest maker is the right one. */
static void remember(struct normaliser *n, uint32_t number, uint32_t step, int is_fd)
{
	if (number == WV_NONE)
		return;
	forget(n, number, is_fd);
	n->made[n->n_made++] = (struct made){.number = number, .step = step, .is_fd = is_fd};
}

static int resolve(struct normaliser *n, uint32_t *number, int is_fd)
{
	struct made *made = find(n, *number, is_fd);

	if (!made)
		return -ENOENT;
	*number = made->step;
	return 0;
}

/* The handles inside a struct. */
static int resolve_fields(struct normaliser *n, struct wv_step *step, struct wv_attr *attr,
			  const struct wv_attr_row *known)
{
	for (unsigned int i = 0; i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];
		uint8_t *at = wv_step_at(step, attr->payload) + f->offset;
		uint32_t number;

		if (f->kind != WV_HANDLE || f->offset + sizeof(number) > attr->len)
			continue;
		memcpy(&number, at, sizeof(number));
		if (resolve(n, &number, 0))
			return -ENOENT;
		memcpy(at, &number, sizeof(number));
	}
	return 0;
}

static int resolve_attrs(struct normaliser *n, struct wv_step *step)
{
	const struct wv_command_row *row = wv_step_row(step);

	wv_each_attr (step, attr) {
		const struct wv_attr_row *known = wv_abi_attr(row, attr->id);
		uint32_t number = attr->data;

		if (attr->kind == WV_EQUAL && resolve_fields(n, step, attr, known))
			return -ENOENT;
		if (attr->kind != WV_HANDLE && attr->kind != WV_FD)
			continue;
		if (resolve(n, &number, attr->kind == WV_FD))
			return -ENOENT;
		attr->data = number;
	}
	return 0;
}

/* Whether a step that moves or reads a QP may be done ahead; notes that the QP has moved. */
static int qp_step_allowed(struct normaliser *n, struct wv_step *step)
{
	struct made *qp = find(n, step->target, 0);
	int fresh = qp && !qp->moved;

	if (step->class_ == WV_QUERY)
		return fresh;
	if (qp)
		qp->moved = 1;
	return fresh && wv_step_qp_state(step) == WV_AHEAD_STATE;
}

static int wanted(struct normaliser *n, struct wv_step *step)
{
	switch (step->class_) {
	case WV_CREATE:
		return step->error == 0;
	case WV_CONSTANT:
		return 1;
	case WV_MODIFY:
	case WV_QUERY:
		return step->error == 0 && qp_step_allowed(n, step);
	default:
		return 0;
	}
}

/* What a step that is not in the recipe made: its numbers no longer mean what they did. */
static void forget_made(struct normaliser *n, struct wv_step *step)
{
	forget(n, step->new_handle, 0);
	forget(n, step->new_fd, 1);
}

/*
 * Only what makes the command: two programs that do the same have recipes that are the same byte by
 * byte, whatever else their records hold.
 */
static bool copy_step(struct normaliser *n, struct wv_step *copy, struct wv_step *step)
{
	struct wv_attr *to = wv_step_attrs(copy);

	copy->error = step->error;
	copy->target = step->target;
	wv_each_attr (step, from) {
		*to = (struct wv_attr){
		    .id = from->id, .len = from->len, .flags = from->flags, .kind = from->kind};
		if (from->kind == WV_HANDLE || from->kind == WV_FD)
			to->data = from->data;
		if (from->kind == WV_EQUAL)
			to->payload =
			    wv_tape_payload(&n->out, wv_attr_bytes(step, from), from->len);
		if (n->out.full)
			return false;
		to++;
	}
	return true;
}

static void keep(struct normaliser *n, struct wv_step *step)
{
	struct wv_step *copy = wv_tape_step(&n->out, wv_step_row(step), step->n_attrs);
	uint32_t index = n->out.tape->n_steps;

	if (!copy || !copy_step(n, copy, step))
		return;
	if (resolve_attrs(n, copy) || (copy->target != WV_NONE && resolve(n, &copy->target, 0))) {
		wv_tape_abandon(&n->out);
		forget_made(n, step);
		return;
	}
	wv_tape_commit(&n->out);
	remember(n, step->new_handle, index, 0);
	remember(n, step->new_fd, index, 1);
}

int wv_normalise(struct wv_tape *record, void *memory, size_t capacity)
{
	struct normaliser n = {0};

	wv_tape_begin(&n.out, memory, capacity, WV_RECIPE, record->driver_id);
	wv_each_step (record, step) {
		if (wanted(&n, step)) {
			keep(&n, step);
		} else {
			if (step->class_ == WV_DESTROY && !step->error)
				forget(&n, step->target, 0);
			forget_made(&n, step);
		}
		if (n.out.full)
			return -ENOSPC;
	}
	return 0;
}
