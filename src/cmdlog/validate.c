#include "cmdlog/validate.h"

#include "base/base.h"
#include "cmdlog/arena.h"
#include "cmdlog/pattern.h"
#include "cmdlog/record.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

/* Above any device's own limit that is published; they keep the estimate of the cost sound. */
#define MAX_CQE	   (1u << 22)
#define MAX_WR	   (1u << 17)
#define MAX_SGE	   256u
#define MAX_INLINE 4096u

/* Roughly a context, its two files and their uobjects in the kernel (measured: docs/operations.md).
 */
#define CONTEXT_BYTES 65536u
#define OBJECT_BYTES  8192u
#define CQE_BYTES     128u
#define SGE_BYTES     16u
#define WQE_BYTES     256u

struct bound {
	uint16_t object, method, attr;
	uint8_t is_flags; /* no bit but these, rather than no number above */
	uint32_t limit;
};

static const struct bound bounds[] = {
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_CREATE_CQ_CQE, 0, MAX_CQE},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 1023},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_ATTR_CREATE_CQ_FLAGS, 1,
     IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 0, MAX_WR},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 0, MAX_SGE},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_CREATE_SRQ_LIMIT, 0, MAX_WR},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_ATTR_CREATE_SRQ_TYPE, 0,
     IB_UVERBS_SRQT_BASIC},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, UVERBS_ATTR_CREATE_QP_FLAGS, 1,
     IB_UVERBS_QP_CREATE_SQ_SIG_ALL},
};

static int within(const struct bound *b, uint64_t number)
{
	return b->is_flags ? !(number & ~(uint64_t)b->limit) : number <= b->limit;
}

/* A small inline input as a number; missing is zero. */
static uint64_t attr_number(struct wv_step *step, uint16_t id)
{
	struct wv_attr *attr = wv_step_attr(step, id);
	uint64_t number = 0;

	if (attr && attr->payload && attr->len <= sizeof(number))
		memcpy(&number, wv_attr_bytes(step, attr), attr->len);
	return number;
}

static const char *check_bounds(struct wv_step *step)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(bounds); i++) {
		const struct bound *b = &bounds[i];
		struct wv_attr *attr;

		if (b->object != step->object || b->method != step->method)
			continue;
		attr = wv_step_attr(step, b->attr);
		if (attr && (attr->len > 8 || !within(b, attr_number(step, b->attr))))
			return "a size or flag is out of bounds";
	}
	return NULL;
}

/* An object, and its queues where the kernel keeps them; others are memory of their own steps. */
static void add_object(const struct wv_cmdlog *recipe, struct wv_cost *cost, uint64_t queue_bytes)
{
	cost->bytes += OBJECT_BYTES;
	if (!wv_abi_driver(recipe->driver_id)->user_queues)
		cost->bytes += queue_bytes;
}

/* Types that are not moved ahead are not prepared: raw packets, say, need rights. */
static const char *check_qp(const struct wv_cmdlog *recipe, struct wv_step *step,
			    struct wv_cost *cost)
{
	struct wv_attr *attr = wv_step_attr(step, UVERBS_ATTR_CREATE_QP_CAP);
	struct ib_uverbs_qp_cap cap;

	if (!wv_step_ahead(recipe, step))
		return "this type of queue pair is not prepared";
	if (!attr || attr->len != sizeof(cap))
		return "a queue pair without capacities";
	memcpy(&cap, wv_attr_bytes(step, attr), sizeof(cap));
	if (cap.max_send_wr > MAX_WR || cap.max_recv_wr > MAX_WR || cap.max_send_sge > MAX_SGE ||
	    cap.max_recv_sge > MAX_SGE || cap.max_inline_data > MAX_INLINE)
		return "a queue pair is too large";
	add_object(recipe, cost,
		   (uint64_t)cap.max_send_wr *
			   (WQE_BYTES + cap.max_inline_data + SGE_BYTES * cap.max_send_sge) +
		       (uint64_t)cap.max_recv_wr * (WQE_BYTES + SGE_BYTES * cap.max_recv_sge));
	cost->qps++;
	return NULL;
}

static const char *check_srq(const struct wv_cmdlog *recipe, struct wv_step *step,
			     struct wv_cost *cost)
{
	add_object(recipe, cost,
		   attr_number(step, UVERBS_ATTR_CREATE_SRQ_MAX_WR) *
		       (WQE_BYTES + SGE_BYTES * attr_number(step, UVERBS_ATTR_CREATE_SRQ_MAX_SGE)));
	cost->srqs++;
	return NULL;
}

/* Where queues lie in memory of the program. */
static const char *check_memory(struct wv_step *step)
{
	struct wv_attr *attr = wv_step_attr(step, WV_ATTR_MEMORY_PATTERN);
	uint64_t size = wv_step_memory_size(step);
	size_t n = attr ? attr->len / sizeof(struct wv_series) : 0;

	if (step->error || !size || size > WV_CMDLOG_MAX_MEMORY)
		return "memory of a size that is not made";
	if (attr && (attr->len % sizeof(struct wv_series) || n > WV_MAX_SERIES ||
		     !wv_pattern_check((const void *)wv_attr_bytes(step, attr), n, size)))
		return "contents that do not fit their memory";
	return NULL;
}

