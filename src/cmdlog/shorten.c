/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/shorten.h"

#include "cmdlog/writer.h"

/* The step after the last of the first @n_steps that is a command. */
static struct wv_step *end_of(struct wv_cmdlog *recipe, unsigned int n_steps)
{
	struct wv_step *end = wv_cmdlog_first(recipe);

	wv_each_step (recipe, step) {
		if (!n_steps--)
			break;
		if (step->class_ != WV_MEMORY)
			end = wv_step_next(step);
	}
	return end;
}

void wv_shorten(struct wv_cmdlog *recipe, unsigned int n_steps, void *memory)
{
	const struct wv_step *end = end_of(recipe, n_steps);
	struct wv_cmdlog_writer w;

	wv_cmdlog_begin(&w, memory, recipe->bytes, WV_RECIPE, recipe->driver_id);
	for (struct wv_step *step = wv_cmdlog_first(recipe); step < end; step = wv_step_next(step))
		wv_cmdlog_copy(&w, step);
}
