/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/validate.h"

#include "abi/bounds.h"
#include "cmdlog/arena.h"
#include "cmdlog/command.h"
#include "cmdlog/mr_steps.h"
#include "cmdlog/pattern.h"
#include "cmdlog/qp_steps.h"

#include <errno.h>
#include <string.h>

static bool creates(struct wv_step *step, uint16_t about)
{
	return wv_abi_creates(wv_step_row(step), about);
}

/* The number at @place; 0 if the step has none. */
static uint64_t number_at(struct wv_step *step, const struct wv_place *place)
{
	struct wv_attr *attr = wv_step_attr(step, place->attr);
	size_t size = attr && !place->size ? attr->len : place->size;
	uint64_t number = 0;

	if (attr && attr->payload && size <= sizeof(number) && place->offset + size <= attr->len)
		memcpy(&number, wv_attr_bytes(step, attr) + place->offset, size);
	return number;
}

static bool within(const struct wv_bound_row *b, uint64_t number)
{
	return b->is_flags ? !(number & ~(uint64_t)b->limit) : number <= b->limit;
}

/* An attribute of more than eight bytes is no number. */
static bool is_too_long(struct wv_step *step, const struct wv_place *place)
{
	struct wv_attr *attr = wv_step_attr(step, place->attr);

	return attr && !place->size && attr->len > sizeof(uint64_t);
}

static const char *check_bounds(struct wv_step *step)
{
	unsigned int n;
	const struct wv_bound_row *rows = wv_abi_bounds(&n);

	for (const struct wv_bound_row *b = rows; b < rows + n; b++)
		if (creates(step, b->about) &&
		    (is_too_long(step, &b->number) || !within(b, number_at(step, &b->number))))
			return b->why;
	return NULL;
}

bool wv_step_is_probe(const struct wv_cmdlog *cmdlog, struct wv_step *step)
{
	return step->error == EINVAL && !check_bounds(step) &&
	       (creates(step, UVERBS_OBJECT_CQ) || creates(step, UVERBS_OBJECT_SRQ) ||
		wv_step_ahead(cmdlog, step));
}

static uint64_t power_of_two(uint64_t at_least)
{
	uint64_t power = 1;

	while (power < at_least)
		power *= 2;
	return power;
}

/* A queue pair with a shared receive queue has no other, and asks for none. */
static uint64_t bytes_of_queue(struct wv_step *step, const struct wv_cost_row *c)
{
	uint64_t n = number_at(step, &c->number);
	uint64_t sges = WV_SGE_BYTES * number_at(step, &c->sges);
	uint64_t inline_bytes = number_at(step, &c->inline_bytes);
	uint64_t entry = c->bytes + (sges > inline_bytes ? sges : inline_bytes);

	if (entry < WV_MIN_ENTRY_BYTES)
		entry = WV_MIN_ENTRY_BYTES;
	return n ? WV_QUEUE_BYTES + power_of_two(n + 1) * power_of_two(entry) : 0;
}

/* The queues that the kernel keeps. */
static uint64_t queue_bytes(struct wv_step *step, uint32_t driver_id)
{
	unsigned int n;
	const struct wv_cost_row *rows = wv_abi_costs(&n);
	uint64_t bytes = 0;

	for (const struct wv_cost_row *c = rows; c < rows + n; c++)
		if (c->driver_id == driver_id && creates(step, c->about))
			bytes += bytes_of_queue(step, c);
	return bytes;
}

/* WV_CONTEXT_BYTES has a context's async event file. Queues in user memory have their own steps. */
static void add_cost(const struct wv_cmdlog *recipe, struct wv_step *step, struct wv_cost *cost)
{
	cost->pds += creates(step, UVERBS_OBJECT_PD);
	cost->cqs += creates(step, UVERBS_OBJECT_CQ);
	cost->srqs += creates(step, UVERBS_OBJECT_SRQ);
	cost->qps += creates(step, UVERBS_OBJECT_QP);
	cost->fds += creates(step, UVERBS_OBJECT_COMP_CHANNEL);
	cost->fds += creates(step, UVERBS_OBJECT_ASYNC_EVENT);
	if (!creates(step, UVERBS_OBJECT_ASYNC_EVENT))
		cost->bytes += WV_OBJECT_BYTES;
	cost->bytes += queue_bytes(step, recipe->driver_id);
}