static const char *check_create(const struct wv_cmdlog *recipe, struct wv_step *step,
				struct wv_cost *cost)
{
	if (step->error)
		return "a step that failed cannot make an object";
	switch (step->object) {
	case UVERBS_OBJECT_QP:
		return check_qp(recipe, step, cost);
	case UVERBS_OBJECT_SRQ:
		return check_srq(recipe, step, cost);
	case UVERBS_OBJECT_CQ:
		add_object(recipe, cost, CQE_BYTES * attr_number(step, UVERBS_ATTR_CREATE_CQ_CQE));
		cost->cqs++;
		return NULL;
	case UVERBS_OBJECT_ASYNC_EVENT:
		cost->fds++;
		return NULL;
	default: /* GET_CONTEXT, ALLOC_PD, CREATE_COMP_CHANNEL */
		cost->pds += step->write_cmd == IB_USER_VERBS_CMD_ALLOC_PD;
		cost->fds += step->write_cmd == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL;
		cost->bytes += OBJECT_BYTES;
		return NULL;
	}
}

/*
 * A step is judged by its row and its target; the kernel sees the attributes. Each of them once,
 * the legacy command that the row is about, and the object that the target is.
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

/* The object that a step's CORE_IN names, WV_NONE if none. */
static uint32_t named_object(struct wv_step *step)
{
	struct wv_attr *in = wv_step_attr(step, UVERBS_ATTR_CORE_IN);
	const struct wv_attr_row *known = wv_abi_attr(wv_step_row(step), UVERBS_ATTR_CORE_IN);
	uint32_t handle;

	for (unsigned int i = 0; in && i < known->n_fields; i++) {
		const struct wv_field *f = &known->fields[i];

		if (f->kind != WV_HANDLE || f->offset + sizeof(handle) > in->len)
			continue;
		memcpy(&handle, wv_attr_bytes(step, in) + f->offset, sizeof(handle));
		return handle;
	}
	return WV_NONE;
}

static const char *check_shape(const struct wv_cmdlog *recipe, struct wv_step *step)
{
	int about_a_qp = step->class_ == WV_MODIFY || step->class_ == WV_QUERY;

	if (has_an_attribute_twice(step))
		return "an attribute is given twice";
	if (!is_its_command(recipe, step))
		return "a command is another than it says";
	if (step->target != (about_a_qp ? named_object(step) : WV_NONE))
		return "a step is about another object than it says";
	return NULL;
}

/* What was seen of a recipe up to a step. */
struct judge {
	struct wv_cmdlog *recipe;
	struct wv_cost *cost;
	struct wv_step *steps[WV_CMDLOG_MAX_STEPS];
	uint8_t states[WV_CMDLOG_MAX_STEPS]; /* enum ibv_qp_state, where a step made a QP */
	unsigned int n;
};

static const char *check_qp_step(struct judge *j, struct wv_step *step)
{
	struct wv_step *qp = step->target < j->n ? j->steps[step->target] : NULL;
	const struct wv_ahead_row *ahead = qp ? wv_step_ahead(j->recipe, qp) : NULL;
	int state = wv_step_qp_state(step);

	if (!ahead)
		return "a step about a queue pair that no step makes";
	if (step->class_ == WV_QUERY)
		return NULL;
	if (state != j->states[step->target] + 1 || state > ahead->state)
		return "a queue pair may not be moved so far ahead";
	j->states[step->target] = (uint8_t)state;
	return NULL;
}

static int makes_something(const struct judge *j, uint64_t step)
{
	return step < j->n && j->steps[step]->class_ == WV_CREATE;
}

static int check_memory_ref(const struct judge *j, const struct wv_field *f, uint64_t ref)
{
	uint64_t step = (ref >> 32) - 1, offset = (uint32_t)ref;

	if (!ref)
		return 0;
	return step < j->n && j->steps[step]->class_ == WV_MEMORY &&
		       offset < wv_step_memory_size(j->steps[step]) &&
		       (f->kind == WV_DOORBELL || !offset)
		   ? 0
		   : -EPERM;
}

static int check_field(void *data, const struct wv_field *f, uint8_t *payload)
{
	const struct judge *j = data;
	uint64_t value = wv_field_get(f, payload);

	if (wv_is_memory(f))
		return check_memory_ref(j, f, value);
	if (f->kind == WV_NUMBER && value & wv_number_is_step(f))
		return makes_something(j, value & ~wv_number_is_step(f)) ? 0 : -EPERM;
	return 0;
}

/* Part of a field is not known as one, so what it names would reach the kernel unchanged. */
static int ends_in_a_field(struct wv_step *step, const struct wv_attr *attr)
{
	const struct wv_attr_row *known = wv_abi_attr(wv_step_row(step), attr->id);

	for (unsigned int i = 0; attr->kind == WV_EQUAL && i < known->n_fields; i++)
		if (known->fields[i].offset < attr->len &&
		    !wv_field_fits(&known->fields[i], attr->len))
			return 1;
	return 0;
}

/* References point back, at steps that make something. */
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

static const char *check_step(struct judge *j, struct wv_step *step)
{
	const char *why = check_shape(j->recipe, step);

	if (!why)
		why = check_refs(j, step);
	if (!why)
		why = check_bounds(step);
	if (why)
		return why;
	switch (step->class_) {
	case WV_CREATE:
		return check_create(j->recipe, step, j->cost);
	case WV_MEMORY:
		return check_memory(step);
	case WV_CONSTANT:
	case WV_OPENING:
		return NULL;
	case WV_MODIFY:
	case WV_QUERY:
		return check_qp_step(j, step);
	case WV_PRIVILEGED:
		return "it uses rights that a lease does not give";
	default:
		return "a command that may not be carried out ahead of time";
	}
}

int wv_validate(struct wv_cmdlog *recipe, struct wv_cost *cost, const char **why)
{
	struct judge j = {.recipe = recipe, .cost = cost};

	*cost = (struct wv_cost){.fds = 1, .bytes = CONTEXT_BYTES};
	*why = wv_abi_driver(recipe->driver_id) ? NULL : "the device's driver is not known";
	wv_each_step (recipe, step) {
		if (*why)
			break;
		*why = check_step(&j, step);
		j.steps[j.n++] = step;
	}
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
