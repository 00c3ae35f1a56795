/* SPDX-License-Identifier: BSD-2-Clause */
#include "tamper.h"

#include "fixture.h"

static uint64_t seed;

void tamper_seed(uint64_t to)
{
	seed = to;
}

uint32_t below(uint32_t n)
{
	return (uint32_t)(pseudo_random(&seed) % n);
}

/* Numbers that are likely to be near an edge. */
static uint32_t odd_number(void)
{
	static const uint32_t numbers[] = {
	    0,	  1,	2,     3,     7,     8,	     16,     24,	 0x1f,	     0x20,
	    0x7f, 0xff, 0x100, 0x1ff, 0x200, 0x7fff, 0xffff, 0x7fffffff, 0xfffffff8, 0xffffffff};

	return below(4) ? numbers[below(WV_ARRAY_SIZE(numbers))] : (uint32_t)pseudo_random(&seed);
}

/* Overwrites 1, 2 or 4 bytes, mostly where numbers are. */
static void tamper_anywhere(struct wv_cmdlog *cmdlog)
{
	uint32_t size = 1u << below(3), at = below(cmdlog->bytes / size) * size;
	uint32_t number = odd_number();

	memcpy((uint8_t *)cmdlog + at, &number, size);
}

/* A change that leaves the command log well-formed more often than not. */
static void tamper_with_a_step(struct wv_cmdlog *cmdlog)
{
	struct wv_step *step = tape_step(cmdlog, below(cmdlog->n_steps));
	struct wv_attr *attr;

	switch (below(9)) {
	case 0:
		step->error = (int32_t)odd_number();
		return;
	case 1:
		step->new_handle = below(8);
		return;
	case 2:
		step->new_fd = below(8);
		return;
	case 3:
		step->target = odd_number();
		return;
	default:
		break;
	}
	if (!step->n_attrs)
		return;
	attr = &wv_step_attrs(step)[below(step->n_attrs)];
	switch (below(4)) {
	case 0:
		attr->data = odd_number();
		break;
	case 1:
		attr->len = (uint16_t)odd_number();
		break;
	case 2:
		attr->id = wv_step_row(step)->attrs[below(wv_step_row(step)->n_attrs)].id;
		break;
	default:
		if (attr->payload)
			*wv_step_at(step, attr->payload + below(step->bytes - attr->payload)) =
			    (uint8_t)odd_number();
	}
}

/* Steps left out and given twice: references go astray. */
static struct wv_cmdlog *shuffle(struct wv_cmdlog *cmdlog)
{
	wv_auto_free uint8_t *memory = malloc(WV_CMDLOG_MAX_BYTES);
	struct wv_cmdlog *to = (struct wv_cmdlog *)memory;

	*to = *cmdlog;
	to->n_steps = 0;
	to->bytes = sizeof(*to);
	wv_each_step (cmdlog, step)
		for (unsigned int times = below(8) ? 1 : below(3); times--;) {
			if (to->bytes + step->bytes > WV_CMDLOG_MAX_BYTES)
				break;
			memcpy(memory + to->bytes, step, step->bytes);
			to->bytes += step->bytes;
			to->n_steps++;
		}
	return copy_exactly(to, to->bytes);
}

struct wv_cmdlog *tampered(struct wv_cmdlog *original)
{
	struct wv_cmdlog *cmdlog =
	    below(3) ? copy_exactly(original, original->bytes) : shuffle(original);
	uint32_t bytes = cmdlog->bytes;

	for (unsigned int n = below(4); n-- && cmdlog->n_steps;)
		tamper_with_a_step(cmdlog);
	for (unsigned int n = below(4) ? 0 : below(3); n--; cmdlog->bytes = bytes)
		tamper_anywhere(cmdlog);
	return cmdlog;
}