/* Types that are not moved ahead are not prepared: raw packets, for example, need capabilities. */
static const char *check_qp(const struct wv_cmdlog *recipe, struct wv_step *step)
{
	struct wv_attr *cap = wv_step_attr(step, UVERBS_ATTR_CREATE_QP_CAP);

	if (!wv_step_ahead(recipe, step))
		return "this type of queue pair is not prepared";
	if (!cap || cap->len != sizeof(struct ib_uverbs_qp_cap))
		return "a queue pair without capacities";
	return NULL;
}

/* Memory for queues that are in the program's memory. */
static const char *check_memory(struct wv_step *step)
{
	struct wv_attr *attr = wv_step_attr(step, WV_ATTR_MEMORY_PATTERN);
	uint64_t size = wv_step_memory_size(step);
	size_t n = attr ? attr->len / sizeof(struct wv_series) : 0;

	if (step->error || !size || size > WV_CMDLOG_MAX_MEMORY)
		return "memory of a size that is not prepared";
	if (attr && (attr->len % sizeof(struct wv_series) || n > WV_MAX_SERIES ||
		     !wv_pattern_check((const void *)wv_attr_bytes(step, attr), n, size)))
		return "an initial pattern that does not fit its memory";
	return NULL;
}

static const char *check_create(const struct wv_cmdlog *recipe, struct wv_step *step,
				struct wv_cost *cost)
{
	const char *why = NULL;

	if (step->error && !wv_step_is_probe(recipe, step))
		return "a step that failed cannot make an object";
	if (creates(step, UVERBS_OBJECT_QP))
		why = check_qp(recipe, step);
	if (!why)
		why = check_bounds(step);
	if (!why && !step->error)
		add_cost(recipe, step, cost);
	return why;
}

/*
 * This file judges a step by its row and its target, but the kernel sees the attributes. So each
 * attribute may occur once, and the attributes must carry the row's command and name the target.
 */
static int is_its_command(const struct wv_cmdlog *recipe, struct wv_step *step)
{
	uint32_t carried = WV_NO_WRITE_CMD;

	wv_each_attr (step, attr)
		if (attr->kind == WV_EQUAL && carried == WV_NO_WRITE_CMD)
			carried = wv_abi_carried(recipe->driver_id, step->object, step->method,
						 attr->id, wv_attr_bytes(step, attr), attr->len);
	return step->write_cmd == carried;
}

static int has_an_attribute_twice(struct wv_step *step)
{
	wv_each_attr (step, attr)
		if (wv_step_attr(step, attr->id) != attr)
			return 1;
	return 0;
}

/* The object that a step's CORE_IN names; WV_NONE if none. */
static uint32_t named_object(struct wv_step *step)
{
	struct wv_attr *in = wv_step_attr(step, UVERBS_ATTR_CORE_IN);

	return in ? wv_field_of(wv_abi_attr(wv_step_row(step), UVERBS_ATTR_CORE_IN),
				wv_attr_bytes(step, in), in->len, WV_HANDLE)
		  : WV_NONE;
}

static const char *check_shape(const struct wv_cmdlog *recipe, struct wv_step *step)
{
	int about_a_qp = step->class_ == WV_MODIFY || step->class_ == WV_QUERY;

	if (has_an_attribute_twice(step))
		return "an attribute is given twice";
	if (!is_its_command(recipe, step))
		return "a step's command differs from its attributes";
	if (step->target != (about_a_qp ? named_object(step) : WV_NONE))
		return "a step's target differs from its attributes";
	return NULL;
}

