/* SPDX-License-Identifier: BSD-2-Clause */
/* A script that a child has written to memory that it shares with its parent, which follows it. */
#include "fuzz.h"

#include "preload/core/script.h"

/* Only earlier objects, which there are. */
static void check_objects(const struct wv_script *script, unsigned int i)
{
	const struct wv_verb *verb = &script->verbs[i];

	assert_true((verb->kind == WV_VERB_OPEN) == !i);
	assert_true(verb->kind <= WV_VERB_MOVE);
	for (unsigned int j = 0; j < WV_ON; j++)
		if (verb->on[j] != WV_NO_OBJECT)
			assert_in_range(verb->on[j], 1, i - 1);
	if (verb->kind == WV_VERB_MOVE)
		assert_int_equal(script->verbs[verb->on[WV_ON_QP]].kind, WV_VERB_QP);
	if (verb->kind == WV_VERB_QP || verb->kind == WV_VERB_SRQ)
		assert_int_equal(script->verbs[verb->on[WV_ON_PD]].kind, WV_VERB_PD);
}

static void check_move(const struct wv_verb *verb)
{
	struct wv_verb again = *verb, once_more;
	struct ibv_qp_attr attr;

	wv_verb_set_move(&again, &attr, wv_verb_get_move(verb, &attr));
	once_more = again;
	wv_verb_set_move(&once_more, &attr, wv_verb_get_move(&again, &attr));
	assert_memory_equal(&again, &once_more, sizeof(again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	wv_auto_free struct wv_script *script = calloc(1, sizeof(*script));

	memcpy(script, data, bytes < sizeof(*script) ? bytes : sizeof(*script));
	if (!wv_script_check(script))
		return 0;
	assert_in_range(script->n, 1, WV_SCRIPT_VERBS);
	assert_true(strnlen(script->verbs[0].open.device, IBV_SYSFS_NAME_MAX) < IBV_SYSFS_NAME_MAX);
	for (unsigned int i = 0; i < script->n; i++) {
		check_objects(script, i);
		if (script->verbs[i].kind == WV_VERB_MOVE)
			check_move(&script->verbs[i]);
	}
	return 0;
}