/* The steps of a recipe that were checked so far. */
struct judge {
	struct wv_cmdlog *recipe;
	struct wv_cost *cost;
	struct wv_step *steps[WV_CMDLOG_MAX_STEPS];
	uint8_t states[WV_CMDLOG_MAX_STEPS];	 /* enum ibv_qp_state, where a step made a QP */
	bool named[WV_CMDLOG_MAX_STEPS];	 /* memory that a command names */
	uint8_t registered[WV_CMDLOG_MAX_STEPS]; /* memory, how often */
	unsigned int n;
};

static const char *check_qp_step(struct judge *j, struct wv_step *step)
{
	struct wv_step *qp = step->target < j->n ? j->steps[step->target] : NULL;
	const struct wv_ahead_row *ahead = qp && !qp->error ? wv_step_ahead(j->recipe, qp) : NULL;
	int state = wv_step_qp_state(step);

	if (!ahead)
		return "a step about a queue pair that no step makes";
	if (step->class_ == WV_QUERY)
		return NULL;
	if (!wv_qp_may_move(ahead, j->states[step->target], state))
		return "a queue pair may not be moved so far ahead";
	j->states[step->target] = (uint8_t)state;
	return NULL;
}

static int makes_something(const struct judge *j, uint64_t step)
{
	return step < j->n && j->steps[step]->class_ == WV_CREATE && !j->steps[step]->error;
}

static int check_memory_ref(struct judge *j, const struct wv_field *f, uint64_t ref)
{
	uint64_t step = (ref >> 32) - 1, offset = (uint32_t)ref;

	if (!ref)
		return 0;
	if (step >= j->n || j->steps[step]->class_ != WV_MEMORY ||
	    offset >= wv_step_memory_size(j->steps[step]) || (f->kind != WV_DOORBELL && offset))
		return -EPERM;
	j->named[step] = true;
	return 0;
}

static int check_field(void *data, const struct wv_field *f, uint8_t *payload)
{
	struct judge *j = data;
	uint64_t value = wv_field_get(f, payload);

	if (wv_names_memory(f))
		return check_memory_ref(j, f, value);
	if (f->kind == WV_NUMBER && value & wv_number_is_step(f))
		return makes_something(j, value & ~wv_number_is_step(f)) ? 0 : -EPERM;
	return 0;
}

/*
 * The loops over fields skip a truncated field, so the kernel would get its handle or address as
 * is.
 */
static int ends_in_a_field(struct wv_step *step, const struct wv_attr *attr)
{
	const struct wv_attr_row *known = wv_abi_attr(wv_step_row(step), attr->id);

	for (unsigned int i = 0; attr->kind == WV_EQUAL && i < known->n_fields; i++)
		if (known->fields[i].offset < attr->len &&
		    !wv_field_fits(&known->fields[i], attr->len))
			return 1;
	return 0;
}

/* A reference must name an earlier step that makes something. */
static const char *check_refs(struct judge *j, struct wv_step *step)
{
	static const char *const why = "a reference to something that no earlier step makes";

	wv_each_attr (step, attr) {
		if (ends_in_a_field(step, attr))
			return "a payload ends inside a field";
		if (attr->kind != WV_HANDLE && attr->kind != WV_FD)
			continue;
		if (!makes_something(j, attr->data))
			return why;
	}
	return wv_step_fields(step, check_field, j) ? why : NULL;
}

/* One for each memory, whose cost then covers the lists of its pages that a registration has. */
static const char *check_register(struct judge *j, struct wv_step *step)
{
	const struct ib_uverbs_reg_mr *mr = wv_step_registration(step);
	uint64_t memory = mr ? (mr->start >> 32) - 1 : j->n;

	j->cost->bytes += WV_OBJECT_BYTES;
	if (memory >= j->n)
		return "a registration of memory that is not the lease's";
	if (j->registered[memory]++)
		return "memory that is registered twice";
	return wv_registration_obstacle(step, wv_step_memory_size(j->steps[memory]));
}

static const char *check_step(struct judge *j, struct wv_step *step)
{
	const char *why = check_shape(j->recipe, step);

	if (!why)
		why = check_refs(j, step);
	if (why)
		return why;
	switch (step->class_) {
	case WV_CREATE:
		return check_create(j->recipe, step, j->cost);
	case WV_MEMORY:
		return check_memory(step);
	case WV_REGISTER:
		return check_register(j, step);
	case WV_CONSTANT:
	case WV_OPENING:
		return NULL;
	case WV_MODIFY:
	case WV_QUERY:
		return check_qp_step(j, step);
	case WV_PRIVILEGED:
		return "it needs capabilities that a lease does not give";
	default:
		return "a command that may not be carried out ahead of time";
	}
}

/*
 * The daemon writes the initial pattern, so it is the daemon's memory. Without one, memory that no
 * command names is only an order of sizes: nobody touches its pages but the program.
 */
static const char *check_uses(const struct judge *j)
{
	for (unsigned int i = 0; i < j->n; i++)
		if (j->steps[i]->class_ == WV_MEMORY && !j->named[i] &&
		    wv_step_attr(j->steps[i], WV_ATTR_MEMORY_PATTERN))
			return "an initial pattern of memory that no command names";
	return NULL;
}

int wv_validate(struct wv_cmdlog *recipe, struct wv_cost *cost, const char **why)
{
	struct judge j = {.recipe = recipe, .cost = cost};

	*cost = (struct wv_cost){.fds = 1, .bytes = WV_CONTEXT_BYTES};
	*why = wv_abi_driver(recipe->driver_id) ? NULL : "the device's driver is not known";
	wv_each_step (recipe, step) {
		if (*why)
			break;
		*why = check_step(&j, step);
		j.steps[j.n++] = step;
	}
	if (!*why)
		*why = check_uses(&j);
	if (!*why && wv_recipe_memory(recipe)) {
		cost->fds++;
		cost->bytes += wv_recipe_memory(recipe); /* the kernel pins whole pages */
		if (wv_recipe_memory(recipe) > WV_CMDLOG_MAX_MEMORY)
			*why = "its queues take too much memory";
	}
	if (!*why && cost->fds > WV_CMDLOG_MAX_FDS)
		*why = "too many completion channels";
	return *why ? -EPERM : 0;
}

static const char *check_move(const struct wv_cmdlog *moves, struct wv_step *move,
			      enum ibv_qp_state to)
{
	struct wv_attr *in = wv_step_attr(move, UVERBS_ATTR_CORE_IN);
	const char *why;

	if (move->class_ != WV_MODIFY || move->error || !in)
		return "a step that does not move a queue pair";
	why = check_shape(moves, move);
	wv_each_attr (move, attr)
		if (!why && ends_in_a_field(move, attr))
			why = "a payload ends inside a field";
	if (!why && !wv_qp_connects(wv_attr_bytes(move, in), in->len, to))
		why = "a move with other attributes than programs connect with";
	return why;
}

int wv_validate_moves(struct wv_cmdlog *moves, const char **why)
{
	struct wv_step *rtr = wv_cmdlog_first(moves);

	*why = wv_abi_driver(moves->driver_id) ? NULL : "the device's driver is not known";
	if (!*why && (moves->n_steps != 2 || moves->bytes > WV_MOVES_MAX_BYTES))
		*why = "not the moves to RTR and RTS";
	if (!*why)
		*why = check_move(moves, rtr, IBV_QPS_RTR);
	if (!*why)
		*why = check_move(moves, wv_step_next(rtr), IBV_QPS_RTS);
	if (!*why && rtr->target != wv_step_next(rtr)->target)
		*why = "moves of two queue pairs";
	return *why ? -EPERM : 0;
}
